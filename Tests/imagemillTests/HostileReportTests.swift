// Reports that somebody has changed, read again for a page. Most would trap; a test that ends has passed.
import Foundation
import TestSupport
import Testing

@testable import imagemill

@Suite struct HostileReportTests {
    private func page(of bytes: [UInt8]) -> [UInt8]? { (try? ReportDocument(bytes)).map { ReportPage($0).html } }

    /// A report of a picture, a file that is none, and a set, which has no bytes of its own but those of its members.
    private func report() async throws -> String {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("no picture", to: "in/b.jpg")
        #expect(try await runner.run("run", "p.yaml", "in/a.jpg", "in/b.jpg", "-o", "out").exit == 1)
        let read = try JSONSerialization.jsonObject(with: Data(runner.bytes("out/.imagemill/report.json")))
        var report = try #require(read as? [String: Any])
        var sources = try #require(report["sources"] as? [[String: Any]])
        var set = sources[0]
        set["source"] = ["path": "set", "members": [["path": "a", "bytes": Int.max - 7], ["path": "b", "bytes": 7]]]
        sources.append(set)
        report["sources"] = sources
        return String(decoding: try JSONSerialization.data(withJSONObject: report), as: UTF8.self)
    }

    @Test func `a page is made of a report whatever its numbers are`() async throws {
        let report = try await report()
        let numbers = report.matches(of: /[:,\[](-?[0-9]+)(?=[,}\]])/).map { $0.output.1 }
        #expect(numbers.count > 15)
        for number in numbers {
            for other in [Int.max, Int.min, -1, 0] {
                let changed = report[..<number.startIndex] + "\(other)" + report[number.endIndex...]
                #expect(page(of: Array(changed.utf8)) != nil, "\(changed)")
            }
        }
    }

    @Test func `bytes of a report that were changed never end the element of the page that they are in`() async throws {
        let bytes = Array(try await report().utf8)
        func elements(_ page: [UInt8]) -> Int { page.ranges(of: Array("</script>".utf8)).count }
        let usual = elements(try #require(page(of: bytes)))
        for position in stride(from: 0, to: bytes.count, by: 13) {
            for value: UInt8 in [0, UInt8(ascii: "<"), UInt8(ascii: "9"), 0xFF] {
                var changed = bytes
                changed[position] = value
                if let page = page(of: changed) { #expect(elements(page) == usual, "at \(position)") }
            }
        }
    }
}
