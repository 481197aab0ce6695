import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// All scales of a rendition show the same part of a picture, and a picture at @2x shows what the same one at @1x shows.
@Suite(.quietVips)
struct PixelsPerPointTests {
    /// Ways to use each stage, with as many kinds of lengths as it takes. What follows it makes results of one size.
    private static let uses: [String: [String]] = [
        "resize": [
            "resize: { size: 160x120! }", "resize: { width: 120 }", "resize: { size: 50% }",
            "resize: { width: 100, height: 50%, mode: scale-to-fill }", "resize: { size: 160x, kernel: nearest }",
            "resize: { size: 50% }\ncrop: { width: 80, height: 40 }",
            "resize: { size: 160x160 }\ncrop: { width: 80, height: 40 }",
            // At some scales these find nothing to do.
            "resize: { size: '160x160>' }\ncrop: { width: 80, height: 40 }",
            "resize: { size: '200x200<' }\ncrop: { width: 80, height: 40 }",
            "resize: { size: '800x800>' }\ncrop: { width: 80, height: 40 }",
        ],
        "frame": [
            "frame: { width: 120, height: 120 }", "frame: { width: 120, height: 100, mode: top-left }",
            "frame: { width: 50%, height: 50%, mode: center }",
            "frame: { width: 120, height: 50%, mode: bottom-right }",
            "frame: { width: 200, height: 120, mode: aspect-fill, background: white }\ncrop: { width: 90, height: 60 }",
            "frame: { ratio: 1:1, background: white }", "frame: { width: 120, height: 100, background: blur }",
            "frame: { width: 100, height: 100, background: average }", "frame: { ratio: 2:3, background: edge }",
            "frame: { width: 60, height: 55, enlarge: false }",
            "frame: { width: 100% - 64, height: 50% + 20 }", "frame: { width: 100% - 64, height: 90 }",
        ],
        "crop": [
            "crop: { width: 120, height: 80 }", "crop: { width: 80, height: 100, x: 40, y: 20 }",
            "crop: { width: 50%, height: 40, anchor: bottom-trailing }", "crop: { ratio: 4:5 }",
            "crop: { width: 100% - 64, height: 50% + 20 }",
        ],
        "trim": ["inset: { all: 20 }\ntrim"],
        "inset": [
            "inset: { all: 30, background: white }", "inset: { all: -30 }",
            "inset: { leading: 60, top: -40, bottom: 10%, background: red }",
        ],
        "rotate": ["rotate: { angle: 90 }", "rotate: { angle: 30, background: white }"],
        "flip": ["flip: { axis: horizontal }"],
        "flatten": ["flatten: { background: red }"],
        "opacity": ["opacity: { alpha: 0.5 }"],
        "nine-slice": [
            "nine-slice: { width: 360, height: 220, cap-insets: { all: 60 } }",
            "nine-slice: { width: 150%, cap-insets: { leading: 60, trailing: 20% } }",
            "nine-slice: { width: 400, cap-insets: { all: 40 }, mode: tile }",
        ],
        "tile": [
            "tile: { width: 400, height: 300, offset: { x: 60, y: 40 } }",
            "tile: { width: 150%, height: 120%, offset: { x: 60, y: 25% } }",
        ],
        "viewport": [
            "viewport: { width: 120, height: 90, offset: { x: 40, y: 30 } }",
            "viewport: { width: 50%, height: 50%, offset: { x: 60 }, content-inset: { all: 20 } }",
            "viewport: { width: 120, height: 90, content-inset: { top: 20 }, reveal: { x: 150, y: 120, width: 40, height: 40 }, background: white }",
        ],
        "mask": [
            "mask: { corner-radius: { all: 60, top-leading: 0 } }",
            "mask: { corner-radius: 60 }", "mask: { shape: circle }", "mask: { image: mark }",
        ],
        "border": ["border: { width: 20, color: red, grow: true }", "border: { width: 10%, corner-radius: 40 }"],
        "shadow": [
            "shadow: { blur: 20, offset: { x: 10, y: 30 }, color: '#ff0000c0' }",
            "shadow: { blur: 10%, offset: { y: 5% } }",
        ],
        "gradient": [
            "gradient: { angle: 60, stops: [ red, { color: transparent, at: 40% } ] }",
            "gradient: { kind: radial, center: top, fade: true, stops: [ black, transparent ] }",
        ],
        "adjust": ["adjust: { exposure: 0.5, saturation: 0.5 }", "adjust: { auto: levels, temperature: 4000 }"],
        "lut": ["lut: { file: look }"],
        "duotone": ["duotone: { dark: '#1b2a6b', light: '#ffe9c9' }"],
        "text": [
            "text: { text: Hi, font: test.ttf, size: 40, color: red, anchor: bottom-trailing }",
            "text: { text: Hi, font: test.ttf, size: 30%, background: '#00ff00', padding: 10, corner-radius: 8 }",
        ],
        "caption": ["caption: { text: Hi, font: test.ttf, size: 30, color: blue }"],
        "overlay": [
            "overlay: { image: mark, anchor: bottom-trailing, offset: { x: 40, y: 20 } }",
            "overlay: { image: mark, width: 100, anchor: top-leading, avoid: { x: 20, y: 10, width: 40, height: 60 }, spacing: 20 }",
            "overlay: { image: mark, stages: [ { resize: { size: 80x } }, { inset: { all: 20, background: red } } ] }",
            "overlay: { image: mark, anchor: top-leading, tile: true }",
        ],
        "composite": [
            "composite: { width: 200, height: 150, background: white, layers: [ { source: true, width: 120, anchor: top-leading, offset: { x: 30, y: 20 } }, { color: '#0000ff', width: 60, height: 40, anchor: bottom-trailing } ] }",
            "composite: { background: white, layers: [ { source: true, anchor: top-leading, offset: { x: 40 } }, { image: mark, anchor: bottom-trailing, stages: [ { inset: { all: 20, background: red } } ] } ] }",
            "composite: { width: 200, layers: [ { source: true }, { width: 100, height: 80, layers: [ { color: '#ff0000', width: 40 }, { image: mark, offset: { x: 20 } } ] } ] }",
            "composite: { layers: [ { source: true, stages: [ { crop: { width: 100, height: 60 } } ] } ] }",
        ],
        "sharpen": ["sharpen: { amount: 1 }"],
        "blur": ["blur: { sigma: 8 }", "resize: { size: 150% }\nblur: { sigma: 8 }"],
        "grayscale": ["grayscale"],
        "tint": ["tint: { color: red }"],
        "stitch": ["stitch: { overlap: 60 }", "stitch: { spacing: 40, direction: horizontal }"],
        "contact-sheet": ["contact-sheet: { columns: 2, cell: { width: 70, height: 60 }, spacing: 20, label: none }"],
        "animate": ["animate: {}\ncrop: { width: 100, height: 80 }"],
    ]

    @Test func `every stage of the catalogue is used`() {
        #expect(Self.uses.keys.sorted() == StageCatalogue.all.names.sorted())
    }

    @Test(arguments: StageCatalogue.all.names)
    func `every scale, and a source at @2x, show the same part`(stage: String) throws {
        for use in try #require(Self.uses[stage]) {
            let expected = try shown(use, scale: 1, pixelsPerPoint: 1)
            for (scale, pixelsPerPoint) in [(2, 1), (3, 1), (1, 2), (2, 2), (3, 2)] {
                let found = try shown(use, scale: scale, pixelsPerPoint: pixelsPerPoint)
                let sum = zip(found, expected).reduce(0) { $0 + abs($1.0 - $1.1) }
                let difference = sum / Double(expected.count)
                #expect(
                    difference < 3, "\(use)\nfrom @\(pixelsPerPoint)x at scale \(scale): off by \(difference) of 255")
            }
        }
    }

    /// The picture after the stages, as numbers of 60 × 45 points, multiplied with their alpha.
    private func shown(_ stages: String, scale: Int, pixelsPerPoint: Int) throws -> [Double] {
        let list = stages + "\nframe: { width: 60, height: 45, mode: scale-to-fill }"
        let isSet = ["stitch", "contact-sheet", "animate"].contains { stages.hasPrefix($0) }
        let image: Image
        if isSet {
            let suffix = pixelsPerPoint > 1 ? "@\(pixelsPerPoint)x" : ""
            image = try join(
                list, [picture(pixelsPerPoint), picture(pixelsPerPoint).flip(.vertical)], scale: scale,
                names: ["1\(suffix).png", "2\(suffix).png"], save: stages.hasPrefix("animate") ? "webp" : "png"
            ).image
        } else {
            let mark = try TestPicture.make(width: 40, height: 60, bands: 4) { x, y in
                [0, UInt8(y * 4), 0, x < 30 ? 255 : 0]
            }
            image = try render(
                list, picture(pixelsPerPoint), scale: scale, pixelsPerPoint: pixelsPerPoint,
                assets: TestAssets(
                    images: ["mark": mark], tables: ["look": try ColorTable(cube: Array(warmLook.utf8))])
            ).image
        }
        #expect([image.width, image.height] == [60 * scale, 45 * scale])
        let coloured = try Picture(decoded: image).promoted(to: .rgb).addingAlpha().image
        let grid = try PixelGrid(coloured)
        return (0..<45).flatMap { y in
            (0..<60).flatMap { x in
                (0..<4).map { band in
                    let square = (0..<scale * scale).map { grid[x * scale + $0 % scale, y * scale + $0 / scale] }
                    let sum = square.reduce(0.0) { $0 + Double($1[band] * (band == 3 ? 255 : $1[3])) / 255 }
                    return sum / Double(square.count)
                }
            }
        }
    }

    /// Without edges, so that scaling changes it little; each place has a colour of its own.
    private func picture(_ pixelsPerPoint: Int) throws -> Image {
        let (width, height) = (240 * pixelsPerPoint, 180 * pixelsPerPoint)
        return try TestPicture.make(width: width, height: height, bands: 4) { x, y in
            let (u, v) = ((Double(x) + 0.5) / Double(width), (Double(y) + 0.5) / Double(height))
            let wave = sin(u * 8 * .pi) * sin(v * 6 * .pi)
            return [u * 255, v * 255, 127.5 + wave * 127, 155 + 100 * v].map { UInt8($0) }
        }
    }
}
