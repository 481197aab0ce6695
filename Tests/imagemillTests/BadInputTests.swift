// One batch with everything that goes wrong: each bad source has its own code, and the good ones finish.
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@Suite struct BadInputTests {
    /// Bad files by name, and the code that each must fail with.
    private static let expected = [
        "cut.jpg": "truncated", "cut.png": "truncated", "cut.gif": "truncated", "cut.webp": "truncated",
        "text.jpg": "not-an-image", "page.jpg": "not-an-image", "archive.jpg": "not-an-image",
        "empty.jpg": "empty", "dangling.jpg": "not-found",
        "pipe.jpg": "not-a-regular-file",
        "socket.jpg": "not-a-regular-file", "drawing.jpg": "unsupported-format", "paper.jpg": "unsupported-format",
        "random.png": "not-an-image", "large.png": "too-many-pixels", "broken.png": "corrupt", "head.jpg": "truncated",
    ]

    private func writeBadFiles(_ runner: CommandRunner) async throws {
        for kind in [SamplePicture.jpeg, .png, .gif, .webp] {
            let bytes = try await kind.encode(
                TestPicture.make(width: 100, height: 100) { x, y in [UInt8(x), UInt8(y), UInt8((x * y) % 256)] })
            try runner.folder.write(Array(bytes.prefix(bytes.count * 2 / 3)), to: "in/cut.\(kind.fileExtension)")
        }
        try runner.folder.write("this is no picture", to: "in/text.jpg")
        try runner.folder.write("<!DOCTYPE html>\n<title>404</title>\n", to: "in/page.jpg")
        try runner.folder.write("PK\u{3}\u{4}and so on", to: "in/archive.jpg")
        try runner.folder.write("", to: "in/empty.jpg")
        try await runner.picture("in/folder.jpg/inside.jpg")
        try FileManager.default.createSymbolicLink(
            atPath: runner.folder.path("in/dangling.jpg"), withDestinationPath: "nothing")
        #expect(mkfifo(runner.folder.path("in/pipe.jpg"), 0o644) == 0)
        #expect(mknod(runner.folder.path("in/socket.jpg"), S_IFSOCK | 0o644, 0) == 0)
        try runner.folder.write(
            "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>",
            to: "in/drawing.jpg")
        try runner.folder.write("%PDF-1.4\n%…", to: "in/paper.jpg")
        try runner.folder.write(
            (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }, to: "in/random.png")
        try runner.folder.write(
            try await SamplePicture.png.encode(TestPicture.solid([1], width: 400, height: 300)), to: "in/large.png")
        var broken = try await SamplePicture.png.bytes
        for index in broken.count / 2..<broken.count / 2 + 40 { broken[index] ^= 0x55 }
        try runner.folder.write(broken, to: "in/broken.png")
        try runner.folder.write(Array(try await SamplePicture.jpeg.bytes.prefix(100)), to: "in/head.jpg")
    }

    @Test func `every kind of bad source fails with its own code, and the good ones beside it finish`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await writeBadFiles(runner)
        for kind in SamplePicture.allCases {
            try await runner.picture("in/good-\(kind.rawValue).\(kind.fileExtension)")
        }

        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--max-pixels", "100K")
        #expect(result.exit == 1)
        let report = try runner.report()
        for (name, code) in Self.expected {
            #expect(report.outcomes[name] == code, "\(name): \(report[name]?.error?.message ?? "")")
        }
        let good = SamplePicture.allCases.map { "good-\($0.rawValue).\($0.fileExtension)" } + ["folder.jpg/inside.jpg"]
        for name in good { #expect(report.outcomes[name] == "done") }
        #expect(report.sources.count == Self.expected.count + good.count)
        #expect(report.summary.failed == Self.expected.count && report.summary.done == good.count)
        #expect(runner.files().count == good.count)
        // Each failure is printed on standard error as well, in the words of the report.
        for entry in report.sources {
            guard let error = entry.error else { continue }
            #expect(result.errors.contains("in/\(entry.source.path): \(error.code): \(error.message)\n"))
            #expect(error.stage == "read" || error.stage == "decode")
            #expect(entry.attempt == 1, "\(entry.source.path) cost a worker")
        }
    }

    @Test func `the messages say what was expected and what was found`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await writeBadFiles(runner)
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out", "--max-pixels", "100K")
        let report = try runner.report()
        func message(_ name: String) -> String { report[name]?.error?.message ?? "" }
        #expect(message("cut.jpg") == "the file ends before the picture does")
        #expect(message("text.jpg") == "expected a picture, found a file in no recognized image format")
        #expect(message("empty.jpg") == "expected a picture, found a file of 0 bytes")
        #expect(message("dangling.jpg") == "cannot follow the link, it points to nothing: No such file or directory")
        #expect(message("pipe.jpg") == "expected a file, found a pipe, a socket or a device")
        #expect(
            message("drawing.jpg")
                == "expected JPEG, PNG, WebP, GIF, TIFF, HEIC or AVIF, found SVG; it is read only with --allow svg, or if the inbox has 'allow: [svg]'"
        )
        #expect(message("paper.jpg").contains("found PDF; it is read only with --allow pdf"))
        #expect(message("large.png") == "the picture has 400×300 pixels; the limit is 100000 in all (max-pixels)")
    }

    @Test func `a batch in which everything fails ends with 2`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try runner.folder.write("no", to: "in/a.jpg")
        try runner.folder.write("", to: "in/b.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 2)
        #expect(result.errors.contains("0 of 2 sources done, 2 failed, 0 renditions"))
        #expect(runner.files().isEmpty)
    }

    @Test func `a pipe that is named as a source does not hang the program`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        #expect(mkfifo(runner.folder.path("pipe.jpg"), 0o644) == 0)
        let result = try await runner.run("run", "p.yaml", "pipe.jpg", "/dev/zero", "-o", "out", seconds: 20)
        #expect(result.exit == 2)
        #expect(try Set(runner.report().outcomes.values) == ["not-a-regular-file"])
    }

    @Test func `what may not be read is permission-denied: a file, and a folder`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let secret = try await runner.picture("in/secret.jpg")
        try await runner.picture("in/closed/b.jpg")
        chmod(secret, 0)
        chmod(runner.folder.path("in/closed"), 0)
        chmod(runner.folder.path, 0o777)
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"], user: .unprivileged)
        chmod(runner.folder.path("in/closed"), 0o755)
        #expect(result.exit == 1)
        let report = try runner.report()
        #expect(report.outcomes == ["a.jpg": "done", "secret.jpg": "permission-denied", "closed": "permission-denied"])
        #expect(
            report["secret.jpg"]?.error?.message
                == "cannot open 'secret.jpg': Permission denied; this user needs the right to read it")
        #expect(report["secret.jpg"]?.error?.retryable == true)
        #expect(
            result.errors.contains(
                "in/closed: permission-denied: cannot open the folder 'closed': Permission denied; this user needs the right to read it\n"
            ),
            "\(result.errors)")
    }

    @Test func `a source folder that may not be read is named in the report`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        chmod(runner.folder.path("in"), 0)
        chmod(runner.folder.path, 0o777)
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"], user: .unprivileged)
        chmod(runner.folder.path("in"), 0o755)
        #expect(result.exit == 2)
        #expect(try runner.report().outcomes == ["in": "permission-denied"])
    }

    @Test func `what is below a folder that may not be searched is permission-denied, and not missing`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("closed/in/a.jpg")
        chmod(runner.folder.path("closed"), 0)
        chmod(runner.folder.path, 0o777)
        let result = try await runner.run(
            ["run", "p.yaml", "closed/in", "closed/in/a.jpg", "-o", "out"], user: .unprivileged)
        chmod(runner.folder.path("closed"), 0o755)
        #expect(result.exit == 2)
        #expect(!result.errors.contains("not-found"), "\(result.errors)")
        #expect(result.errors.contains("closed/in: permission-denied: "), "\(result.errors)")
    }

    @Test func `a content that is not what its name says is processed, with a warning`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try runner.folder.write(try await SamplePicture.png.bytes, to: "in/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let warning = try #require(try runner.report()["a.jpg"]?.warnings.first)
        #expect(warning.code == "extension-mismatch" && warning.message == "the name says '.jpg', the content is png")
    }

    @Test func `damage that the pipeline tolerates is a warning`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("tolerate: truncated\nrenditions:\n  a: { save: { format: jpeg } }\n", to: "p.yaml")
        let bytes = try await SamplePicture.jpeg.encode(
            TestPicture.make(width: 100, height: 100) { x, y in [UInt8(x), UInt8(y), 9] })
        try runner.folder.write(Array(bytes.prefix(bytes.count * 2 / 3)), to: "in/cut.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report()["cut.jpg"]?.warnings.map(\.code).contains("source-truncated") == true)
        #expect(try await runner.size(of: "out/cut.jpg") == [100, 100])
    }

    /// PNG in the kinds that it has, and the other formats.
    private static let tolerated: [(name: String, options: String)] = [
        ("png", ""), ("png", "bands: 4"), ("png", "bands: 1"), ("png", "deep"), ("jpg", ""), ("gif", ""), ("webp", ""),
        ("tif", ""), ("png", "interlaced"),
    ]

    @Test(arguments: tolerated)
    func `what is missing of a picture that is tolerated is gray, and nothing of the picture before`(
        name: String, options: String
    ) async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "tolerate: truncated\nrenditions:\n  a: { save: { format: png } }\n", to: "p.yaml")
        let bands = options.contains("bands: 4") ? 4 : options.contains("bands: 1") ? 1 : 3
        let saver = ["jpg": "jpegsave_target", "tif": "tiffsave_target"][name] ?? "\(name)save_target"
        // Light before dark, with a grain that does not compress.
        var random = SeededGenerator(seed: 1)
        for (file, base) in [("a", 200), ("b", 20)] {
            try await runner.save(
                "in/\(file).\(name)", as: saver, options == "interlaced" ? [("interlace", .bool(true))] : []
            ) {
                let image = try TestPicture.make(width: 300, height: 400, bands: bands) { _, _ in
                    let colour = (0..<3).map { _ in UInt8(base + Int.random(in: 0..<40, using: &random)) }
                    return Array(colour.prefix(min(bands, 3))) + (bands == 4 ? [255] : [])
                }
                guard options == "deep" else { return image }
                return try image.linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16)
            }
        }
        let bytes = try runner.bytes("in/b.\(name)")
        try runner.folder.write(Array(bytes.prefix(bytes.count / 2)), to: "in/b.\(name)")
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1")
        let outcomes = try runner.report().outcomes
        #expect(outcomes["a.\(name)"] == "done", "\(outcomes)")
        let isCut = name == "jpg" || name == "png" && options != "interlaced"
        guard outcomes["b.\(name)"] == "done" else {
            #expect(outcomes["b.\(name)"] == "truncated" && !isCut, "\(outcomes)")
            return
        }
        let grid = try await runner.inspect("out/b.png", by: "pngload_source") { try PixelGrid($0) }
        let unit = grid.maximum / 255
        let rows = (0..<400).map { Array(grid.values[$0 * 300 * grid.bands..<($0 + 1) * 300 * grid.bands]) }
        #expect(rows.prefix(100).allSatisfy { $0.allSatisfy { $0 < 75 * unit || $0 == grid.maximum } }, "dark")
        // A row in which the file ends has some of both.
        #expect(rows.allSatisfy { $0.allSatisfy { $0 < 190 * unit || $0 == grid.maximum } }, "none is of the other")
        #expect(rows[399].allSatisfy { abs($0 - 128 * unit) <= unit || $0 == grid.maximum }, "\(rows[399].prefix(8))")
    }

    @Test func `damage in the middle of a file is not tolerated as a missing end`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "tolerate: truncated\nrenditions:\n  a: { save: { format: png } }\n", to: "p.yaml")
        var bytes = try await SamplePicture.png.bytes
        for index in bytes.count / 2..<bytes.count / 2 + 40 { bytes[index] ^= 0x55 }
        try runner.folder.write(bytes, to: "in/a.png")
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(try runner.report().outcomes == ["a.png": "corrupt"])
    }

    @Test func `each limit has its code, and is named as the option and the mill file call it`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let cases = [
            ("--max-pixels", "1K", "too-many-pixels"), ("--max-source-bytes", "100", "too-many-bytes"),
            ("--max-side", "20", "too-long-side"),
            ("--max-memory", "80M", "too-much-memory"),
            ("--max-output-bytes", "20", "output-too-large"),
        ]
        for (option, value, code) in cases {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", option, value)
            #expect(result.exit == 2)
            #expect(try runner.report().outcomes == ["a.jpg": code], "\(option): \(result.errors)")
            #expect(result.errors.contains("(\(option.dropFirst(2)))"), "\(result.errors)")
            #expect(runner.files().isEmpty)
        }
    }

    @Test(arguments: [("metadata", 2), ("profile", 2), ("profile", 0)])
    func `metadata and profiles have limits`(what: String, exit: Int32) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([9, 99, 9], width: 40, height: 30).iccTransform(to: .p3, input: .srgb).editingMetadata
            {
                $0.set(
                    "xmp-data",
                    blob: Array(
                        "<x:xmpmeta xmlns:x='adobe:ns:meta/'>\(String(repeating: " ", count: 5000))</x:xmpmeta>".utf8))
            }
        }
        let result = try await runner.run(
            "run", "p.yaml", "in", "-o", "out", "--max-\(what)-bytes", exit == 0 ? "4K" : "300")
        #expect(result.exit == exit, "\(result.errors)")
        #expect(try runner.report().outcomes == ["a.jpg": exit == 0 ? "done" : "too-much-metadata"])
        if exit != 0 { #expect(result.errors.contains("the limit is 300 (max-\(what)-bytes)"), "\(result.errors)") }
    }

    @Test func `a pipeline lowers limits for its sources, and raises none`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("a.jpg")
        try runner.pipeline()
        let text = String(decoding: try runner.bytes("p.yaml"), as: UTF8.self)
        for (own, given, exit) in [("1K", "1M", 2), ("1M", "1K", 2), ("1M", "1M", 0)] {
            try runner.folder.write("limits: { max-pixels: \(own) }\n" + text, to: "p.yaml")
            let result = try await runner.run("run", "p.yaml", "a.jpg", "-o", "out", "--max-pixels", given)
            #expect(result.exit == exit, "\(own) \(given): \(result.errors)")
            if exit != 0 {
                #expect(
                    result.errors.contains("the picture has 64×48 pixels; the limit is 1000 in all (max-pixels)"),
                    "\(result.errors)")
            }
        }
        try runner.folder.write("limits: { max-memory: 1G }\n" + text, to: "p.yaml")
        let check = try await runner.run("check", "p.yaml")
        #expect(check.exit == 78 && check.errors.contains("max-memory"), "\(check.errors)")
    }

    @Test func `every limit is an option of run`() async throws {
        let help = try await CommandRunner().run("run", "--help").output
        for setting in LimitSetting.all { #expect(help.contains("--\(setting.name) "), "\(setting.name)") }
    }

    @Test(.enabled(if: Checkout.hasCorpus))
    func `the corpus' hostile files each fail with a code, and cost no worker`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        let result = try await runner.run("run", "p.yaml", Checkout.corpus + "/hostile", "-o", "out")
        #expect(result.exit == 2)
        let report = try runner.report()
        #expect(
            report.outcomes == [
                "65536-uint32-limit.png": "too-many-pixels", "corrupt-header.jpg": "truncated",
                "giant-image.jpg": "too-many-pixels",
                "truncated.jpg": "truncated", "truncated.png": "truncated",
            ])
        #expect(report.sources.allSatisfy { $0.attempt == 1 })
        #expect(result.errors.contains("other files passed over"), "\(result.errors)")
    }

    @Test(.enabled(if: Checkout.hasCorpus))
    func `280 million pixels are rendered where the user allows it`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "200x200", format: "jpeg")
        let source = Checkout.corpus + "/hostile/giant-image.jpg"
        let result = try await runner.run(["run", "p.yaml", source, "-o", "out", "--max-pixels", "300M"], seconds: 120)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await runner.size(of: "out/giant-image.jpg").max() == 200)
    }
}
