import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct ViewportTests {
    private static let insets = "content-inset: { top: 3, leading: 5, bottom: 7, trailing: 9 }"

    /// The pixel of the content in the frame's top left corner.
    @Test(arguments: [
        // As far up and left as it goes, which the insets set.
        ("", [0, 0]), (insets, [-5, -3]),
        ("offset: { x: 10, y: 20 }", [10, 20]), ("offset: { x: 10, y: 20 }, " + insets, [10, 20]),
        // Never further than the content and its insets.
        ("offset: { x: 100, y: 100 }", [60, 40]), ("offset: { x: 100, y: 100 }, " + insets, [69, 47]),
        ("offset: { x: -100, y: -100 }", [0, 0]), ("offset: { x: -100, y: -100 }, " + insets, [-5, -3]),
        ("offset: { x: 10%, y: 50% }", [10, 40]),
        // Revealing moves by the least distance, and not at all where all is visible.
        ("reveal: { x: 0, y: 0, width: 10, height: 10 }", [0, 0]),
        ("reveal: { x: 30, y: 30, width: 10, height: 10 }", [0, 0]),
        ("reveal: { x: 50, y: 60, width: 10, height: 10 }", [20, 30]),
        ("offset: { x: 60, y: 40 }, reveal: { x: 50, y: 30, width: 10, height: 5 }", [50, 30]),
        ("offset: { x: 60, y: 40 }, reveal: { x: 62, y: 41, width: 10, height: 5 }", [60, 40]),
        // Into the part that the insets leave free: 40×40 less 5 and 9 at the sides, 3 and 7 above and below.
        ("reveal: { x: 50, y: 60, width: 10, height: 10 }, " + insets, [29, 37]),
        ("offset: { x: 60, y: 40 }, reveal: { x: 50, y: 30, width: 10, height: 5 }, " + insets, [45, 27]),
        ("offset: { x: 45, y: 27 }, reveal: { x: 50, y: 30, width: 10, height: 5 }, " + insets, [45, 27]),
        // At the content's end, where the insets are scrolled into sight.
        ("reveal: { x: 90, y: 70, width: 10, height: 10 }, " + insets, [69, 47]),
        // Larger than the free part: the nearer edge, and nothing where it is filled.
        ("reveal: { x: 0, y: 0, width: 100, height: 80 }", [0, 0]),
        ("offset: { x: 20, y: 0 }, reveal: { x: 10, y: 0, width: 80, height: 10 }", [20, 0]),
        ("reveal: { x: 20, y: 0, width: 75, height: 10 }", [20, 0]),
    ])
    func `the content is where it was scrolled to`(parameters: String, origin: [Int]) throws {
        let picture = try TestPicture.coded(width: 100, height: 80)
        let list = (parameters.isEmpty ? "" : ", ") + parameters
        let rendered = try render("viewport: { width: 40, height: 40\(list), background: '#010203' }", picture)
        let source = try PixelGrid(picture)
        let frame = rendered.pixels
        #expect(rendered.step.plan.note == "content of 100×80 from (\(origin[0]), \(origin[1]))")
        for y in 0..<40 {
            for x in 0..<40 {
                let (sourceX, sourceY) = (x + origin[0], y + origin[1])
                let isContent = (0..<100).contains(sourceX) && (0..<80).contains(sourceY)
                #expect(frame[x, y] == (isContent ? source[sourceX, sourceY] : [1, 2, 3]), "(\(x), \(y))")
            }
        }
    }

    @Test func `points are those of the content at every scale`() throws {
        let picture = try TestPicture.coded(width: 100, height: 80)
        let source = try PixelGrid(picture)
        let result = try render(
            "viewport: { width: 20, height: 10, offset: { x: 5, y: 7 } }", picture, scale: 2, pixelsPerPoint: 2
        ).pixels
        #expect(result == source.part(left: 10, top: 14, width: 40, height: 20))
    }

    @Test func `content smaller than its frame sits at the top left, on a transparent ground`() throws {
        let picture = try TestPicture.coded(width: 10, height: 8)
        let result = try render("viewport: { width: 20, height: 20, content-inset: { all: 2 } }", picture).pixels
        #expect(result.bands == 4)
        #expect(result[1, 1][3] == 0 && result[2, 2][3] == 255 && result[11, 9][3] == 255 && result[12, 10][3] == 0)
    }

    @Test(arguments: [
        ("'#ff0000'", [255, 0, 0], 3), ("'#ff000080'", [255, 0, 0, 128], 4), ("transparent", [0, 0, 0, 0], 4),
    ])
    func `the background is seen through content that is transparent`(
        color: String, seen: [Int], bands: Int
    ) throws {
        let picture = try TestPicture.make(width: 20, height: 20, bands: 4) { x, _ in
            x < 10 ? [0, 0, 255, 255] : [9, 9, 9, 0]
        }
        let stage = "viewport: { width: 12, height: 12, offset: { x: 4, y: 4 }, background: \(color) }"
        let result = try render(stage, picture).pixels
        #expect(result.bands == bands)
        #expect(result[2, 5] == [0, 0, 255] + (bands == 4 ? [255] : []))
        #expect(bands == 4 && seen[3] == 0 ? result[9, 5][3] == 0 : result[9, 5] == seen)
    }

    @Test func `content that is scrolled out of sight leaves the background`() throws {
        let picture = try TestPicture.coded(width: 10, height: 8)
        let result = try render(
            "viewport: { width: 6, height: 6, content-inset: { leading: 6 }, background: '#102030' }", picture
        ).pixels
        #expect((0..<36).allSatisfy { result[$0 % 6, $0 / 6] == [16, 32, 48] })
    }
}
