// The page of failures: it explains every code that there is, and no other.
import TestSupport
import Testing

@testable import Pipeline

@Suite struct FailurePageTests {
    private let sections: [Substring]

    init() throws { sections = try Checkout.text("docs/failures.md").components("\n### `") }

    @Test func `every code of a failure has one section, and no other has`() {
        let names = sections.dropFirst().map { String($0.prefix { $0 != "`" }) }
        #expect(names.sorted() == FailureCode.allCases.map(\.rawValue).sorted())
    }

    @Test func `a section says the remedy in the words that reports have`() throws {
        for code in FailureCode.allCases {
            let section = try #require(sections.first { $0.hasPrefix(code.rawValue + "`") }).filter { $0 != "`" }
            let words = String(code.remedy(in: .anywhere).dropLast())
            #expect(section.contains(words), "\(code): docs/failures.md does not say: \(words)")
        }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
