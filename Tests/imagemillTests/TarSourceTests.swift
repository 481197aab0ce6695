// Plans over pictures in tars: the same renditions as of the unpacked files, and a clear word for every tar that is not
// as it should be.
import Foundation
import TestSupport
import Testing

@Suite struct TarSourceTests {
    private let long = String(repeating: "n", count: 120)

    /// A runner with pictures, a text and rubbish in `in`, and a tar of it.
    private func runner(_ options: [String] = []) async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/1.jpg", "in/\(long).png", "in/b/\(long)/2.webp", "in/b/3.gif"] {
            try await runner.picture(name)
        }
        try runner.folder.write("some text", to: "in/notes.txt")
        try runner.folder.write("no picture", to: "in/b/4.jpg")
        try FileManager.default.createSymbolicLink(
            atPath: runner.folder.path("in/link.jpg"), withDestinationPath: "1.jpg")
        try pack(runner, options + ["-C", runner.folder.path("in"), "."])
        return runner
    }

    private func pack(_ runner: CommandRunner, _ arguments: [String]) throws {
        let tar = try Process.run(
            URL(filePath: "/usr/bin/env"), arguments: ["tar", "-cf", runner.folder.path("p.tar")] + arguments)
        tar.waitUntilExit()
        #expect(tar.terminationStatus == 0)
    }

    private func shard(_ runner: CommandRunner, _ more: String...) async throws -> CommandResult {
        try await runner.run(["shard", "p.tar", "--pipeline", "p.yaml", "-o", "plan"] + more)
    }

    private func renditions(_ runner: CommandRunner, in folder: String) throws -> [String: [UInt8]] {
        try runner.files(in: folder).reduce(into: [:]) { $0[$1] = try runner.bytes(folder + "/" + $1) }
    }

    @Test(arguments: ["gnu", "pax"])
    func `the pictures in a tar become what the unpacked ones do`(format: String) async throws {
        let runner = try await runner(["--format=\(format)"])
        let made = try await shard(runner, "--keep-tree", "--per-shard", "1")
        #expect(made.exit == 0 && made.errors.contains("5 sources in 1 shard"), "\(made.errors)")
        #expect(made.errors.contains("1 other file passed over"), "\(made.errors)")
        #expect(try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out").exit == 0)
        let gathered = try await runner.run("gather", "plan", "-o", "out")
        #expect(gathered.exit == 0 && gathered.errors.contains("not-an-image"), "\(gathered.errors)")
        #expect(
            try await runner.run("run", "p.yaml", "in", "-o", "one", "--keep-tree", "--exclude", "link.jpg").exit == 1)
        let files = try renditions(runner, in: "out")
        let unpacked = try renditions(runner, in: "one")
        #expect(files.count == 4 && files == unpacked, "\(files.keys)")
    }

    @Test
    func `a tar written to since the plan makes its pictures fail; a missing one is trouble around the task`()
        async throws
    {
        let runner = try await runner()
        #expect(try await shard(runner).exit == 0)
        try pack(runner, ["-C", runner.folder.path("in"), "1.jpg"])
        #expect(try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out").exit == 0)
        let gathered = try await runner.run("gather", "plan", "-o", "out")
        #expect(gathered.errors.contains("changed-since-plan"), "\(gathered.errors)")
        try FileManager.default.removeItem(atPath: runner.folder.path("p.tar"))
        #expect(try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "other").exit == 75)
    }

    @Test func `a tar that is cut off, compressed or none makes no plan, and the message says why`() async throws {
        let runner = try await runner()
        let bytes = try runner.bytes("p.tar")
        try runner.folder.write(Array(bytes.prefix(bytes.count / 2 / 512 * 512 + 100)), to: "cut.tar")
        try runner.folder.write(Array(bytes.dropLast(bytes.count - 1024)), to: "short.tar")
        try runner.folder.write("this is no tar", to: "text.tar")
        try runner.folder.write(Array(repeating: 7, count: 2000), to: "noise.tar")
        try runner.folder.write([0x1F, 0x8B], to: "small.tar.gz")
        for (name, words) in [
            ("cut.tar", "is no whole tar: it ends"), ("short.tar", "is no whole tar: it ends"),
            ("text.tar", "it ends without the mark"),
            ("noise.tar", "there is no header of a file at byte 0"), ("small.tar.gz", "is compressed"),
        ] {
            let result = try await runner.run("shard", name, "--pipeline", "p.yaml", "-o", "plan")
            #expect(
                result.exit == 64 && result.errors.contains(words) && result.errors.contains("'\(name)'"),
                "\(result.errors)")
            #expect(!runner.exists("plan/plan.json"))
        }
    }

    @Test func `a path that leads out of the tar is left out, and --exclude sees the paths inside`() async throws {
        let runner = try await runner()
        try pack(runner, ["-P", "--transform=s,^1.jpg,../../evil.jpg,", "-C", runner.folder.path("in"), "1.jpg", "b"])
        let made = try await shard(runner, "--exclude", "b/n*")
        #expect(made.exit == 0 && made.errors.contains("2 sources in 1 shard"), "\(made.errors)")
        #expect(made.errors.contains("the path leads out of the tar"), "\(made.errors)")
    }

    @Test func `a pipeline of sets takes no tar`() async throws {
        let runner = try await runner()
        try runner.folder.write(
            "source: set\nstages: [{ stitch: { direction: vertical } }]\nrenditions: { a: { save: { format: png } } }\n",
            to: "p.yaml")
        let result = try await shard(runner)
        #expect(result.exit == 64 && result.errors.contains("unpack it"), "\(result.errors)")
    }
}
