import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// What decoders deliver, and how stages see it.
@Suite(.quietVips)
struct PictureTests {
    private func source(_ values: [Double], _ format: BandFormat, _ interpretation: Interpretation) throws -> Image {
        try Image.black(width: 2, height: 2, bands: values.count).linear(values.map { _ in 1 }, values).cast(format)
            .copy(
                interpretation: interpretation
            ).inMemory()
    }

    @Test(arguments: PictureKind.all)
    func `pictures of 8 and 16 bits keep their numbers`(kind: PictureKind) throws {
        let image = try TestPicture.coded(width: 5, height: 4, kind: kind)
        let picture = try Picture(decoded: image)
        #expect(
            picture.pixels
                == PixelFormat(kind.isGrey ? .grey : .rgb, kind.isDeep ? .sixteen : .eight, hasAlpha: kind.hasAlpha))
        #expect(picture.image === image && picture.profile == nil)
        #expect(picture.white == Double(kind.maximum))
        let alpha = try picture.alpha
        #expect((alpha != nil) == kind.hasAlpha)
    }

    @Test func `packed Lab is unpacked, and Lab in floating point stays what it is`() throws {
        let colour = try TestPicture.solid([200, 100, 50], width: 3, height: 2)
        let packed = try Picture(decoded: colour.colourspace(.labq))
        #expect(packed.pixels == PixelFormat(.lab, .sixteen))
        #expect(packed.image.bands == 3)
        // Numbers with a sign hold no 65535.
        #expect(try packed.multiplyingAlpha(by: 0.5).image.getpoint(x: 0, y: 0)[3] == 128)
        let float = try Picture(decoded: colour.colourspace(.lab))
        #expect(float.pixels == PixelFormat(.lab, .float))
        let back = try packed.image.colourspace(.srgb).getpoint(x: 1, y: 1)
        #expect(zip(back, [200, 100, 50]).allSatisfy { abs($0 - $1) <= 1 })
    }

    @Test func `numbers that stages do not know are refused by what they are`() throws {
        let cases: [(Image, String)] = [
            (try source([1, 2, 3], .double, .srgb), "3 bands of srgb, double"),
            (try source([1], .int, .bw), "1 bands of b-w, int"),
            (try source([1, 2, 3, 4, 5, 6, 7], .uchar, .multiband), "7 bands of multiband, uchar"),
            (try source([1, 2], .uchar, .multiband), "2 bands of b-w, uchar"),
        ]
        for (image, found) in cases {
            let failure = try #require(throws: Failure.self) { try Picture(decoded: image) }
            #expect(
                failure.code == .unsupportedColour && failure.message.hasSuffix("found \(found)"), "\(failure.message)")
        }
    }

    @Test func `a grey picture has no number for a colour, and says so`() throws {
        let grey = try Picture(decoded: TestPicture.solid([9], width: 2, height: 2))
        #expect(try grey.components(of: .white) == [255])
        let red = Color(red: 255, green: 0, blue: 0)
        #expect(throws: ImpossibleColor.self) { try grey.components(of: red) }
        #expect(try grey.promoted(to: .rgb).components(of: red) == [255, 0, 0])
        let deep = try grey.inSixteenBits()
        #expect(try deep.image.getpoint(x: 0, y: 0) == [9.0 * 257])
        #expect(try deep.components(of: .white) == [65_535])
    }

    @Test func `hidden colours are no neighbours in premultiplied work`() throws {
        let picture = try Picture(
            decoded: TestPicture.make(width: 8, height: 1, bands: 4) { x, _ in
                x < 4 ? [128, 128, 128, 255] : [255, 0, 0, 0]
            })
        let blurred = try PixelGrid(picture.premultiplied { try $0.gaussblur(sigma: 2) }.image)
        for x in 0..<6 { #expect(Array(blurred.values[(x * 4)..<(x * 4 + 3)]) == [128, 128, 128], "\(x)") }
    }

    @Test func `what is done to colours leaves alpha alone, to the last of 16 bits`() throws {
        let picture = try Picture(
            decoded: TestPicture.coded(width: 9, height: 7, kind: PictureKind(hasAlpha: true, isDeep: true)))
        let odd = try picture.multiplyingAlpha(by: 0.777)
        let worked = try odd.onColours { try $0.droppingAlpha().image.linear([0.5], [0]).cast(.ushort) }
        #expect(worked.pixels == odd.pixels)
        #expect(
            try worked.image.extractBands(from: 3, count: 1).pixels()
                == odd.image.extractBands(from: 3, count: 1).pixels())
    }

    @Test func `a canvas that the picture covers is the picture itself`() throws {
        let picture = try Picture(decoded: TestPicture.coded(width: 4, height: 3))
        #expect(try picture.onCanvas(PixelSize(4, 3)).image === picture.image)
        #expect(try picture.cropped(to: PixelBox(PixelOffset(0, 0), PixelSize(4, 3))).image === picture.image)
        #expect(try picture.onCanvas(PixelSize(4, 3), at: PixelOffset(1, 0)).size == PixelSize(4, 3))
    }
}
