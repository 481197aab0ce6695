// Limits that are raised while the drop folder works.
import Foundation
import TestSupport
import Testing
import Vips

@testable import System

@Suite struct LimitReloadTests {
    @Test(arguments: [
        "max-memory: 80M", "max-pixels: 1K", "max-source-bytes: 100", "max-side: 20", "max-bands: 1",
        "max-output-bytes: 20",
        "max-scans: 2", "max-metadata-bytes: 1000", "max-profile-bytes: 100",
    ])
    func `a reload raises each limit but those of time: a source that it refused is done when it is tried again`(
        limit: String
    ) async throws { try await raise(limit, "a.jpg", try await picture()) }

    @Test func `a reload raises the limit of frames`() async throws {
        let (width, height) = (20, 16)
        let bytes = try await SamplePicture.gif.encode(
            TestPicture.make(width: width, height: 3 * height) { x, y in
                [UInt8(9 * x), UInt8(4 * y), UInt8(x * y % 256)]
            }
            .editingMetadata { $0.set("page-height", int: height) })
        try await raise("max-frames: 2", "a.gif", bytes)
    }

    /// A progressive JPEG with metadata and a profile.
    private func picture() async throws -> [UInt8] {
        try await inVipsTurn {
            let folder = try TemporaryFolder()
            let image = try TestPicture.make(width: 64, height: 48) { x, y in
                [UInt8(3 * x), UInt8(5 * y), UInt8(x * y % 256)]
            }
            .editingMetadata {
                $0.set("xmp-data", blob: Array("<x:xmpmeta>\(String(repeating: "a", count: 2000))</x:xmpmeta>".utf8))
            }
            let path = try TestPicture.save(
                image, as: "jpegsave_target", [("interlace", true), ("profile", "srgb")], to: folder.path("a.jpg"))
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    private func raise(_ limit: String, _ source: String, _ bytes: [UInt8]) async throws {
        let rest = "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        let drop = try WatchedFolder(mill: limit + "\n" + rest)
        let watch = try await drop.start()
        try drop.drop(source, bytes)
        try await drop.until("state/failed/in/\(source)", "state/failed/in/\(source).error.json")
        let name = limit.prefix { $0 != ":" }
        let note = String(decoding: try drop.runner.bytes("state/failed/in/\(source).error.json"), as: UTF8.self)
        #expect(note.contains("(\(name))"), "\(note)")
        try drop.runner.folder.write(rest, to: "mill.yaml")
        let reload = try await drop.runner.run("reload", "--state", "state")
        #expect(reload.exit == 0 && !reload.output.contains("next start"), "\(reload)")
        #expect(try await drop.runner.run("retry", "--state", "state", source).exit == 0)
        try await drop.until("out/\(source).json", "state/done/in/\(source)")
        #expect(try await drop.stop(watch).exit == 0)
    }
}
