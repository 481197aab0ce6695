// Reports and the notes beside failed sources: where they are, what they say, and that they are complete.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct ReportFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a report is under reports/, or beside, with the path of its source in the inbox`() {
        let source = BytePath("a/b.jpg")
        #expect(ReportFiles().path(for: source) == BytePath("reports/a/b.jpg.json"))
        #expect(ReportFiles(besideRenditions: true).path(for: source) == BytePath("a/b.jpg.json"))
    }

    @Test func `names that are long still fit, and stay distinct`() {
        let names = ["a", "b"].map { BytePath("d/" + String(repeating: "x", count: 249) + $0 + ".jpg") }
        let paths = names.map { ReportFiles().path(for: $0) }
        for path in paths {
            #expect(
                path.lastComponent.bytes.count <= 255 && path.text.hasSuffix(".json")
                    && path.text.hasPrefix("reports/d/xxx"))
        }
        #expect(paths[0] != paths[1])
        #expect(FailureNote.path(beside: names[0]).lastComponent.bytes.count <= 255)
    }

    @Test func `the file of a report is JSON with a line end`() throws {
        var report = SourceReport(status: .done, pipeline: "p", source: BytePath("a/b.jpg"))
        report.attempt = 2
        let bytes = ReportFiles.bytes(of: report)
        #expect(try JSONDecoder().decode(BatchDocument.Entry.self, from: Data(bytes)).attempt == 2)
        #expect(bytes.suffix(2) == Array("}\n".utf8))
    }

    private var failed: Directory {
        get throws {
            try FileSystem.makeDirectories(BytePath(folder.path("failed")))
            return try Directory(BytePath(folder.path("failed")))
        }
    }

    private func note(_ name: [UInt8]) throws -> (note: FailureNote, source: BytePath) {
        let source = BytePath(Array(folder.path("failed/").utf8) + name)
        let note = FailureNote(
            source: BytePath(name), job: "7", inbox: BytePath("/in"), quarantined: source,
            pipeline: BytePath("/etc/p q.yaml"),
            failure: Failure(.truncated, stage: "decode", "it ends early", detail: "premature end"), attempts: 2)
        try note.write(beside: BytePath(name), in: failed)
        return (note, source)
    }

    @Test func `the note says what, where, how often, and how to see it again`() throws {
        let (_, source) = try note(Array("it's.jpg".utf8))
        let text = try folder.text("failed/it's.jpg.error.json")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(document["schema"] as? String == "imagemill.failure/1")
        #expect(document["job"] as? String == "7")
        #expect(document["code"] as? String == "truncated")
        #expect(document["stage"] as? String == "decode")
        #expect(document["message"] as? String == "it ends early")
        #expect(document["detail"] as? String == "premature end")
        #expect(document["retryable"] as? Bool == false)
        #expect(document["attempts"] as? Int == 2)
        #expect(
            document["replay"] as? String
                == #"imagemill run '/etc/p q.yaml' '\#(folder.path)/failed/it'\''s.jpg' -o replay"#)
        #expect(try FailureNote.source(ofNoteBeside: source.lastComponent, in: failed) == BytePath("it's.jpg"))
    }

    @Test func `a shell reads every odd name in the command as the name that it is`() async throws {
        let names: [[UInt8]] =
            [
                "a b", "it's", "$(touch x)", "`touch x`", "a\nb", "-rf", "tab\there", "q\"uote", "back\\slash", "é",
                "*", "~", "#x", "a;b",
                "\u{1B}[31m",
                "x\r", "\n",
            ].map { Array($0.utf8) } + [[0xFF, 0xFE, UInt8(ascii: "7")]]
        for name in names {
            let word = shellQuoted(BytePath(name))
            #expect(!word.contains("\n") && !word.contains("\u{1B}"))
            let runner = try CommandRunner()
            let result = try await runner.shell(
                "bash -c " + shellQuoted(BytePath("printf %s \(word) | od -An -v -tu1")))
            let bytes = result.output.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0) }
            #expect(bytes == name, "\(word)")
        }
        #expect(shellQuoted(BytePath("plain/name-1.jpg")) == "plain/name-1.jpg")
        #expect(shellQuoted(BytePath("")) == "''")
    }

    @Test func `a path that is no text comes back from the note byte for byte`() throws {
        let name: [UInt8] = [0xFF, UInt8(ascii: "%"), UInt8(ascii: "\n"), UInt8(ascii: "a")]
        let (_, source) = try note(name)
        #expect(try FailureNote.source(ofNoteBeside: source.lastComponent, in: failed) == BytePath(name))
        #expect(BytePath(percentEncoded: BytePath(name).percentEncoded) == BytePath(name))
        for text in ["%", "%4", "%zz"] { #expect(BytePath(percentEncoded: text) == nil) }
    }

    @Test(arguments: ["../x", "/etc/passwd", "a/../../b", "", ".", "a//b"])
    func `a note that leads out of the inbox is not believed`(path: String) throws {
        try folder.write("{\"source\":{\"path\":\"\(path)\"}}", to: "failed/a.jpg.error.json")
        #expect(try FailureNote.source(ofNoteBeside: BytePath("a.jpg"), in: failed) == nil)
    }
}
