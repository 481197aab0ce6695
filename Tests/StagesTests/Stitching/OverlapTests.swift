import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips) struct OverlapTests {
    private static func captures(_ page: ScrolledPage) throws -> [CaptureRows] {
        try (0...page.steps.count).map { capture in
            try CaptureRows(
                TestPicture.make(width: ScrolledPage.width, height: ScrolledPage.height) { x, y in
                    page.pixel(x, y, capture: capture)
                })
        }
    }

    /// How many pages come out right, and how many of these carry a warning.
    private func results(_ kind: ScrolledPage.Kind, seeds: Range<Int>, isOverlapping: Bool) throws -> (
        right: Int, warned: Int
    ) {
        var (right, warned) = (0, 0)
        for seed in seeds {
            let page = ScrolledPage(kind, seed: UInt64(seed), isOverlapping: isOverlapping)
            let parts = newParts(of: try Self.captures(page))
            let length = parts.reduce(0) { $0 + $1.rows.count }
            let isWarned = parts.contains { $0.kind != .joined }
            #expect(length == page.length || isWarned, "\(kind) \(seed): \(length) rows of \(page.length), no warning")
            guard length == page.length else { continue }
            right += 1
            if isWarned { warned += 1 }
        }
        return (right, warned)
    }

    @Test(arguments: ScrolledPage.Kind.allCases)
    func `captures that overlap become the page again, or carry a warning`(kind: ScrolledPage.Kind) throws {
        let (right, warned) = try results(kind, seeds: 0..<3, isOverlapping: true)
        #expect(right == 3)
        #expect(warned == 0)
    }

    @Test(arguments: ScrolledPage.Kind.allCases)
    func `captures that do not overlap carry a warning, although they show the same pictures`(
        kind: ScrolledPage.Kind
    ) throws {
        let (right, warned) = try results(kind, seeds: 37..<39, isOverlapping: false)
        #expect(right == warned)
    }

    @Test(arguments: [UInt64(26), 33])
    func `what differs between cards with the same picture decides where captures are joined`(seed: UInt64) throws {
        let page = ScrolledPage(.cards, seed: seed)
        let parts = newParts(of: try Self.captures(page))
        #expect(parts.reduce(0) { $0 + $1.rows.count } == page.length)
    }

    @Test func `a place that may be wrong is named with the other one, by the rows of the capture before`() throws {
        let names = ["a.png", "b.png"]
        let page = try TestPicture.make(width: 120, height: 600) { x, y in
            (4..<16).contains(y % 24) && (6..<90).contains(x) && (x / 3) % 2 == 0 ? [60, 120, 220] : [255, 255, 255]
        }
        let images = try [0, 170].map { try page.extractArea(left: 0, top: $0, width: 120, height: 240).inMemory() }
        let warnings = try join("stitch: { overlap: auto }", images, names: names).plan.warnings
        #expect(warnings.map(\.code) == [.overlapAmbiguous])
        let message = try #require(warnings.first?.message)
        let expected =
            /'stitch': 'b.png' fits 'a.png' from its row \d+ on, and about as well from its row \d+ on; the first was chosen; if anything is missing or repeated now, write the overlap as a length/
        #expect(try expected.wholeMatch(in: message) != nil, "\(message)")
    }
}
