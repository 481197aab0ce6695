import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct CropTests {
    @Test(arguments: [
        ("center", 7, 8), ("top", 7, 0), ("bottom", 7, 17), ("leading", 0, 8), ("trailing", 15, 8),
        ("top-leading", 0, 0),
        ("top-trailing", 15, 0), ("bottom-leading", 0, 17), ("bottom-trailing", 15, 17), ("left", 0, 8),
        ("bottom-right", 15, 17),
    ])
    func `the cut is the source's pixels at the anchor`(anchor: String, x: Int, y: Int) throws {
        for kind in PictureKind.all {
            let picture = try TestPicture.coded(width: 25, height: 30, kind: kind)
            let result = try render("crop: { width: 10, height: 13, anchor: \(anchor) }", picture).pixels
            #expect(try result == PixelGrid(picture).part(left: x, top: y, width: 10, height: 13), "\(kind)")
        }
    }

    @Test(arguments: [
        ("x: 3, y: 4, width: 10, height: 11", [3, 4, 10, 11]), ("x: 20, y: 25, width: 10, height: 10", [20, 25, 5, 5]),
        ("x: -3, y: -4, width: 10, height: 10", [0, 0, 7, 6]),
        ("x: 50%, y: 10%, width: 20%, height: 50%", [13, 3, 5, 15]),
        ("x: 24, width: 1, height: 1", [24, 0, 1, 1]), ("width: 100, height: 100", [0, 0, 25, 30]),
        ("y: 29, width: 1000, height: 1000", [0, 29, 25, 1]), ("width: 0.1%, height: 0.1%", [12, 14, 1, 1]),
    ])
    func `the cut is the box that was written, as far as the picture goes`(parameters: String, box: [Int]) throws {
        let picture = try TestPicture.coded(width: 25, height: 30)
        let result = try render("crop: { \(parameters) }", picture).pixels
        #expect(try result == PixelGrid(picture).part(left: box[0], top: box[1], width: box[2], height: box[3]))
    }

    @Test func `a cut that reaches beyond the picture is warned of`() throws {
        let picture = try TestPicture.coded(width: 25, height: 30)
        func warnings(_ parameters: String) throws -> [String] {
            try render("crop: { \(parameters) }", picture).step.plan.warnings.map {
                "\($0.code.rawValue): \($0.message)"
            }
        }
        #expect(try warnings("width: 25, height: 30") == [])
        #expect(try warnings("x: 5, y: 6, width: 20, height: 24") == [])
        // Half of 25 and half of 25 are 13 and 13 pixels.
        #expect(try warnings("x: 50%, y: 50%, width: 50%, height: 50%") == [])
        #expect(try warnings("x: 1, width: 25, height: 30").count == 1)
        #expect(
            try warnings("width: 40, height: 30") == [
                "crop-beyond-edge: 'crop' asks for 40×30 of a picture of 25×30; the result is 25×30"
            ])
        #expect(
            try warnings("x: -3, y: 28, width: 10, height: 10") == [
                "crop-beyond-edge: 'crop' asks for 10×10 at (-3, 28) of a picture of 25×30; the result is 7×2"
            ])
    }

    @Test func `points are those of the picture, percentages are of its pixels`() throws {
        let picture = try TestPicture.coded(width: 100, height: 60)
        let result = try render("crop: { x: 5, y: 50%, width: 20, height: 10% }", picture, pixelsPerPoint: 3).pixels
        #expect(try result == PixelGrid(picture).part(left: 15, top: 30, width: 60, height: 6))
    }

    @Test(arguments: [
        ("ratio: 4:5", [0, 0, 24, 30], [25, 30]), ("ratio: '1:1', anchor: bottom", [0, 5, 25, 25], [25, 30]),
        ("ratio: 2, anchor: top", [0, 0, 25, 13], [25, 30]), ("ratio: 0.5", [5, 0, 15, 30], [25, 30]),
        ("ratio: 16:9, anchor: leading", [0, 0, 53, 30], [60, 30]), ("ratio: 1000:1", [0, 14, 25, 1], [25, 30]),
        ("ratio: 2.5:3", [0, 0, 25, 30], [25, 30]),
    ])
    func `a ratio keeps the largest part of that shape`(parameters: String, box: [Int], size: [Int]) throws {
        let picture = try TestPicture.coded(width: size[0], height: size[1])
        let result = try render("crop: { \(parameters) }", picture)
        #expect(
            try result.pixels == PixelGrid(picture).part(left: box[0], top: box[1], width: box[2], height: box[3]))
        #expect(result.step.plan.warnings.isEmpty)
    }

    @Test(arguments: [
        ("anchor: top", "stage 'crop' needs 'width' and 'height', or 'ratio' alone"),
        ("width: 9", "stage 'crop' needs 'height', or 'ratio' alone"),
        ("ratio: 1, width: 9", "'width' and 'ratio' exclude each other; write 'width' and 'height', or 'ratio'"),
        ("ratio: 1, x: 9", "'ratio' cuts the largest part, which has no 'x' or 'y'; write 'anchor'"),
        ("ratio: 4:0", "'ratio' expects a ratio of width to height such as 4:5 or 0.8, found '4:0'"),
        ("ratio: 4:5:6", "'ratio' expects a ratio of width to height such as 4:5 or 0.8, found '4:5:6'"),
        ("ratio: -1", "'ratio' expects a ratio of width to height such as 4:5 or 0.8, found '-1'"),
        ("ratio: 1e300", "'ratio' expects a ratio of width to height such as 4:5 or 0.8, found '1e300'"),
    ])
    func `a size that is too little or too much is refused`(parameters: String, message: String) throws {
        let picture = try TestPicture.coded(width: 25, height: 30)
        let mistakes = #expect(throws: Diagnostics.self) { try render("crop: { \(parameters) }", picture) }
        #expect(mistakes?.items.map(\.message) == [message])
    }
}
