// Reports that somebody has changed, read again for a page. Most would trap; a test that ends has passed.
import Foundation
import TestSupport
import Testing

@testable import imagemill

@Suite struct HostileReportTests {
    /// The documents that a document becomes if one of its numbers is another one.
    private func changed(_ value: Any, _ number: Int) -> [Any] {
        switch value {
        case let fields as [String: Any]:
            fields.flatMap { key, value in changed(value, number).map { fields.merging([key: $0]) { $1 } } }
        case let items as [Any]:
            items.indices.flatMap { index in changed(items[index], number).map { items.replacing(index, with: $0) } }
        case is Bool: []
        case is NSNumber: [number]
        default: []
        }
    }

    private func page(of bytes: [UInt8]) -> [UInt8]? { (try? ReportDocument(bytes)).map { ReportPage($0, nil).html } }

    @Test("A page is made of a report whatever its numbers are, and nothing but a page of one whose bytes were changed")
    func numbers() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("no picture", to: "in/b.jpg")
        #expect(try await runner.run("run", "p.yaml", "in/a.jpg", "in/b.jpg", "-o", "out").exit == 1)
        var report = try #require(try JSONSerialization.jsonObject(with: Data(runner.bytes("out/.imagemill/report.json"))) as? [String: Any])
        // As of a set, which has no bytes of its own but those of its members.
        var sources = try #require(report["sources"] as? [[String: Any]])
        sources[0]["source"] = ["path": "set", "members": [["path": "a", "bytes": Int.max], ["path": "b", "bytes": 7]]]
        report["sources"] = sources
        for number in [Int.max, Int.min, -1, 0] {
            let documents = changed(report, number)
            #expect(documents.count > 15)
            for document in documents { #expect(page(of: Array(try JSONSerialization.data(withJSONObject: document))) != nil, "\(document)") }
        }
        let bytes = Array(try JSONSerialization.data(withJSONObject: report))
        let elements = try #require(page(of: bytes)).ranges(of: Array("</script>".utf8)).count
        for position in bytes.indices {
            for value: UInt8 in [0, UInt8(ascii: "<"), UInt8(ascii: "9"), 0xFF] {
                var other = bytes
                other[position] = value
                // What is in the report must not end the element that it is in.
                if let page = page(of: other) { #expect(page.ranges(of: Array("</script>".utf8)).count == elements, "at \(position)") }
            }
        }
    }
}

extension Array {
    fileprivate func replacing(_ index: Int, with value: Element) -> [Element] {
        var items = self
        items[index] = value
        return items
    }
}
