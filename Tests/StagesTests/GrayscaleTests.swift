import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct GrayscaleTests {
    /// The luminance of BT.709, back on sRGB's curve.
    private func luminance(_ colour: [Int], maximum: Int) -> Double {
        let light = colour.map { value -> Double in
            let v = Double(value) / Double(maximum)
            return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        }
        let y = zip([0.2126, 0.7152, 0.0722], light).reduce(0) { $0 + $1.0 * $1.1 }
        return (y <= 0.0031308 ? y * 12.92 : 1.055 * pow(y, 1 / 2.4) - 0.055) * Double(maximum)
    }

    @Test(arguments: PictureKind.all.filter { !$0.isGrey })
    func `a colour becomes the grey of its luminance`(kind: PictureKind) throws {
        let colours = [
            [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0], [128, 128, 128], [200, 100, 50],
            [10, 20, 30],
        ]
        let factor = kind.maximum / 255
        let picture = try TestPicture.make(width: 8, height: 1, kind: kind) { x, _ in
            (colours[x] + (kind.hasAlpha ? [x * 30] : [])).map { $0 * factor }
        }
        let result = try render("grayscale", picture).pixels
        for (x, colour) in colours.enumerated() {
            let expected = luminance(colour.map { $0 * factor }, maximum: kind.maximum)
            #expect(
                abs(Double(result[x, 0, 0]) - expected) <= (kind.isDeep ? 10 : 0.6),
                "\(colour): \(result[x, 0, 0]) instead of \(expected)")
            if kind.hasAlpha { #expect(result[x, 0, 1] == x * 30 * factor) }
        }
    }

    @Test func `all that is made of lightness has the same`() throws {
        let picture = try TestPicture.coded(width: 40, height: 30)
        let gray = try render("grayscale", picture).pixels
        let unsaturated = try render("adjust: { saturation: 0 }", picture).pixels
        let duotone = try render("duotone: { dark: black, light: white }", picture).pixels
        let white = try TestPicture.solid([255, 255, 255], width: 40, height: 30)
        let mask = try render("mask: { image: m.png }", white, assets: TestAssets(images: ["m.png": picture])).pixels
        for y in 0..<30 {
            for x in 0..<40 {
                #expect(unsaturated[x, y] == Array(repeating: gray[x, y, 0], count: 3))
                #expect(duotone[x, y].allSatisfy { $0 == gray[x, y, 0] })
                #expect(mask[x, y].last == gray[x, y, 0])
            }
        }
    }

    @Test(arguments: PictureKind.all)
    func `greys stay what they are`(kind: PictureKind) throws {
        let factor = kind.maximum / 255
        let picture = try TestPicture.make(width: 256, height: 1, kind: kind) { x, _ in
            Array(repeating: x * factor, count: kind.bands)
        }
        let result = try render("grayscale", picture).pixels
        let worst = (0..<256).map { abs(result[$0, 0, 0] - $0 * factor) }.max() ?? 0
        #expect(worst <= (kind.isGrey || !kind.isDeep ? 0 : 10), "\(worst) of \(kind.maximum)")
    }
}
