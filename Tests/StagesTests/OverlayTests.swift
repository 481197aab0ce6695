import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct OverlayTests {
    @Test(arguments: PictureKind.all)
    func `outside the overlay nothing changes`(kind: PictureKind) throws {
        let base = try TestPicture.coded(width: 40, height: 30, kind: kind)
        let original = try PixelGrid(base)
        let assets = TestAssets(images: [
            "a.png": try BlendReference.badge(8, 8, PictureKind(isGrey: true, hasAlpha: true))
        ])
        let result = try render("overlay: { image: a.png, anchor: top-leading }", base, assets: assets).pixels
        let rest = result.part(left: 8, top: 0, width: 32, height: 30)
        #expect(rest == original.part(left: 8, top: 0, width: 32, height: 30))
    }

    @Test(arguments: [
        ("center", 15, 11), ("top", 15, 0), ("bottom", 15, 23), ("leading", 0, 11), ("trailing", 30, 11),
        ("top-leading", 0, 0),
        ("top-trailing", 30, 0), ("bottom-leading", 0, 23), ("bottom-trailing", 30, 23),
    ])
    func `it sits at its anchor, moved inwards by its offset`(anchor: String, x: Int, y: Int) throws {
        let base = try TestPicture.solid([0, 0, 0], width: 40, height: 30)
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([255, 255, 255], width: 10, height: 7)])
        let plain = try render("overlay: { image: a.png, anchor: \(anchor) }", base, assets: assets).pixels
        #expect(plain.boundingBox { $0 == [255, 255, 255] } == [x, y, 10, 7])
        let moved = try render(
            "overlay: { image: a.png, anchor: \(anchor), offset: { x: 2, y: 10% } }", base, assets: assets
        ).pixels
        let dx = anchor.hasSuffix("trailing") ? -2 : 2
        let dy = anchor.hasPrefix("bottom") ? -3 : 3
        #expect(moved.boundingBox { $0 == [255, 255, 255] } == [x + dx, y + dy, 10, 7])
    }

    @Test(arguments: [
        ("width: 20", 20, 14), ("height: 14", 20, 14), ("width: 20, height: 5", 7, 5), ("width: 50%", 20, 14),
        ("height: 10%", 4, 3),
        ("width: 5, height: 100%", 5, 4),
    ])
    func `it has the size that was asked for`(parameters: String, width: Int, height: Int) throws {
        let base = try TestPicture.solid([0, 0, 0], width: 40, height: 30)
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([255, 255, 255], width: 10, height: 7)])
        let result = try render("overlay: { image: a.png, anchor: top-left, \(parameters) }", base, assets: assets)
            .pixels
        #expect(result.boundingBox { $0 == [255, 255, 255] } == [0, 0, width, height])
    }

    @Test func `without a size it is drawn as many points large as it is`() throws {
        let base = try TestPicture.solid([0, 0, 0], width: 80, height: 60)
        for (pixelsPerPoint, ofBase, box) in [
            (1, 2, [0, 0, 20, 14]), (2, 1, [0, 0, 5, 4]), (2, 2, [0, 0, 10, 7]), (1, 3, [0, 0, 30, 21]),
        ] {
            var assets = TestAssets(images: ["a.png": try TestPicture.solid([255, 255, 255], width: 10, height: 7)])
            assets.pixelsPerPoint = pixelsPerPoint
            let stage = "overlay: { image: a.png, anchor: top-left }"
            let result = try render(stage, base, pixelsPerPoint: ofBase, assets: assets).pixels
            #expect(result.boundingBox { $0 == [255, 255, 255] } == box, "@\(pixelsPerPoint)x on @\(ofBase)x")
        }
    }

    @Test(
        arguments: PictureKind.all,
        [[-4, 0], [0, -5], [-4, -5], [18, 14], [-11, 0], [0, -9], [23, 0], [-300, -300], [500, 3]])
    func `partly or wholly outside, only what is inside is drawn`(kind: PictureKind, place: [Int]) throws {
        let base = try TestPicture.coded(width: 23, height: 19, kind: kind)
        let overlay = try BlendReference.badge(11, 9)
        let stage = "overlay: { image: a.png, anchor: top-left, offset: { x: \(place[0]), y: \(place[1]) }"
        for mode in ["over", "multiply", "dest-in"] {
            let result = try render("\(stage), blend: \(mode) }", base, assets: TestAssets(images: ["a.png": overlay]))
                .pixels
            let expected = try BlendReference(mode: mode).drawing(
                PixelGrid(overlay), x: place[0], y: place[1], onto: PixelGrid(base), bands: result.bands)
            let worst = BlendReference.difference(result, expected)
            #expect(worst <= BlendReference.tolerance(kind), "\(mode): off by \(worst) of \(kind.maximum)")
        }
    }

    @Test func `larger than the base, it is cut`() throws {
        let base = try TestPicture.solid([0, 0, 0], width: 10, height: 10)
        let overlay = try TestPicture.coded(width: 31, height: 20)
        let result = try render("overlay: { image: a.png }", base, assets: TestAssets(images: ["a.png": overlay]))
            .pixels
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
        let base = try TestPicture.make(width: 300, height: 4, kind: kind) { x, _ in
            [10_000 + x, 20_000 + x, 30_000 + x]
        }
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([0, 0, 0, 128], width: 300, height: 2)])
        let result = try render("overlay: { image: a.png, anchor: top }", base, assets: assets).pixels
        #expect(
            result.part(left: 0, top: 2, width: 300, height: 2)
                == (try PixelGrid(base).part(left: 0, top: 2, width: 300, height: 2)))
        #expect(Set((0..<300).map { result[$0, 0, 0] }).count > 100)
    }
}
