// The journal grows by whole lines, and does not grow for ever.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct JournalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func journal(largest: Int = 1000, kept: Int = 2) throws -> Journal {
        try Journal(path: BytePath(folder.path("state/journal.jsonl")), largest: largest, kept: kept)
    }

    private func text(_ suffix: String = "") throws -> String { try folder.text("state/journal.jsonl" + suffix) }

    @Test func `a source's document is one line, whatever its name`() throws {
        let journal = try journal(largest: 10_000)
        try journal.add(SourceReport(status: .failed, pipeline: "p", source: BytePath("a\nb.jpg")))
        try journal.add(SourceReport(status: .done, pipeline: "p", source: BytePath([0xFF, UInt8(ascii: "x")])))
        let lines = try text().split(separator: "\n")
        #expect(lines.count == 2)
        let sources = try lines.map {
            try JSONDecoder().decode(BatchDocument.Entry.self, from: Data($0.utf8)).source.path
        }
        #expect(sources == ["a\nb.jpg", "\u{FFFD}x"])
    }

    @Test(arguments: ["", "{\"half\":", String(repeating: "x", count: 200_000)])
    func `a line that a crash has cut is removed at the next start; whole ones stay`(rest: String) throws {
        for lines in ["", "{\"a\":1}\n{\"b\":2}\n"] {
            try folder.write(lines + rest, to: "state/journal.jsonl")
            let journal = try journal(largest: 1 << 20)
            #expect(try text() == lines)
            try journal.add(line: "{}")
            #expect(try text() == lines + "{}\n")
        }
    }

    @Test func `a line that an earlier start may have added is not added again`() throws {
        let report = SourceReport(status: .done, pipeline: "p", source: BytePath("a.jpg"))
        try journal(largest: 10_000).add(report)
        let journal = try journal(largest: 10_000)
        for _ in 0..<2 { try journal.add(report, unlessThere: true) }
        #expect(try text().split(separator: "\n").count == 1)
        try journal.add(SourceReport(status: .done, pipeline: "p", source: BytePath("b.jpg")), unlessThere: true)
        #expect(try text().split(separator: "\n").count == 2)
    }

    @Test func `a file that has grown is put aside under a number; the oldest goes`() throws {
        let journal = try journal(largest: 20, kept: 2)
        for letter in ["a", "b", "c", "d"] { try journal.add(line: String(repeating: letter, count: 15)) }
        #expect(
            try folder.entries() == ["state", "state/journal.jsonl", "state/journal.jsonl.1", "state/journal.jsonl.2"])
        #expect(try [text(), text(".1"), text(".2")].map { $0.prefix(1) } == ["d", "c", "b"])
    }

    @Test func `a line that is larger than the bound is written all the same, and no empty file is put aside`() throws {
        let journal = try journal(largest: 20, kept: 0)
        try journal.add(line: String(repeating: "a", count: 50))
        try journal.add(line: "b")
        #expect(try folder.entries() == ["state", "state/journal.jsonl"])
        #expect(try text() == "b\n")
    }

    @Test func `somebody who moves the file away, as logrotate does, loses no line`() throws {
        let journal = try journal()
        try journal.add(line: "first")
        try FileManager.default.moveItem(atPath: folder.path("state/journal.jsonl"), toPath: folder.path("old"))
        try journal.add(line: "second")
        #expect(try folder.text("old") == "first\n")
        #expect(try text() == "second\n")
    }
}
