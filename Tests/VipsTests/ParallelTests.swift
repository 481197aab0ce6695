import Foundation
import TestSupport
import Testing

@testable import Vips

@Suite("One error buffer for the whole process", .serialized) struct ParallelTests {
    init() throws { try TestVips.start() }

    @Test(.quietVips)
    func `two hundred loads that fail at once give whole errors`() async throws {
        let folder = try TemporaryFolder()
        let garbage = try folder.write(Array("this is no picture at all, whatever its name says\n".utf8), to: "a.jpg")
        let loaders = ["jpegload_source", "pngload_source", "webpload_source", "gifload_source", "tiffload_source"]
        // Each loader's own words, one at a time; then the same at once.
        let known = Set(loaders.flatMap { lines(failure(garbage, $0)) })
        #expect(!known.isEmpty)
        let errors = await withTaskGroup(of: String.self) { group in
            for index in 0..<200 {
                group.addTask { self.failure(garbage, loaders[index % loaders.count]) }
            }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(errors.count == 200)
        // The buffer is shared, so that one call may carry the lines of another, but never half of one.
        for error in errors {
            for line in lines(error) {
                #expect(known.contains(line) || line.hasSuffix("failed without a text"), "torn: '\(line)'")
            }
        }
        #expect(VipsLibrary.takeErrors().isEmpty)
        // Some loaders warn too, which is no mistake of this test's.
        _ = GLibLog.shared.take()
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    private func failure(_ path: String, _ loader: String) -> String {
        do {
            _ = try TestPicture.load(path, by: loader)
            return "it loaded"
        } catch {
            return (error as? VipsError)?.message ?? "\(error)"
        }
    }

    @Test(.quietVips)
    func `nothing that libvips made stays alive`() async throws {
        let folder = try TemporaryFolder()
        // The first round fills what libvips keeps for good, such as colour tables.
        try work(folder)
        let objects = VipsLibrary.liveObjects
        let bytes = VipsLibrary.trackedBytes
        for _ in 0..<5 { try work(folder) }
        #expect(VipsLibrary.liveObjects == objects)
        // libvips' threads let go of their buffers when they get to it. What an earlier test left to them may have gone
        // meanwhile.
        for _ in 0..<1_000 where VipsLibrary.trackedBytes > bytes { try await Task.sleep(for: .milliseconds(10)) }
        #expect(VipsLibrary.trackedBytes <= bytes)
    }

    private func work(_ folder: TemporaryFolder) throws {
        let picture = try TestPicture.make(width: 64, height: 48, bands: 4) { x, y in
            [UInt8(x), UInt8(y), 9, UInt8(x * 3)]
        }
        let scaled = try picture.premultiply(maximumAlpha: 255).resize(width: 31, height: 17).unpremultiply(
            maximumAlpha: 255
        ).cast(.uchar)
        let turned = try scaled.copy(interpretation: .srgb).rot(.d90).embed(
            x: 3, y: 3, width: 40, height: 40, background: [0, 0, 0, 0])
        let path = try TestPicture.save(turned, as: "pngsave_target", to: folder.path("leak.png"))
        _ = try TestPicture.load(path, by: "pngload_source").gaussblur(sigma: 2).pixels()
        #expect(throws: VipsError.self) { _ = try Operation("resize", ["in": .image(picture), "nothing": 1]) }
        #expect(throws: VipsError.self) { try TestPicture.load(path, by: "jpegload_source") }
        _ = try picture.flatten(background: [1, 2, 3], maximumAlpha: 255).iccTransform(to: .srgb, input: .srgb).pixels()
    }
}
