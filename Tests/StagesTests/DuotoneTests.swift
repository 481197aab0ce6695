import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct DuotoneTests {
    private func light(_ value: Double) -> Double {
        value > 0.04045 ? pow((value + 0.055) / 1.055, 2.4) : value / 12.92
    }
    private func encode(_ light: Double) -> Double {
        light > 0.0031308 ? 1.055 * pow(light, 1 / 2.4) - 0.055 : 12.92 * light
    }

    @Test(arguments: PictureKind.all)
    func `each pixel is as far between the two colors as it is light`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 41, height: 29, kind: kind)
        let original = try PixelGrid(picture)
        let result = try render("duotone: { dark: '#1b2a6b', light: '#ffe9c9' }", picture).pixels
        #expect(result.bands == (kind.hasAlpha ? 4 : 3))
        let (dark, light, full) = ([27.0, 42, 107], [255.0, 233, 201], Double(kind.maximum))
        var worst = 0.0
        for y in 0..<29 {
            for x in 0..<41 {
                let own = (0..<3).map { Double(original[x, y, kind.isGrey ? 0 : $0]) / full }.map(self.light)
                // The weights of BT.709, and so of `grayscale`.
                let gray = encode(0.2126 * own[0] + 0.7152 * own[1] + 0.0722 * own[2])
                for band in 0..<3 {
                    let expected = (dark[band] + (light[band] - dark[band]) * gray) / 255
                    worst = max(worst, abs(Double(result[x, y, band]) / full - expected))
                }
                if kind.hasAlpha { #expect(result[x, y, 3] == original[x, y, kind.colours]) }
            }
        }
        // A gray of 8 bits is rounded before the colors are mixed, and they once more.
        let bound = kind.isDeep ? 0.1 : 1.0
        #expect(worst <= bound / 255, "\(worst * 255) of 255")
    }

    @Test func `between two grays a gray picture stays gray`() throws {
        let picture = try TestPicture.make(width: 256, height: 1, bands: 1) { x, _ in [UInt8(x)] }
        let result = try render("duotone: { dark: white, light: black }", picture).pixels
        #expect(result.bands == 1)
        #expect(result.values == (0...255).reversed())
    }
}
