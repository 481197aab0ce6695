import Testing

@testable import Pipeline

struct SourceFactsTests {
    private static let good = SourceFacts(format: .jpeg, size: PixelSize(60, 40))

    private static let noWidth = {
        var size = PixelSize(1, 1)
        size.width = 0
        return size
    }()

    @Test
    func `a header that a worker tells is believed only where it can be`() {
        let changes: [(change: (inout SourceFacts) -> Void, isPlausible: Bool)] = [
            ({ _ in }, true),
            ({ $0.size.width = 0 }, false), ({ $0.size.height = -1 }, false), ({ $0.size.width = 10_000_001 }, false),
            ({ $0.orientation = 0 }, false), ({ $0.orientation = 9 }, false), ({ $0.frames = 0 }, false),
            ({ $0.frames = 1_000_001 }, false), ({ $0.parts = StoredParts(size: PixelSize(64, 64)) }, true),
            ({ $0.parts = StoredParts(size: Self.noWidth) }, false),
            ({ $0.captureDate = "2026:11:20 23:30:00" }, true), ({ $0.captureDate = "../../../../etc/pass" }, false),
            ({ $0.captureDate = "2026-11-20 23:30:00" }, false), ({ $0.captureDate = "" }, false),
            ({ $0.captureDate = "２026:11:20 23:30:0" }, false),
        ]
        for (change, isPlausible) in changes {
            var facts = Self.good
            change(&facts)
            #expect(facts.isPlausible == isPlausible, "\(facts)")
        }
    }

    @Test
    func `an orientation or a number of frames that cannot be is read as one`() {
        let facts = SourceFacts(format: .jpeg, size: PixelSize(6, 4), orientation: 0, frames: -3)
        #expect(facts.orientation == 1)
        #expect(facts.frames == 1)
    }

    @Test(
        arguments: [
            (.jpeg, 4_000, false, false), (.jpeg, 4_000, true, true), (.png, 4_000, false, true),
            (.png, 6_000, false, false),
            (.png, 6_000, true, true), (.webp, 4_000, false, true), (.tiff, 4_000, false, false),
            (.avif, 4_000, false, true),
        ] as [(SourceFormat, Int, Bool, Bool)])
    func `some decoders hold the whole picture`(format: SourceFormat, side: Int, isInterlaced: Bool, expected: Bool) {
        let facts = SourceFacts(format: format, size: PixelSize(side, side), isInterlaced: isInterlaced)
        #expect(facts.isDecodedAsAWhole == expected)
    }
}
