import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct FlipTests {
    @Test(arguments: PictureKind.all, [[7, 5], [1, 6], [6, 1], [13, 8]])
    func `every pixel is found at its mirrored place`(kind: PictureKind, size: [Int]) throws {
        let picture = try TestPicture.coded(width: size[0], height: size[1], kind: kind)
        let original = try PixelGrid(picture)
        let across = try render("flip: { axis: horizontal }", picture).pixels
        let down = try render("flip: { axis: vertical }", picture).pixels
        let places = (0..<size[0] * size[1]).map { ($0 % size[0], $0 / size[0]) }
        #expect(places.allSatisfy { across[$0, $1] == original[size[0] - 1 - $0, $1] })
        #expect(places.allSatisfy { down[$0, $1] == original[$0, size[1] - 1 - $1] })
    }
}
