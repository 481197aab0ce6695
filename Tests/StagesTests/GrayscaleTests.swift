import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct GrayscaleTests {
    /// libvips' luminance, back on sRGB's curve. Its weights were its own before it took BT.709's.
    private func luminance(_ colour: [Int], maximum: Int) -> Double {
        let light = colour.map { value -> Double in
            let v = Double(value) / Double(maximum)
            return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        }
        let hasStandardWeights = !(VipsLibrary.version.hasPrefix("8.14.") || VipsLibrary.version.hasPrefix("8.15."))
        let weights = hasStandardWeights ? [0.2126, 0.7152, 0.0722] : [0.2, 0.7, 0.1]
        let y = zip(weights, light).reduce(0) { $0 + $1.0 * $1.1 }
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
                abs(Double(result[x, 0, 0]) - expected) <= 2 * Double(factor),
                "\(colour): \(result[x, 0, 0]) instead of \(expected)")
            if kind.hasAlpha { #expect(result[x, 0, 1] == x * 30 * factor) }
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
        #expect(worst <= (kind.isGrey ? 0 : factor), "\(worst) of \(kind.maximum)")
    }
}
