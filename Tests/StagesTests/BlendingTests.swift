// All blend modes against a reference in floating point.
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct BlendingTests {
    private static let modes = BlendMode.allCases.map(\.rawValue)

    @Test func `there are 29 modes`() { #expect(Self.modes.count == 29) }

    @Test(arguments: modes, PictureKind.all)
    func `a blend mode does what its formula says`(mode: String, kind: PictureKind) throws {
        // White and black below too, where a mode divides.
        let base = try BlendReference.badge(23, 19, kind)
        var wrong: [String] = []
        // Every mode with every kind, and every pair of kinds with a sixth of the modes.
        let turn = try #require(Self.modes.firstIndex(of: mode)) + #require(PictureKind.all.firstIndex(of: kind))
        for (index, asset) in PictureKind.all.enumerated() where (index + turn) % 6 == 0 {
            let overlay = try TestPicture.coded(width: 11, height: 9, kind: asset)
            let extremes = try BlendReference.badge(11, 9, asset)
            for (drawn, alpha) in [(overlay, 1), (extremes, 1), (extremes, 0.4)] {
                let assets = TestAssets(images: ["a.png": drawn])
                let result = try render(
                    "overlay: { image: a.png, blend: \(mode), alpha: \(alpha) }", base, assets: assets
                ).pixels
                let expected = try BlendReference(mode: mode, alpha: alpha).drawing(
                    PixelGrid(drawn), x: 6, y: 5, onto: PixelGrid(base), bands: result.bands)
                let worst = BlendReference.difference(result, expected)
                if worst > BlendReference.tolerance(kind) {
                    wrong.append("\(asset) with alpha \(alpha): off by \(worst) of \(kind.maximum)")
                }
            }
        }
        #expect(wrong == [])
    }

    @Test(arguments: modes, PictureKind.all)
    func `layers of one depth blend as finely as they are`(mode: String, kind: PictureKind) throws {
        let picture = try TestPicture.make(width: 30, height: 20, kind: kind) { x, y in
            let values = [x * 2179 + y * 13, y * 3400 + x * 7, 65_535 - x * 1201 - y * 911]
            return
                ((kind.isGrey ? [values[0]] : values) + (kind.hasAlpha ? [65_535 - (x * 83 + y * 2003) % 60_000] : []))
                .map { kind.isDeep ? $0 : $0 >> 8 }
        }
        let stage =
            "composite: { layers: [ { source: true }, { source: true, stages: [ { rotate: { angle: 180 } } ], alpha: 0.7, blend: \(mode) } ] }"
        let result = try render(stage, picture).pixels
        let turned = try PixelGrid(picture.rot(.d180))
        let expected = try BlendReference(mode: mode, alpha: 0.7).drawing(
            turned, x: 0, y: 0, onto: PixelGrid(picture), bands: result.bands)
        #expect(BlendReference.difference(result, expected) <= BlendReference.tolerance(kind))
    }
}
