// Small files that would take much memory or time: each ends as what it is, and the pictures after it are done.
import Foundation
import TestSupport
import Testing
import Vips

@testable import imagemill

@Suite struct BombTests {
    /// Writes the bombs of `make hostile` into `in`.
    /// - Returns: the codes that each may end with, `done` among them.
    private func writeBombs(_ runner: CommandRunner) async throws -> [String: [String]] {
        let script = """
            import json, os, sys
            sys.path.insert(0, sys.argv[1])
            from malformed import bombs
            os.mkdir("in")
            codes = {}
            for name, content, expected in bombs():
                open("in/" + name, "wb").write(content)
                codes[name] = [code or "done" for code in expected]
            print(json.dumps(codes))
            """
        try runner.folder.write(script, to: "bombs.py")
        let written = try await runner.shell("python3 bombs.py '\(Checkout.path)/Tests/Hostile'")
        #expect(written.exit == 0, "\(written.errors)")
        return try JSONDecoder().decode([String: [String]].self, from: Data(written.output.utf8))
    }

    @Test func `each bomb ends with its own code, and good pictures are done meanwhile`() async throws {
        let runner = try CommandRunner()
        let expected = try await writeBombs(runner)
        try runner.folder.write(try await SamplePicture.jpeg.bytes, to: "in/good.jpg")
        try runner.folder.write(try await SamplePicture.png.bytes, to: "in/zz.png")
        try runner.pipeline()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--max-memory", "512M")
        #expect(result.exit == 1, "\(result.errors)")
        let report = try runner.report()
        #expect(report.outcomes["good.jpg"] == "done" && report.outcomes["zz.png"] == "done")
        for (name, codes) in expected {
            let outcome = report.outcomes[name] ?? "passed over"
            #expect(codes.contains(outcome), "\(name): \(outcome)")
        }
        let messages = Dictionary(report.sources.map { ($0.source.path, $0.error?.message ?? "") }) { first, _ in first
        }
        #expect(
            messages["5000-scans.jpg"] == "the JPEG is drawn in more than 500 passes, which is the limit (max-scans)")
        // libspng refuses them at once, by a limit of its own.
        #expect(
            messages["texts.png"]
                == (versionText.contains("libspng")
                    ? "the picture cannot be decoded"
                    : "its worker took more than 193 MiB of memory, far more than a picture of the size in its header needs, and was stopped")
        )
    }

    @Test(arguments: ["av1", "hevc"])
    func `a HEIC or an AVIF that says less than its codec is judged by the codec, before it is decoded`(
        compression: String
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save(
            "whole.heif", as: "heifsave_target", [("compression", .string(compression)), ("effort", 0)]
        ) {
            try TestPicture.solid([9, 99, 9], width: 1280, height: 960)
        }
        var bytes = try runner.bytes("whole.heif")
        // After the box's type come its version and flags.
        let extents = bytes.indices.dropLast(16).filter { bytes[$0..<$0 + 4].elementsEqual("ispe".utf8) }
        #expect(!extents.isEmpty)
        for extent in extents { bytes.replaceSubrange(extent + 8..<extent + 16, with: [0, 0, 0, 16, 0, 0, 0, 16]) }
        try runner.folder.write(bytes, to: "a.heif")
        try runner.pipeline()
        for (name, limit, words) in [
            ("whole.heif", "1M", "the picture has 1280×960 pixels; the limit is 1000000 in all (max-pixels)"),
            (
                "a.heif", "1M",
                "the picture has 16×16 pixels, and its codec's header says 1280×960; the limit is 1000000 in all (max-pixels)"
            ),
            ("whole.heif", "2M", ""),
        ] {
            let result = try await runner.run("run", "p.yaml", name, "-o", "out", "--force", "--max-pixels", limit)
            #expect(
                result.exit == (words.isEmpty ? 0 : 2) && (words.isEmpty || result.errors.contains(words)),
                "\(result.errors)")
        }
        let report = try runner.report()
        #expect(try #require(report["whole.heif"]?.predictedMemory) > 10 * 1280 * 960)
    }

    @Test func `the limit of passes can be raised`() async throws {
        let runner = try CommandRunner()
        let script =
            "import sys; sys.path.insert(0, sys.argv[1]); from malformed import scans; open('a.jpg', 'wb').write(scans(64, 64, 600))"
        try runner.folder.write(script, to: "scans.py")
        #expect(try await runner.shell("python3 scans.py '\(Checkout.path)/Tests/Hostile'").exit == 0)
        try runner.pipeline()
        #expect(try await runner.run("run", "p.yaml", "a.jpg", "-o", "out").exit == 2)
        #expect(try runner.report().outcomes == ["a.jpg": "too-many-scans"])
        #expect(try await runner.run("run", "p.yaml", "a.jpg", "-o", "out", "--max-scans", "1000").exit == 0)
    }
}
