// The documentation must be true: its generated part is that of the code, and its commands run.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct DocumentationTests {
    @Test func `the generated reference is that of the code; if this fails, run 'make docs'`() async throws {
        let runner = try CommandRunner()
        let result = try await runner.run("docs", "docs")
        #expect(result.exit == 0)
        let names = [
            "pipeline", "mill", "report", "batch", "status", "failure", "plan", "shard", "gather", "summary", "check",
            "picture-plan", "manifest",
        ]
        let schemas = names.map { "schema/\($0).schema.json" }
        for page in ["reference/stages.md", "reference/saving.md", "reference/codes.md", "reference/mill.md"] + schemas
        {
            let made = try String(contentsOfFile: runner.folder.path("docs/" + page), encoding: .utf8)
            #expect(try Checkout.text("docs/" + page) == made, "docs/\(page) is stale; run `make docs`")
        }
    }

    @Test(
        // The tutorial has a test of its own.
        arguments: ["README.md", "docs/clusters.md"]
            + Checkout.files(below: "docs/guide", extension: "md").filter { !$0.hasSuffix("/tutorial.md") }
    )
    func `every command in the guides runs as it is printed`(page: String) async throws {
        let text = try Checkout.text(page)
        let commands = blocks("sh", in: text).flatMap { $0.split(separator: "\n").map(String.init) }
            .filter {
                ["imagemill ", "jq ", "tar ", "python3 "].contains(where: $0.hasPrefix) && !$0.contains("PIPELINE")
            }
        guard !commands.isEmpty else { return }
        let runner = try CommandRunner()
        let samples = try await Self.samples.value
        #expect(try await runner.shell("cp -r '\(samples.path("."))/.' .").exit == 0)
        for block in blocks("yaml", in: text) + blocks("python", in: text) {
            guard let name = block.split(separator: "\n").first, name.hasPrefix("# "),
                name.hasSuffix(".yaml") || name.hasSuffix(".py")
            else { continue }
            try runner.folder.write(block, to: String(name.dropFirst(2)))
        }
        try FileManager.default.createSymbolicLink(
            atPath: runner.folder.path("pipelines"), withDestinationPath: Checkout.path + "/pipelines")
        let hasJQ = try await runner.shell("command -v jq").exit == 0
        for command in commands where hasJQ || !command.hasPrefix("jq ") {
            // Without it, what follows a pipe is left out.
            let line = hasJQ ? command : String(command.split(separator: "|")[0])
            let start = "set -o pipefail; export HOME=$PWD; imagemill() { '\(CommandRunner.executable)' \"$@\"; }; "
            let result = try await runner.shell(
                "bash -c '\((start + line).replacingOccurrences(of: "'", with: "'\\''"))'")
            #expect(result.exit == 0, "\(command): \(result.errors)")
        }
    }

    @Test func `the five minutes of setting up a drop folder work as they are printed`() async throws {
        let text = try Checkout.text("docs/operations.md")
        let drop = try WatchedFolder()
        var settings: [String] = []
        for block in blocks("yaml", in: text) {
            if let name = block.split(separator: "\n").first(where: { $0.hasPrefix("# ") && $0.hasSuffix(".yaml") })?
                .dropFirst(2)
            {
                try drop.runner.folder.write(block, to: String(name))
            } else {
                // A setting that goes into the mill file before it.
                let mill = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self)
                settings.append(mill + "\n" + block.replacingOccurrences(of: "/var/cache/imagemill", with: "cache"))
            }
        }
        let commands = blocks("sh", in: text).flatMap { $0.split(separator: "\n").map(String.init) }.filter {
            !$0.contains("sudo")
        }
        #expect(commands.prefix(3) == ["mkdir drop", "imagemill check mill.yaml", "imagemill watch mill.yaml"])
        #expect(try await drop.runner.shell("mkdir drop && \(CommandRunner.executable) check mill.yaml").exit == 0)
        // The programs of its hooks, their key, and the token.
        for name in ["bin/import", "bin/mail"] { try drop.runner.folder.write("#!/bin/sh\n", to: name) }
        for name in ["hook-key", "token"] {
            try drop.runner.folder.write("0123456789abcdef\n", to: name)
            #expect(chmod(drop.runner.folder.path(name), 0o640) == 0)
        }
        #expect(try await drop.runner.shell("chmod +x bin/*; chmod 640 token").exit == 0)
        for text in settings {
            let text = text.replacingOccurrences(of: "/usr/local/", with: "").replacingOccurrences(
                of: "/etc/imagemill/", with: "")
            try drop.runner.folder.write(text, to: "settings.yaml")
            let result = try await drop.runner.shell(
                "PATH=$PWD/bin:$PATH \(CommandRunner.executable) check settings.yaml")
            #expect(result.exit == 0, "\(text): \(result.errors)")
        }
        let watch = try await drop.start()
        try await drop.drop("photo.jpg", into: "drop")
        try await drop.until(
            "out/photo-page.jpg", "out/photo-thumb.webp", "out/photo.jpg.json", "state/done/drop/photo.jpg")
        for command in commands.dropFirst(3) {
            let result = try await drop.runner.shell(
                command.replacingOccurrences(of: "imagemill ", with: "\(CommandRunner.executable) "))
            #expect(result.exit == 0, "\(command): \(result.errors)")
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `every promise names proofs that are there`() throws {
        let rows = try Checkout.text("README.md").split(separator: "\n").filter { $0.hasPrefix("| P") }
        #expect(rows.count == 9)
        let swift = Checkout.files(below: "Tests", extension: "swift").map {
            String($0.split(separator: "/").last!.dropLast(6))
        }
        let words = rows.flatMap { $0.split(separator: "|").last!.split(separator: "`").map(String.init) }
        let proofs = Set(words.filter { !$0.contains(" ") && !$0.contains(",") })
        #expect(proofs.count > 10)
        for proof in proofs {
            let script = Checkout.path + "/Tests/" + proof
            let isThere =
                proof.hasPrefix("Chaos/") ? FileManager.default.isExecutableFile(atPath: script) : swift.contains(proof)
            #expect(isThere, "\(proof)")
        }
    }

    /// The guide's sample pictures, made once for all pages.
    private static let samples = Task {
        let runner = try CommandRunner()
        let result = try await runner.shell("'\(Checkout.path)/docs/guide/samples.sh' .")
        try #require(result.exit == 0, "\(result.errors)")
        return runner.folder
    }

    @Test func `each picture of the guide is shown, there, and small`() throws {
        let shown = try shownPictures() + Self.shots
        #expect(shown.count >= 15)
        var bytes = 0
        for name in shown {
            let size = try Data(contentsOf: URL(fileURLWithPath: Checkout.path + "/docs/images/" + name)).count
            // Shots have two pixels for each of the page, so that their small type is sharp.
            #expect(size < (Self.shots.contains(name) ? 180_000 : 60_000), "\(name)")
            bytes += size
        }
        #expect(bytes < 1_200_000)
    }

    // Only if it is asked for, since it takes as long as twenty other tests: IMAGEMILL_PICTURES=1.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["IMAGEMILL_PICTURES"] != nil))
    func `'make guide-pictures' makes the guide's pictures`() async throws {
        let runner = try CommandRunner()
        let result = try await runner.shell(
            "'\(Checkout.path)/docs/guide/pictures.sh' '\(CommandRunner.executable)' made")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.files(in: "made") == shownPictures().sorted())
    }

    /// Pictures that `make shots` makes.
    private static let shots = ["results.jpg", "terminal.png", "dashboard.png", "report-page.png"]

    /// Those of the guide that its pages' commands make.
    private func shownPictures() throws -> [String] {
        let pages = try Checkout.files(below: "docs/guide", extension: "md").map { try Checkout.text($0) }
        return pages.flatMap { $0.matches(of: /\]\(\.\.\/images\/([a-z-]+\.[a-z]+)\)/).map { String($0.output.1) } }
            .filter { !Self.shots.contains($0) }
    }

    @Test(arguments: ["README.md", "CONTRIBUTING.md"] + Checkout.files(below: "docs", extension: "md"))
    func `every page and picture that a page links to is there`(page: String) throws {
        let folder = URL(fileURLWithPath: Checkout.path + "/" + page).deletingLastPathComponent().path
        let text = try Checkout.text(page)
        for link in text.matches(of: /\]\(([^)#:\s]+)(?:#([^)]*))?\)/) {
            let target = folder + "/" + link.output.1
            #expect(FileManager.default.fileExists(atPath: target), "\(page): \(link.output.1)")
            guard let anchor = link.output.2, let there = try? String(contentsOfFile: target, encoding: .utf8) else {
                continue
            }
            let headings = there.split(separator: "\n").filter { $0.hasPrefix("#") }.map(Self.anchor)
            #expect(headings.contains(String(anchor)), "\(page): \(link.output.1)#\(anchor)")
        }
    }

    @Test func `the index of decisions has each of them, with its number and title`() throws {
        let rows = try Checkout.files(below: "docs/decisions", extension: "md").filter { !$0.hasSuffix("README.md") }
            .sorted().map { page in
                let title = try Checkout.text(page).prefix { $0 != "\n" }.dropFirst(2).split(
                    separator: ". ", maxSplits: 1)
                return "| \(title[0]) | [\(title[1])](\(page.split(separator: "/")[2])) |"
            }
        let index = try Checkout.text("docs/decisions/README.md").split(separator: "\n").map(String.init)
        #expect(index.filter { $0.hasPrefix("| ") }.dropFirst() == rows[...])
    }

    /// The anchor that a heading gets where pages are shown.
    private static func anchor(_ heading: Substring) -> String {
        let words = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(
            words.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == " " || $0 == "_" }.map {
                $0 == " " ? "-" : $0
            })
    }

    @Test func `the demo makes its pictures and renders them`() async throws {
        let runner = try CommandRunner()
        let result = try await runner.shell("'\(Checkout.path)/docs/demo/run.sh' '\(CommandRunner.executable)' demo")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(
            result.output.contains("demo/shop/ball-gallery@2x.jpg")
                && result.output.contains("demo/web/landscape-medium.webp"))
    }

    @Test func `the first screens name the two commands that do all the set-up`() throws {
        let top = try Checkout.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).prefix(70)
        let commands = blocks("sh", in: top.joined(separator: "\n")).flatMap { $0.split(separator: "\n") }
            .map { $0.split(separator: "#")[0].trimmingCharacters(in: .whitespaces) }
        let targets = try Checkout.text("Makefile").split(separator: "\n").map { $0.prefix { $0 != ":" } }
        for target in ["demo", "test"] {
            #expect(commands.contains("make \(target)"))
            #expect(targets.contains(target[...]), "\(target)")
        }
    }

    @Test func `the front page shows results, a terminal, a plan sheet and the dashboard, results first`() throws {
        let shown = try Checkout.text("README.md").matches(of: /!\[[^\]]{20,}\]\(docs\/images\/([^)]+)\)/)
        #expect(shown.map(\.output.1) == ["results.jpg", "terminal.png", "plan-sheet.jpg", "dashboard.png"])
    }

    @Test(arguments: ["web-teams", "shops", "app-teams", "picture-desks", "archives"])
    func `a page for each kind of user says what is there, what is not, and how to get by`(page: String) throws {
        let text = try Checkout.text("docs/guide/\(page).md")
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(headings == ["## What there is", "## What there is not, and how to get by"])
        let rows =
            text.components(separatedBy: "| not there | instead |\n|---|---|\n").last?
            .split(separator: "\n").prefix { $0.hasPrefix("| ") } ?? []
        #expect(rows.count >= 4)
        for row in rows { #expect(row.split(separator: "|").count == 2, "\(row)") }
        #expect(blocks("sh", in: text).count >= 2 && !blocks("yaml", in: text).isEmpty)
        #expect(try Checkout.text("README.md").contains("(docs/guide/\(page).md)"))
    }

    @Test func `the front page names no system that the table of systems does not`() throws {
        let systems = try Checkout.text("docs/systems.md")
        let tried = systems.components(separatedBy: "\nNot tried: ")[0]
        for page in ["README.md", "docs/operations.md", "docs/man/imagemill.1", "deploy/debian/control", "Makefile"] {
            for system in try Checkout.text(page).matches(of: /(?:Debian|Ubuntu|Fedora) [0-9]+(?:\.[0-9]+)?/) {
                #expect(tried.contains(system.output), "\(page): \(system.output)")
            }
        }
    }

    @Test func `what the Makefile calls is there`() throws {
        let words = try Checkout.text("Makefile").split(whereSeparator: { " \n\t@".contains($0) }).map(String.init)
        let scripts = words.filter {
            $0.hasPrefix("docs/") && ($0.hasSuffix(".sh") || $0.hasSuffix("/run"))
                || $0.hasPrefix("Benchmarks/") && !$0.hasSuffix(".md")
        }
        #expect(!scripts.isEmpty)
        for script in scripts {
            #expect(FileManager.default.isExecutableFile(atPath: Checkout.path + "/" + script), "\(script)")
        }
    }

    private func blocks(_ language: String, in text: String) -> [String] {
        text.components(separatedBy: "```\(language)\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }
}
