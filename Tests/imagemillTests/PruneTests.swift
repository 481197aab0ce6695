// `run --prune`: renditions whose source or rendition is gone.
import Foundation
import TestSupport
import Testing

@Suite struct PruneTests {
    private func runner() async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline(file: "{stem}-{width}.{ext}")
        for name in ["in/a.jpg", "in/b.jpg", "in/sub/c.jpg"] { try await runner.picture(name) }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--keep-tree").exit == 0)
        #expect(runner.files() == ["a-32.webp", "b-32.webp", "sub/c-32.webp"])
        return runner
    }

    private func run(_ runner: CommandRunner, _ more: String...) async throws -> CommandResult {
        try await runner.run(["run", "p.yaml", "in", "-o", "out", "--keep-tree", "--prune"] + more)
    }

    @Test
    func `renditions of a source that is gone are removed, with folders that they leave empty; --dry-run lists them`()
        async throws
    {
        let runner = try await runner()
        try FileManager.default.removeItem(atPath: runner.folder.path("in/sub"))
        try runner.folder.write("mine", to: "out/other.webp")
        let dry = try await run(runner, "--dry-run")
        #expect(dry.exit == 0 && dry.output == "would remove out/sub/c-32.webp\n", "\(dry.output)\(dry.errors)")
        #expect(runner.exists("out/sub/c-32.webp"))
        let result = try await run(runner)
        #expect(
            result.exit == 0 && result.errors.hasSuffix("1 rendition removed that nothing makes any more\n"),
            "\(result.errors)")
        #expect(runner.files() == ["a-32.webp", "b-32.webp", "other.webp"])
        #expect(!runner.exists("out/sub"))
        #expect(try await !run(runner).errors.contains("removed"))
    }

    @Test
    func `renditions that the pipeline makes no more are removed; those of a source that fails now stay`() async throws
    {
        let runner = try await runner()
        try runner.pipeline(size: "16x16", file: "{stem}-{width}.{ext}")
        try runner.folder.write("no picture", to: "in/b.jpg")
        let result = try await run(runner, "-v")
        #expect(result.exit == 1)
        #expect(result.errors.contains("removed out/a-32.webp\n"), "\(result.errors)")
        #expect(runner.files() == ["a-16.webp", "b-32.webp", "sub/c-16.webp"])
    }

    @Test
    func `nothing is removed if nothing was found: the folder may be a mount that is missing; nor what is excluded`()
        async throws
    {
        let runner = try await runner()
        #expect(try await run(runner, "--exclude", "a.jpg").exit == 0)
        #expect(runner.files().count == 3)
        for name in ["in/a.jpg", "in/b.jpg", "in/sub"] {
            try FileManager.default.removeItem(atPath: runner.folder.path(name))
        }
        #expect(try await run(runner).exit == 0)
        #expect(runner.files() == ["a-32.webp", "b-32.webp", "sub/c-32.webp"])
    }

    @Test func `only what was there is named and counted, not the names of a source that failed and wrote nothing`()
        async throws
    {
        let runner = try await runner()
        let broken = runner.folder.path("in/broken.jpg")
        try await runner.picture("in/broken.jpg")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: broken))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: broken))
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--keep-tree").exit == 1)
        for name in ["in/broken.jpg", "in/b.jpg", "out/b-32.webp"] {
            try FileManager.default.removeItem(atPath: runner.folder.path(name))
        }
        let dry = try await run(runner, "--dry-run")
        #expect(dry.exit == 0 && dry.output.isEmpty, "\(dry.output)\(dry.errors)")
        let result = try await run(runner, "-v")
        #expect(result.exit == 0 && !result.errors.contains("removed"), "\(result.errors)")
    }
}
