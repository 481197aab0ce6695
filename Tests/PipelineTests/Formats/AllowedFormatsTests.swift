import Testing

@testable import Pipeline

@Suite struct AllowedFormatsTests {
    @Test func `an option lists formats with commas, and takes no others`() {
        #expect(AllowedFormats("svg")?.formats == [.svg])
        #expect(AllowedFormats("svg,pdf, raw, jxl,jp2")?.formats == Set(SourceFormat.onRequest))
        for text in ["", "svg,", "jpeg", "SVG", "svg pdf", "bmp"] { #expect(AllowedFormats(text) == nil, "\(text)") }
    }

    private func mill(_ allow: String) throws -> MillFile {
        try MillFile(
            text: "inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, allow: \(allow) }\n", file: "mill.yaml")
    }

    @Test func `an inbox allows formats for itself, whatever the limits of the mill are`() throws {
        let inbox = try #require(try mill("[svg, pdf]").inboxes.first)
        #expect(inbox.limits(within: Limits()).allowed == [.svg, .pdf])
        var limits = Limits()
        limits.allowed = [.jxl]
        #expect(try mill("[]").inboxes.first?.limits(within: limits).allowed == [])
    }

    @Test(arguments: [
        ("[svg, bmp]", "expected one of svg, pdf, raw, jxl, jp2, found 'bmp'"),
        ("[jpeg]", "'jpeg' is always read; remove it"),
        ("svg", "'allow' expects a list of formats such as [svg, pdf], out of svg, pdf, raw, jxl, jp2"),
    ])
    func `a format that cannot be allowed is a mistake at its place`(allow: String, words: String) {
        let problems = #expect(throws: Diagnostics.self) { try mill(allow) }
        #expect(problems?.description.contains(words) == true, "\(String(describing: problems))")
    }
}
