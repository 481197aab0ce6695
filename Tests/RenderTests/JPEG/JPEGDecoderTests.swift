// JPEG as it is decoded here: every pixel as libvips reads it, and every file with a fault left to libvips.
import CJPEG
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Render
@testable import System

@Suite(.quietVips) struct JPEGDecoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let sizes = [(1, 1), (1, 9), (7, 3), (16, 5), (33, 20), (2, 40), (131, 67), (300, 201)]

    /// Slopes and noise.
    private func picture(_ width: Int, _ height: Int, _ bands: Int = 3) throws -> Image {
        var state: UInt32 = 77
        return try TestPicture.make(width: width, height: height, bands: bands) { x, y in
            (0..<bands).map { band in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: x * (band + 1) + 2 * y + Int(state >> 28))
            }
        }
    }

    private func file(_ image: Image, _ options: [(String, Argument)] = []) throws -> [UInt8] {
        let path = folder.path("a.jpg")
        try TestPicture.save(image, as: "jpegsave_target", options, to: path)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func open(_ bytes: [UInt8]) throws -> OpenFile {
        let path = folder.path("b.jpg")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return try OpenFile.reading(BytePath(path))
    }

    /// The picture that libvips reads, not decoded yet.
    private func libvips(_ file: OpenFile, shrink: Int = 1) throws -> Image {
        let source = try Source(descriptor: file.descriptor)
        return try Operation(
            "jpegload_source", [("source", .source(source)), ("access", "sequential"), ("shrink", .int(shrink))]
        ).image()
    }

    private func decoder(_ bytes: [UInt8], shrink: Int = 1) throws -> JPEGDecoder? {
        let file = try open(bytes)
        return JPEGDecoder(file, like: try libvips(file, shrink: shrink), shrink: shrink)
    }

    /// The rows of a picture, some at a time.
    private func rows(_ image: Image) throws -> [UInt8] {
        let same = ResamplingTarget(width: image.width, height: image.height)
        return try image.resampled(to: same).pixels()
    }

    @Test func `libvips has loaded a libjpeg that is known`() throws {
        try TestVips.start()
        #expect(cjpeg_is_available() != 0)
    }

    @Test(arguments: [1, 2, 4, 8], [1, 3])
    func `pixels are those that libvips reads, at once and row by row`(shrink: Int, bands: Int) throws {
        for (width, height) in Self.sizes where min(width, height) >= shrink {
            for options: [(String, Argument)] in [
                [("Q", 75)], [("Q", 95)], [("subsample_mode", "off")], [("optimize_coding", true)],
            ] {
                let bytes = try file(picture(width, height, bands), options)
                let expected = try libvips(open(bytes), shrink: shrink).pixels()
                let held = try #require(try decoder(bytes, shrink: shrink)?.decoded(), "\(width)×\(height)")
                #expect(try held.pixels() == expected, "\(width)×\(height)")
                let streamed = try #require(try decoder(bytes, shrink: shrink)?.streamed())
                #expect(try rows(streamed) == expected, "\(width)×\(height)")
            }
        }
    }

    @Test func `metadata is what libvips reads`() throws {
        let bytes = try file(picture(20, 10).editingMetadata { $0.set("xmp-data", blob: Array("<x/>".utf8)) })
        for shrink in [1, 2] {
            let expected = try libvips(open(bytes), shrink: shrink)
            for own in [try decoder(bytes, shrink: shrink)?.decoded(), try decoder(bytes, shrink: shrink)?.streamed()] {
                let found = try #require(own)
                #expect(Set(found.fields) == Set(expected.fields))
                #expect(found.blob("xmp-data") == expected.blob("xmp-data"))
                #expect(found.interpretation == expected.interpretation)
            }
        }
    }

    @Test func `what comes in several passes or four colors is left to libvips`() throws {
        #expect(try decoder(file(picture(33, 20), [("interlace", true)])) == nil)
        let colours = try picture(33, 20, 4).copy(interpretation: .cmyk)
        #expect(try decoder(file(colours)) == nil)
    }

    @Test func `another picture than the header promised is left to libvips`() throws {
        let opened = try libvips(open(file(picture(33, 20))))
        for other in [try picture(33, 22), try picture(35, 20), try picture(33, 19), try picture(33, 20, 1)] {
            #expect(JPEGDecoder(try open(file(other)), like: opened, shrink: 1) == nil)
        }
        #expect(JPEGDecoder(try open([]), like: opened, shrink: 1) == nil)
    }

    @Test func `rows out of order are an error, not other pixels`() throws {
        let image = try #require(try decoder(file(picture(64, 64)))?.streamed())
        _ = try image.extractArea(left: 0, top: 0, width: 64, height: 16).pixels()
        #expect(throws: VipsError.self) { try image.extractArea(left: 0, top: 32, width: 64, height: 16).pixels() }
        _ = VipsLibrary.takeErrors()
    }

    // MARK: - Faults

    @Test func `a file that ends early is left to libvips`() throws {
        let bytes = try file(picture(131, 67))
        let opened = try libvips(open(bytes))
        for count in bytes.indices.dropLast(2) where count % 37 == 0 || count < 32 || count > bytes.count - 32 {
            let part = JPEGDecoder(try open(Array(bytes.prefix(count))), like: opened, shrink: 1)
            #expect(try part?.decoded() == nil, "\(count) of \(bytes.count) bytes")
        }
    }

    @Test func `a file with any byte changed is left to libvips, or comes out as libvips reads it`() throws {
        let bytes = try file(picture(33, 20))
        for index in bytes.indices {
            for change: UInt8 in [1, 0x80, 0xFF] {
                var mutant = bytes
                mutant[index] ^= change
                let file = try open(mutant)
                guard let opened = try? libvips(file),
                    let own = try JPEGDecoder(file, like: opened, shrink: 1)?.decoded()
                else { continue }
                _ = VipsLibrary.takeErrors()
                #expect(try own.pixels() == opened.pixels(), "byte \(index)")
                #expect(VipsLibrary.takeErrors() == "", "byte \(index)")
            }
        }
        // libvips talks about what it finds.
        _ = VipsLibrary.takeErrors()
        _ = GLibLog.shared.take()
    }

    @Test func `a file with wrong bits is left to libvips whenever that has a word to say about it`() throws {
        // A block of metadata that is skipped, and few codes that mean nothing, so that it matters how much libjpeg
        // sees at once.
        let image = try picture(300, 201).editingMetadata {
            $0.set("iptc-data", blob: Array(repeating: 65, count: 10_001))
        }
        let bytes = try file(image, [("Q", 85), ("optimize_coding", true)])
        var (warned, missed) = (0, 0)
        for index in stride(from: 11_000, to: bytes.count - 2, by: 11) {
            var mutant = bytes
            mutant[index] ^= 0x55
            let file = try open(mutant)
            guard let opened = try? libvips(file) else { continue }
            _ = VipsLibrary.takeErrors()
            let own = try JPEGDecoder(file, like: opened, shrink: 1)?.decoded()
            _ = try? opened.pixels()
            guard !VipsLibrary.takeErrors().isEmpty else { continue }
            warned += 1
            if own != nil { missed += 1 }
        }
        #expect(warned > 20 && missed == 0)
        _ = GLibLog.shared.take()
    }
}
