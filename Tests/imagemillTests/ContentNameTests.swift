// `{content-hash}`: names that say what is in the file.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct ContentNameTests {
    private func runner(_ file: String = "{stem}.{content-hash:8}.{ext}") async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline(file: file)
        for name in ["in/a.jpg", "in/b.png"] { try await runner.picture(name) }
        return runner
    }

    private func digits(_ runner: CommandRunner, _ path: String, _ count: Int = 8) throws -> String {
        let digest = Digest()
        digest.update(try runner.bytes("out/" + path))
        return String(digest.finish().prefix(count))
    }

    @Test(arguments: [[], ["--cache", "cache"]])
    func `each name has the digits of its own file; a second run skips all, and a changed one gets another name`(
        options: [String]
    ) async throws {
        let runner = try await runner()
        let command = ["run", "p.yaml", "in", "-o", "out"] + options
        #expect(try await runner.run(command).exit == 0)
        let first = runner.files()
        #expect(first.count == 2)
        for path in first {
            let parts = path.split(separator: ".").map(String.init)
            #expect(try parts[1] == digits(runner, path), "\(path)")
        }
        let again = try await runner.run(command)
        #expect(again.exit == 0 && again.errors.contains("2 sources unchanged"), "\(again.errors)")
        if !options.isEmpty {
            #expect(try await runner.run(command + ["--force"]).exit == 0)
            #expect(runner.files() == first)
        }
        try await runner.picture("in/new.webp")
        _ = try await runner.shell("mv in/new.webp in/a.jpg")
        #expect(try await runner.run(command).exit == 0)
        #expect(Set(runner.files()).isSuperset(of: first) && runner.files().count == 3)
        #expect(try await runner.run(command + ["--prune"]).exit == 0)
        let last = runner.files()
        #expect(last.count == 2 && last != first && last.contains(first[1]))
    }

    @Test func `folders can be named so too, and nothing else is left; a dry run does not know the digits`()
        async throws
    {
        let runner = try await runner("{content-hash:4}/{stem}.{ext}")
        let dry = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run")
        #expect(dry.exit == 0 && dry.output.contains("????/a.webp") && !runner.exists("out"), "\(dry.output)")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        for path in runner.files() { #expect(try path.hasPrefix(digits(runner, path, 4) + "/")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("out")).count == 3)
    }

    @Test func `two sources of one name and the same bytes have two files`() async throws {
        let runner = try await runner()
        try await runner.picture("in/sub/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let names = runner.files().filter { $0.hasPrefix("a") }
        #expect(names.count == 2)
        let endings = Set(names.map { $0.split(separator: ".").dropFirst().joined(separator: ".") })
        #expect(endings.count == 1, "\(names)")
    }

    @Test(arguments: [
        ("{content-hash:3}.{ext}", "{content-hash:N} takes 4 to 64 digits, found '3'"),
        ("{stem}-{content-hsh:8}.{ext}", "did you mean 'content-hash'"),
    ])
    func `a wrong field is a mistake`(file: String, words: String) async throws {
        let runner = try await runner(file)
        let result = try await runner.run("check", "p.yaml")
        #expect(result.exit != 0 && result.errors.contains(words), "\(result.errors)")
    }
}
