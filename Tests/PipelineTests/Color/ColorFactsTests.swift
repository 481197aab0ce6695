import Testing

@testable import Pipeline

@Suite struct ColorFactsTests {
    private let p3 = ICCProfile.displayP3

    @Test func `a profile counts more than nclx, and less than cICP; gAMA beside it is not looked at`() throws {
        let nclx = try #require(ColorFacts(p3, StatedColor(.standard, by: .nclx)))
        #expect(nclx.words == "Display P3 by ICC profile" && nclx.overruled == "sRGB by nclx")
        let cicp = try #require(ColorFacts(p3, StatedColor(CodedColor(.bt2020, .pq), by: .cicp)))
        #expect(cicp.words == "BT.2020 PQ by cICP" && cicp.overruled == "Display P3 by its ICC profile" && cicp.isHDR)
        #expect(cicp.warnings.map(\.code) == [.colorConflict, .hdrToneMapped])
        #expect(ColorFacts(p3, StatedColor(.standard, by: .gamma))?.overruled == nil)
        #expect(ColorFacts(p3, StatedColor(.displayP3, by: .nclx))?.warnings == [])
        #expect(ColorFacts(nil, nil) == nil)
        #expect(ColorFacts(nil, StatedColor(.standard, by: .nclx))?.isStandard == true)
        #expect(ColorFacts(p3, nil)?.isStandard == false)
    }

    @Test func `a worker may not say just anything`() throws {
        var facts = try #require(ColorFacts(p3, nil))
        #expect(facts.isPlausible)
        facts.name = "\u{1B}[2J"
        #expect(!facts.isPlausible)
        facts.name = String(repeating: "a", count: 500)
        #expect(!facts.isPlausible)
    }
}
