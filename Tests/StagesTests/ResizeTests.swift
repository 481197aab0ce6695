import Kernels
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct ResizeTests {
    @Test(arguments: ["lanczos3", "nearest"])
    func `every width from 1 to 40 becomes every width from 1 to 40`(kernel: String) throws {
        var wrong: [String] = []
        for old in 1...40 {
            let wide = try TestPicture.solid([90], width: old, height: 2)
            let tall = try TestPicture.solid([90], width: 2, height: old)
            for new in 1...40 {
                let (stretched, grown) = try (scaled(wide, new, 2, kernel), scaled(tall, 2, new, kernel))
                if stretched.width != new || stretched.height != 2 {
                    wrong.append("\(old)×2 to \(new)×2: \(stretched.width)×\(stretched.height)")
                }
                if grown.width != 2 || grown.height != new {
                    wrong.append("2×\(old) to 2×\(new): \(grown.width)×\(grown.height)")
                }
                if try Set(stretched.pixels() + grown.pixels()) != [90] {
                    wrong.append("\(old) to \(new): the colour changed")
                }
            }
        }
        #expect(wrong == [])
    }

    private func scaled(_ image: Image, _ width: Int, _ height: Int, _ kernel: String) throws -> Image {
        try image.scaled(to: PixelSize(width, height), kernel: #require(ScalingKernel(rawValue: kernel)))
    }

    @Test(arguments: [(4000, 1), (3999, 2), (1, 3000), (2, 4001), (2731, 1000), (1000, 2731), (65, 64), (4096, 4095)])
    func `large ratios give exact sizes too`(old: Int, new: Int) throws {
        let picture = try TestPicture.solid([10, 20, 30], width: old, height: 3)
        let result = try render("resize: { size: \(new)x3! }", picture).pixels
        #expect(result.values.enumerated().allSatisfy { $1 == [10, 20, 30][$0 % 3] })
    }

    @Test(arguments: [
        ("size: 50x50", 50, 25), ("size: 50x", 50, 25), ("size: x10", 20, 10), ("size: 50", 50, 25),
        ("size: 50%", 40, 20),
        ("size: '200x200>'", 80, 40), ("size: '200x200<'", 200, 100), ("size: '20x20>'", 20, 10),
        ("size: '20x20<'", 80, 40),
        ("size: 30x30!", 30, 30), ("size: 30x30^", 60, 30), ("width: 33", 33, 17), ("height: 7", 14, 7),
        ("width: 25%", 20, 10),
        ("width: 30, height: 30", 30, 15), ("width: 30, height: 30, mode: aspect-fill", 60, 30),
        ("width: 30, height: 31, mode: scale-to-fill", 30, 31), ("width: 100, enlarge: false", 80, 40),
        ("width: 30, height: 90, mode: scale-to-fill, enlarge: false", 30, 40),
        ("width: 90, height: 30, mode: scale-to-fill, enlarge: false", 80, 30),
        ("width: 90, height: 90, mode: scale-to-fill, enlarge: false", 80, 40),
    ])
    func `a way to write a size gives that size`(parameters: String, width: Int, height: Int) throws {
        let result = try render("resize: { \(parameters) }", TestPicture.solid([1, 2, 3], width: 80, height: 40)).pixels
        #expect(result.sides == [width, height])
    }

    @Test(arguments: ["lanczos3", "lanczos2", "mitchell", "cubic", "linear"], [false, true])
    func `white beside transparent black stays white`(kernel: String, linear: Bool) throws {
        for kind in PictureKind.all where kind.hasAlpha {
            let full = kind.maximum
            let white = Array(repeating: full, count: kind.bands)
            let picture = try TestPicture.make(width: 60, height: 60, kind: kind) { x, y in
                (x / 7 + y / 9) % 2 == 0 ? white : Array(repeating: 0, count: kind.bands)
            }
            for size in ["23x17!", "41x59!", "77x60!", "200x131!"] {
                let result = try render("resize: { size: \(size), kernel: \(kernel), linear: \(linear) }", picture)
                    .pixels
                let alpha = result.alpha
                let visible = alpha.indices.filter { alpha[$0] > 0 }
                let darkest = visible.map { result.values[$0 * kind.bands] }.min() ?? 0
                #expect(darkest >= full - full / 255, "\(kind) to \(size): \(darkest)")
                #expect(visible.count > result.width * result.height / 4)
            }
        }
    }

    @Test(arguments: ["lanczos3", "lanczos2", "mitchell", "cubic", "linear", "nearest"])
    func `one color beside transparency stays that color`(kernel: String) throws {
        for kind in PictureKind.all where kind.hasAlpha {
            let factor = kind.maximum / 255
            let picture = try TestPicture.make(width: 60, height: 60, kind: kind) { x, y in
                let isSeen = (x / 7 + y / 9) % 2 == 0
                return (Array(repeating: isSeen ? 128 : 255, count: kind.colours) + [isSeen ? 255 : 0]).map {
                    $0 * factor
                }
            }
            for size in ["23x17!", "41x59!", "77x60!", "200x131!"] {
                let result = try render("resize: { size: \(size), kernel: \(kernel) }", picture).pixels
                let alpha = result.alpha
                let visible = alpha.indices.filter { alpha[$0] > 0 }
                let worst = visible.map { abs(result.values[$0 * kind.bands] - 128 * factor) }.max() ?? .max
                #expect(worst <= 1, "\(kind) to \(size): off by \(worst)")
            }
        }
    }

    @Test(arguments: PictureKind.all)
    func `stripes of black and white average to the grey of half the light`(kind: PictureKind) throws {
        let full = kind.maximum
        let picture = try TestPicture.make(width: 64, height: 64, kind: kind) { x, _ in
            Array(repeating: x % 2 == 0 ? 0 : full, count: kind.colours) + (kind.hasAlpha ? [full] : [])
        }
        for (linear, expected) in [(true, 187.5), (false, 127.5)] {
            let result = try render("resize: { size: 16x16!, kernel: linear, linear: \(linear) }", picture).pixels
            let middle = result[8, 8].prefix(kind.colours).map { Double($0) * 255 / Double(full) }
            #expect(middle.allSatisfy { abs($0 - expected) <= 1.5 }, "linear: \(linear) gave \(middle)")
            if kind.hasAlpha { #expect(result[8, 8, kind.colours] == full) }
        }
    }

    @Test(arguments: PictureKind.all)
    func `work in linear light keeps flat colours`(kind: PictureKind) throws {
        let factor = kind.maximum / 255
        for level in [0, 1, 2, 50, 128, 200, 254, 255] {
            let colour = (kind.isGrey ? [level] : [level, 255 - level, 77]) + (kind.hasAlpha ? [200] : [])
            let picture = try TestPicture.make(width: 20, height: 20, kind: kind) { _, _ in colour.map { $0 * factor } }
            let result = try render("resize: { size: 7x9!, linear: true }", picture).pixels
            let worst = zip(result[3, 4], colour).map { abs($0 - $1 * factor) }.max() ?? 0
            #expect(worst <= (kind.isDeep ? 64 : 0), "level \(level): \(result[3, 4]) of \(colour.map { $0 * factor })")
        }
    }

    @Test(arguments: PictureKind.all)
    func `nearest makes no new values`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 12, height: 9, kind: kind)
        let original = try PixelGrid(picture)
        let known = Set((0..<108).map { original[$0 % 12, $0 / 12] })
        for size in ["24x18!", "36x27!", "7x5!", "13x10!", "120x9!"] {
            let result = try render("resize: { size: \(size), kernel: nearest }", picture).pixels
            let found = Set((0..<result.width * result.height).map { result[$0 % result.width, $0 / result.width] })
            #expect(found.isSubset(of: known), "to \(size)")
        }
        let doubled = try render("resize: { size: 24x18!, kernel: nearest }", picture).pixels
        let places = (0..<24 * 18).map { ($0 % 24, $0 / 24) }
        #expect(places.allSatisfy { doubled[$0, $1] == original[$0 / 2, $1 / 2] }, "twice the size repeats each pixel")
    }

    @Test(arguments: PictureKind.all)
    func `nearest takes the pixel below the middle of each new one`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 11, height: 7, kind: kind)
        let original = try PixelGrid(picture)
        for (width, height) in [(25, 17), (13, 8), (4, 3), (33, 7), (11, 20), (1, 1), (8, 5), (100, 64)] {
            let result = try render("resize: { size: \(width)x\(height)!, kernel: nearest }", picture).pixels
            let wrong = (0..<width * height).filter { place in
                let (x, y) = (place % width, place / width)
                return result[x, y] != original[(2 * x + 1) * 11 / (2 * width), (2 * y + 1) * 7 / (2 * height)]
            }
            #expect(wrong.isEmpty, "to \(width)×\(height): \(wrong.count) of \(width * height)")
        }
    }

    @Test func `sixteen bits keep more steps than eight have`() throws {
        let kind = PictureKind(isDeep: true)
        let picture = try TestPicture.make(width: 600, height: 4, kind: kind) { x, _ in
            [20_000 + x, 30_000 + x, 40_000 + x]
        }
        let result = try render("resize: { size: 300x4! }", picture).pixels
        let values = Set((10..<290).map { result[$0, 2, 0] })
        #expect(values.count > 270)
        #expect(result[150, 2].map { ($0 + 50) / 100 } == [203, 303, 403])
    }

    @Test func `a ramp stays in place`() throws {
        let picture = try TestPicture.make(width: 200, height: 50, bands: 1) { x, _ in [UInt8(x)] }
        for width in [400, 100, 50, 67] {
            let result = try render("resize: { size: \(width)x50! }", picture).pixels
            let ratio = 200 / Double(width)
            let errors = (width / 10..<width * 9 / 10).map {
                abs(Double(result[$0, 25, 0]) - ((Double($0) + 0.5) * ratio - 0.5))
            }
            #expect((errors.max() ?? 9) <= 1, "to \(width): \(errors.max() ?? 0)")
        }
    }
}
