// PNG as libdeflate packs it: every pixel and every chunk against libpng.
import Foundation
import Pipeline
import Stages
import TestSupport
import Testing
import Vips

@testable import Render
@testable import System

@Suite(.quietVips) struct PNGEncoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func options(_ settings: String = "") throws -> PNGOutput {
        let file = try PipelineFile(
            text: "renditions: { a: { save: { format: png\(settings) } } }", file: "p.yaml", catalogue: .complete)
        return try #require(file.renditions[0].save.encoding as? PNGOutput)
    }

    /// Saves a picture, and reads the file.
    private func saved(
        _ image: Image, _ settings: String = "", strip: Bool = true
    ) throws -> (bytes: [UInt8], chunks: [PNGChunk], image: Image) {
        let path = folder.path("a.png")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let encoder = try #require(try PNGEncoder(image, options(settings), planned: planned(image)))
        try encoder.save(to: OpenFile(owning: open(path, O_RDWR | O_CLOEXEC)), strip: strip)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        return (bytes, PNGChunk.all(in: bytes), try TestPicture.load(path, by: "pngload_source"))
    }

    /// The same by libpng.
    private func reference(_ image: Image, strip: Bool = true) throws -> [UInt8] {
        let path = folder.path("reference.png")
        try TestPicture.save(
            image, as: "pngsave_target", [("strip", .bool(strip)), ("compression", .int(6))], to: path)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func planned(_ image: Image) -> PictureInfo { PictureInfo(size: PixelSize(image.width, image.height)) }

    private func noise(_ width: Int, _ height: Int, _ bands: Int) throws -> Image {
        var state: UInt32 = 77
        return try TestPicture.make(width: width, height: height, bands: bands) { _, _ in
            (0..<bands).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: state >> 24)
            }
        }
    }

    /// As a photo is: smooth, with a little noise.
    private func smooth(_ width: Int, _ height: Int, _ bands: Int) throws -> Image {
        var state: UInt32 = 5
        return try TestPicture.make(width: width, height: height, bands: bands) { x, y in
            (0..<bands).map { band in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: 100 + (x * (band + 1)) / 3 + y / 2 + Int(state >> 30))
            }
        }
    }

    /// As a drawing is: few colors, in stripes of which no neighbor tells the next.
    private func drawn(_ width: Int, _ height: Int, _ bands: Int) throws -> Image {
        try TestPicture.make(width: width, height: height, bands: bands) { x, y in
            (0..<bands).map { [0, 255, 17, 200][(x / 3 * 7 + y / 5 * 3 + $0) % 4] }
        }
    }

    /// As a symbol is: a disc on plain paper.
    private func symbol(_ size: Int, _ bands: Int) throws -> Image {
        try TestPicture.make(width: size, height: size, bands: bands) { x, y in
            let (across, down) = (2 * x - size, 2 * y - size)
            return (0..<bands).map { across * across + down * down < size * size / 2 ? UInt8(40 * $0 + 30) : 220 }
        }
    }

    /// Even rows, as behind the buttons of an app.
    private func shaded(_ size: Int, _ bands: Int) throws -> Image {
        try TestPicture.make(width: size, height: size, bands: bands) { _, y in
            (0..<bands).map { UInt8(250 - y - 20 * $0) }
        }
    }

    private func inSixteenBits(_ image: Image) throws -> Image {
        try image.linear([257], [0]).cast(.ushort).copy(interpretation: image.bands <= 2 ? .grey16 : .rgb16).inMemory()
    }

    @Test(arguments: 1...4)
    func `every pixel comes back, in 8 and 16 bits, from single pixels on`(bands: Int) throws {
        for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 2), (31, 17), (200, 120)] {
            for image in [
                try noise(width, height, bands), try smooth(width, height, bands), try drawn(width, height, bands),
            ] {
                for image in [image, try inSixteenBits(image)] {
                    let back = try saved(image).image
                    #expect(back.format == image.format && back.bands == image.bands && back.hasAlpha == image.hasAlpha)
                    #expect(try back.pixels() == image.pixels(), "\(width)×\(height), \(bands) bands, \(image.format)")
                }
            }
        }
    }

    @Test(arguments: 0...9)
    func `each compression gives the same pixels; none gives the most bytes`(level: Int) throws {
        let image = try smooth(120, 90, 3)
        let file = try saved(image, ", compression: \(level)")
        #expect(try file.image.pixels() == image.pixels())
        #expect(level == 0 ? file.bytes.count > image.bytes : file.bytes.count < image.bytes / 2)
    }

    @Test(arguments: [1, 3, 4])
    func `files are no larger than libpng's`(bands: Int) throws {
        for image in [
            try smooth(300, 200, bands), try drawn(300, 200, bands), try noise(100, 100, bands),
            try TestPicture.solid(
                [UInt8](repeating: 9, count: bands), width: 300, height: 200),
        ] {
            let (ours, theirs) = (try saved(image).bytes.count, try reference(image).count)
            #expect(Double(ours) <= 1.02 * Double(theirs), "\(ours) bytes instead of \(theirs)")
        }
        #expect(
            try Double(saved(smooth(300, 200, bands)).bytes.count) < 0.8
                * Double(reference(smooth(300, 200, bands)).count))
    }

    @Test(arguments: [1, 3, 4])
    func `rows of small pictures are packed in the way that makes few bytes`(bands: Int) throws {
        let differences = { (image: Image) in
            let rows = PNGRows(width: image.width, height: image.height, bands: image.bands, bytesPerSample: 1)
            let all = [0..<image.height]
            return try image.withPixels { pixels in (rows.plain(pixels, all), rows.filtered(pixels, all).rows) }
        }
        for image in [
            try smooth(64, 64, bands), try drawn(64, 64, bands), try noise(64, 64, bands), try symbol(64, bands),
            try shaded(64, bands), try shaded(150, bands),
            try TestPicture.solid([UInt8](repeating: 9, count: bands), width: 64, height: 64),
        ] {
            let (plain, filtered) = try differences(image)
            let best = min(zlib(plain).count, zlib(filtered).count)
            let file = try saved(image).chunks.filter { $0.type == "IDAT" }.map { $0.content.count }.reduce(0, +)
            #expect(Double(file) <= 1.15 * Double(best), "\(image.width), \(file) bytes instead of \(best)")
        }
    }

    @Test
    func `all chunks but the pixels are those that libpng writes: profile, EXIF, XMP, texts and resolution`() throws {
        let image = try smooth(40, 30, 3).iccTransform(to: .p3, input: .srgb).editingMetadata { editor in
            editor.set("xmp-data", blob: Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))
            editor.set("exif-ifd0-Copyright", string: "me (ASCII)")
            editor.set("png-comment-0-Title", string: "a title")
        }
        for strip in [false, true] {
            let (ours, theirs) = (
                try saved(image, strip: strip).chunks, PNGChunk.all(in: try reference(image, strip: strip))
            )
            let others = { (chunks: [PNGChunk]) in chunks.filter { $0.type != "IDAT" }.map(\.bytes) }
            #expect(others(ours) == others(theirs), "\(ours.map(\.type)) instead of \(theirs.map(\.type))")
        }
        #expect(
            try Set(saved(image, strip: false).chunks.map(\.type)).isSuperset(of: [
                "IHDR", "iCCP", "pHYs", "IDAT", "IEND",
            ]))
    }

    @Test func `what is interlaced, has a palette or is too large is libpng's`() throws {
        let image = try smooth(8, 8, 3)
        #expect(try PNGEncoder(image, options(", progressive: true"), planned: planned(image)) == nil)
        #expect(try PNGEncoder(image, options(", palette: true"), planned: planned(image)) == nil)
        #expect(try PNGEncoder(image.cast(.float), options(), planned: planned(image)) == nil)
        let tooLarge = PictureInfo(size: PixelSize(5000, 5000))
        #expect(try PNGEncoder(image, options(), planned: tooLarge) == nil, "memory was planned for libpng")
        #expect(try options().takesWhole(bytes: 64 << 20) && !options().takesWhole(bytes: 64 << 20 + 1))
    }
}
