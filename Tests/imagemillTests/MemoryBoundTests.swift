// The predicted memory is a bound, and a tight one: every stage, every shipped pipeline and extreme shapes in a worker of
// their own, against the worker's peak.
import Foundation
import Stages
import TestSupport
import Testing
import Vips

@testable import Pipeline

/// A picture, what is done to it, and how it is saved.
private struct MemoryCase: Sendable, CustomTestStringConvertible {
    var stages: String
    var width: Int
    var height: Int
    var kind = PictureKind()
    var frames = 1
    /// Format and options of the source.
    var source: SourceFile = .png
    var save = "{ format: tiff }"
    /// Sides of the asset `asset.png` or `asset.svg`, if the stages draw it.
    var asset: (Int, Int) = (64, 48)
    var head = ""

    enum SourceFile: String, CaseIterable {
        case png, interlaced, palette, jpeg, progressive, cmyk, webp, losslessWebP, gif, tiff, tiles, strip, avif,
            deepAVIF
        case svg, pdf, heic, jxl, jp2
        /// Floating-point Lab, and one color.
        case lab, plain
    }

    /// The most that the prediction may be, as so many times the peak.
    var factor: Double {
        let drawing = stages.contains("asset.svg") ? SourceFile.svg.factor : MemoryUse.exact
        // How large a text is, is known only when it is drawn: it may fill the picture.
        let text = stages.contains("text:") ? 3.5 : MemoryUse.exact
        // All pictures count that an asset's own stages make, although the first ones are let go before the last one.
        let asset = stages.contains("asset.png, stages:") ? 2 : MemoryUse.exact
        return max(source.factor, drawing, text, asset, MemoryUse.factor(saving: save))
    }

    var testDescription: String {
        "\(stages) on \(frames > 1 ? "\(frames) frames of " : "")\(width)×\(height) \(kind) \(source.rawValue), saved as \(save) \(head)"
    }

    /// The same with half the sides of what is read, for tests that are run often.
    var halved: MemoryCase {
        var halved = self
        (halved.width, halved.height) = (max(width / 2, 1), max(height / 2, 1))
        halved.asset = (max(asset.0 / 2, 1), max(asset.1 / 2, 1))
        return halved
    }

    /// Shapes and sizes at which something else is the largest part.
    static let extreme: [MemoryCase] = [
        MemoryCase(stages: "resize: { size: 4000x4000! }", width: 4000, height: 1),
        MemoryCase(stages: "resize: { size: 4000x4000!, kernel: linear }", width: 1, height: 4000),
        MemoryCase(
            stages: "resize: { size: 5x9000! }", width: 9000, height: 5, kind: PictureKind(hasAlpha: true, isDeep: true)
        ),
        MemoryCase(stages: "resize: { size: 90% }", width: 60_000, height: 200, kind: PictureKind(hasAlpha: true)),
        MemoryCase(
            stages: "resize: { size: 50%, linear: true }", width: 4000, height: 3000, kind: PictureKind(hasAlpha: true)),
        MemoryCase(
            stages: "blur: { sigma: 60 }", width: 2500, height: 2000, kind: PictureKind(hasAlpha: true, isDeep: true)),
        MemoryCase(stages: "blur: { sigma: 9 }", width: 2500, height: 2000, kind: PictureKind(hasAlpha: true)),
        MemoryCase(stages: "rotate: { angle: 33 }", width: 2500, height: 2000, kind: PictureKind(isDeep: true)),
        MemoryCase(stages: "mask: { corner-radius: 10% }", width: 3000, height: 2000),
        MemoryCase(
            stages: "frame: { width: 50, height: 4000, mode: aspect-fill }", width: 300, height: 200, source: .jpeg,
            save: "{ format: webp }"),
        MemoryCase(
            stages: "overlay: { image: asset.png, width: 100% }", width: 2000, height: 1500, source: .jpeg,
            asset: (6000, 4000)),
        MemoryCase(
            stages:
                "overlay: { image: asset.png, stages: [ { rotate: { angle: 12 } }, { blur: { sigma: 20 } } ], blend: multiply }",
            width: 2000,
            height: 1500, asset: (6000, 4000)),
        MemoryCase(
            stages:
                "composite: { layers: [ { source: true }, { image: asset.png, width: 100% }, { source: true, stages: [ { blur: { sigma: 9 } } ] } ] }",
            width: 2000, height: 1500, kind: PictureKind(hasAlpha: true), asset: (3000, 2000)),
        MemoryCase(
            stages: "resize: { size: 90% } }, { resize: { size: 190% } }, { resize: { size: 70% }", width: 3000,
            height: 2400, source: .tiff, save: "{ format: tiff }"),
        // Stages that read their input many times, one after the other.
        MemoryCase(
            stages: "sharpen: { amount: 1 } }, { grayscale: { } }, { sharpen: { amount: 1 }", width: 356, height: 264,
            kind: PictureKind(hasAlpha: true), source: .tiff, save: "{ format: avif }"),
        // A formula whose parts are named many times, read by rows.
        MemoryCase(
            stages: "overlay: { image: asset.png, blend: hue, width: 100% } }, { resize: { size: 50% }", width: 2000,
            height: 1500, asset: (600, 400)),
        MemoryCase(
            stages: "nine-slice: { width: 3000, height: 2000, cap-insets: { all: 20 } }", width: 900, height: 700),
        MemoryCase(
            stages: "crop: { width: 90%, height: 90% }", width: 400, height: 300, kind: PictureKind(hasAlpha: true),
            frames: 40, source: .webp,
            save: "{ format: webp, effort: 0 }"),
        MemoryCase(
            stages: "mask: { shape: circle }", width: 400, height: 300, kind: PictureKind(hasAlpha: true), frames: 40,
            source: .webp,
            save: "{ format: gif }"),
        MemoryCase(
            stages: "resize: { size: 3000x }", width: 6000, height: 4000, source: .progressive,
            save: "{ format: jpeg, progressive: true }"),
        // Planes, what is made smaller after the decoder, and many frames at once.
        MemoryCase(
            stages: "resize: { size: 500x }", width: 6000, height: 4000, source: .webp, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 500x }", width: 4000, height: 3000, source: .losslessWebP, save: "{ format: jpeg }"
        ),
        MemoryCase(
            stages: "resize: { size: 500x }", width: 4000, height: 3000, kind: PictureKind(hasAlpha: true),
            source: .losslessWebP,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 100x }", width: 800, height: 600, kind: PictureKind(hasAlpha: true), frames: 40,
            source: .webp,
            save: "{ format: webp, effort: 0 }"),
        // The first frame of an animation.
        MemoryCase(
            stages: "resize: { size: 3200x }", width: 4000, height: 3000, frames: 2, source: .webp,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "flip: { axis: vertical }", width: 3000, height: 2000, source: .interlaced,
            save: "{ format: png, palette: true }"),
        MemoryCase(stages: "grayscale", width: 2000, height: 1500, source: .avif, save: "{ format: avif, effort: 0 }"),
        // Full chroma in two bytes a sample.
        MemoryCase(
            stages: "resize: { size: 500x }", width: 5000, height: 3200, kind: PictureKind(isDeep: true),
            source: .deepAVIF, save: "{ format: jpeg }"),
        // Drawn in several times their size, with layers that cover all of it.
        MemoryCase(stages: "resize: { size: 3000x }", width: 1000, height: 750, source: .svg),
        MemoryCase(
            stages: "flip: { axis: vertical }", width: 3000, height: 2000, source: .svg, save: "{ format: webp }"),
        MemoryCase(stages: "resize: { size: 3000x }", width: 1000, height: 750, source: .pdf),
        MemoryCase(
            stages: "flip: { axis: vertical }", width: 3000, height: 2000, source: .pdf, save: "{ format: webp }"),
        MemoryCase(
            stages: "overlay: { image: asset.svg, width: 100% }", width: 3000, height: 2000, source: .jpeg,
            save: "{ format: jpeg }", asset: (600, 400)),
        MemoryCase(
            stages: "overlay: { image: asset.svg, stages: [ { rotate: { angle: 12 } } ], width: 100% }", width: 2000,
            height: 1500, source: .jpeg, save: "{ format: jpeg }", asset: (300, 200)),
        MemoryCase(
            stages: "mask: { image: asset.svg }", width: 2000, height: 1500, source: .tiff, save: "{ format: tiff }",
            asset: (600, 200)),
        // The encoders that hold the most, on what they hold the most for.
        MemoryCase(
            stages: "opacity: { alpha: 0.9 }", width: 1600, height: 1200,
            kind: PictureKind(hasAlpha: true, isDeep: true),
            save: "{ format: webp, effort: 2 }"),
        MemoryCase(stages: "flatten", width: 1600, height: 1200, save: "{ format: webp, lossless: true }"),
        MemoryCase(
            stages: "opacity: { alpha: 0.9 }", width: 1600, height: 1200,
            kind: PictureKind(hasAlpha: true, isDeep: true),
            save: "{ format: avif, quality: 100, effort: 0 }"),
        MemoryCase(stages: "trim", width: 3000, height: 2000, source: .tiff, save: "{ format: tiff }"),
        // Four inks are one byte more than what they are converted to, and all are held to be turned.
        MemoryCase(
            stages: "rotate: { angle: 90 } }, { resize: { size: 1000x }", width: 6000, height: 4000, source: .cmyk,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 6000, height: 4000, source: .cmyk, save: "{ format: tiff }"),
        // A TIFF's decoder holds two rows of its tiles, or a strip as it is packed.
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 6000, height: 4000, source: .tiles, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 6000, height: 4000, source: .strip, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 6000, height: 4000, source: .tiff, save: "{ format: jpeg }"),
        // Frames that are only scaled are held once, others as they are changed.
        MemoryCase(
            stages: "resize: { size: 200% }", width: 400, height: 300, frames: 30, source: .gif,
            save: "{ format: gif, effort: 1 }"),
        MemoryCase(
            stages: "resize: { size: 200% } }, { grayscale: { }", width: 400, height: 300, frames: 30, source: .gif,
            save: "{ format: webp, effort: 0 }"),
        // Each frame of many goes through many operations.
        MemoryCase(
            stages:
                "gradient: { angle: 30, stops: [ '#ff000080', blue ] } }, { adjust: { temperature: 4000, saturation: 2 }",
            width: 100, height: 100, kind: PictureKind(hasAlpha: true), frames: 200, source: .webp,
            save: "{ format: webp, effort: 0 }"),
        // Shared stages that the only rendition goes on with.
        MemoryCase(
            stages: "resize: { size: 150% }", width: 400, height: 300, frames: 60, source: .gif,
            save: "{ format: gif, effort: 1 }", head: "stages: [ { inset: { all: 20, background: white } } ]"),
        // In wide pictures rows are what counts, at both ends.
        MemoryCase(stages: "sharpen", width: 24_000, height: 1000, save: "{ format: tiff }"),
        MemoryCase(
            stages: "sharpen", width: 24_000, height: 3000, kind: PictureKind(isDeep: true), save: "{ format: tiff }"),
        MemoryCase(
            stages: "flip: { axis: horizontal }", width: 24_000, height: 1000, kind: PictureKind(isDeep: true),
            source: .tiff, save: "{ format: tiff }"),
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 24_000, height: 3000, kind: PictureKind(isDeep: true),
            save: "{ format: jpeg }"),
        MemoryCase(stages: "grayscale", width: 24_000, height: 1000, source: .jpeg, save: "{ format: tiff }"),
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 24_000, height: 1000, source: .lab, save: "{ format: jpeg }"),
        MemoryCase(stages: "sharpen", width: 24_000, height: 1600, source: .lab, save: "{ format: tiff }"),
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 4500, height: 3000, source: .lab, save: "{ format: jpeg }"),
        // JPEG XL, whose encoder keeps what repeats from effort 7 on.
        MemoryCase(stages: "flatten", width: 1600, height: 1200, source: .plain, save: "{ format: jxl }"),
        MemoryCase(stages: "flatten", width: 1600, height: 1200, save: "{ format: jxl }"),
        MemoryCase(
            stages: "opacity: { alpha: 0.9 }", width: 1600, height: 1200,
            kind: PictureKind(hasAlpha: true, isDeep: true), source: .plain, save: "{ format: jxl }"),
        MemoryCase(
            stages: "flatten", width: 1600, height: 1200, source: .plain, save: "{ format: jxl, effort: 7 }"),
        MemoryCase(
            stages: "flatten", width: 1600, height: 1200, source: .plain,
            save: "{ format: jxl, lossless: true, effort: 7 }"),
        MemoryCase(stages: "resize: { size: 1x20000! }", width: 10, height: 20_000, save: "{ format: jxl }"),
        MemoryCase(
            stages: "duotone: { dark: '#1b2a6b', light: white }", width: 1600, height: 1200,
            save: "{ format: jxl, lossless: true, effort: 3 }"),
        // Stages that look at the picture see all of it, in its own colors and in theirs.
        MemoryCase(
            stages: "crop: { width: 50%, height: 50%, anchor: attention }", width: 6000, height: 4000,
            kind: PictureKind(hasAlpha: true, isDeep: true), source: .tiff, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "crop: { width: 50%, height: 50%, anchor: attention }", width: 6000, height: 4000, source: .jpeg,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "crop: { width: 50%, height: 50%, anchor: attention }", width: 6000, height: 4000, source: .cmyk,
            save: "{ format: jpeg }"),
        MemoryCase(stages: "trim", width: 4000, height: 3000, source: .progressive, save: "{ format: jpeg }"),
        MemoryCase(stages: "trim", width: 4000, height: 3000, source: .webp, save: "{ format: jpeg }"),
        MemoryCase(stages: "trim", width: 4000, height: 3000, source: .avif, save: "{ format: jpeg }"),
        MemoryCase(stages: "trim", width: 4000, height: 3000, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "trim: { } }, { resize: { size: 200x }", width: 24_000, height: 1600,
            kind: PictureKind(isDeep: true),
            source: .tiff, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "adjust: { auto: levels } }, { resize: { size: 200x }", width: 24_000, height: 1600, source: .cmyk,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "adjust: { auto: levels } }, { resize: { size: 200x }", width: 24_000, height: 1400, source: .lab,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "adjust: { auto: levels } }, { resize: { size: 200x }", width: 60_000, height: 640, source: .tiff,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "adjust: { auto: levels } }, { resize: { size: 200x }", width: 60_000, height: 640, source: .jpeg,
            save: "{ format: jpeg }"),
        MemoryCase(
            stages: "trim: { } }, { resize: { size: 200x }", width: 16_000, height: 1200, source: .webp,
            save: "{ format: jpeg }"),
        // Pixels that are indices are decoded row by row.
        MemoryCase(
            stages: "resize: { size: 500x }", width: 5000, height: 3600, source: .palette, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "rotate: { angle: 90 }", width: 3000, height: 2000, source: .palette, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 500x }", width: 5000, height: 3600, kind: PictureKind(hasAlpha: true),
            source: .palette, save: "{ format: tiff }"),
        // Decoders that deliver all of it at once, whatever is used.
        MemoryCase(
            stages: "resize: { size: 500x }", width: 5000, height: 3200, source: .heic, save: "{ format: jpeg }"),
        MemoryCase(stages: "trim", width: 3000, height: 2000, source: .heic, save: "{ format: jpeg }"),
        MemoryCase(stages: "resize: { size: 500x }", width: 5000, height: 3200, source: .jxl, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "resize: { size: 500x }", width: 4000, height: 2400,
            kind: PictureKind(hasAlpha: true, isDeep: true), source: .jxl, save: "{ format: png, compression: 1 }"),
        MemoryCase(stages: "resize: { size: 500x }", width: 5000, height: 3200, source: .jp2, save: "{ format: jpeg }"),
        MemoryCase(
            stages: "rotate: { angle: 90 }", width: 3000, height: 2000,
            kind: PictureKind(hasAlpha: true, isDeep: true), source: .jp2, save: "{ format: png, compression: 1 }"),
        // Colors that are kept as they are.
        MemoryCase(
            stages: "resize: { size: 1000x }", width: 6000, height: 4000, source: .cmyk,
            save: "{ format: tiff }", head: "profile: keep"),
        MemoryCase(
            stages: "rotate: { angle: 90 }", width: 3000, height: 2000, source: .cmyk,
            save: "{ format: jpeg }", head: "profile: keep"),
        MemoryCase(
            stages: "sharpen", width: 3000, height: 2000, source: .lab, save: "{ format: tiff }",
            head: "profile: keep"),
        MemoryCase(
            stages: "adjust: { auto: levels } }, { resize: { size: 1000x }", width: 5000, height: 3000, source: .jpeg,
            save: "{ format: jpeg }", head: "profile: keep"),
        // Rows that wait between stages, most after those that look at neighbors.
        MemoryCase(
            stages: "blur: { sigma: 5 } }, { inset: { all: 5, background: white }", width: 16_000, height: 1400,
            kind: PictureKind(hasAlpha: true, isDeep: true), source: .tiff, save: "{ format: tiff }"),
        MemoryCase(
            stages: "sharpen: { } }, { inset: { all: 5, background: white }", width: 16_000, height: 1400,
            kind: PictureKind(hasAlpha: true, isDeep: true), source: .tiff, save: "{ format: jpeg }"),
        MemoryCase(
            stages:
                "inset: { all: 5, background: white } }, { flip: { axis: horizontal } }, { grayscale: { }",
            width: 16_000, height: 1400, kind: PictureKind(hasAlpha: true, isDeep: true), source: .tiff,
            save: "{ format: tiff }"),
        MemoryCase(
            stages:
                "blur: { sigma: 5 } }, { flip: { axis: horizontal } }, { inset: { all: 5, background: white } }, { flip: { axis: horizontal }",
            width: 16_000, height: 2000, source: .tiff, save: "{ format: tiff }"),
        MemoryCase(stages: "resize: { size: 256x256! }", width: 2100, height: 1500, save: "{ format: ico }"),
        MemoryCase(
            stages: "sharpen", width: 3000, height: 2400, kind: PictureKind(hasAlpha: true),
            save: "{ format: tiles, tile-format: webp, tile: 2048 }"),
        // A mask that is larger than the result.
        MemoryCase(
            stages: "mask: { image: asset.png } }, { resize: { size: 50% }", width: 4000, height: 3000, source: .jpeg,
            save: "{ format: webp, effort: 0 }", asset: (3000, 2000)),
    ]

    private static let stages = [
        "resize: { size: 37% }", "resize: { size: 210% }", "resize: { size: 90%, linear: true }",
        "resize: { size: 9x9!, kernel: nearest }",
        "frame: { width: 500, height: 400 }",
        "frame: { width: 31, height: 31, mode: aspect-fill, background: '#ff000080' }",
        "frame: { width: 900, height: 900, mode: center, alpha: 0.5 }", "crop: { width: 60%, height: 40% }",
        "crop: { width: 60%, height: 40%, anchor: attention }", "trim", "inset: { all: 10%, background: red }",
        "rotate: { angle: 90 }",
        "rotate: { angle: 33 }", "flip: { axis: vertical }", "flatten", "opacity: { alpha: 0.5 }",
        "mask: { shape: circle }",
        "mask: { image: asset.png }", "overlay: { image: asset.png, blend: xor, width: 80% }",
        "overlay: { image: asset.png, tile: true }",
        "nine-slice: { width: 900, height: 300, cap-insets: { all: 0 } }", "tile: { width: 800, height: 700 }",
        "viewport: { width: 300, height: 200, background: red }",
        "composite: { layers: [ { source: true }, { layers: [ { source: true, alpha: 0.5 }, { color: red } ], blend: multiply } ] }",
        "sharpen",
        "border: { width: 5%, grow: true, color: '#ff000080', corner-radius: 10% }", "adjust: { saturation: 2 }",
        "adjust: { auto: levels, temperature: 4000, saturation: 2 }", "lut: { file: look.cube }",
        "shadow: { blur: 40, offset: { y: 30 } }", "shadow: { blur: 5% }",
        "gradient: { angle: 30, stops: [ '#ff000080', blue ] }",
        "gradient: { kind: radial, fade: true, stops: [ black, transparent ] }",
        "duotone: { dark: '#1b2a6b', light: white }", "frame: { width: 700, height: 500, background: blur }",
        "frame: { width: 500, height: 400, background: edge }", "crop: { ratio: 4:5 }",
        "text: { text: Hi, size: 30%, color: red, background: blue, padding: 9, outline: { width: 4 }, shadow: { blur: 5 } }",
        "text: { text: Hi, tile: true, padding: 20 }", "caption: { text: Hi, size: 40, padding: 10, color: red }",
        "blur: { sigma: 3 }", "blur: { sigma: 50 }", "grayscale", "tint: { color: '#0a84ff80' }",
    ]

    /// Every stage on every kind of picture, at shapes that are large in one direction, saved in every format.
    static let all: [MemoryCase] = {
        let shapes = [(1800, 1300), (12_000, 1), (1, 12_000), (40, 30)]
        let saves = [
            "png, compression: 1", "jpeg", "webp, effort: 0", "tiff", "gif", "avif, effort: 0", "png, palette: true",
            "jpeg, progressive: true", "jxl",
        ]
        let sources: [SourceFile] = [.png, .tiff, .interlaced]
        var cases: [MemoryCase] = []
        for (index, stage) in stages.enumerated() {
            for (shape, size) in shapes.enumerated() {
                for kind in [PictureKind(), PictureKind(hasAlpha: true, isDeep: true)] {
                    let count = index + shape + (kind.isDeep ? 4 : 0)
                    // WebP and AVIF hold up to 16383 pixels a side.
                    let save =
                        "{ format: \(size.0 + size.1 > 8000 ? saves[count % 2 * 3] : saves[count % saves.count]) }"
                    cases.append(
                        MemoryCase(
                            stages: stage, width: size.0, height: size.1, kind: kind,
                            source: sources[count % sources.count], save: save))
                }
            }
            cases.append(
                MemoryCase(
                    stages: stage, width: 300, height: 200, kind: PictureKind(hasAlpha: true), frames: 30,
                    source: .webp,
                    save: index % 2 == 0 ? "{ format: webp, effort: 0 }" : "{ format: gif }"))
        }
        return cases
    }()

    /// Every source to every format, by rows or held, in turn.
    static let crossed: [MemoryCase] = SourceFile.allCases.enumerated().flatMap { place, source in
        [
            "png, compression: 1", "jpeg", "jpeg, progressive: true", "webp, effort: 0", "tiff", "gif, effort: 1",
            "avif, effort: 0", "png, palette: true", "jxl", "jxl, effort: 7", "tiles",
            "tiles, tile-format: png, tile: 2048",
        ].enumerated().map { index, save in
            MemoryCase(
                stages: (index + place) % 2 == 0 ? "resize: { size: 60% }" : "rotate: { angle: 90 }", width: 2100,
                height: 1500,
                source: source, save: "{ format: \(save) }")
        }
    }

    /// Stages as a list in YAML.
    static func list(_ stages: String) -> String {
        "[ { \(stages) } ]".replacingOccurrences(of: "{ trim }", with: "trim")
            .replacingOccurrences(of: "{ flatten }", with: "flatten")
    }

    /// The stages of a pipeline whose need is measured.
    static let measuredStages: Set<String> = {
        let files = (stages + extreme.map(\.stages)).compactMap { stage in
            try? PipelineFile(
                text: "renditions: { a: { stages: \(list(stage)), save: { format: png } } }", file: "p.yaml",
                catalogue: .all)
        }
        return Set(files.flatMap { $0.renditions.flatMap(\.stages).map(\.name) })
    }()
}

/// The memory that a plan promised, and the memory that the worker had.
private struct MemoryUse {
    let predicted: Int
    let measured: Int

    /// The promise is kept, and not bought by a promise of far too much: the worker's libraries and what it may keep of
    /// earlier pictures are a fixed part.
    /// - Parameter factor: how many times the peak it may be.
    func isTight(_ factor: Double) -> Bool {
        measured <= predicted && Double(predicted) <= factor * Double(measured) + Double(30 << 20)
    }

    /// The factor for plans whose need follows from sizes alone.
    static let exact = 1.6

    /// The factor for formats whose encoders need as much as is predicted for noise only.
    /// - Parameter save: the settings, or the formats of all renditions.
    static func factor(saving save: String) -> Double {
        let factors = [
            // The file is held before it is written, and so are the repetitions that a search has found.
            ("webp", 3.5), ("avif", 2),
            // Repetitions are kept, which are next to nothing in noise.
            ("jxl, effort: 7", 24), ("jxl, lossless: true, effort: 7", 24), ("jxl, lossless: true, effort: 3", 2),
            // Each color is held that was met.
            ("gif", 2.5), ("palette: true", 3),
            // Two results are compared, which are next to nothing for a flat picture.
            ("png", 2.0),
        ]
        return factors.filter { save.contains($0.0) }.map(\.1).reduce(exact, max)
    }
}

extension MemoryCase.SourceFile {
    /// Drawings hold as many layers as they have, and three are counted. A page of PDF has one if it has no groups.
    fileprivate var factor: Double {
        switch self {
        case .svg: 2
        case .pdf: 3
        // How it is coded, lossy or lossless, in tiles or as one, decides.
        case .jxl: 3.5
        case .jp2: 2.5
        default: MemoryUse.exact
        }
    }
}

@Suite struct MemoryBoundTests {
    /// Whether the part that takes minutes is asked for; `make memory` does.
    private static let isThorough = ProcessInfo.processInfo.environment["IMAGEMILL_MEMORY"] != nil

    @Test
    func `no small picture needs more memory than predicted, and nine of ten need a third of it and more`() async throws
    {
        var ratios: [Double] = []
        for stage in StageExample.all {
            let runner = try CommandRunner()
            for name in stage.isForSets ? (1...12).map({ "set/\($0)" }) : ["a"] {
                try runner.folder.write(try await SamplePicture.png.bytes, to: "in/\(name).png")
            }
            try await runner.assets(of: stage.yaml)
            try runner.folder.write(stage.yaml + "renditions:\n  a:\n    save: { format: png }\n", to: "p.yaml")
            let use = try await run(runner, "p.yaml", stage.name)
            #expect(use.isTight(MemoryUse.exact), "\(stage.name): \(use)")
            ratios.append(Double(use.predicted) / Double(use.measured))
        }
        #expect(ratios.count >= 22 && ratios.filter { $0 <= 3 }.count * 10 >= ratios.count * 9, "\(ratios)")
    }

    @Test(arguments: Checkout.files(below: "pipelines", extension: "yaml"))
    func `the shipped pipelines need no more than predicted for a photo`(pipeline: String) async throws {
        let runner = try CommandRunner()
        let isSet = try Checkout.text(pipeline).contains("source: set")
        let photo = try await SamplePicture.noise(width: 1500, height: 1000)
        for name in isSet ? ["set/1", "set/2", "set/3"] : ["a"] { try runner.folder.write(photo, to: "in/\(name).jpg") }
        let use = try await run(runner, Checkout.path + "/" + pipeline, pipeline)
        let file = try PipelineFile(text: Checkout.text(pipeline), file: pipeline, catalogue: .all)
        let formats = file.renditions.map(\.save.format.rawValue).joined(separator: ", ")
        #expect(use.isTight(MemoryUse.factor(saving: formats)), "\(use)")
    }

    @Test(arguments: MemoryCase.extreme)
    private func `extreme shapes, depths, animations and assets need no more than predicted`(memoryCase: MemoryCase)
        async throws
    {
        try await check(Self.isThorough ? memoryCase : memoryCase.halved)
    }

    @Test(.enabled(if: isThorough), arguments: MemoryCase.all)
    private func `all stages need no more than predicted, for all kinds and shapes, in all formats`(
        memoryCase: MemoryCase
    ) async throws { try await check(memoryCase) }

    @Test(.enabled(if: isThorough), arguments: MemoryCase.crossed)
    private func `all sources need no more than predicted, in all formats`(memoryCase: MemoryCase) async throws {
        try await check(memoryCase)
    }

    @Test
    func `every stage but those that join sets is measured in all sizes`() {
        let joining = StageExample.all.filter(\.isForSets).map(\.name)
        #expect(Set(StageCatalogue.all.names).subtracting(joining).isSubset(of: MemoryCase.measuredStages))
    }

    @Test
    func `small pictures need no more than predicted after large ones`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              a: { stages: [ { rotate: { angle: 12 } }, { resize: { width: 300 } } ], save: { format: webp } }
              b: { stages: [ { blur: { sigma: 9 } }, { resize: { width: 200 } } ], save: { format: png, palette: true } }
            """, to: "p.yaml")
        for index in 1...9 {
            // Pictures whose buffers are just below those that the system gets back at once.
            let isLarge = index % 3 == 1
            try await runner.save("in/\(index).png", as: "pngsave_target", [("compression", 1)]) {
                try Self.picture(
                    width: isLarge ? 2400 : 60, height: isLarge ? 1800 : 40, PictureKind(hasAlpha: true), seed: index)
            }
        }
        try await expectBounds(runner, factor: 3.5)
    }

    @Test
    func `a picture whose decoder holds little needs no more than predicted after one whose decoder holds much`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { stages: [ { resize: { width: 300 } } ], save: { format: jpeg } } }", to: "p.yaml")
        // They have one size, and each buffer is below those that the system gets back at once.
        for index in 1...4 {
            let (saver, name) = index % 2 == 1 ? ("pngsave_target", "png") : ("jpegsave_target", "jpg")
            try await runner.save("in/\(index).\(name)", as: saver) {
                try Self.picture(width: 3000, height: 2400, PictureKind(), seed: index)
            }
        }
        try await expectBounds(runner)
    }

    @Test func `several large renditions of a picture that is turned late need no more than predicted`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try Self.picture(width: 2400, height: 1800, PictureKind(), seed: 1)
                .editingMetadata { $0.set("orientation", int: 6) }
        }
        let renditions = (0..<6).map {
            "  r\($0): { stages: [ { resize: { width: \(1790 - $0) } } ], save: { format: jpeg } }\n"
        }
        try runner.folder.write("renditions:\n" + renditions.joined(), to: "p.yaml")
        try await expectBounds(runner)
        #expect(try await runner.size(of: "out/a-r0.jpg") == [1790, 2387])
    }

    @Test
    func `a picture whose decoder holds more than that of the one before needs no more than predicted`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { stages: [ { resize: { width: 300 } } ], save: { format: jpeg } } }", to: "p.yaml")
        for (index, size) in [(2500, 2200), (2600, 2300), (3400, 2400), (3400, 2400), (2600, 2300)].enumerated() {
            try await runner.save("in/\(index).webp", as: "webpsave_target", [("lossless", true), ("effort", 0)]) {
                try Self.picture(width: size.0, height: size.1, PictureKind(), seed: index)
            }
        }
        try await expectBounds(runner)
    }

    @Test(arguments: [
        "stages: [ { rotate: { angle: 90 } }, { resize: { size: 25% } } ]",
        "stages: [ { rotate: { angle: 5 } }, { resize: { size: 25% } } ]",
        "stages: [ { flip: { axis: vertical } }, { resize: { size: 25% } }, { blur: { sigma: 3 } } ]",
    ])
    func `a large picture needs at least half of what is predicted, so that several run at once`(
        stages: String
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.tif", as: "tiffsave_target") {
            try Self.picture(width: 6000, height: 4500, PictureKind())
        }
        try await runner.save("in/b.jpg", as: "jpegsave_target") {
            try Self.picture(width: 6000, height: 4500, PictureKind())
        }
        try runner.folder.write("renditions: { a: { \(stages), save: { format: png } } }", to: "p.yaml")
        for name in ["a.tif", "b.jpg"] {
            let result = try await runner.run(
                ["run", "p.yaml", "in/" + name, "-o", "out", "--jobs", "1", "--max-memory", "8G"], seconds: 120)
            #expect(result.exit == 0, "\(result.errors)")
            let source = try #require(try runner.report().sources.first)
            let (predicted, measured) = (try #require(source.predictedMemory), try #require(source.peakMemory))
            #expect(measured <= predicted && predicted <= 2 * measured, "\(name): \(predicted), \(measured)")
        }
    }

    /// Renders the sources in `in` one after the other with one worker, each of which needs no more than predicted, and
    /// not much less with what earlier ones have left.
    private func expectBounds(_ runner: CommandRunner, factor: Double = MemoryUse.exact) async throws {
        let result = try await runner.run(
            ["run", "p.yaml", "in", "-o", "out", "--jobs", "1", "--max-memory", "8G"], seconds: 120)
        #expect(result.exit == 0, "\(result.errors)")
        for source in try runner.report().sources {
            let (predicted, measured) = (try #require(source.predictedMemory), try #require(source.peakMemory))
            let use = MemoryUse(predicted: predicted, measured: measured)
            #expect(
                use.isTight(factor), "\(source.source.path): \(measured >> 20) MiB, \(predicted >> 20) predicted")
        }
    }

    private func check(_ memoryCase: MemoryCase) async throws {
        let runner = try CommandRunner()
        try await write(memoryCase, runner)
        let allowed =
            [MemoryCase.SourceFile.svg, .pdf, .jxl, .jp2].contains(memoryCase.source)
            ? ["--allow", memoryCase.source.rawValue] : []
        let use = try await run(runner, "p.yaml", memoryCase.testDescription, options: allowed)
        #expect(use.isTight(memoryCase.factor), "\(use), \(memoryCase.factor) times the peak and 30 MiB allowed")
    }

    /// Renders the sources in `in` with one worker that has done nothing before.
    private func run(
        _ runner: CommandRunner, _ pipeline: String, _ title: String, options: [String] = []
    ) async throws -> MemoryUse {
        let result = try await runner.run(
            ["run", pipeline, "in", "-o", "out", "--jobs", "1", "--max-memory", "8G"] + options, seconds: 120)
        #expect(result.exit == 0, "\(result.errors)")
        let source = try #require(try runner.report().sources.first)
        let use = MemoryUse(predicted: try #require(source.predictedMemory), measured: try #require(source.peakMemory))
        if Self.isThorough {
            print(
                "\(use.predicted >> 20) MiB predicted, \(use.measured >> 20) measured, \(Double(use.predicted) / Double(use.measured)): \(title)"
            )
        }
        return use
    }

    private func write(_ memoryCase: MemoryCase, _ runner: CommandRunner) async throws {
        try runner.folder.write(
            "\(memoryCase.head)\nrenditions:\n  a:\n    stages: \(MemoryCase.list(memoryCase.stages))\n    save: \(memoryCase.save)\n",
            to: "p.yaml")
        if memoryCase.stages.contains("asset.png") {
            let (width, height) = memoryCase.asset
            try await runner.save("asset.png", as: "pngsave_target", [("compression", 1)]) {
                try Self.picture(width: width, height: height, PictureKind(hasAlpha: true))
            }
        }
        if memoryCase.stages.contains("asset.svg") {
            try runner.folder.write(Self.svg(width: memoryCase.asset.0, height: memoryCase.asset.1), to: "asset.svg")
        }
        if memoryCase.stages.contains("look.cube") {
            // As large as editors write them.
            let colors = (0..<33 * 33 * 33).map { "0.\($0 % 33) 0.\($0 / 33 % 33) 0.\($0 / 1089)\n" }
            try runner.folder.write("LUT_3D_SIZE 33\n" + colors.joined(), to: "look.cube")
        }
        let (width, height) = (memoryCase.width, memoryCase.height)
        let (saver, options, name): (String, [(String, Argument)], String)
        switch memoryCase.source {
        case .svg:
            try runner.folder.write(Self.svg(width: width, height: height), to: "in/a.svg")
            return
        case .pdf:
            let layers = Self.layers.map {
                "q \(Double($0) / 20) 0.5 0.9 rg \($0) \($0) \(width - 2 * $0) \(height - 2 * $0) re f Q"
            }
            try runner.folder.write(
                SmallPDF.file(pages: [layers.joined(separator: "\n")], width: width, height: height), to: "in/a.pdf")
            return
        case .png, .plain: (saver, options, name) = ("pngsave_target", [("compression", 1)], "a.png")
        case .interlaced:
            (saver, options, name) = ("pngsave_target", [("compression", 1), ("interlace", true)], "a.png")
        case .palette:
            (saver, options, name) = (
                "pngsave_target", [("compression", 1), ("palette", true), ("effort", 1), ("dither", 0.0)], "a.png"
            )
        case .jpeg: (saver, options, name) = ("jpegsave_target", [], "a.jpg")
        case .progressive: (saver, options, name) = ("jpegsave_target", [("interlace", true)], "a.jpg")
        case .cmyk: (saver, options, name) = ("jpegsave_target", [], "a.jpg")
        case .webp: (saver, options, name) = ("webpsave_target", [("effort", 0)], "a.webp")
        case .losslessWebP: (saver, options, name) = ("webpsave_target", [("effort", 0), ("lossless", true)], "a.webp")
        case .gif: (saver, options, name) = ("gifsave_target", [("effort", 1)], "a.gif")
        case .tiff, .lab: (saver, options, name) = ("tiffsave_target", [], "a.tif")
        case .tiles:
            (saver, options, name) = (
                "tiffsave_target", [("tile", true), ("tile_width", 4096), ("tile_height", 1024)], "a.tif"
            )
        case .strip:
            (saver, options, name) = (
                "tiffsave_target", [("compression", "lzw"), ("tile_height", .int(height))], "a.tif"
            )
        case .avif: (saver, options, name) = ("heifsave_target", [("compression", "av1"), ("effort", 0)], "a.avif")
        case .heic: (saver, options, name) = ("heifsave_target", [("compression", "hevc"), ("effort", 0)], "a.heic")
        case .jxl: (saver, options, name) = ("jxlsave_target", [("effort", 3)], "a.jxl")
        case .jp2: (saver, options, name) = ("jp2ksave_target", [], "a.jp2")
        case .deepAVIF:
            let options12: [(String, Argument)] = [
                ("compression", "av1"), ("effort", 0), ("bitdepth", 12), ("subsample_mode", "off"),
            ]
            (saver, options, name) = ("heifsave_target", options12, "a.avif")
        }
        try await runner.save("in/" + name, as: saver, options) {
            guard memoryCase.frames > 1 else {
                let picture = try Self.picture(width: memoryCase.width, height: memoryCase.height, memoryCase.kind)
                return switch memoryCase.source {
                case .cmyk: try Self.inInks(picture)
                case .lab: try picture.colourspace(.lab)
                case .plain: try picture.linear(Array(repeating: 0, count: picture.bands), [90]).cast(picture.format)
                default: picture
                }
            }
            let frames = try (0..<memoryCase.frames).map { index in
                try Self.picture(width: memoryCase.width, height: memoryCase.height, memoryCase.kind, seed: index)
            }
            return try Image.arrayjoin(frames).editingMetadata { $0.set("page-height", int: memoryCase.height) }
        }
    }

    private static let layers = 0..<20

    /// Layers that are blended with each other, one of them in another one.
    private static func svg(width: Int, height: Int) -> String {
        let groups = layers.map {
            "<g opacity='0.9'><rect x='\($0)' y='\($0)' width='100%' height='100%' fill='rgb(\(9 * $0),99,200)'/>"
        }
        return "<svg xmlns='http://www.w3.org/2000/svg' width='\(width)' height='\(height)'>"
            + groups.joined(separator: "</g>")
            + groups[0] + "</g></g></svg>"
    }

    /// The picture as four inks.
    private static func inInks(_ picture: Image) throws -> Image {
        try picture.bandjoin(picture.extractBands(from: 0, count: 1)).copy(interpretation: .cmyk)
    }

    /// A picture of soft noise, which no encoder finds empty.
    private static func picture(width: Int, height: Int, _ kind: PictureKind, seed: Int = 7) throws -> Image {
        let noise = try Operation(
            "gaussnoise", [("width", .int(width)), ("height", .int(height)), ("sigma", 20), ("seed", .int(seed))]
        ).image()
        let factor = kind.isDeep ? 257.0 : 1
        let factors = Array([1.0, -1, 0.5, 0.3].prefix(kind.bands))
        let bands = try noise.linear(factors.map { $0 * factor }, factors.map { ($0 < 0 ? 255 : 20) * factor })
        return try bands.cast(kind.isDeep ? .ushort : .uchar).copy(
            interpretation: kind.isGrey ? .bw : kind.isDeep ? .rgb16 : .srgb)
    }
}
