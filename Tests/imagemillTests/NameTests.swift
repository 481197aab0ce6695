// Names are bytes. Whatever they are, the source is processed, the report is faithful and nothing is written over.
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct NameTests {
    /// Names that other programs trip over, without their extension.
    private static let stems = [
        "with spaces", "-leading-dash", "[a=b]", "a[shrink=8]", "new\nline", "tab\there", "emoji 🌄", "100%", "%41",
        "it's \"quoted\"",
        "back\\slash",
        "dollar$(id)", "semi;colon", "e\u{301}f", "two..dots", "\u{202E}turned", "bell\u{7}", "star*", "~tilde", "@2x",
    ]

    @Test func `names with anything in them are processed and reported as they are`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for stem in Self.stems { try await runner.picture("in/\(stem).jpg") }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        #expect(report.sources.count == Self.stems.count)
        for stem in Self.stems {
            #expect(report.names["\(stem).jpg"] == ["\(stem).webp"], "\(stem)")
            #expect(report["\(stem).jpg"]?.source.pathBytes == nil)
        }
        #expect(Set(runner.files()) == Set(Self.stems.map { $0 + ".webp" }))
    }

    @Test func `names that read alike but differ in their bytes are two names`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/e\u{301}.jpg")
        try await runner.picture("in/\u{E9}.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let paths = try runner.report().sources.flatMap { $0.renditions.map { Array($0.path.utf8) } }
        #expect(Set(paths) == [Array("e\u{301}.webp".utf8), Array("\u{E9}.webp".utf8)])
    }

    @Test(arguments: ["./-x.jpg", "[a=b].jpg", "a b.jpg", "new\nline.jpg", "%s.jpg", "🌄.jpg"])
    func `names with anything in them may be arguments`(name: String) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture(name)
        let result = try await runner.run("run", "p.yaml", name, "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let plain = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        #expect(try runner.report().names == [plain: [plain.replacingOccurrences(of: ".jpg", with: ".webp")]])
    }

    @Test func `a name after -- is a source even where it looks like an option`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("-x.jpg")
        let result = try await runner.run("run", "-o", "out", "p.yaml", "--", "-x.jpg")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files() == ["-x.webp"])
    }

    @Test
    func `a name that is not UTF-8 is processed, and reported by its bytes beside a readable form`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        // Two names that read alike, so that one taken for text would stand for the other.
        let names: [[UInt8]] = [[0x61, 0xFF, 0x62], [0x61, 0xFE, 0x62]].map { $0 + Array(".jpg".utf8) }
        mkdir(runner.folder.path("in"), 0o755)
        for name in names {
            try write(try await SamplePicture.jpeg.bytes, toBytes: Array((runner.folder.path("in") + "/").utf8) + name)
        }

        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        #expect(report.sources.map(\.source.path) == ["a\u{FFFD}b.jpg", "a\u{FFFD}b.jpg"])
        #expect(Set(report.sources.map(\.source.pathBytes)) == ["a%FFb.jpg", "a%FEb.jpg"])
        #expect(Set(report.sources.flatMap { $0.renditions.map(\.pathBytes) }) == ["a%FFb.webp", "a%FEb.webp"])
        for byte in [UInt8(0xFF), 0xFE] {
            let path = Array((runner.folder.path("out") + "/a").utf8) + [byte] + Array("b.webp".utf8) + [0]
            #expect(path.withUnsafeBytes { access($0.bindMemory(to: CChar.self).baseAddress!, F_OK) } == 0)
        }
    }

    @Test func `arguments that are not UTF-8 name the files that they name`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        let names: [[UInt8]] = [[0xFF, 0x2E, 0x6A, 0x70, 0x67], [0xFE, 0x2E, 0x6A, 0x70, 0x67]]
        for name in names {
            try write(try await SamplePicture.jpeg.bytes, toBytes: Array((runner.folder.path + "/").utf8) + name)
        }
        let words = ["run", "p.yaml"].map { Array($0.utf8) } + names + ["-o", "out"].map { Array($0.utf8) }
        let result = try await runner.run(bytes: words)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try Set(runner.report().sources.map(\.source.pathBytes)) == ["%FF.jpg", "%FE.jpg"])
    }

    @Test func `an output folder whose name is not UTF-8 is used as it is`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("a.jpg")
        let outbox: [UInt8] = [0x6F, 0xFF]
        let result = try await runner.run(bytes: ["run", "p.yaml", "a.jpg", "-o"].map { Array($0.utf8) } + [outbox])
        #expect(result.exit == 0, "\(result.errors)")
        let path = Array((runner.folder.path + "/").utf8) + outbox + Array("/a.webp".utf8) + [0]
        #expect(path.withUnsafeBytes { access($0.bindMemory(to: CChar.self).baseAddress!, F_OK) } == 0)
    }

    @Test
    func `a name of 255 bytes is processed; an output name that would be longer is shortened, and that is said`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        let first = String(repeating: "n", count: 250) + ".jpg"
        let names = [String(repeating: "n", count: 251) + ".jpg", String(repeating: "é", count: 125) + "x.jpg"]
        try await runner.picture("in/" + first)
        for name in names { try await runner.picture("in/" + name) }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        #expect(report.sources.count == 3)
        let paths = report.sources.flatMap { $0.renditions.map(\.path) }
        #expect(Set(paths).count == 3 && paths.allSatisfy { $0.utf8.count <= 255 && $0.hasSuffix(".webp") })
        for name in names { #expect(report[name]?.warnings.map(\.code).contains("name-shortened") == true) }
        #expect(runner.files() == paths.sorted())
    }

    @Test func `a name with control characters cannot fake a line of the messages`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try runner.folder.write("no", to: "in/a\nb.jpg: done\u{1B}[2J.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 2)
        #expect(
            result.errors.hasPrefix(#"in/a\nb.jpg: done\u{1B}[2J.jpg: not-an-image"#),
            "\(result.errors.debugDescription)")
        let plan = try await runner.run("plan", "in/a\nb.jpg: done\u{1B}[2J.jpg", "p.yaml")
        #expect(!plan.errors.contains("\u{1B}"))
    }

    private func write(_ bytes: [UInt8], toBytes path: [UInt8]) throws {
        let descriptor = (path + [0]).withUnsafeBytes {
            open($0.bindMemory(to: CChar.self).baseAddress!, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        }
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
