// Codecs that this system lacks are no picture's fault. Taken away here by hiding libvips' modules from it, of which
// the one for HEIC and AVIF is one.
import Foundation
import TestSupport
import Testing

@Suite struct MissingCodecTests {
    private let runner: CommandRunner

    init() throws {
        runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              web: { save: { format: avif } }
              old: { save: { format: jpeg } }
            """, to: "avif.yaml")
    }

    /// Whether libvips has HEIC and AVIF in a module on this system, so that they can be hidden.
    private static let canHide: Bool = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return folders.contains { folder in
            let modules = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/\(folder)")) ?? []
            return modules.contains {
                $0.hasPrefix("vips-modules-")
                    && FileManager.default.fileExists(atPath: "/usr/lib/\(folder)/\($0)/vips-heif.so")
            }
        }
    }()

    private func without(_ line: String) async throws -> CommandResult {
        try await runner.shell("VIPSHOME=/nonexistent $IMAGEMILL \(line)")
    }

    private static let sentence =
        "'web': libvips on this system cannot write avif; install the package libheif-plugin-aomenc"

    @Test(.enabled(if: canHide))
    func `a pipeline that saves to a format without an encoder is refused, with the package to install`() async throws {
        try await runner.picture("in/a.png")
        try runner.folder.write(
            "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: avif.yaml }\n", to: "mill.yaml")
        for line in ["check avif.yaml", "check mill.yaml", "run avif.yaml in -o out", "watch mill.yaml"] {
            let result = try await without(line)
            #expect(
                result.exit == 78 && result.errors.contains("avif.yaml:2:3: error: " + Self.sentence),
                "\(line): \(result.exit) \(result.errors)")
        }
        #expect(runner.files(in: "in") == ["a.png"] && runner.files().isEmpty)
        #expect(try await runner.run("check", "avif.yaml").exit == 0)
    }

    @Test(.enabled(if: canHide))
    func `a pipeline that saves to JPEG XL is refused where libvips has none`() async throws {
        try runner.folder.write("renditions: { a: { save: { format: jxl } } }", to: "jxl.yaml")
        let result = try await without("check jxl.yaml")
        let sentence =
            "'a': libvips on this system cannot write jxl; install a libvips that has its module for JPEG XL"
        #expect(result.exit == 78 && result.errors.contains(sentence), "\(result.exit) \(result.errors)")
    }

    @Test(.enabled(if: canHide))
    func `a source of a format without a decoder is unsupported, not corrupt, with the package to install`()
        async throws
    {
        try await runner.picture("in/a.avif")
        try runner.pipeline()
        let run = try await without("run p.yaml in -o out")
        #expect(run.exit == 2, "\(run.errors)")
        let failure = try #require(try runner.report()["a.avif"]?.error)
        #expect(failure.code == "unsupported-format")
        #expect(failure.message == "libvips on this system cannot read avif; install the package libheif-plugin-dav1d")
        let plan = try await without("plan in/a.avif p.yaml")
        #expect(plan.errors.contains("libheif-plugin-dav1d"), "\(plan.errors)")
        // One that is damaged is damaged.
        var bytes = try await SamplePicture.avif.bytes
        let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
        bytes.replaceSubrange(data..., with: Array(repeating: 0xFF, count: bytes.count - data))
        try runner.folder.write(bytes, to: "in/a.avif")
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(try runner.report()["a.avif"]?.error?.code == "corrupt")
    }
}
