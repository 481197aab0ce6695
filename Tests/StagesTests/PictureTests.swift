import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// The pictures that decoders deliver, as stages see them.
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

    @Test(arguments: [Interpretation.labq, .labs, .lab])
    func `Lab of any kind has 16 bits, and is what it was`(space: Interpretation) throws {
        let colour = try TestPicture.solid([200, 100, 50], width: 3, height: 2)
        let picture = try Picture(decoded: colour.colourspace(space))
        #expect(picture.pixels == PixelFormat(.lab, .sixteen))
        #expect(picture.image.bands == 3 && picture.image.format == .ushort && picture.white == 65_535)
        let back = try picture.inLibvipsNumbers.colourspace(.srgb).getpoint(x: 1, y: 1)
        #expect(zip(back, [200, 100, 50]).allSatisfy { abs($0 - $1) <= 1 })
        #expect(try picture.multiplyingAlpha(by: 0.5).image.getpoint(x: 0, y: 0)[3] == 32_768)
    }

    @Test func `Lab comes out with the very numbers that it came in with`() throws {
        // Every lightness, and colours from one end to the other, with every alpha as a file has it: bits without a sign.
        let levels = (0..<65_536).map { Double($0) }
        let ramp = try Image(
            bytes: levels.flatMap { [UInt8(Int($0) >> 8), UInt8(Int($0) & 255)] }, width: 256, height: 256, bands: 2)
        let number = try ramp.linear([256, 1], [0, 0])
        let all = try number.extractBands(from: 0, count: 1).add(number.extractBands(from: 1, count: 1))
        let signed = try all.linear([1], [-32_768]).cast(.short)
        let bands = [
            try all.linear([0.5], [-0.25]).cast(.short), signed, try signed.linear([-1], [-1]).cast(.short), signed,
        ]
        let image = try bands.dropFirst().reduce(bands[0]) { try $0.bandjoin($1) }.copy(interpretation: .labs)
            .inMemory()
        let picture = try Picture(decoded: image)
        #expect(picture.pixels == PixelFormat(.lab, .sixteen, hasAlpha: true))
        #expect(try picture.inLibvipsNumbers.pixels() == image.pixels())
        #expect(try picture.alpha?.getpoint(x: 0, y: 0) == [32_768])
    }

    @Test func `what is done to Lab in floating point is not rounded to whole steps of lightness`() throws {
        let image = try source([20.3, -5.7, 12.4, 128], .float, .lab)
        let stages = [
            "opacity: { alpha: 0.5 }", "blur: { sigma: 2 }", "resize: { size: 5x4! }",
            "resize: { size: 5x4!, linear: true }",
        ]
        for stages in stages {
            let rendered = try render(stages, image, profile: "keep")
            let result = Picture(rendered.image, rendered.step.output.pixels, profile: nil)
            let lab = try result.inLibvipsNumbers.droppingAlpha().colourspace(.lab).getpoint(x: 1, y: 1)
            #expect(zip(lab, [20.3, -5.7, 12.4]).allSatisfy { abs($0 - $1) <= 0.02 }, "\(stages): \(lab)")
        }
    }

    @Test(arguments: [
        "resize: { size: 17x13! }", "resize: { size: 90x70! }", "blur: { sigma: 3 }", "rotate: { angle: 90 }",
    ])
    func `in kept Lab and CMYK hidden colors do not show, and no alpha is out of range`(stage: String) throws {
        let shown = try TestPicture.make(width: 40, height: 30, bands: 4) { x, y in
            (x / 6 + y / 5) % 2 == 0 ? [40, 120, 90, 255] : [255, 0, 0, 0]
        }
        let press = try shown.droppingAlpha().iccTransform(to: .cmyk, input: .srgb).bandjoin(
            shown.extractBands(from: 3, count: 1)
        ).copy(interpretation: .cmyk)
        for image in [try shown.colourspace(.lab), press] {
            let rendered = try render(stage, image, profile: "keep")
            let (result, expected) = (rendered.pixels, try PixelGrid(Picture(decoded: image).image)[0, 0])
            let alpha = result.alpha
            let places = alpha.indices.filter { alpha[$0] > result.maximum / 16 }
            let worst =
                places.flatMap { place in
                    (0..<result.bands - 1).map { abs(result.values[place * result.bands + $0] - expected[$0]) }
                }.max() ?? .max
            #expect(worst <= result.maximum / 127, "\(image.interpretation): off by \(worst) of \(result.maximum)")
            #expect(stage.hasPrefix("blur") || (alpha.max() == result.maximum && alpha.min() == 0))
        }
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

    @Test func `every picture has numbers for every color, or for the nearest`() throws {
        let grey = try Picture(decoded: TestPicture.solid([9], width: 2, height: 2))
        #expect(try grey.nearestNumbers(to: .white) == [255])
        let red = Color(red: 255, green: 0, blue: 0)
        // As light as red is.
        #expect(try grey.nearestNumbers(to: red).allSatisfy { (120...130).contains($0) })
        #expect(try grey.promoted(to: .rgb).nearestNumbers(to: red) == [255, 0, 0])
        let deep = try grey.inSixteenBits()
        #expect(try deep.image.getpoint(x: 0, y: 0) == [9.0 * 257])
        #expect(try deep.nearestNumbers(to: .white) == [65_535])
    }

    @Test func `colors have the numbers of CMYK and Lab`() throws {
        let white = try TestPicture.solid([255, 255, 255], width: 2, height: 2)
        let press = try white.iccTransform(to: .cmyk, input: .srgb)
        for image in [press, try press.removingMetadata(["icc-profile-data"])] {
            let picture = try Picture(decoded: image)
            let (light, dark) = (try picture.nearestNumbers(to: .white), try picture.nearestNumbers(to: .black))
            #expect(light.allSatisfy { $0 <= 3 } && light.count == 4 && dark[3] > 200, "\(light) \(dark)")
        }
        let lab = try Picture(decoded: white.colourspace(.lab))
        #expect(zip(try lab.nearestNumbers(to: .white), [65_535, 32_768, 32_768]).allSatisfy { abs($0 - $1) <= 8 })
        #expect(zip(try lab.nearestNumbers(to: .black), [0, 32_768, 32_768]).allSatisfy { abs($0 - $1) <= 8 })
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
