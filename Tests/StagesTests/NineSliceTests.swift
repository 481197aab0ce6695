import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct NineSliceTests {
    @Test(arguments: PictureKind.all)
    func `corners are the source's to the last bit`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 12, height: 10, kind: kind)
        for mode in ["stretch", "tile"] {
            let caps = "{ top: 2, leading: 3, bottom: 4, trailing: 5 }"
            let result = try render(
                "nine-slice: { width: 40, height: 30, cap-insets: \(caps), mode: \(mode) }", picture
            ).pixels
            let source = try PixelGrid(picture)
            #expect(
                result.part(left: 0, top: 0, width: 3, height: 2) == source.part(left: 0, top: 0, width: 3, height: 2))
            #expect(
                result.part(left: 35, top: 0, width: 5, height: 2) == source.part(left: 7, top: 0, width: 5, height: 2))
            #expect(
                result.part(left: 0, top: 26, width: 3, height: 4) == source.part(left: 0, top: 6, width: 3, height: 4))
            #expect(
                result.part(left: 35, top: 26, width: 5, height: 4) == source.part(left: 7, top: 6, width: 5, height: 4)
            )
        }
    }

    @Test func `edges grow in one direction only and the middle in both`() throws {
        // One pixel between the caps, so that stretching repeats it.
        let picture = try TestPicture.coded(width: 7, height: 5)
        let source = try PixelGrid(picture)
        let result = try render(
            "nine-slice: { width: 20, height: 9, cap-insets: { top: 2, bottom: 2, leading: 3, trailing: 3 } }", picture
        ).pixels
        for x in 3..<17 {
            for y in 0..<2 { #expect(result[x, y] == source[3, y]) }
            for y in 2..<7 { #expect(result[x, y] == source[3, 2]) }
            for y in 7..<9 { #expect(result[x, y] == source[3, y - 4]) }
        }
        for y in 2..<7 {
            for x in 0..<3 { #expect(result[x, y] == source[x, 2]) }
            for x in 17..<20 { #expect(result[x, y] == source[x - 13, 2]) }
        }
    }

    @Test func `tiling repeats from the top left and cuts the last one`() throws {
        let picture = try TestPicture.coded(width: 9, height: 8)
        let source = try PixelGrid(picture)
        let result = try render("nine-slice: { width: 21, height: 19, cap-insets: { all: 2 }, mode: tile }", picture)
            .pixels
        // Caps of 2, tiles of 5×4 between them.
        for y in 0..<19 {
            for x in 0..<21 {
                let column = x < 2 ? x : x < 19 ? 2 + (x - 2) % 5 : x - 12
                let row = y < 2 ? y : y < 17 ? 2 + (y - 2) % 4 : y - 11
                #expect(result[x, y] == source[column, row], "(\(x), \(y))")
            }
        }
    }

    @Test(arguments: [(1, 2), (1, 3), (3, 1), (2, 3), (3, 2)], ["stretch", "tile"])
    func `no cap runs into what grows, whatever the scales of the picture and of the rendition`(
        scales: (from: Int, to: Int), mode: String
    ) throws {
        // Caps of 6 points in colours of their own around a white middle.
        let (cap, side) = (6 * scales.from, 20 * scales.from)
        let picture = try TestPicture.make(width: side, height: side) { x, y in
            let isMiddle = (cap..<side - cap).contains(x) && (cap..<side - cap).contains(y)
            return isMiddle ? [255, 255, 255] : [x < cap ? 200 : 0, y < cap ? 90 : 0, 0]
        }
        let result = try render(
            "nine-slice: { width: 50, height: 40, cap-insets: { all: 6 }, mode: \(mode) }", picture, scale: scales.to,
            pixelsPerPoint: scales.from
        ).pixels
        let (wide, high, edge) = (50 * scales.to, 40 * scales.to, 6 * scales.to)
        for y in 0..<high {
            for x in 0..<wide {
                let isMiddle = (edge..<wide - edge).contains(x) && (edge..<high - edge).contains(y)
                let expected = isMiddle ? [255, 255, 255] : [x < edge ? 200 : 0, y < edge ? 90 : 0, 0]
                #expect(result[x, y] == expected, "(\(x), \(y))")
            }
        }
    }

    @Test func `caps are points, and the picture as many points large as its name says`() throws {
        let picture = try TestPicture.coded(width: 24, height: 24)
        let source = try PixelGrid(picture)
        let result = try render(
            "nine-slice: { width: 40, cap-insets: { all: 4 } }", picture, scale: 2, pixelsPerPoint: 2
        ).pixels
        #expect(result.sides == [80, 24])
        #expect(
            result.part(left: 0, top: 0, width: 8, height: 24) == source.part(left: 0, top: 0, width: 8, height: 24))
        let large = try render(
            "nine-slice: { width: 40, cap-insets: { all: 4 } }", picture, scale: 3, pixelsPerPoint: 2
        ).pixels
        #expect(large.sides == [120, 36])
    }

    @Test func `caps that do not fit are shown in pixels, with how many of these are a point`() throws {
        let picture = try TestPicture.coded(width: 12, height: 10)
        let error = #expect(throws: PlanFailure.self) {
            try render("nine-slice: { width: 9, cap-insets: { leading: 6, trailing: 6 } }", picture, scale: 2)
        }
        #expect(
            error?.failure.message
                == "the leading and trailing caps of 12 and 12 pixels (2 to a point) do not fit a result 18 pixels wide"
        )
    }

    @Test(arguments: [
        (
            "width: 20, cap-insets: { leading: 6, trailing: 6 }",
            "the leading and trailing caps of 6 and 6 pixels leave nothing between them of a picture 12 pixels wide"
        ),
        (
            "height: 7, cap-insets: { top: 4, bottom: 4 }",
            "the top and bottom caps of 4 and 4 pixels do not fit a result 7 pixels high"
        ),
    ])
    func `caps that do not fit are an error that says which`(parameters: String, message: String) throws {
        let picture = try TestPicture.coded(width: 12, height: 10)
        let error = #expect(throws: PlanFailure.self) { try render("nine-slice: { \(parameters) }", picture) }
        #expect(error?.failure.message == message)
        #expect(error?.failure.code == .emptyResult)
    }

    @Test func `a result of the picture's own size is the picture`() throws {
        let picture = try TestPicture.coded(width: 12, height: 10, kind: PictureKind(hasAlpha: true))
        let result = try render("nine-slice: { width: 12, height: 10, cap-insets: { all: 5 } }", picture).pixels
        #expect(try result == PixelGrid(picture))
    }
}
