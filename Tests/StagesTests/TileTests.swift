import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct TileTests {
    @Test(arguments: [(0, 0), (2, 3), (-2, -3), (5, 4), (7, -9), (100, 101)])
    func `the pattern begins where the offset says`(x: Int, y: Int) throws {
        for kind in PictureKind.all {
            let picture = try TestPicture.coded(width: 5, height: 4, kind: kind)
            let source = try PixelGrid(picture)
            let result = try render("tile: { width: 13, height: 11, offset: { x: \(x), y: \(y) } }", picture).pixels
            #expect(result.sides == [13, 11])
            for row in 0..<11 {
                for column in 0..<13 {
                    let (sourceX, sourceY) = (((column - x) % 5 + 5) % 5, ((row - y) % 4 + 4) % 4)
                    #expect(result[column, row] == source[sourceX, sourceY], "\(kind) (\(column), \(row))")
                }
            }
        }
    }

    @Test func `a tile of one pixel fills two million`() throws {
        let result = try render(
            "tile: { width: 2000001, height: 2 }", TestPicture.make(width: 1, height: 1) { _, _ in [9, 8, 7] })
        #expect(result.image.width == 2_000_001)
        #expect(try result.image.getpoint(x: 2_000_000, y: 1) == [9, 8, 7])
    }

    @Test func `tiles are as many points large as the picture, at every scale`() throws {
        let picture = try TestPicture.coded(width: 8, height: 6)
        let source = try PixelGrid(picture)
        let twice = try render(
            "tile: { width: 10, height: 10, offset: { x: 1 } }", picture, scale: 2, pixelsPerPoint: 2
        ).pixels
        #expect(twice.sides == [20, 20])
        #expect(twice[2, 0] == source[0, 0] && twice[10, 6] == source[0, 0] && twice[1, 0] == source[7, 0])
        // At scale 1 a tile of 8 pixels at two in a point is 4 pixels wide.
        let once = try render("tile: { width: 10, height: 10 }", picture, pixelsPerPoint: 2).pixels
        #expect(once.part(left: 0, top: 0, width: 4, height: 3) == once.part(left: 4, top: 3, width: 4, height: 3))
    }

    @Test func `a frame smaller than the picture shows a part of it`() throws {
        let picture = try TestPicture.coded(width: 20, height: 20)
        let result = try render("tile: { width: 5, height: 6, offset: { x: 50%, y: 0 } }", picture).pixels
        #expect(try result == PixelGrid(picture).part(left: 10, top: 0, width: 5, height: 6))
    }
}
