// A project that was moved, copied or mounted elsewhere: the same run writes the same names again, and nothing is
// stale.
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct ProjectMoveTests {
    /// Four pictures in two folders, rendered once below `project/`; two of them want one name.
    private func project() async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline("project/p.yaml")
        for name in ["a.jpg", "a.png", "b.jpg", "sub/c.jpg"] { try await runner.picture("project/photos/" + name) }
        let result = try await run(runner)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files(in: "project/out") == Self.names)
        return runner
    }

    private static let names = ["a-2.webp", "a.webp", "b.webp", "c.webp"]

    private func run(
        _ runner: CommandRunner, in folder: String = "project", sources: String = "photos", _ options: String...
    ) async throws
        -> CommandResult
    {
        let words = (["run", "p.yaml", sources, "-o", "out"] + options).joined(separator: " ")
        return try await runner.shell("cd '\(runner.folder.path)/\(folder)' && \"$IMAGEMILL\" \(words)")
    }

    /// The report: the source that each name is made of, and the work that was done.
    private func report(_ runner: CommandRunner, in folder: String = "project") throws -> BatchDocument {
        try runner.report(folder + "/out/.imagemill/report.json")
    }

    private func results(_ runner: CommandRunner, in folder: String = "project") async throws -> [String] {
        let script =
            "import sqlite3; print(*[r[0].decode() for r in sqlite3.connect('out/.imagemill/names.sqlite').execute('select source from results order by source')], sep='\\n')"
        let result = try await runner.shell("cd '\(runner.folder.path)/\(folder)' && python3 -c \"\(script)\"")
        return result.output.split(separator: "\n").map(String.init)
    }

    private func expectUnchanged(_ runner: CommandRunner, in folder: String) async throws {
        let result = try await run(runner, in: folder)
        #expect(result.exit == 0 && result.errors.hasPrefix("4 sources unchanged: nothing to do"), "\(result.errors)")
        let forced = try await run(runner, in: folder, "--force")
        #expect(forced.exit == 0 && forced.errors.hasPrefix("4 of 4 sources done"), "\(forced.errors)")
        #expect(runner.files(in: folder + "/out") == Self.names)
        #expect(try report(runner, in: folder).names["a.png"] == ["a-2.webp"])
        #expect(try await results(runner, in: folder).count == 4)
    }

    @Test(arguments: ["elsewhere", "deep/er/elsewhere"])
    func `a project that was moved: nothing is done again, and the names are the same`(place: String) async throws {
        let runner = try await project()
        let moved = try await runner.shell("cd '\(runner.folder.path)' && mkdir -p deep/er && mv project \(place)")
        #expect(moved.exit == 0)
        try await expectUnchanged(runner, in: place)
    }

    @Test
    func `a project that was copied with cp -a: neither the copy nor the original does anything again`() async throws {
        let runner = try await project()
        #expect(try await runner.shell("cd '\(runner.folder.path)' && cp -a project copy").exit == 0)
        try await expectUnchanged(runner, in: "copy")
        try await expectUnchanged(runner, in: "project")
    }

    /// Whether this process may mount folders, in a namespace of its own.
    private static let canMount = geteuid() == 0 && system("unshare -m true 2>/dev/null") == 0

    @Test(.enabled(if: canMount))
    func `a project at another mount path: nothing is done again`() async throws {
        let runner = try await project()
        let lines = """
            cd '\(runner.folder.path)' && mkdir -p mnt/x && mount --bind project mnt/x && cd mnt/x && "$IMAGEMILL" run p.yaml photos -o out
            """
        try runner.folder.write(lines, to: "mounted.sh")
        let result = try await runner.shell("unshare -m sh '\(runner.folder.path)/mounted.sh'")
        #expect(result.exit == 0 && result.errors.hasPrefix("4 sources unchanged"), "\(result.errors)")
        try await expectUnchanged(runner, in: "project")
    }

    @Test
    func `after a source folder was renamed its sources get the same names, and the record forgets the old folder`()
        async throws
    {
        let runner = try await project()
        let before = try report(runner).names
        #expect(try await runner.shell("cd '\(runner.folder.path)/project' && mv photos pics").exit == 0)
        let result = try await run(runner, sources: "pics")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files(in: "project/out") == Self.names)
        #expect(try report(runner).names == before)
        #expect(try await results(runner) == ["../pics/a.jpg", "../pics/a.png", "../pics/b.jpg", "../pics/sub/c.jpg"])
        #expect(try await run(runner, sources: "pics").errors.hasPrefix("4 sources unchanged"))
    }

    @Test func `a renamed folder beside a new one of the old name: who exists keeps the names`() async throws {
        let runner = try await project()
        #expect(try await runner.shell("cd '\(runner.folder.path)/project' && cp -a photos pics").exit == 0)
        #expect(try await run(runner, sources: "pics").exit == 0)
        #expect(Set(runner.files(in: "project/out")).isSuperset(of: Self.names))
        #expect(try report(runner).names["b.jpg"] == ["b-2.webp"])
    }

    @Test func `a removed .imagemill: the same run writes the same names again`() async throws {
        let runner = try await project()
        let before = try report(runner).names
        try FileManager.default.removeItem(atPath: runner.folder.path("project/out/.imagemill"))
        let result = try await run(runner)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files(in: "project/out") == Self.names)
        #expect(try report(runner).names == before)
        #expect(try await run(runner).errors.hasPrefix("4 sources unchanged"))
    }

    @Test func `--state keeps the record, the lock and the report elsewhere, and finds them again`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline("project/p.yaml")
        try await runner.picture("project/photos/a.jpg")
        #expect(try await run(runner, "--state", "memory").exit == 0)
        #expect(!runner.exists("project/out/.imagemill"))
        #expect(runner.files(in: "project/memory").sorted() == ["lock", "names.sqlite", "report.json"])
        #expect(try await run(runner, "--state", "memory").errors.hasPrefix("1 source unchanged"))
    }

    // MARK: - Two folders

    @Test
    func `of two source folders with the same inner names the second gets versions, announced and in the report`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        for folder in ["x", "y"] {
            for name in ["a.jpg", "b.jpg", "c.jpg"] { try await runner.picture("\(folder)/\(name)") }
        }
        let result = try await runner.run("run", "p.yaml", "x", "y", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(
            result.errorLines.contains(
                "3 sources were given versions, since their names were taken; see the report; --keep-tree keeps their folders apart"
            ),
            "\(result.errors)")
        #expect(runner.files() == ["a-2.webp", "a.webp", "b-2.webp", "b.webp", "c-2.webp", "c.webp"])
        let report = try runner.report()
        let pairs = report.sources.map { "\($0.source.location ?? "") \($0.renditions.map(\.path).joined())" }.sorted()
        #expect(
            pairs == [
                "../x/a.jpg a.webp", "../x/b.jpg b.webp", "../x/c.jpg c.webp", "../y/a.jpg a-2.webp",
                "../y/b.jpg b-2.webp",
                "../y/c.jpg c-2.webp",
            ])
        let warned = report.sources.filter { $0.warnings.contains { $0.code == "name-versioned" } }.compactMap(
            \.source.location)
        #expect(warned.sorted() == ["../y/a.jpg", "../y/b.jpg", "../y/c.jpg"])

        #expect(try await runner.run("run", "p.yaml", "x", "-o", "alone").errorLines.count == 1, "nothing to announce")
    }

    // MARK: - A published folder

    @Test(arguments: [true, false])
    func `no file below the output folder holds the machine's path, for relative and absolute arguments`(
        isAbsolute: Bool
    ) async throws {
        let runner = try CommandRunner()
        let prefix = isAbsolute ? runner.folder.path + "/" : ""
        try runner.pipeline()
        for name in ["in/a.jpg", "in/a.png", "other/a.jpg"] { try await runner.picture(name) }
        try runner.folder.write("no picture", to: "in/broken.jpg")
        let sources = ["in", "other", "in/missing.jpg"].map { prefix + $0 }
        for options in [[], ["--force"], ["--collision", "fail", "--force"]] {
            _ = try await runner.run(["run", prefix + "p.yaml"] + sources + ["-o", prefix + "out"] + options)
            try expectNoPath(runner)
        }
    }

    private func expectNoPath(_ runner: CommandRunner) throws {
        let places = [runner.folder.path, URL(fileURLWithPath: runner.folder.path).lastPathComponent].map {
            Data($0.utf8)
        }
        let out = runner.folder.path("out")
        var count = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: out) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: out + "/" + name, isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: out + "/" + name))
            for place in places { #expect(bytes.range(of: place) == nil, "\(name)") }
            count += 1
        }
        #expect(count >= 4, "renditions, the record, the report")
    }
}
