import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct ShadowTests {
    /// The part of a Gaussian of pixels that is on some of them.
    private func share(_ pixels: Range<Int>, _ sigma: Double) -> Double {
        func sum(_ pixels: Range<Int>) -> Double {
            pixels.reduce(0) { $0 + exp(-Double($1 * $1) / (2 * sigma * sigma)) }
        }
        return sum(pixels) / sum(-300..<301)
    }

    /// The shadow of a rectangle as a sum of a Gaussian over it, in floating point.
    @Test(arguments: [2.0, 9, 16, 24, 40, 90], PictureKind.all)
    func `the shadow of a rectangle is the sum of a Gaussian`(blur: Double, kind: PictureKind) throws {
        let (width, height, right, down) = (70, 50, 7, -12)
        let values = (0..<kind.colours).map { _ in kind.maximum / 2 } + (kind.hasAlpha ? [kind.maximum] : [])
        let picture = try TestPicture.make(
            PixelGrid(
                width: width, height: height, bands: kind.bands, maximum: kind.maximum,
                values: (0..<width * height).flatMap { _ in values }))
        let result = try render(
            "shadow: { blur: \(blur), offset: { x: \(right), y: \(down) }, color: '#000000c0' }", picture
        ).pixels
        let sigma = blur / 2
        let reach = Int((3 * sigma).rounded(.up))
        let (left, top) = (max(0, reach - right), max(0, reach - down))
        #expect(result.width == width + left + max(0, reach + right))
        #expect(result.height == height + top + max(0, reach + down))
        let full = Double(kind.maximum)
        let across = (0..<result.width).map { share(left + right - $0..<left + right - $0 + width, sigma) }
        let below = (0..<result.height).map { share(top + down - $0..<top + down - $0 + height, sigma) }
        var (worst, covers) = (0.0, true)
        for y in 0..<result.height {
            for x in 0..<result.width {
                let alpha = Double(result[x, y, kind.colours]) / full
                let isOnPicture = (left..<left + width).contains(x) && (top..<top + height).contains(y)
                if isOnPicture {
                    covers = covers && alpha == 1
                    continue
                }
                worst = max(worst, abs(alpha - across[x] * below[y] * 192 / 255))
                if alpha > 0.01 { covers = covers && result[x, y, 0] == 0 }
            }
        }
        #expect(covers, "the picture is opaque, and its shadow is black")
        #expect(worst <= 1 / 255, "\(worst * 255) of 255")
    }

    @Test(arguments: [false, true])
    func `it has the shape of what is seen, and is below it`(isDeep: Bool) throws {
        // A round hole of half transparency.
        let kind = PictureKind(hasAlpha: true, isDeep: isDeep)
        let top = kind.maximum
        let size = 40
        var values: [Int] = []
        for y in 0..<size {
            for x in 0..<size {
                let isHole = hypot(Double(x) - 20, Double(y) - 20) < 9
                values += [top, top / 4, 0, isHole ? top / 2 : top]
            }
        }
        let picture = try TestPicture.make(PixelGrid(width: size, height: size, bands: 4, maximum: top, values: values))
        let result = try render("shadow: { blur: 0, offset: { x: 5 }, color: '#0000ff80' }", picture).pixels
        #expect(result.width == size + 5 && result.height == size)
        let full = Double(top)
        var worst = 0.0
        for y in 0..<size {
            for x in 0..<size + 5 {
                let own = x < size ? Double(values[(y * size + x) * 4 + 3]) / full : 0
                let shadow = x >= 5 ? Double(values[(y * size + x - 5) * 4 + 3]) / full * 128 / 255 : 0
                let alpha = own + shadow * (1 - own)
                worst = max(worst, abs(Double(result[x, y, 3]) / full - alpha))
                guard alpha > 0 else { continue }
                worst = max(worst, abs(Double(result[x, y, 0]) / full - own / alpha))
                worst = max(worst, abs(Double(result[x, y, 2]) / full - shadow * (1 - own) / alpha))
            }
        }
        #expect(worst <= 1 / 255, "\(worst * 255) of 255")
    }

    @Test func `gray stays gray while the shadow is gray`() throws {
        let picture = try TestPicture.coded(width: 20, height: 20, kind: PictureKind(isGrey: true))
        #expect(try render("shadow: { blur: 2 }", picture).pixels.bands == 2)
        #expect(try render("shadow: { blur: 2, color: red }", picture).pixels.bands == 4)
    }

    @Test func `lengths are points of the picture, or shares of its shorter side`() throws {
        let picture = try TestPicture.coded(width: 50, height: 40)
        let doubled = try render("shadow: { blur: 4, offset: { y: 2 } }", picture, pixelsPerPoint: 2).pixels
        #expect(doubled == (try render("shadow: { blur: 20%, offset: { y: 10% } }", picture).pixels))
    }

    @Test func `only a picture with alpha is held`() throws {
        let opaque = try TestPicture.coded(width: 90, height: 90)
        let clear = try TestPicture.coded(width: 90, height: 90, kind: PictureKind(hasAlpha: true))
        #expect(try steps("shadow: { blur: 4 }", for: [opaque])[0].plan.intermediates.isEmpty)
        let held = try steps("shadow: { blur: 4 }", for: [clear])[0].plan.intermediates
        #expect(held.map(\.size) == [PixelSize(90, 90)] && held.allSatisfy(\.hasAlpha))
    }
}
