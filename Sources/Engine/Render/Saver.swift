// `save` in libvips' terms: one saver and its options for each format.
import Pipeline
import Vips

struct Saver {
    let settings: SaveSettings
    /// The picture as planned: memory was reserved for it.
    let picture: PictureInfo

    /// Encodes a picture into a descriptor. All frames are stacked below each other, with `page-height` set.
    func save(_ image: Image, to output: OpenFile, strip: Bool) throws {
        if case .png(let options) = settings.encoding, let encoder = try PNGEncoder(image, options, planned: picture) {
            return try encoder.save(to: output, strip: strip)
        }
        if case .jpeg(let options) = settings.encoding, strip, let encoder = JPEGEncoder(image, options) {
            return try encoder.save(to: output)
        }
        let watch = AlphaWatch()
        let mayBeTransparent = settings.format == .webp && picture.frames > 1 && image.hasAlpha
        let image = mayBeTransparent ? try image.watched(by: watch) : image
        let target = try Target(descriptor: output.descriptor)
        let common: [(String, Argument)] = [
            ("in", .image(image)), ("target", .target(target)), ("strip", .bool(strip)),
        ]
        let (saver, options) = arguments
        _ = try Operation(saver, common + options)
        if case .webp = settings.encoding, !image.fields.contains(where: { $0.hasPrefix("exif-") }) {
            try WebPFile.removeEXIF(from: output)
        }
        if watch.sawTransparency { try WebPFile.announceAlpha(in: output) }
    }

    private var arguments: (String, [(String, Argument)]) {
        switch settings.encoding {
        case .jpeg(let options):
            (
                "jpegsave_target",
                [
                    ("Q", .int(options.quality)), ("interlace", .bool(options.progressive)),
                    ("subsample_mode", .string(options.subsampling.rawValue)),
                ]
            )
        case .png(let options):
            (
                "pngsave_target",
                [
                    ("compression", .int(options.compression)), ("interlace", .bool(options.progressive)),
                    // All filters cost much time and help photos only; libvips' default is none.
                    ("palette", .bool(options.paletteColors != nil)), ("dither", .double(options.dither)),
                ] + (options.paletteColors.map { [("bitdepth", .int(bits(for: $0)))] } ?? [])
            )
        case .webp(let options):
            (
                "webpsave_target",
                [
                    ("Q", .int(options.quality)), ("lossless", .bool(options.lossless)),
                    ("effort", .int(options.effort)),
                    ("alpha_q", .int(options.alphaQuality)),
                ]
            )
        case .avif(let options):
            (
                "heifsave_target",
                [
                    ("compression", "av1"), ("Q", .int(options.quality)), ("lossless", .bool(options.lossless)),
                    ("effort", .int(options.effort)),
                    // Lossless libvips would still halve the colour's resolution.
                    ("subsample_mode", .string(options.lossless ? "off" : options.subsampling.rawValue)),
                    ("bitdepth", .int(picture.depth == .sixteen ? 12 : 8)),
                ]
            )
        case .tiff(let options):
            (
                "tiffsave_target",
                [
                    ("compression", .string(options.compression.rawValue)), ("Q", .int(options.quality)),
                    // What differs from the neighbour packs better than the values themselves.
                    (
                        "predictor",
                        .string(options.compression == .jpeg || options.compression == .none ? "none" : "horizontal")
                    ),
                ]
            )
        case .gif(let options):
            (
                "gifsave_target",
                [
                    ("effort", .int(options.effort)), ("bitdepth", .int(bits(for: options.colors))),
                    ("dither", .double(options.dither)),
                    ("interlace", .bool(options.progressive)),
                ]
            )
        }
    }

    /// Bits that can count so many colours.
    private func bits(for colors: Int) -> Int {
        var bits = 1
        while 1 << bits < colors { bits += 1 }
        return bits
    }
}
