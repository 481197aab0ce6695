import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// One pixel as colours and alpha from 0 to 1, not premultiplied.
private struct Paint {
    var colour: [Double]
    var alpha: Double
}

/// Compositing as the W3C writes it (compositing and blending level 1), and as cairo does for what the W3C does not have.
private func blended(_ mode: String, _ source: Paint, over backdrop: Paint) -> Paint {
    let (sa, ba) = (source.alpha, backdrop.alpha)
    let porterDuff: [String: (Double, Double)] = [
        "clear": (0, 0), "source": (1, 0), "over": (1, 1 - sa), "in": (ba, 0), "out": (1 - ba, 0), "atop": (ba, 1 - sa), "dest": (0, 1),
        "dest-over": (1 - ba, 1), "dest-in": (0, sa), "dest-out": (0, 1 - sa), "dest-atop": (1 - ba, sa), "xor": (1 - ba, 1 - sa),
        "add": (1, 1), "saturate": (sa == 0 ? 0 : min(1, (1 - ba) / sa), 1),
    ]
    let (fa, fb) = porterDuff[mode] ?? (1, 1 - sa)
    let alpha = min(1, sa * fa + ba * fb)
    let colour = zip(source.colour, backdrop.colour).map { s, b in
        let mixed = porterDuff[mode] == nil ? (1 - ba) * s + ba * mix(mode, s, b) : s
        return alpha == 0 ? 0 : min(1, max(0, (sa * fa * mixed + ba * fb * b) / alpha))
    }
    return Paint(colour: colour, alpha: alpha)
}

private func mix(_ mode: String, _ s: Double, _ b: Double) -> Double {
    switch mode {
    case "multiply": s * b
    case "screen": s + b - s * b
    case "overlay": b <= 0.5 ? 2 * s * b : 1 - 2 * (1 - s) * (1 - b)
    case "hard-light": s <= 0.5 ? 2 * s * b : 1 - 2 * (1 - s) * (1 - b)
    case "darken": min(s, b)
    case "lighten": max(s, b)
    case "difference": abs(s - b)
    case "exclusion": s + b - 2 * s * b
    default: .nan
    }
}

private let exactModes = [
    "over", "atop", "multiply", "screen", "overlay", "darken", "lighten", "difference", "exclusion", "add", "hard-light", "xor", "clear",
    "source", "in", "out", "dest", "dest-over", "dest-in", "dest-out", "dest-atop",
]

@Suite(.quietVips)
struct OverlayTests {
    /// What a base and an overlay at a place should give.
    private func reference(_ base: PixelGrid, _ overlay: PixelGrid, x left: Int, y top: Int, _ mode: String, alpha: Double, bands: Int)
        -> PixelGrid
    {
        let hasAlpha = bands % 2 == 0
        var values: [Int] = []
        for y in 0..<base.height {
            for x in 0..<base.width {
                let isInside = (0..<overlay.width).contains(x - left) && (0..<overlay.height).contains(y - top)
                var source = isInside ? paint(overlay, x - left, y - top) : Paint(colour: [0, 0, 0], alpha: 0)
                source.alpha *= alpha
                let result = blended(mode, source, over: paint(base, x, y))
                let colours = hasAlpha ? bands - 1 : bands
                values += result.colour.prefix(colours).map { Int(($0 * Double(base.maximum)).rounded()) }
                if hasAlpha { values.append(Int((result.alpha * Double(base.maximum)).rounded())) }
            }
        }
        return PixelGrid(width: base.width, height: base.height, bands: bands, maximum: base.maximum, values: values)
    }

    private func paint(_ grid: PixelGrid, _ x: Int, _ y: Int) -> Paint {
        let values = grid[x, y].map { Double($0) / Double(grid.maximum) }
        let hasAlpha = grid.bands % 2 == 0
        let colours = hasAlpha ? Array(values.dropLast()) : values
        return Paint(
            colour: colours.count == 1 ? [colours[0], colours[0], colours[0]] : colours, alpha: hasAlpha ? values[grid.bands - 1] : 1)
    }

    /// The largest difference, without the colours of pixels that cannot be seen or barely.
    private func difference(_ result: PixelGrid, _ expected: PixelGrid) -> Double {
        guard result.sides == expected.sides, result.bands == expected.bands, result.maximum == expected.maximum else { return .infinity }
        let hasAlpha = result.bands % 2 == 0
        var worst = 0.0
        for pixel in 0..<result.width * result.height {
            let start = pixel * result.bands
            let alpha = hasAlpha ? expected.values[start + result.bands - 1] : expected.maximum
            for band in 0..<result.bands {
                let error = Double(abs(result.values[start + band] - expected.values[start + band]))
                let isColour = !hasAlpha || band < result.bands - 1
                worst = max(worst, isColour ? error * Double(alpha) / Double(expected.maximum) : error)
            }
        }
        return worst
    }

    private func badge(_ width: Int, _ height: Int, _ kind: PictureKind = PictureKind(hasAlpha: true)) throws -> Image {
        try TestPicture.make(width: width, height: height, kind: kind) { x, y in
            let colour = kind.isGrey ? [(x * 40 + y * 9) % 256] : [(x * 40) % 256, (y * 50) % 256, (255 - x * 20 - y * 7) % 256]
            return colour + (kind.hasAlpha ? [[0, 1, 64, 127, 200, 254, 255][(x + 2 * y) % 7]] : [])
        }
    }

    @Test(arguments: exactModes, PictureKind.all)
    func `a blend mode does what its formula says`(mode: String, kind: PictureKind) throws {
        let base = try TestPicture.coded(width: 23, height: 19, kind: kind)
        var wrong: [String] = []
        for asset in [PictureKind(hasAlpha: true), PictureKind(), PictureKind(isGrey: true, hasAlpha: true), PictureKind(isGrey: true)] {
            let overlay = try badge(11, 9, asset)
            for alpha in [1, 0.4] {
                let assets = TestAssets(images: ["a.png": overlay])
                let result = try render("overlay: { image: a.png, blend: \(mode), alpha: \(alpha) }", base, assets: assets).pixels
                let expected = try reference(PixelGrid(base), PixelGrid(overlay), x: 6, y: 5, mode, alpha: alpha, bands: result.bands)
                let worst = difference(result, expected) * 255 / Double(kind.maximum)
                if worst > 1.01 { wrong.append("\(asset) with alpha \(alpha): off by \(worst) of 255") }
            }
        }
        #expect(wrong == [])
    }

    @Test(arguments: PictureKind.all)
    func `outside the overlay nothing changes`(kind: PictureKind) throws {
        let base = try TestPicture.coded(width: 40, height: 30, kind: kind)
        let original = try PixelGrid(base)
        let assets = TestAssets(images: ["a.png": try badge(8, 8, PictureKind(isGrey: true, hasAlpha: true))])
        let result = try render("overlay: { image: a.png, anchor: top-leading }", base, assets: assets).pixels
        let rest = result.part(left: 8, top: 0, width: 32, height: 30)
        #expect(rest == original.part(left: 8, top: 0, width: 32, height: 30))
    }

    @Test(arguments: [
        ("center", 15, 11), ("top", 15, 0), ("bottom", 15, 23), ("leading", 0, 11), ("trailing", 30, 11), ("top-leading", 0, 0),
        ("top-trailing", 30, 0), ("bottom-leading", 0, 23), ("bottom-trailing", 30, 23),
    ])
    func `it sits at its anchor, moved inwards by its offset`(anchor: String, x: Int, y: Int) throws {
        let base = try TestPicture.solid([0, 0, 0], width: 40, height: 30)
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([255, 255, 255], width: 10, height: 7)])
        let plain = try render("overlay: { image: a.png, anchor: \(anchor) }", base, assets: assets).pixels
        #expect(plain.boundingBox { $0 == [255, 255, 255] } == [x, y, 10, 7])
        let moved = try render("overlay: { image: a.png, anchor: \(anchor), offset: { x: 2, y: 10% } }", base, assets: assets).pixels
        let dx = anchor.hasSuffix("trailing") ? -2 : 2
        let dy = anchor.hasPrefix("bottom") ? -3 : 3
        #expect(moved.boundingBox { $0 == [255, 255, 255] } == [x + dx, y + dy, 10, 7])
    }

    @Test(arguments: [
        ("width: 20", 20, 14), ("height: 14", 20, 14), ("width: 20, height: 5", 7, 5), ("width: 50%", 20, 14), ("height: 10%", 4, 3),
        ("width: 5, height: 100%", 5, 4),
    ])
    func `it has the size that was asked for`(parameters: String, width: Int, height: Int) throws {
        let base = try TestPicture.solid([0, 0, 0], width: 40, height: 30)
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([255, 255, 255], width: 10, height: 7)])
        let result = try render("overlay: { image: a.png, anchor: top-left, \(parameters) }", base, assets: assets).pixels
        #expect(result.boundingBox { $0 == [255, 255, 255] } == [0, 0, width, height])
    }

    @Test func `without a size it is drawn at its natural size times the scale`() throws {
        let base = try TestPicture.solid([0, 0, 0], width: 80, height: 60)
        for (pixelsPerPoint, scale, box) in [
            (1, 2, [0, 0, 20, 14]), (2, 1, [0, 0, 5, 4]), (2, 2, [0, 0, 10, 7]), (1, 3, [0, 0, 30, 21]),
        ] {
            var assets = TestAssets(images: ["a.png": try TestPicture.solid([255, 255, 255], width: 10, height: 7)])
            assets.pixelsPerPoint = pixelsPerPoint
            let result = try render("overlay: { image: a.png, anchor: top-left }", base, scale: scale, assets: assets).pixels
            #expect(result.boundingBox { $0 == [255, 255, 255] } == box, "@\(pixelsPerPoint)x at scale \(scale)")
        }
    }

    @Test(arguments: PictureKind.all, [[-4, 0], [0, -5], [-4, -5], [18, 14], [-11, 0], [0, -9], [23, 0], [-300, -300], [500, 3]])
    func `partly or wholly outside, only what is inside is drawn`(kind: PictureKind, place: [Int]) throws {
        let base = try TestPicture.coded(width: 23, height: 19, kind: kind)
        let overlay = try badge(11, 9)
        let stage = "overlay: { image: a.png, anchor: top-left, offset: { x: \(place[0]), y: \(place[1]) }"
        for mode in ["over", "multiply", "dest-in"] {
            let result = try render("\(stage), blend: \(mode) }", base, assets: TestAssets(images: ["a.png": overlay])).pixels
            let expected = try reference(PixelGrid(base), PixelGrid(overlay), x: place[0], y: place[1], mode, alpha: 1, bands: result.bands)
            let worst = difference(result, expected) * 255 / Double(kind.maximum)
            #expect(worst <= 1.01, "\(mode): off by \(worst) of 255")
        }
    }

    @Test func `larger than the base, it is cut`() throws {
        let base = try TestPicture.solid([0, 0, 0], width: 10, height: 10)
        let overlay = try TestPicture.coded(width: 31, height: 20)
        let result = try render("overlay: { image: a.png }", base, assets: TestAssets(images: ["a.png": overlay])).pixels
        #expect(try result == PixelGrid(overlay).part(left: 11, top: 5, width: 10, height: 10))
    }

    @Test func `white on sixteen bits is full white`() throws {
        for kind in PictureKind.all where kind.isDeep {
            let base = try TestPicture.coded(width: 10, height: 10, kind: kind)
            for values: [UInt8] in [[255, 255, 255], [255], [255, 255, 255, 255]] {
                let assets = TestAssets(images: ["a.png": try TestPicture.solid(values, width: 4, height: 4)])
                let result = try render("overlay: { image: a.png, anchor: top-left }", base, assets: assets).pixels
                #expect(result[1, 1] == Array(repeating: 65_535, count: result.bands), "\(values) on \(kind)")
            }
        }
    }

    @Test func `a deep base keeps its fine steps beside and below the overlay`() throws {
        let kind = PictureKind(isDeep: true)
        let base = try TestPicture.make(width: 300, height: 4, kind: kind) { x, _ in [10_000 + x, 20_000 + x, 30_000 + x] }
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([0, 0, 0, 128], width: 300, height: 2)])
        let result = try render("overlay: { image: a.png, anchor: top }", base, assets: assets).pixels
        #expect(result.part(left: 0, top: 2, width: 300, height: 2) == (try PixelGrid(base).part(left: 0, top: 2, width: 300, height: 2)))
        #expect(Set((0..<300).map { result[$0, 0, 0] }).count > 100)
    }

    @Test(arguments: ["saturate", "colour-dodge", "colour-burn", "soft-light"])
    func `the other blend modes give a picture that follows the plan`(mode: String) throws {
        let assets = TestAssets(images: ["a.png": try badge(11, 9)])
        for kind in PictureKind.all {
            let base = try TestPicture.coded(width: 23, height: 19, kind: kind)
            let result = try render("overlay: { image: a.png, anchor: top-left, blend: \(mode) }", base, assets: assets).pixels
            if !kind.isGrey {
                let original = try PixelGrid(base).part(left: 11, top: 9, width: 12, height: 10)
                #expect((result.part(left: 11, top: 9, width: 12, height: 10).largestDifference(to: original) ?? 999) <= kind.maximum / 255)
            }
        }
    }
}
