import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips) struct StitchTests {
    /// A page whose rows all differ, as those of a photo do.
    private static func photo(width: Int, height: Int, seed: Int = 1) throws -> Image {
        try TestPicture.make(width: width, height: height) { x, y in
            let noise = UInt32(truncatingIfNeeded: (x &* 73_856_093) ^ (y &* 19_349_663) ^ (seed &* 83_492_791))
            return [
                UInt8(truncatingIfNeeded: noise >> 3), UInt8(truncatingIfNeeded: noise >> 11),
                UInt8(truncatingIfNeeded: y / 4),
            ]
        }
    }

    /// Lines of what looks like text on white, with empty rows between them.
    private static func text(width: Int, height: Int) throws -> Image {
        try TestPicture.make(width: width, height: height) { x, y in
            let (line, row) = (y / 12, y % 12)
            let letter =
                (((x / 5 &* 73_856_093) ^ (line &* 19_349_663) ^ (row / 2 &* 83_492_791)) &* 2_654_435_761) >> 13
            let isInk = row < 8 && x > 8 && x < width - 8 && letter & 3 == 0
            return isInk ? [20, 20, 20] : [255, 255, 255]
        }
    }

    /// Entries that look alike but for a number.
    private static func list(width: Int, height: Int) throws -> Image {
        try TestPicture.make(width: width, height: height) { x, y in
            let (entry, row) = (y / 24, y % 24)
            if row == 23 { return [200, 200, 200] }
            if (4..<16).contains(row) && (6..<24).contains(x) { return [60, 120, 220] }
            let digits = ((entry &+ 1) &* 2_654_435_761) >> 7
            if (5..<15).contains(row) && (40..<104).contains(x) && (digits >> ((x - 40) / 2)) & 1 == 1 {
                return [0, 0, 0]
            }
            return [255, 255, 255]
        }
    }

    private static func rows(_ image: Image, _ top: Int, _ height: Int) throws -> Image {
        try image.extractArea(left: 0, top: top, width: image.width, height: height).inMemory()
    }

    /// Six captures of a page, each repeating 5% to 60% of the one before.
    private static func captures(of page: Image, height: Int, seed: Int) throws -> (captures: [Image], length: Int) {
        var random = SplitMix(state: UInt64(seed))
        var tops = [0]
        while tops.count < 6 {
            tops.append(tops[tops.count - 1] + height - height * Int.random(in: 5...60, using: &random) / 100)
        }
        return (try tops.map { try rows(page, $0, height) }, tops[5] + height)
    }

    @Test(arguments: ["photo", "text", "list"], 1...2)
    func `captures of a page that overlap by 5% to 60% become the page again, to the pixel`(kind: String, seed: Int)
        throws
    {
        let make = kind == "photo" ? { try Self.photo(width: $0, height: $1) } : kind == "text" ? Self.text : Self.list
        let page = try make(120, 360 * 6)
        let (captures, length) = try Self.captures(of: page, height: 360, seed: seed)
        let joined = try join("stitch: { overlap: auto }", captures)
        #expect(joined.plan.warnings.isEmpty, "\(joined.plan.warnings)")
        #expect(try joined.image.pixels() == Self.rows(page, 0, length).pixels())
    }

    @Test(arguments: [(30, 0), (0, 24), (30, 24)])
    func `a header that does not scroll is there once, and so is a footer`(header: Int, footer: Int) throws {
        let page = try Self.text(width: 120, height: 240 * 6)
        let (captures, length) = try Self.captures(of: page, height: 240, seed: 5)
        let (top, bottom) = (
            try Self.photo(width: 120, height: 40, seed: 7), try Self.photo(width: 120, height: 40, seed: 8)
        )
        func framed(_ content: Image) throws -> Image {
            let withTop = header > 0 ? try Self.rows(top, 0, header).join(content, .vertical) : content
            return footer > 0
                ? try withTop.join(Self.rows(bottom, 0, footer), .vertical).inMemory() : try withTop.inMemory()
        }
        let joined = try join("stitch: { overlap: auto }", try captures.map(framed))
        #expect(joined.plan.warnings.isEmpty, "\(joined.plan.warnings)")
        #expect(try joined.image.pixels() == framed(Self.rows(page, 0, length)).pixels())
    }

    @Test func `a header that appears with the second capture is left out of all that follow`() throws {
        let page = try Self.photo(width: 60, height: 800)
        let header = try Self.photo(width: 60, height: 20, seed: 9)
        let first = try Self.rows(page, 0, 200)
        let others = try [150, 300, 420].map { try header.join(Self.rows(page, $0 + 20, 180), .vertical).inMemory() }
        let joined = try join("stitch: { overlap: auto }", [first] + others)
        #expect(try joined.image.pixels() == Self.rows(page, 0, 620).pixels())
    }

    @Test func `captures from left to right become one wide picture`() throws {
        let page = try Self.photo(width: 60, height: 400).rot(.d90).inMemory()
        let captures = try [0, 90, 150].map {
            try page.extractArea(left: $0, top: 0, width: 120, height: 60).inMemory()
        }
        let joined = try join("stitch: { direction: horizontal, overlap: auto }", captures)
        #expect(try joined.image.pixels() == page.extractArea(left: 0, top: 0, width: 270, height: 60).pixels())
    }

    @Test func `captures that were compressed with losses are joined where they are alike`() throws {
        let page = try Self.text(width: 200, height: 900).gaussblur(sigma: 1).inMemory()
        // Steps of up to three, other ones in each capture.
        let captures = try [0, 130, 300, 390].enumerated().map { index, top in
            let noise = try Self.photo(width: 200, height: 240, seed: 20 + index).linear(
                [0.012, 0.012, 0.012], [-1.5, -1.5, -1.5])
            return try Self.rows(page, top, 240).add(noise).rint().cast(.uchar).copy(interpretation: .srgb).inMemory()
        }
        let joined = try join("stitch: { overlap: auto }", captures)
        #expect(joined.plan.warnings.isEmpty, "\(joined.plan.warnings)")
        #expect(joined.image.height == 630)
    }

    @Test
    func `where nothing repeats, the picture is put behind the one before, with a warning that names it`() throws {
        let images = try [1, 2, 3].map { try Self.photo(width: 40, height: 30, seed: $0 * 11) }
        let joined = try join("stitch: { overlap: auto, spacing: 2, background: red }", images)
        #expect(joined.image.height == 94)
        #expect(joined.plan.warnings.map(\.code) == [.overlapNotFound, .overlapNotFound])
        #expect(
            joined.plan.warnings[0].message
                == "'stitch': no place was found at which picture 2 fits the one before; all of it was put after that one"
        )
        #expect(try joined.pixels[0, 30] == [255, 0, 0])
        #expect(try joined.pixels[5, 32] == PixelGrid(images[1])[5, 0])
    }

    /// The parts of a screen that float over a page of 200×400, each pixel by its place on the screen.
    private enum Floating: String, CaseIterable {
        case indicator, button, bars, all

        func pixel(_ x: Int, _ y: Int, over page: [UInt8]) -> [UInt8] {
            if self != .button, self != .bars, (385..<392).contains(y), (60..<140).contains(x) { return [0, 0, 0] }
            if self == .button || self == .all {
                let (dx, dy) = (x - 160, y - 330)
                if dx * dx + dy * dy < 28 * 28 {
                    return dx * dx + dy * dy < 24 * 24 ? [220, 40, 60] : page.map { $0 / 2 }
                }
            }
            // The page shines through.
            if self == .bars || self == .all, y < 40 || y >= 360 { return page.map { UInt8((Int($0) + 4 * 245) / 5) } }
            return page
        }
    }

    @Test(arguments: Floating.allCases, ["photo", "text", "list"])
    private func `what floats over a page is there once, at the end, and the page between is whole`(
        over: Floating, kind: String
    ) throws {
        let make = kind == "photo" ? { try Self.photo(width: $0, height: $1) } : kind == "text" ? Self.text : Self.list
        let page = try PixelGrid(make(200, 400 * 4))
        var random = SplitMix(state: 77)
        var tops = [0]
        while tops.count < 4 { tops.append(tops[tops.count - 1] + 400 - Int.random(in: 170...240, using: &random)) }
        let captures = try tops.map { top in
            try TestPicture.make(width: 200, height: 400) { x, y in
                over.pixel(x, y, over: page[x, top + y].map { UInt8($0) })
            }
        }
        let joined = try join("stitch: { overlap: auto }", captures)
        #expect(joined.plan.warnings.isEmpty, "\(joined.plan.warnings)")
        let length = tops[3] + 400
        #expect(joined.image.height == length)
        let expected = try TestPicture.make(width: 200, height: length) { x, y in
            let pixel = page[x, y].map { UInt8($0) }
            // The bar at the top is that of the first capture, everything at the bottom that of the last.
            return y < 200
                ? over.pixel(x, y, over: pixel) : y < tops[3] + 200 ? pixel : over.pixel(x, y - tops[3], over: pixel)
        }
        #expect(try joined.image.pixels() == expected.pixels())
    }

    @Test(arguments: [Floating.indicator, .button])
    private func `what floats does not disturb captures that were compressed with losses either`(over: Floating) throws
    {
        let page = try PixelGrid(Self.text(width: 200, height: 900).gaussblur(sigma: 1).inMemory())
        let tops = [0, 200, 390]
        let captures = try tops.enumerated().map { index, top in
            let clean = try TestPicture.make(width: 200, height: 400) { x, y in
                over.pixel(x, y, over: page[x, top + y].map { UInt8($0) })
            }
            let noise = try Self.photo(width: 200, height: 400, seed: 20 + index).linear(
                [0.012, 0.012, 0.012], [-1.5, -1.5, -1.5])
            return try clean.add(noise).rint().cast(.uchar).copy(interpretation: .srgb).inMemory()
        }
        let joined = try join("stitch: { overlap: auto }", captures)
        #expect(joined.plan.warnings.isEmpty, "\(joined.plan.warnings)")
        #expect(joined.image.height == 790)
        // Nothing black in the middle, where the page has no large black place.
        let pixels = try joined.pixels
        for top in tops.dropLast() {
            let dark = (70..<130).count { pixels[$0, top + 388][0] < 60 }
            #expect(dark < 50, "\(dark) dark pixels at \(top + 388)")
        }
    }

    @Test func `a list whose entries all look alike is joined with a warning, and nothing of it is left out`() throws {
        let page = try TestPicture.make(width: 120, height: 1600) { x, y in
            (4..<16).contains(y % 24) && (6..<90).contains(x) && (x / 3) % 2 == 0 ? [60, 120, 220] : [255, 255, 255]
        }
        let captures = try [0, 170, 350, 500].map { try Self.rows(page, $0, 240) }
        let joined = try join("stitch: { overlap: auto }", captures)
        #expect(joined.plan.warnings.map(\.code) == [.overlapAmbiguous, .overlapAmbiguous, .overlapAmbiguous])
        #expect(joined.plan.warnings[0].message.hasPrefix("'stitch': '2.png' fits '1.png' from its row "))
        #expect(joined.plan.warnings[0].message.contains(" on, and about as well from its row "))
        #expect(joined.image.height >= 740)
        // One entry that is different is enough to leave no doubt.
        let marked = try TestPicture.make(width: 120, height: 1600) { x, y in
            let seed = (((x / 3) &* 73_856_093 ^ (y / 24) &* 19_349_663) &* 2_654_435_761) >> 13
            return (4..<16).contains(y % 24) && (6..<90).contains(x) && (seed >> 4) % 2 == 0
                ? [60, 120, 220] : [255, 255, 255]
        }
        let clear = try join(
            "stitch: { overlap: auto }", try [0, 170, 350, 500].map { try Self.rows(marked, $0, 240) })
        #expect(clear.plan.warnings.isEmpty && clear.image.height == 740, "\(clear.plan.warnings)")
    }

    @Test(arguments: [("10", [10, 10]), ("30", [40, 20]), ("30", [20, 40]), ("5", [8, 8, 5])])
    func `an overlap as large as a picture, or larger, is refused`(overlap: String, heights: [Int]) throws {
        let images = try heights.map { try Self.photo(width: 8, height: $0, seed: $0) }
        let failure = #expect(throws: PlanFailure.self) { try join("stitch: { overlap: \(overlap) }", images) }
        #expect(failure?.failure.code == .emptyResult)
    }

    @Test func `white that two captures share says nothing`() throws {
        let ink = try TestPicture.solid([0, 0, 0], width: 20, height: 10)
        let first = try ink.embed(x: 0, y: 0, width: 20, height: 30, background: [255, 255, 255]).inMemory()
        let second = try ink.embed(x: 0, y: 20, width: 20, height: 30, background: [255, 255, 255]).inMemory()
        #expect(try join("stitch: { overlap: auto }", [first, second]).image.height == 60)
    }

    @Test func `a capture that shows nothing new adds nothing`() throws {
        let image = try Self.photo(width: 40, height: 30)
        #expect(try join("stitch: { overlap: auto }", [image, image]).image.pixels() == image.pixels())
    }

    @Test(arguments: [("4", ["1.png", "2.png"], 16), ("4", ["1@2x.png", "2@2x.png"], 12), ("50%", ["1", "2"], 15)])
    func `a fixed overlap is cut off, in points of the pictures and as a percentage`(
        overlap: String, names: [String], height: Int
    ) throws {
        let images = try [1, 2].map { try Self.photo(width: 8, height: 10, seed: $0) }
        let joined = try join("stitch: { overlap: \(overlap) }", images, names: names)
        #expect(joined.image.height == height)
        #expect(try joined.pixels[3, height - 1] == PixelGrid(images[1])[3, 9])
    }

    @Test(arguments: [("start", 0), ("center", 2), ("end", 4)])
    func `narrower pictures are placed by 'align', on the background`(word: String, left: Int) throws {
        let images = [
            try TestPicture.solid([9, 9, 9], width: 8, height: 2),
            try TestPicture.solid([200, 0, 0], width: 4, height: 3),
        ]
        let joined = try join("stitch: { align: \(word), background: blue }", images)
        let pixels = try joined.pixels
        #expect((joined.image.width, joined.image.height) == (8, 5))
        #expect(
            (0..<8).map { pixels[$0, 3] }
                == (0..<8).map { (left..<left + 4).contains($0) ? [200, 0, 0] : [0, 0, 255] })
    }

    @Test func `grey and colour, 8 and 16 bit, with and without alpha are joined as the richest of them`() throws {
        let grey = try TestPicture.solid([100], width: 4, height: 2)
        let colour = try TestPicture.solid([1, 2, 3, 128], width: 4, height: 2)
        let joined = try join("stitch", [grey, colour])
        #expect(try joined.pixels[0, 0] == [100, 100, 100, 255])
        #expect(try joined.pixels[0, 2] == [1, 2, 3, 128])
        let deep = try colour.linear([257, 257, 257, 257], [0, 0, 0, 0]).cast(.ushort).copy(interpretation: .rgb16)
            .inMemory()
        #expect(try join("stitch", [grey, deep]).image.getpoint(x: 0, y: 0) == [25700, 25700, 25700, 65535])
    }

    @Test func `what is behind it sees one picture`() throws {
        let images = try [1, 2].map { try Self.photo(width: 10, height: 10, seed: $0) }
        let joined = try join(
            "flip: { axis: horizontal }\nstitch\nresize: { width: 5 }\nframe: { width: 8, height: 8, background: white }",
            images)
        #expect((joined.image.width, joined.image.height) == (8, 8))
    }
}

/// Random numbers that are the same each time.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
