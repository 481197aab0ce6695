import Testing

@testable import Pipeline

@Suite struct AllowedFormatsTests {
    @Test("An option lists formats with commas, and takes no others")
    func option() {
        #expect(AllowedFormats("svg")?.formats == [.svg])
        #expect(AllowedFormats("svg,pdf, jxl,jp2")?.formats == Set(SourceFormat.onRequest))
        for text in ["", "svg,", "jpeg", "SVG", "svg pdf", "bmp"] { #expect(AllowedFormats(text) == nil, "\(text)") }
    }

    private func mill(_ allow: String) throws -> MillFile {
        try MillFile(
            text: "inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, allow: \(allow) }\n", file: "mill.yaml")
    }

    @Test("An inbox allows formats for itself, whatever the limits of the mill are")
    func inbox() throws {
        let inbox = try #require(try mill("[svg, pdf]").inboxes.first)
        #expect(inbox.limits(within: Limits()).allowed == [.svg, .pdf])
        var limits = Limits()
        limits.allowed = [.jxl]
        #expect(try mill("[]").inboxes.first?.limits(within: limits).allowed == [])
    }

    @Test(
        "A format that cannot be allowed is a mistake at its place",
        arguments: [
            ("[svg, bmp]", "expected one of svg, pdf, jxl, jp2, found 'bmp'"),
            ("[jpeg]", "'jpeg' is always read; remove it"),
            ("svg", "'allow' expects a list of formats such as [svg, pdf], out of svg, pdf, jxl, jp2"),
        ])
    func mistakes(allow: String, words: String) {
        let problems = #expect(throws: Diagnostics.self) { try mill(allow) }
        #expect(problems?.description.contains(words) == true, "\(String(describing: problems))")
    }
}
