import Foundation
import TestSupport
import Testing

@testable import System

/// Pages for browsers: `imagemill report`, and `run --report page.html`. `Tests/Pages` opens them in one.
@Suite struct ReportPageTests {
    /// The content that the page's script gets.
    private struct Content: Decodable {
        struct Row: Decodable {
            struct Rendition: Decodable {
                let path: String
                let url: String?
            }
            struct Problem: Decodable { let code: String }
            let status, path: String
            let url: String?
            let error: Problem?
            let warnings: [Problem]
            let renditions: [Rendition]
        }
        let rows: [Row]
        let unreadable: Int
    }

    private func page(_ runner: CommandRunner, _ name: String) throws -> String {
        String(decoding: try runner.bytes(name), as: UTF8.self)
    }

    private func content(_ page: String) throws -> Content {
        let start = try #require(page.range(of: #"<script type="application/json" id="data">"#)).upperBound
        let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
        return try JSONDecoder().decode(Content.self, from: Data(page[start..<end].utf8))
    }

    private static let names = [
        "<script>alert(1)<", "\"quotes' & `ticks`.jpg", "new\nline\r.jpg", "rtl\u{202E}gpj.exe.jpg", "<!--.jpg",
        "@data@@script@.jpg",
        "javascript:x.jpg",
        "a b?c#d%41.jpg", "\u{2028}\u{FEFF}.jpg",
    ]

    @Test func `no name ends the script or becomes markup, and each address leads to its file`() async throws {
        let runner = try CommandRunner()
        let picture = try await SamplePicture.jpeg.bytes
        for name in Self.names { try runner.folder.write(picture, to: "in/" + name) }
        #expect(
            try await runner.shell(
                #"cp "in/<!--.jpg" "$(printf 'in/invalid\377\376.jpg')" && echo '<script>' > 'in/<b>.jpg'"#
            ).exit == 0)
        try runner.pipeline()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out/x", "--report", "pages/report.html")
        #expect(result.exit == 1 && result.errors.hasSuffix("report: pages/report.html\n"), "\(result.errors)")
        let page = try page(runner, "pages/report.html")
        #expect(
            page.matches(of: /<\/script/).count == 2 && page.matches(of: /<script/).count == 2 && !page.contains("<!--")
        )
        let rows = try content(page).rows
        #expect(rows.count == Self.names.count + 2)
        #expect(rows.filter { $0.error != nil }.map(\.path) == ["<b>.jpg"])
        for row in rows where row.error == nil {
            for address in [row.url] + row.renditions.map(\.url) {
                let address = try #require(address)
                #expect(address.hasPrefix("./") && address.allSatisfy { $0.isASCII && !"\"'<>&:?# ".contains($0) })
                // Percent-encoded bytes, as a browser reads them.
                let line = "test -f \"pages/$(printf '\(address.replacing("%", with: "\\x"))')\""
                #expect(
                    try await runner.shell("bash -c '\(line.replacing("'", with: "'\\''"))'").exit == 0,
                    "\(row.path): \(address)")
            }
        }
    }

    @Test
    func `the page loads nothing: its policy allows its own script and style, by their digests, and pictures`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.pipeline()
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(try await runner.run("report", "out/.imagemill/report.json", "-o", "page.html").exit == 0)
        let page = try page(runner, "page.html")
        #expect(
            !page.contains("http:")
                || page.matches(of: /https?:\/\//).allSatisfy { _ in page.contains("http://www.w3.org/2000/svg") })
        #expect(page.matches(of: /https?:\/\//).count == 1, "only the name of SVG's elements")
        for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
            let start = try #require(page.range(of: "<\(element)>")).upperBound
            let end = try #require(page.range(of: "</\(element)>", range: start..<page.endIndex)).lowerBound
            try runner.folder.write(String(page[start..<end]), to: element)
            let digest = try await runner.shell("openssl dgst -sha256 -binary \(element) | base64")
            guard digest.exit == 0, !digest.output.isEmpty else { continue }
            #expect(
                page.contains("\(directive) 'sha256-\(digest.output.trimmingCharacters(in: .whitespacesAndNewlines))'"))
        }
        #expect(page.contains("default-src 'none'"))
        #expect(try content(page).rows.map(\.url) == ["./out/../in/a.jpg"])
    }

    @Test func `on paper, the heads of the table are text, which browsers repeat on each sheet`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.pipeline()
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--report", "page.html").exit == 0)
        let page = try page(runner, "page.html")
        let paper = try #require(page.range(of: "@media print")).upperBound
        #expect(
            page[paper...].contains("thead { display: table-header-group; } #table thead button { display: contents; }")
        )
    }

    @Test func `journals, lines and single reports are read too; lines that cannot be are counted`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/b.png")
        try runner.pipeline()
        let lines = try await runner.run("run", "p.yaml", "in", "-o", "out", "--json-lines", "--quiet").output
        try runner.folder.write(lines + "{\"schema\": \"imagemill.report/1\", \"sta\nno JSON\n", to: "journal.jsonl")
        let result = try await runner.run("report", "journal.jsonl", "-o", "a.html")
        #expect(
            result.exit == 0 && result.errors == "wrote a.html\nnote: 2 entries of 'journal.jsonl' cannot be read\n")
        let journal = try content(page(runner, "a.html"))
        #expect(journal.rows.map(\.path).sorted() == ["a.jpg", "b.png"] && journal.unreadable == 2)
        #expect(
            journal.rows.allSatisfy { $0.url == nil && $0.renditions.allSatisfy { $0.url == nil } },
            "it is not known where the pictures are")
        let one = try #require(lines.split(separator: "\n").first { $0.contains("a.jpg") })
        try runner.folder.write(String(one), to: "a.jpg.json")
        let single = try await runner.run("report", "a.jpg.json", "-o", "-", "--renditions", "out")
        #expect(single.exit == 0)
        #expect(try content(single.output).rows.map { $0.renditions.map(\.url) } == [["./out/a.webp"]])
    }

    @Test(.timeLimit(.minutes(2)))
    func `a journal's page finds the renditions of each inbox, and originals in done/, failed/ and the inbox`()
        async throws
    {
        let drop = try WatchedFolder(
            mill: """
                state: state
                workers: 2
                inboxes:
                  - { path: in, outbox: out, pipeline: p.yaml, settle: 100ms, attempts: 1 }
                  - { name: other, path: in2, outbox: out2, pipeline: p.yaml, settle: 100ms, originals: keep }

                """)
        try drop.makeFolder("in2")
        let watch = try await drop.start()
        try await drop.drop("deep/a b.jpg")
        try drop.drop("bad.jpg", Array("no picture".utf8))
        try await drop.drop("kept.png", into: "in2")
        try await drop.until("out/deep/a b.webp", "out2/kept.webp", "state/failed/in/bad.jpg.error.json")
        // Another one of the name: its original is a version, and is told apart by its size.
        try await drop.until("state/done/in/deep/a b.jpg")
        try drop.drop("deep/a b.jpg", try await SamplePicture.png.bytes)
        try await drop.until("state/done/in/deep/a b~2.jpg")
        #expect(try await drop.stop(watch).exit == 0)
        try drop.makeFolder("pages")
        let result = try await drop.runner.run(
            "report", "state/journal.jsonl", "--mill", "mill.yaml", "-o", "pages/page.html")
        #expect(result.exit == 0, "\(result.errors)")
        let rows = try content(page(drop.runner, "pages/page.html")).rows
        let sources = rows.map { [$0.path, $0.url ?? "none"] }.sorted { $0[1] < $1[1] }
        #expect(
            sources == [
                ["kept.png", "./../in2/kept.png"], ["deep/a b.jpg", "./../state/done/in/deep/a%20b.jpg"],
                ["deep/a b.jpg", "./../state/done/in/deep/a%20b~2.jpg"], ["bad.jpg", "./../state/failed/in/bad.jpg"],
            ])
        #expect(
            Set(rows.flatMap(\.renditions).map(\.url)) == ["./../out/deep/a%20b.webp", "./../out2/kept.webp"])
        // A source that is gone has no address.
        _ = try await drop.runner.shell("rm -r state/done/in/deep in2/kept.png")
        _ = try await drop.runner.run("report", "state/journal.jsonl", "--mill", "mill.yaml", "-o", "pages/page.html")
        #expect(try content(page(drop.runner, "pages/page.html")).rows.compactMap(\.url).count == 1)
        let both = try await drop.runner.run(
            "report", "state/journal.jsonl", "--mill", "mill.yaml", "--renditions", "out", "-o", "page.html")
        #expect(both.exit == 64 && both.errors.contains("leave one of --mill and --renditions out"))
        let none = try await drop.runner.run("report", "state/journal.jsonl", "--mill", "none.yaml", "-o", "page.html")
        #expect(none.exit == 78 && none.errors.contains("none.yaml") && !drop.runner.exists("page.html"))
    }

    @Test func `a dry run has a page and leaves no other file; what it plans has no address`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.pipeline()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run", "--report", "page.html")
        #expect(result.exit == 0, "\(result.errors)")
        let rows = try content(page(runner, "page.html")).rows
        #expect(rows.map(\.status) == ["planned"] && rows[0].renditions.map(\.url) == [nil])
        #expect(!runner.exists("out"))
    }

    @Test func `what is no report is refused, and nothing is written over`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("{\"schema\":\"imagemill.gather/1\",\"failures\":[]}", to: "gather.json")
        for (file, words) in [
            ("in/a.jpg", "is no report: expected imagemill.batch/1 or lines of imagemill.report/1\n"),
            ("gather.json", ", found imagemill.gather/1\n"),
            ("missing.json", "missing.json"),
        ] {
            let result = try await runner.run("report", file, "-o", "page.html")
            #expect(result.exit != 0 && result.errors.contains(words), "\(result.errors)")
        }
        #expect(!runner.exists("page.html"))
        let over = try await runner.run("report", "gather.json", "-o", "./gather.json")
        #expect(over.exit == 64 && over.errors.contains("the page would be written over the report"))
    }
}
