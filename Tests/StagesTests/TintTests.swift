import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct TintTests {
    @Test(arguments: PictureKind.all)
    func `the shape is drawn in one colour`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 20, height: 15, kind: kind)
        let original = try PixelGrid(picture)
        let factor = kind.maximum / 255
        for (color, values, alpha) in [
            ("'#0a84ff'", [0x0A, 0x84, 0xFF], 255), ("'#0a84ff80'", [0x0A, 0x84, 0xFF], 0x80),
        ] {
            let result = try render("tint: { color: \(color) }", picture).pixels
            #expect(result.bands == (kind.hasAlpha || alpha < 255 ? 4 : 3))
            var worst = 0.0
            for y in 0..<15 {
                for x in 0..<20 {
                    #expect(Array(result[x, y].prefix(3)) == values.map { $0 * factor })
                    guard result.bands == 4 else { continue }
                    let exact =
                        Double(kind.hasAlpha ? original[x, y, kind.colours] : kind.maximum) * Double(alpha) / 255
                    worst = max(worst, abs(Double(result[x, y, 3]) - exact))
                }
            }
            #expect(worst <= 0.5 + 1e-6, "alpha off by \(worst)")
        }
    }

    @Test func `a picture without transparency has no shape, which is warned of`() throws {
        func warnings(_ picture: Image) throws -> [String] {
            try render("tint: { color: red }", picture).step.plan.warnings.map { "\($0.code.rawValue): \($0.message)" }
        }
        #expect(
            try warnings(TestPicture.solid([1, 2, 3], width: 4, height: 3)) == [
                "tint-without-shape: 'tint' fills all of the picture with one color, because the picture has no transparency"
            ])
        #expect(try warnings(TestPicture.solid([1, 2, 3, 4], width: 4, height: 3)) == [])
    }

    @Test func `a grey on grey stays grey`() throws {
        let picture = try TestPicture.make(width: 2, height: 1, bands: 2) { x, _ in
            [UInt8(x * 200), UInt8(100 + x * 100)]
        }
        let result = try render("tint: { color: '#555' }", picture).pixels
        #expect(result.values == [0x55, 100, 0x55, 200])
    }
}
