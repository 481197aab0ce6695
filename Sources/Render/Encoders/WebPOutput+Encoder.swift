import Pipeline
import System
import Vips

extension WebPOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        (
            "webpsave_target",
            [
                ("Q", .int(quality)), ("lossless", .bool(lossless)), ("effort", .int(effort)),
                ("alpha_q", .int(alphaQuality)),
            ]
        )
    }

    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws {
        let watch = AlphaWatch()
        let image = planned.frames > 1 && image.hasAlpha ? try image.watched(by: watch) : image
        try saveByLibvips(image, as: planned, to: Target(descriptor: output.descriptor), strip: strip)
        if !image.fields.contains(where: { $0.hasPrefix("exif-") }) { try WebPFile.removeEXIF(from: output) }
        if watch.sawTransparency { try WebPFile.announceAlpha(in: output) }
    }

    /// The file has RGB, for which a profile of gray is none.
    func keeps(_ profile: [UInt8], of image: Image, _ output: OpenFile) -> Bool {
        image.bands - (image.hasAlpha ? 1 : 0) > 1
    }
}
