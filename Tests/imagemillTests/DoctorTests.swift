// `imagemill doctor`.
import TestSupport
import Testing

@testable import Engine
@testable import Render

@Suite struct DoctorTests {
    @Test func `it tries formats in a worker, and names the limits with their defaults`() async throws {
        let runner = try CommandRunner()
        let result = try await runner.run("doctor")
        let lines = result.output.split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(lines[0].hasPrefix("imagemill "))
        #expect(lines.contains("reads jpeg png webp gif tiff heic avif"), "\(result)")
        #expect(lines.contains { $0.hasPrefix("on request svg") }, "\(result)")
        #expect(lines.contains("writes jpeg png webp avif tiff gif jxl ico tiles"), "\(result)")
        #expect(
            lines.contains("max-pixels 100000000 (default)") && lines.contains("max-scans 500 (default)"), "\(result)")
        #expect(lines.contains("sandbox \(Sandbox.inForce)"), "\(result)")
        #expect(result.exit == (Sandbox.missing.isEmpty ? 0 : 1))
    }

    @Test func `limits of an inbox and of its pipeline are shown with the value that holds`() async throws {
        let drop = try WatchedFolder(inbox: "name: photos, limits: { max-time: 5m, max-pixels: 300M }")
        let text = String(decoding: try drop.runner.bytes("p.yaml"), as: UTF8.self)
        try drop.runner.folder.write(
            "limits: { max-pixels: 20M, max-cpu-time: 1h, max-profile-bytes: 2K }\n" + text, to: "p.yaml")
        let result = try await drop.runner.run("doctor", "mill.yaml")
        let own = result.output.split(separator: "\n").filter { $0.contains("inbox") }
        #expect(
            own == [
                "max-pixels          20000000 (pipeline p.yaml, for inbox photos)",
                "max-profile-bytes   2048 bytes (pipeline p.yaml, for inbox photos)",
                "max-time            5m (inbox photos)",
            ], "\(result)")
    }

    @Test func `a mill file's limits are told from the defaults`() async throws {
        let drop = try WatchedFolder()
        let text = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self)
        try drop.runner.folder.write("max-pixels: 20M\n" + text, to: "mill.yaml")
        let result = try await drop.runner.run("doctor", "mill.yaml")
        #expect(
            result.output.contains("max-pixels          20000000 (mill.yaml; the default is 100000000)"), "\(result)")
        #expect(
            result.output.contains("max-time            1m (default)\nmax-cpu-time        2m (default)"), "\(result)")
    }
}
