// The cache from outside: hits that nobody decodes, damage that nobody sees, and the commands that look after it.
import Foundation
import TestSupport
import Testing

@Suite struct CacheTests {
    private let runner: CommandRunner

    init() async throws {
        runner = try CommandRunner()
        try runner.pipeline(format: "png")
        for name in ["a.jpg", "b.png"] { try await runner.picture("in/" + name) }
    }

    private func run(_ out: String, _ options: String...) async throws -> CommandResult {
        try await runner.run(["run", "p.yaml", "in", "-o", out, "--cache", "cache"] + options)
    }

    private func cached(_ out: String) throws -> [String: [Bool]] {
        let report = try runner.report(out + "/.imagemill/report.json")
        return Dictionary(uniqueKeysWithValues: report.sources.map { ($0.source.path, $0.renditions.map(\.cached)) })
    }

    @Test func `what one run has made, another takes from the cache, byte for byte, and says so`() async throws {
        #expect(try await run("one").exit == 0)
        #expect(try cached("one") == ["a.jpg": [false], "b.png": [false]])
        #expect(try await run("two").exit == 0)
        #expect(try cached("two") == ["a.jpg": [true], "b.png": [true]])
        let reports = try ["one", "two"].map { try runner.report($0 + "/.imagemill/report.json") }
        for name in ["a.jpg", "b.png"] {
            let (one, two) = (try #require(reports[0][name]), try #require(reports[1][name]))
            #expect(one.source.sha256 == two.source.sha256 && one.source.sha256?.count == 64)
            #expect(
                one.renditions.map(\.sha256) == two.renditions.map(\.sha256) && one.renditions[0].sha256?.count == 64)
            #expect(one.warnings == two.warnings && one.source == two.source)
            #expect(try runner.bytes("one/" + one.renditions[0].path) == runner.bytes("two/" + two.renditions[0].path))
        }
        #expect(try await runner.run("cache", "stats", "cache").output.hasPrefix("2 renditions, "))
        #expect(try await runner.run("cache", "verify", "cache").output == "2 renditions: all is well\n")
        // A hit is recorded like anything else.
        #expect(try await run("two").errors.hasPrefix("2 sources unchanged"))
    }

    @Test
    func `another name of the source and of the rendition is no other picture; another quality is`() async throws {
        #expect(try await run("one").exit == 0)
        try FileManager.default.moveItem(atPath: runner.folder.path("in/a.jpg"), toPath: runner.folder.path("in/c.jpg"))
        try runner.pipeline(format: "png", file: "{stem}-{width}.{ext}")
        #expect(try await run("two").exit == 0)
        #expect(try cached("two") == ["c.jpg": [true], "b.png": [true]])
        #expect(runner.files(in: "two") == ["b-32.png", "c-32.png"])
        try runner.pipeline(size: "31x31", format: "png")
        #expect(try await run("three").exit == 0)
        #expect(try cached("three") == ["c.jpg": [false], "b.png": [false]])
    }

    @Test func `where some renditions are there, the others alone are made`() async throws {
        #expect(try await run("one").exit == 0)
        let more = "  large:\n    stages:\n      - resize: { size: \"48x48\" }\n    save: { format: png }\n"
        let small = "  small:\n    stages:\n      - resize: { size: \"32x32\" }\n    save: { format: png }\n"
        try runner.folder.write("renditions:\n" + more + small, to: "p.yaml")
        #expect(try await run("two").exit == 0)
        #expect(try cached("two") == ["a.jpg": [false, true], "b.png": [false, true]])
        #expect(try await runner.size(of: "two/a-large.png") == [48, 36])
        #expect(try runner.bytes("two/a-small.png") == runner.bytes("one/a.png"))
        #expect(try await run("three").exit == 0)
        #expect(try cached("three") == ["a.jpg": [true, true], "b.png": [true, true]])
    }

    @Test
    func `a rendition that is left out because it repeats another one does not move the others in the cache`()
        async throws
    {
        func rendition(_ name: String, _ stages: String, _ file: String) -> String {
            "  \(name): { stages: [ \(stages) ], save: { format: png }, file: \"\(file).png\" }\n"
        }
        let middle = rendition("b", "{ resize: { size: 200x> } }", "{stem}-{width}")
        let text = [
            rendition("a", "{ resize: { size: 300x> } }", "{stem}-{width}"), middle,
            rendition("c", "{ flip: { axis: horizontal } }", "{stem}-c"),
        ]
        try runner.folder.write("renditions:\n" + text.joined(), to: "p.yaml")
        for out in ["one", "two"] {
            #expect(try await run(out).exit == 0)
            #expect(runner.files(in: out) == ["a-64.png", "a-c.png", "b-64.png", "b-c.png"])
            #expect(
                try cached(out) == ["a.jpg": [out == "two", out == "two"], "b.png": [out == "two", out == "two"]])
        }
        try runner.folder.write("renditions:\n" + middle, to: "p.yaml")
        #expect(try await run("three").exit == 0)
        #expect(try runner.bytes("three/a-64.png") == runner.bytes("one/a-64.png"))
    }

    @Test func `a rendition of another shape than could be foreseen is taken from the cache too`() async throws {
        // 60×40, of which 10×30 are left: as wide as 20, it is higher than 60×40 would be.
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 60, height: 40) { x, y in
                (10..<20).contains(x) && (5..<35).contains(y) ? [9, 9, 9] : [255, 255, 255]
            }
        }
        try runner.folder.write(
            "renditions:\n  a:\n    stages: [ trim, { resize: { width: 20 } } ]\n    save: { format: png }\n",
            to: "p.yaml")
        for out in ["one", "two"] {
            #expect(try await runner.run("run", "p.yaml", "in/a.png", "-o", out, "--cache", "cache").exit == 0)
            #expect(try await runner.size(of: out + "/a.png") == [20, 60])
            #expect(try cached(out) == ["a.png": [out == "two"]])
        }
        let plan = try await runner.run("plan", "in/a.png", "p.yaml")
        #expect(
            plan.output.contains(/trim +≤ 60×40/) && plan.output.contains(/resize +≤ 60×40 → ≈ 20×13/), "\(plan.output)"
        )
    }

    @Test func `sizes that depend on the pixels are known from the cache, in names too`() async throws {
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 60, height: 40) { x, y in
                (10..<30).contains(x) && (5..<20).contains(y) ? [9, 9, 9] : [255, 255, 255]
            }
        }
        let text =
            "renditions:\n  a:\n    stages:\n      - trim\n    save: { format: png }\n    file: \"{stem}-{width}x{height}.{ext}\"\n"
        try runner.folder.write(text, to: "p.yaml")
        for out in ["one", "two"] {
            #expect(try await runner.run("run", "p.yaml", "in/a.png", "-o", out, "--cache", "cache").exit == 0)
            #expect(runner.files(in: out) == ["a-20x15.png"])
            #expect(try cached(out) == ["a.png": [out == "two"]])
        }
    }

    @Test
    func `a pipeline with an asset is planned from the cache too, and another content of the asset is another picture`()
        async throws
    {
        try await runner.picture("badge.png")
        let text =
            "renditions:\n  a:\n    stages:\n      - overlay: { image: badge.png, width: 8 }\n    save: { format: png }\n"
        try runner.folder.write(text, to: "p.yaml")
        for out in ["one", "two"] {
            #expect(try await run(out).exit == 0)
            #expect(try cached(out) == ["a.jpg": [out == "two"], "b.png": [out == "two"]])
        }
        try runner.folder.write(
            try await SamplePicture.png.encode(TestPicture.solid([1, 2, 3], width: 10, height: 10)), to: "badge.png")
        #expect(try await run("three").exit == 0)
        #expect(try cached("three") == ["a.jpg": [false], "b.png": [false]])
    }

    @Test func `a damaged entry is noticed and made anew, and the result is right`() async throws {
        #expect(try await run("one").exit == 0)
        let objects = (FileManager.default.subpaths(atPath: runner.folder.path("cache/objects")) ?? []).filter {
            $0.contains("/")
        }
        #expect(objects.count == 2)
        for object in objects {
            let bytes = try runner.bytes("cache/objects/" + object)
            try runner.folder.write(bytes.map { $0 ^ 0x55 }, to: "cache/objects/" + object)
        }
        #expect(try await runner.run("cache", "verify", "cache").exit == 1)
        #expect(try await run("two").exit == 0)
        #expect(try cached("two") == ["a.jpg": [false], "b.png": [false]])
        for name in ["a.png", "b.png"] where runner.exists("one/" + name) {
            #expect(try runner.bytes("one/" + name) == runner.bytes("two/" + name))
        }
        #expect(try await runner.run("cache", "verify", "cache").output == "2 renditions: all is well\n")
        #expect(try await run("three").exit == 0)
        #expect(try cached("three") == ["a.jpg": [true], "b.png": [true]])
    }

    @Test func `a cache that cannot be used fails no source, and that is said once`() async throws {
        try runner.folder.write("a file", to: "cache")
        let result = try await run("one")
        #expect(result.exit == 0)
        #expect(
            result.errorLines.first
                == "note: the cache 'cache' cannot be used: cannot make the folder 'cache': there is a file of that name; the work goes on without it"
        )
        #expect(result.errorLines.count == 2)
        #expect(runner.files(in: "one").count == 2)
    }

    @Test(.enabled(if: TestMachine.canUnshareMounts, "no namespace of mounts can be made here"))
    func `a cache whose disk is full goes on without, and that is said once`() async throws {
        let line = """
            mkdir cache && mount -t tmpfs -o size=64k none cache || exit 99
            "$IMAGEMILL" run p.yaml in -o out --cache cache; echo "exit $?"; umount cache
            """
        try runner.folder.write("renditions:\n  a: { save: { format: tiff, compression: none } }\n", to: "p.yaml")
        try runner.folder.write(try await SamplePicture.noise(width: 400, height: 300), to: "in/c.jpg")
        let result = try await runner.shell("cd '\(runner.folder.path)' && unshare -m sh -c '\(line)'")
        #expect(result.output == "exit 0\n", "\(result.errors)")
        #expect(result.errors.components(separatedBy: "the work goes on without it").count == 2, "\(result.errors)")
        #expect(runner.files().count == 3)
    }

    @Test func `sources are never looked for in the cache`() async throws {
        let options = ["run", "p.yaml", "in", "--cache", "in/cache"]
        for out in ["one", "two"] {
            #expect(try await runner.run(options + ["-o", out]).exit == 0)
            #expect(runner.files(in: out).count == 2)
        }
    }

    @Test func `a dry run neither fills nor makes a cache`() async throws {
        #expect(try await run("one", "--dry-run").exit == 0)
        #expect(!runner.exists("cache"))
    }

    @Test func `a cache is kept below its size, and --cache-size alone is wrong usage`() async throws {
        #expect(try await run("one", "--cache-size", "100").exit == 0)
        #expect(try await runner.run("cache", "stats", "cache").output == "0 renditions, 0 bytes\n")
        let wrong = try await runner.run("run", "p.yaml", "in", "-o", "out", "--cache-size", "1G")
        #expect(wrong.exit == 64 && wrong.errors.contains("--cache-size needs --cache DIR"))
    }

    @Test func `prune and clear say how much they removed, and other folders are not touched`() async throws {
        #expect(try await run("one").exit == 0)
        #expect(try await runner.run("cache", "prune", "cache", "--size", "1").output == "2 renditions removed\n")
        #expect(try await run("two").exit == 0)
        #expect(try await runner.run("cache", "clear", "cache").output == "2 renditions removed\n")
        for command in [["stats"], ["verify"], ["clear"], ["prune", "--size", "1K"]] {
            let wrong = try await runner.run(["cache", command[0], "in"] + command.dropFirst())
            #expect(wrong.exit == 64)
            let words =
                "imagemill: 'in' is no cache: expected a folder that 'imagemill run --cache' has filled, found no index.sqlite in it\n"
            #expect(wrong.errors == words)
        }
        #expect(runner.files(in: "in") == ["a.jpg", "b.png"])
    }
}
