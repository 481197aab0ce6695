import Pipeline
import Stages
import System
import Vips

extension ICOOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        ("pngsave_target", [("compression", 9)])
    }

    /// PNG keeps 16 bits.
    var reducesDepth: Bool { false }

    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws {
        let colored = try image.colourspace(.srgb)
        let whole = try (colored.hasAlpha ? colored : colored.bandjoin(constants: [255])).inMemory()
        let smaller = try smaller(than: max(whole.width, whole.height)).map { try whole.scaled(toFit: $0) }
        let pictures = try (smaller + [whole]).map { picture in
            let target = try Target()
            try saveByLibvips(picture, as: planned, to: target, strip: true)
            return (size: PixelSize(picture.width, picture.height), png: target.bytes)
        }
        try output.append(Self.file(pictures), for: BytePath("icon"))
    }
}
