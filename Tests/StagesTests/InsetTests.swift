import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct InsetTests {
    /// Margins as left, top, right, bottom; negative ones are cut.
    @Test(arguments: [
        ("all: 3", [3, 3, 3, 3]), ("all: -3", [-3, -3, -3, -3]), ("top: 5", [0, 5, 0, 0]),
        ("leading: 2, trailing: -4", [2, 0, -4, 0]),
        ("all: 10%", [2, 3, 2, 3]), ("all: -10%", [-2, -3, -2, -3]), ("all: 4, bottom: -6", [4, 4, 4, -6]),
        ("top: -29", [0, -29, 0, 0]), ("leading: -10, trailing: 10", [-10, 0, 10, 0]), ("all: 0", [0, 0, 0, 0]),
        ("top: 100%, leading: 200%", [40, 30, 0, 0]), ("all: 0.4", [0, 0, 0, 0]), ("all: 0.5", [1, 1, 1, 1]),
    ])
    func `margins are added and cut where they were asked for`(parameters: String, margins: [Int]) throws {
        for kind in PictureKind.all {
            let picture = try TestPicture.coded(width: 20, height: 30, kind: kind)
            let result = try render("inset: { \(parameters), background: '#406080' }", picture).pixels
            let colour = kind.isGrey && !margins.contains { $0 > 0 } ? nil : [0x40, 0x60, 0x80]
            let expected = try reference(
                PixelGrid(picture), kind, margins, colour.map { $0 + (kind.hasAlpha ? [255] : []) })
            #expect(result == expected, "\(kind)")
        }
    }

    /// Every pixel by its place; grey becomes RGB if there is a colour.
    private func reference(_ original: PixelGrid, _ kind: PictureKind, _ margins: [Int], _ colour: [Int]?) -> PixelGrid
    {
        let (width, height) = (original.width + margins[0] + margins[2], original.height + margins[1] + margins[3])
        var values: [Int] = []
        for y in 0..<height {
            for x in 0..<width {
                let (sourceX, sourceY) = (x - margins[0], y - margins[1])
                let isInside = (0..<original.width).contains(sourceX) && (0..<original.height).contains(sourceY)
                guard isInside else {
                    values += (colour ?? []).map { $0 * (kind.maximum / 255) }
                    continue
                }
                let pixel = original[sourceX, sourceY]
                values += kind.isGrey && colour != nil ? [pixel[0], pixel[0]] + pixel : pixel
            }
        }
        let bands = kind.isGrey && colour != nil ? kind.bands + 2 : kind.bands
        return PixelGrid(width: width, height: height, bands: bands, maximum: kind.maximum, values: values)
    }

    @Test(arguments: PictureKind.all)
    func `without a background the margin is transparent and the picture opaque`(kind: PictureKind) throws {
        let picture = try TestPicture.make(width: 6, height: 6, kind: kind) { _, _ in
            Array(repeating: kind.maximum, count: kind.bands)
        }
        let result = try render("inset: { all: 2 }", picture).pixels
        #expect(result.bands == kind.colours + 1)
        #expect(result[0, 0] == Array(repeating: 0, count: result.bands))
        #expect(result[5, 5] == Array(repeating: kind.maximum, count: result.bands))
    }

    @Test func `the margin of a picture that stays grey is the shade of grey`() throws {
        let picture = try TestPicture.solid([9], width: 4, height: 4)
        #expect(try render("inset: { all: 1, background: '#808080' }", picture).pixels[0, 0] == [128])
        #expect(try render("inset: { all: 1, background: '#80808080' }", picture).pixels[0, 0] == [128, 128])
    }

    @Test func `points are those of the picture, percentages are of its pixels`() throws {
        let picture = try TestPicture.solid([9, 9, 9], width: 40, height: 50)
        let result = try render("inset: { all: 3, leading: 10%, background: white }", picture, pixelsPerPoint: 2).pixels
        #expect(result.sides == [50, 62])
        #expect(result.boundingBox { $0 == [9, 9, 9] } == [4, 6, 40, 50])
    }
}
