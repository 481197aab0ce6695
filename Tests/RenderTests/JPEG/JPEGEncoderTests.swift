// JPEG as it is encoded here: byte by byte what libvips writes.
import Foundation
import Pipeline
import Stages
import TestSupport
import Testing
import Vips

@testable import Render
@testable import System

@Suite(.quietVips) struct JPEGEncoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func picture(_ width: Int, _ height: Int, _ bands: Int) throws -> Image {
        try TestPicture.make(width: width, height: height, bands: bands) { x, y in
            (0..<bands).map { UInt8(truncatingIfNeeded: (x * ($0 + 3)) ^ (y * 5)) }
        }.inMemory()
    }

    private func options(_ settings: String = "") throws -> JPEGOutput {
        let file = try PipelineFile(
            text: "renditions: { a: { save: { format: jpeg\(settings) } } }", file: "p.yaml", catalogue: .complete)
        return try #require(file.renditions[0].save.encoding as? JPEGOutput)
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    @Test(arguments: [1, 30, 89, 90, 100], ["auto", "on", "off"])
    func `a file is the one that libvips writes`(quality: Int, subsampling: String) throws {
        for isProgressive in [false, true] {
            for (width, height, bands) in [(1, 1, 3), (33, 20, 3), (300, 201, 3), (64, 48, 1), (17, 90, 1)] {
                let image = try picture(width, height, bands)
                let options = try options(
                    ", quality: \(quality), progressive: \(isProgressive), subsampling: \(subsampling)")
                let own = folder.path("own.jpg")
                _ = FileManager.default.createFile(atPath: own, contents: nil)
                try #require(JPEGEncoder(image, options)).save(to: OpenFile(owning: open(own, O_RDWR | O_CLOEXEC)))
                let reference = try TestPicture.save(
                    image, as: "jpegsave_target",
                    [
                        ("Q", .int(quality)), ("interlace", .bool(isProgressive)),
                        ("subsample_mode", .string(subsampling)), ("strip", true),
                    ],
                    to: folder.path("reference.jpg"))
                #expect(
                    try bytes(own) == bytes(reference),
                    "\(width)×\(height), \(bands) bands, progressive: \(isProgressive)")
            }
        }
    }

    @Test func `what is not in memory, not of 8 bits, or has another number of bands is left to libvips`() throws {
        let image = try picture(33, 20, 3)
        #expect(JPEGEncoder(try image.flip(.horizontal), try options()) == nil)
        #expect(JPEGEncoder(try image.cast(.ushort).inMemory(), try options()) == nil)
        #expect(JPEGEncoder(try picture(33, 20, 4), try options()) == nil)
        #expect(JPEGEncoder(try image.copy(interpretation: .lab).inMemory(), try options()) == nil)
        #expect(JPEGEncoder(try picture(65_501, 1, 1), try options()) == nil)
        #expect(JPEGEncoder(try picture(65_500, 1, 1), try options()) != nil)
    }

    @Test func `a full disk is said to be full`() throws {
        let full = OpenFile(owning: open("/dev/full", O_WRONLY | O_CLOEXEC))
        let error = try #require(throws: SystemError.self) {
            try JPEGEncoder(picture(300, 201, 3), options())?.save(to: full)
        }
        #expect(error.code == ENOSPC)
    }
}
