import Pipeline
import System
import Vips

extension AVIFOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        (
            "heifsave_target",
            [
                ("compression", "av1"), ("Q", .int(quality)), ("lossless", .bool(lossless)), ("effort", .int(effort)),
                // Lossless libvips would still halve the colour's resolution.
                ("subsample_mode", .string(lossless ? "off" : subsampling.rawValue)),
                ("bitdepth", .int(picture.depth == .sixteen ? 12 : 8)),
            ]
        )
    }

    /// The file has RGB, for which a profile of gray is none.
    func keeps(_ profile: [UInt8], of image: Image, _ output: OpenFile) -> Bool {
        image.bands - (image.hasAlpha ? 1 : 0) > 1
    }
}
