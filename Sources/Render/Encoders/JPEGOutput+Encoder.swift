import Pipeline
import System
import Vips

extension JPEGOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        (
            "jpegsave_target",
            [
                ("Q", .int(quality)), ("interlace", .bool(progressive)),
                ("subsample_mode", .string(subsampling.rawValue)),
            ]
        )
    }

    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws {
        if strip, let encoder = JPEGEncoder(image, self) { return try encoder.save(to: output) }
        try saveByLibvips(image, as: planned, to: Target(descriptor: output.descriptor), strip: strip)
    }

    /// `JPEGEncoder` wants a picture in memory, which a stripped one is not. With its option `strip`, libvips leaves
    /// metadata out of a JPEG too, but up to 8.14.1 not out of a WebP.
    static var leavesMetadataOut: Bool { true }
}
