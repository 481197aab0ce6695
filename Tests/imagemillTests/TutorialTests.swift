// The tutorial and the tables for those who come from other programs: every command is run as it is printed.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct TutorialTests {
    private static let shell = "imagemill() { '\(CommandRunner.executable)' \"$@\"; }; "

    /// The guide's sample pictures, made once.
    private static let pictures = Task {
        let runner = try CommandRunner()
        let made = try await runner.shell("'\(Checkout.path)/docs/guide/samples.sh' .")
        try #require(made.exit == 0, "\(made.errors)")
        return runner.folder
    }

    /// A folder with the named pictures.
    private func samples(_ names: String) async throws -> CommandRunner {
        let runner = try CommandRunner()
        let copied = try await runner.shell(
            "cd '\(Self.pictures.value.path("."))' && cp --parents \(names) '\(runner.folder.path("."))'")
        try #require(copied.exit == 0, "\(copied.errors)")
        return runner
    }

    private func bash(_ lines: String, _ runner: CommandRunner) async throws -> CommandResult {
        try runner.folder.write(Self.shell + "\n" + lines, to: ".try.bash")
        return try await runner.shell("bash .try.bash")
    }

    @Test
    func `each command of the tutorial prints what the page shows; '…' is what differs from time to time`() async throws
    {
        let runner = try await samples("photos/*")
        var watch: RunningCommand?
        let blocks = try Checkout.text("docs/guide/tutorial.md").components(separatedBy: "```").enumerated().filter {
            $0.offset % 2 == 1
        }.map(
            \.element)
        #expect(blocks.count > 20)
        for (index, block) in blocks.enumerated() where block.hasPrefix("sh\n") {
            let commands = String(block.dropFirst(3))
            if commands.hasPrefix("imagemill watch ") {
                watch = try runner.start(["watch", "shop/mill.yaml"])
                continue
            }
            let next = index + 1 < blocks.count ? blocks[index + 1] : ""
            let shown = next.hasPrefix("text\n") ? next.dropFirst(5).split(separator: "\n").map(String.init) : []
            // The work of the drop folder takes a moment.
            let isLook = commands.hasPrefix("ls ") || commands.hasPrefix("imagemill status ")
            var missing: [String] = []
            var result = try await bash(commands, runner)
            for attempt in 0..<150 {
                missing = shown.filter { !Self.has($0, in: result.output + result.errors) }
                guard isLook, !missing.isEmpty, attempt < 149 else { break }
                try await Task.sleep(for: .milliseconds(100))
                result = try await bash(commands, runner)
            }
            #expect(missing.isEmpty, "\(commands) has not printed \(missing), but:\n\(result.output)\(result.errors)")
            #expect(result.exit == 0 || shown.contains { $0.contains("error:") }, "\(commands): \(result.errors)")
        }
        let running = try #require(watch)
        running.signal(SIGTERM)
        #expect(try await running.finish(withinSeconds: 30).exit == 0)
    }

    /// Whether a line is in an output: blanks count once, and `…` is anything.
    private static func has(_ line: String, in output: String) -> Bool {
        let words = { (text: Substring) in text.split(separator: " ").joined(separator: " ") }
        let parts = words(line[...]).components(separatedBy: "…")
        return output.split(separator: "\n").map(words).contains { found in
            var rest = found[...]
            for part in parts where !part.isEmpty {
                guard let place = rest.range(of: part) else { return false }
                rest = rest[place.upperBound...]
            }
            return found.hasPrefix(parts[0]) && (parts.last!.isEmpty || rest.isEmpty)
        }
    }

    // MARK: - From other programs

    struct Row: CustomTestStringConvertible, Sendable {
        let theirs, ours: String
        var testDescription: String { theirs }
        var program: String { String(theirs.prefix { $0 != " " }) }
    }

    private static let rows = ((try? Checkout.text("docs/guide/other-programs.md")) ?? "").split(separator: "\n")
        .compactMap { line -> Row? in
            let cells = line.split(separator: "`")
            return line.hasPrefix("| `") && cells.count == 5
                ? Row(theirs: String(cells[1]), ours: String(cells[3])) : nil
        }

    private static func has(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    @Test(.enabled(if: has("mogrify"), "skipped: there is no mogrify (apt install imagemagick)"))
    func `mogrify's rows make files of the same names and sizes`() async throws {
        try await compare("mogrify", count: 18)
    }

    @Test(.enabled(if: has("vipsthumbnail"), "skipped: there is no vipsthumbnail (apt install libvips-tools)"))
    func `vipsthumbnail's rows make files of the same names and sizes`() async throws {
        try await compare("vipsthumbnail", count: 10)
    }

    @Test(.enabled(if: has("sharp"), "skipped: there is no sharp (npm install -g sharp-cli)"))
    func `sharp-cli's rows make files of the same names and sizes`() async throws {
        try await compare("sharp", count: 8)
    }

    private func compare(_ program: String, count: Int) async throws {
        let rows = Self.rows.filter { $0.program == program }
        #expect(rows.count == count)
        let runner = try await samples("photos/lake.jpg products/* assets/star.png")
        for row in rows {
            // A stage goes into a pipeline of its own.
            let ours = row.ours.hasPrefix("- ") ? "imagemill run stage.yaml photos/ -o out/" : row.ours
            try runner.folder.write(
                "renditions: { all: { stages: [ \(row.ours.dropFirst(2)) ], save: { format: jpeg } } }\n",
                to: "stage.yaml")
            let result = try await bash(
                "set -e; rm -rf out theirs; mkdir out; \(row.theirs); mv out theirs; \(ours)", runner)
            #expect(result.exit == 0, "\(row): \(result.output)\(result.errors)")
            let (theirs, made) = (try await sizes("theirs", runner), try await sizes("out", runner))
            #expect(!theirs.isEmpty && theirs == made, "\(row)")
        }
    }

    private func sizes(_ folder: String, _ runner: CommandRunner) async throws -> [String: [Int]] {
        var sizes: [String: [Int]] = [:]
        for name in runner.files(in: folder) { sizes[name] = try await runner.size(of: "\(folder)/\(name)") }
        return sizes
    }
}
