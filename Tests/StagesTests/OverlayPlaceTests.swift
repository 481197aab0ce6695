import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct OverlayPlaceTests {
    private static func assets() throws -> TestAssets {
        TestAssets(images: ["bar": try TestPicture.solid([255, 0, 0], width: 40, height: 20)])
    }

    /// Where a bar of 40×20 ends up on a picture of 100×100.
    @Test(arguments: [
        // It covers nothing, touching is not covering, and spacing alone moves nothing.
        ("anchor: bottom, avoid: { x: 0, y: 0, width: 100, height: 80 }", "40×20 at (30, 80)"),
        ("anchor: bottom, avoid: { x: 0, y: 0, width: 100, height: 80 }, spacing: 16", "40×20 at (30, 80)"),
        // Pushed by exactly the overlap, and the spacing: up is shortest.
        ("anchor: bottom, avoid: { x: 0, y: 90, width: 100, height: 10 }", "40×20 at (30, 70)"),
        ("anchor: bottom, avoid: { x: 0, y: 90, width: 100, height: 10 }, spacing: 16", "40×20 at (30, 54)"),
        ("anchor: top, avoid: { x: 0, y: 0, width: 100, height: 5 }, spacing: 3", "40×20 at (30, 8)"),
        ("anchor: leading, avoid: { x: 0, y: 0, width: 7, height: 100 }, spacing: 2", "40×20 at (9, 40)"),
        ("anchor: trailing, avoid: { x: 95, y: 0, width: 5, height: 100 }, spacing: 1", "40×20 at (54, 40)"),
        // The shortest way leaves the picture, so the next one is taken.
        ("anchor: bottom, avoid: { x: 30, y: 60, width: 40, height: 40 }, spacing: 10", "40×20 at (30, 30)"),
        ("anchor: top, avoid: { x: 25, y: 0, width: 50, height: 19 }", "40×20 at (30, 19)"),
        ("anchor: top-leading, avoid: { x: 30, y: 0, width: 70, height: 20 }", "40×20 at (0, 20)"),
        // If two ways have one length, the first is taken: up before down.
        ("anchor: center, avoid: { x: 0, y: 40, width: 100, height: 20 }", "40×20 at (30, 20)"),
        ("anchor: bottom, avoid: { x: 0%, y: 90%, width: 100%, height: 10% }, spacing: 5%", "40×20 at (30, 65)"),
    ])
    func `an overlay is pushed off a rectangle the shortest way inside`(parameters: String, box: String) throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 100, height: 100)
        let rendered = try render("overlay: { image: bar, \(parameters) }", picture, assets: Self.assets())
        #expect(rendered.step.plan.note == "overlay " + box)
        let found = rendered.pixels.boundingBox { $0 == [255, 0, 0] }
        #expect(found.map { "\($0[2])×\($0[3]) at (\($0[0]), \($0[1]))" } == box)
    }

    /// A bar of 40×20 on a picture of 100×100, and what of it is seen.
    @Test(arguments: [
        ("push: up", "40×20 at (30, -7)", "40×13 at (30, 0)"),
        ("push: up, edge: slide", "40×20 at (30, -7)", "40×13 at (30, 0)"),
        ("push: up, edge: clamp", "40×20 at (30, 0)", "40×20 at (30, 0)"),
        ("push: down, edge: slide", "40×20 at (30, 115)", nil),
        ("push: left, edge: slide", "40×20 at (-55, 80)", nil),
    ])
    func `an overlay that is pushed past the edge leaves the picture, or stops there`(
        parameters: String, box: String, seen: String?
    ) throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 100, height: 100)
        let avoid = "avoid: { x: 0, y: 28, width: 100, height: 72 }, spacing: 15"
        let rendered = try render(
            "overlay: { image: bar, anchor: bottom, \(avoid), \(parameters) }", picture, assets: Self.assets())
        #expect(rendered.step.plan.note == "overlay " + box)
        let found = rendered.pixels.boundingBox { $0 == [255, 0, 0] }
        #expect(found.map { "\($0[2])×\($0[3]) at (\($0[0]), \($0[1]))" } == seen)
        let error = #expect(throws: PlanFailure.self) {
            try render(
                "overlay: { image: bar, anchor: bottom, \(avoid), push: up, edge: fail }", picture,
                assets: Self.assets())
        }
        #expect(error?.failure.message.contains("cannot be moved up off it by 15 pixels inside 100×100") == true)
    }

    @Test func `points of the rectangle and of the spacing are those of the picture`() throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 200, height: 200)
        let rendered = try render(
            "overlay: { image: bar, anchor: bottom, avoid: { x: 0, y: 90, width: 100, height: 10 }, spacing: 16 }",
            picture, pixelsPerPoint: 2, assets: Self.assets())
        // Twice 40×20 at (30, 54).
        #expect(rendered.step.plan.note == "overlay 80×40 at (60, 108)")
    }

    @Test func `where nothing fits the failure says what covers what`() throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 100, height: 100)
        let error = #expect(throws: PlanFailure.self) {
            try render(
                "overlay: { image: bar, avoid: { x: 10, y: 10, width: 80, height: 80 }, spacing: 5 }", picture,
                assets: Self.assets())
        }
        #expect(error?.failure.code == .overlayDoesNotFit)
        let words =
            "the overlay of 40×20 at (30, 40) covers 80×80 at (10, 10) and can be moved off it by 5 pixels in no direction inside 100×100; see 'push' and 'edge'"
        #expect(error?.failure.message == words)
    }

    @Test func `a tiled overlay repeats from its place over the whole picture`() throws {
        let picture = try TestPicture.solid([0, 0, 0], width: 50, height: 30)
        let mark = try TestPicture.coded(width: 8, height: 6)
        let source = try PixelGrid(mark)
        let result = try render(
            "overlay: { image: mark, tile: true, anchor: top-leading, offset: { x: 3, y: 2 } }", picture,
            assets: TestAssets(images: ["mark": mark])
        ).pixels
        for y in 0..<30 {
            for x in 0..<50 { #expect(result[x, y] == source[(x + 5) % 8, (y + 4) % 6], "(\(x), \(y))") }
        }
    }

    @Test func `a template image is drawn in its tint`() throws {
        let shape = try TestPicture.make(width: 8, height: 8, bands: 4) { x, _ in [9, 200, 31, x < 4 ? 255 : 0] }
        let picture = try TestPicture.solid([0, 0, 0], width: 20, height: 20)
        let result = try render(
            "overlay: { image: icon, anchor: top-leading, stages: [ { tint: { color: '#0a84ff' } } ] }", picture,
            assets: TestAssets(images: ["icon": shape])
        ).pixels
        #expect(result.boundingBox { $0 == [10, 132, 255] } == [0, 0, 4, 8])
        #expect(result.boundingBox { $0 != [0, 0, 0] } == [0, 0, 4, 8])
    }

    @Test(arguments: [1, 2, 3])
    func `an overlay's own stages draw it in points`(scale: Int) throws {
        // A white circle of 20 points in the corner, straddling the edge of a picture inset by 10.
        let picture = try TestPicture.solid([0, 0, 255], width: 100, height: 80)
        let icon = try TestPicture.solid([255, 0, 0, 255], width: 6 * scale, height: 6 * scale)
        let assets = TestAssets(images: ["icon": icon], pixelsPerPoint: scale)
        let badge =
            "[ { frame: { width: 20, height: 20, mode: center, background: white } }, { mask: { shape: circle } } ]"
        let result = try render(
            "inset: { all: 10 }\noverlay: { image: icon, stages: \(badge), anchor: top-trailing }", picture,
            scale: scale, pixelsPerPoint: scale, assets: assets
        ).pixels
        #expect(result.sides == [100 + 20 * scale, 80 + 20 * scale])
        let left = result.width - 20 * scale
        // The icon in the middle of the circle, white around it, nothing in the circle's corners.
        #expect(result[left + 10 * scale, 10 * scale] == [255, 0, 0, 255])
        #expect(result[left + 10 * scale, 3 * scale] == [255, 255, 255, 255])
        #expect(result[left + 10 * scale - 3 * scale, 10 * scale] == [255, 0, 0, 255])
        #expect(result[left + 10 * scale - 3 * scale - 1, 10 * scale] == [255, 255, 255, 255])
        #expect(result[result.width - 1, 0] == [0, 0, 0, 0])
        // To the pixel: 20 points of badge in the corner, half of which sticks out of a picture that begins at 10
        // points.
        let badgeBox = [result.width - 20 * scale, 0, 20 * scale, 20 * scale]
        #expect(result.boundingBox { $0[3] > 0 && $0[0] > 0 } == badgeBox)
        #expect(result.boundingBox { $0 == [255, 0, 0, 255] } == [left + 7 * scale, 7 * scale, 6 * scale, 6 * scale])
        #expect(result.boundingBox { $0 == [0, 0, 255, 255] } == [10 * scale, 10 * scale, 100, 80])
        // Over the picture's corner, the circle; beside it, the picture.
        #expect(result[left + 3 * scale, 20 * scale - 1][2] == 255)
        #expect(result[10 * scale + 1, 10 * scale + 1] == [0, 0, 255, 255])
    }
}
