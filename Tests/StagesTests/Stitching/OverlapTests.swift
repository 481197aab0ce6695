import Glibc
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

    /// Two stripes alternate and a line runs across them, so that captures fit at every second stripe.
    @Test(arguments: [(stripe: 40, step: 300), (30, 250), (50, 330)])
    func `equal rows are joined where every row fits, in the smallest such overlap`(stripe: Int, step: Int) throws {
        let captures = try [0, step].map { top in
            try CaptureRows(
                TestPicture.make(width: 300, height: 400) { x, y in
                    (20..<24).contains(x)
                        ? [255, 0, 0] : (y + top) / stripe % 2 == 0 ? [220, 220, 220] : [250, 250, 250]
                })
        }
        let parts = newParts(of: captures)
        #expect(parts[1].kind == .ambiguous)
        let (ending, beginning) = (parts[0].rows.upperBound, parts[1].rows.lowerBound + step)
        #expect((ending - beginning) % (2 * stripe) == 0, "row \(ending) of the page goes on with row \(beginning)")
        let overlap = 400 - (ending - parts[1].rows.lowerBound)
        #expect(overlap <= 2 * stripe + 24, "\(overlap) rows overlap")
    }

    @Test func `a capture that shows nothing new is left out, with a warning if all of it is shown elsewhere too`()
        throws
    {
        let (cards, stripes) = (ScrolledPage(.cards, seed: 26), 40)
        let repeated = try TestPicture.make(width: 300, height: 400) { x, y in
            (20..<24).contains(x) ? [255, 0, 0] : y / stripes % 2 == 0 ? [220, 220, 220] : [250, 250, 250]
        }
        let capture = try CaptureRows(repeated)
        let doubtful = newParts(of: [capture, capture])
        #expect(doubtful[1] == CapturePart(rows: 400..<400, kind: .ambiguous, otherStart: 400))
        let blank = try CaptureRows(TestPicture.make(width: 300, height: 400) { _, _ in [255, 255, 255] })
        #expect(newParts(of: [blank, blank])[1].kind == .ambiguous)
        let unlike = try Self.captures(cards)[0]
        #expect(newParts(of: [unlike, unlike])[1] == CapturePart(rows: unlike.count..<unlike.count))
    }

    @Test(arguments: [60, 75, 90, 95])
    func `what has little contrast and was compressed with losses becomes the page again`(quality: Int) throws {
        // Soft spots, and the grain of a photo.
        let folder = try TemporaryFolder()
        var random = SplitMix(state: 7)
        let grain = (0..<300 * 800).map { _ in Int.random(in: 0..<9, using: &random) }
        let page = try TestPicture.make(width: 300, height: 800) { x, y in
            let level = 120 + 24 * sin(Double(x) / 9 + Double(y) / 31) + 9 * sin(Double(y * y) / 9000 + Double(x) / 50)
            return Array(repeating: UInt8(Int(level) + grain[y * 300 + x]), count: 3)
        }
        let captures = try [0, 300].map { top in
            let part = try page.extractArea(left: 0, top: top, width: 300, height: 500).inMemory()
            let path = try TestPicture.save(
                part, as: "jpegsave_target", [("Q", .int(quality))], to: folder.path("\(top).jpg"))
            return try CaptureRows(TestPicture.load(path, by: "jpegload_source"))
        }
        let parts = newParts(of: captures)
        #expect(parts.reduce(0) { $0 + $1.rows.count } == 800)
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
