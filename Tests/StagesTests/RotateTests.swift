import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct RotateTests {
    @Test(arguments: [0, 90, 180, 270, -90, -180, -270, 360, -360], PictureKind.all)
    func `quarter turns move pixels without changing them`(angle: Int, kind: PictureKind) throws {
        for (width, height) in [(7, 5), (1, 6), (6, 1), (8, 8)] {
            let picture = try TestPicture.coded(width: width, height: height, kind: kind)
            let original = try PixelGrid(picture)
            let result = try render("rotate: { angle: \(angle) }", picture).pixels
            let turns = (angle + 720) / 90 % 4
            let sides = turns % 2 == 0 ? [width, height] : [height, width]
            #expect(result.sides == sides)
            let isRight = (0..<width * height).allSatisfy { index in
                let (x, y) = (index % width, index / width)
                let place = [(x, y), (height - 1 - y, x), (width - 1 - x, height - 1 - y), (y, width - 1 - x)][turns]
                return result[place.0, place.1] == original[x, y]
            }
            #expect(isRight, "\(width)×\(height)")
        }
    }

    @Test(arguments: [1.0, 7.5, 30, 45, 60, 89.9, 91, 135, 200.25, 300, 359])
    func `other angles give the size of the turned rectangle`(angle: Double) throws {
        for (width, height) in [(60, 40), (41, 41), (1, 30), (30, 1), (97, 13)] {
            let result = try render(
                "rotate: { angle: \(angle) }", TestPicture.solid([255, 0, 0], width: width, height: height)
            ).pixels
            let (s, c) = (abs(sin(angle * .pi / 180)), abs(cos(angle * .pi / 180)))
            let (w, h) = (Double(width), Double(height))
            #expect(result.width == max(1, Int((w * c + h * s).rounded())))
            #expect(result.height == max(1, Int((w * s + h * c).rounded())))
            #expect(result.bands == 4, "the corners are transparent")
            // Bicubic edges are soft, but the area under them is that of the picture.
            let area = Double(result.alpha.reduce(0, +)) / 255
            let slack = 0.02 * Double(width * height) + (min(width, height) == 1 ? 8 : 3)
            #expect(abs(area - Double(width * height)) <= slack, "\(width)×\(height): area \(area)")
        }
    }

    @Test(arguments: [13.0, 45, 77, 120, 222.2, 333], PictureKind.all)
    func `the centre pixel stays`(angle: Double, kind: PictureKind) throws {
        let full = kind.maximum
        // A cross of 5 pixels that is the same after any turn, on a picture with an odd size.
        let picture = try TestPicture.make(width: 41, height: 41, kind: kind) { x, y in
            let level = max(0, full - (abs(x - 20) * abs(x - 20) + abs(y - 20) * abs(y - 20)) * full / 100)
            return Array(repeating: level, count: kind.colours) + (kind.hasAlpha ? [full] : [])
        }
        let result = try render("rotate: { angle: \(angle), background: black }", picture).pixels
        // The light's centre of gravity is the middle, whatever the size of the result.
        let light = result.band(0)
        let sum = Double(light.reduce(0, +))
        let x = Double(light.indices.reduce(0) { $0 + $1 % result.width * light[$1] }) / sum
        let y = Double(light.indices.reduce(0) { $0 + $1 / result.width * light[$1] }) / sum
        #expect(abs(x - Double(result.width - 1) / 2) < 0.02)
        #expect(abs(y - Double(result.height - 1) / 2) < 0.02)
        if result.width % 2 == 1, result.height % 2 == 1 {
            #expect(abs(result[result.width / 2, result.height / 2, 0] - full) <= full / 255)
        }
    }

    @Test func `a turn is clockwise`() throws {
        let picture = try TestPicture.make(width: 41, height: 41) { x, y in
            y < 12 && abs(x - 20) < 6 ? [255, 255, 255] : [0, 0, 0]
        }
        let result = try render("rotate: { angle: 45, background: black }", picture).pixels
        let box = try #require(result.boundingBox { $0[0] > 128 })
        #expect(box[0] > result.width / 2, "what was at the top is now on the right")
        #expect(box[1] + box[3] < result.height / 2 + 4)
    }

    @Test(arguments: PictureKind.all)
    func `corners are the background`(kind: PictureKind) throws {
        let picture = try TestPicture.make(width: 40, height: 30, kind: kind) { _, _ in
            Array(repeating: kind.maximum, count: kind.bands)
        }
        let factor = kind.maximum / 255
        let cases: [(String, [Int])] = [
            ("'#204060'", [0x20, 0x40, 0x60, 255]), ("'#20406080'", [0x20, 0x40, 0x60, 0x80]),
            ("transparent", [0, 0, 0, 0]),
        ]
        for (background, colour) in cases {
            let result = try render("rotate: { angle: 30, background: \(background) }", picture).pixels
            let hasAlpha = kind.hasAlpha || colour[3] < 255
            let colours = kind.isGrey && background == "transparent" ? [0] : Array(colour.prefix(3))
            #expect(result[0, 0] == (colours + (hasAlpha ? [colour[3]] : [])).map { $0 * factor }, "on \(background)")
            #expect(result[result.width / 2, result.height / 2] == Array(repeating: kind.maximum, count: result.bands))
        }
    }

    @Test(arguments: PictureKind.all.filter(\.hasAlpha))
    func `edges turned on nothing have no dark fringe`(kind: PictureKind) throws {
        let picture = try TestPicture.make(width: 40, height: 30, kind: kind) { x, _ in
            Array(repeating: x < 20 ? kind.maximum : 0, count: kind.bands)
        }
        let result = try render("rotate: { angle: 17 }", picture).pixels
        let alpha = result.alpha
        let visible = alpha.indices.filter { alpha[$0] > kind.maximum / 100 }
        let levels = visible.map { result.values[$0 * result.bands] }
        #expect((levels.min() ?? 0) >= kind.maximum - kind.maximum / 255)
    }
}
