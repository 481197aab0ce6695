import Pipeline
import Vips

extension GIFOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        (
            "gifsave_target",
            [
                ("effort", .int(effort)), ("bitdepth", .int(bits(for: colors))), ("dither", .double(dither)),
                ("interlace", .bool(progressive)),
            ]
        )
    }
}
