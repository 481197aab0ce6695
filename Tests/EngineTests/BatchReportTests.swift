// The report of a run: complete when it has its name, whoever else writes one there.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct BatchReportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: BytePath { BytePath(folder.path("out/report.json")) }

    private func document(_ name: String = "out/report.json") throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
                as? [String: Any])
    }

    @Test func `two reports with one destination are both complete, and the last one is there`() throws {
        let first = try BatchReport(file: path, stream: nil)
        let second = try BatchReport(file: path, stream: nil)
        for index in 0..<50 {
            first.add(#"{"first":\#(index)}"#)
            second.add(#"{"second":\#(index)}"#)
        }
        try first.finish(BatchSummary())
        #expect((try document()["sources"] as? [[String: Int]])?.first == ["first": 0])
        try second.finish(BatchSummary())
        #expect((try document()["sources"] as? [[String: Int]])?.count == 50)
        #expect((try document()["sources"] as? [[String: Int]])?.first == ["second": 0])
        #expect(try folder.entries() == ["out", "out/report.json"])
    }

    @Test func `a run that ends without a summary leaves the old report, and nothing beside it`() throws {
        try folder.write("old", to: "out/report.json")
        do {
            let report = try BatchReport(file: path, stream: nil)
            report.add("{}")
        }
        #expect(try folder.entries() == ["out", "out/report.json"])
        #expect(try folder.text("out/report.json") == "old")
    }

    @Test func `links at the destination, and at the old name of the growing file, are not followed`() throws {
        try folder.write("mine", to: "victim")
        for name in ["report.json", "report.json.part"] {
            try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("out/" + name), withDestinationPath: "../victim")
        }
        try BatchReport(file: path, stream: nil).finish(BatchSummary())
        #expect(try folder.text("victim") == "mine")
        #expect(try document()["schema"] as? String == "imagemill.batch/1")
    }

    @Test func `a link to a pipe or a device is replaced by a file, unless the user named it`() throws {
        try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("out/report.json"), withDestinationPath: "/dev/null")
        try BatchReport(file: path, mayBeStream: true, stream: nil).finish(BatchSummary())
        #expect(try FileSystem.status(path, followLinks: false)?.kind == .link)
        try BatchReport(file: path, stream: nil).finish(BatchSummary())
        #expect(try FileSystem.status(path, followLinks: false)?.kind == .regular)
    }

    @Test func `a report that cannot be written is an error that names it`() throws {
        let report = try BatchReport(file: BytePath("/dev/full"), mayBeStream: true, stream: nil)
        let error = #expect(throws: SystemError.self) { try report.finish(BatchSummary()) }
        #expect(error?.description == "cannot write the report '/dev/full': No space left on device")
        #expect(error?.isEnvironmental == true)
    }
}
