import Testing

@testable import Pipeline

@Suite struct TextTemplateTests {
    private let words = PictureWords(
        title: "A {stem} of\nlines", caption: "\u{202E}evil\u{2069}\u{0007}", artist: "<b>Åse & Co</b>")

    private func fields(rendition: String? = "web", scale: Int = 1) -> TextFields {
        let naming = NamingFacts(
            source: SourceName(BytePath("a/b/photo@2x.jpg")), hash: "0123456789abcdef", date: "2024:05:06 07:08:09")
        return TextFields(
            TextValues(naming, dateTaken: "2023:12:31 23:59:58", words: words),
            rendition: rendition.map { ($0, "webp") }, scale: scale)
    }

    private func filled(_ text: String, markup: Bool = false, _ fields: TextFields? = nil) throws -> FilledText {
        try TextTemplate(text).filled(fields ?? self.fields(), on: PixelSize(40, 30), isMarkup: markup)
    }

    /// Without the marks around values.
    private func bare(_ text: String, markup: Bool = false, _ fields: TextFields? = nil) throws -> String {
        try filled(text, markup: markup, fields).text.filter { $0 != "\u{2068}" && $0 != "\u{2069}" }
    }

    @Test(arguments: [
        ("plain", "plain"), ("{stem}.{ext}", "photo.webp"), ("{dir}: {rendition}", "a/b: web"),
        ("{width}×{height}", "40×30"), ("{hash:6}", "012345"), ("{date:%d.%m.%Y}", "06.05.2024"),
        ("{date-taken:%H:%M}", "23:59"), ("{{{stem}}}", "{photo}"), ("{copyright|nobody}!", "nobody!"),
        ("{copyright|}", ""), ("a\tb\u{0}c", "a b c"), ("a\nb\n\n", "a\nb"),
    ])
    func `fields become their values`(text: String, value: String) throws {
        #expect(try bare(text) == value)
        #expect(try filled(text).empty == [])
    }

    @Test func `a value is isolated, of one line, and never read again`() throws {
        #expect(try filled("{title}").text == "\u{2068}A {stem} of lines\u{2069}")
        #expect(try filled("{caption}").text == "\u{2068}evil \u{2069}")
        #expect(try bare("<i>{artist}</i>", markup: true) == "<i>&lt;b&gt;Åse &amp; Co&lt;/b&gt;</i>")
    }

    @Test func `a value within an attribute does not end it`() throws {
        let found = try bare("<span lang='{title}' style=\"{title}\">x</span>", markup: true, fields(title: "'\"><b>"))
        #expect(found == "<span lang='&apos;&quot;&gt;&lt;b&gt;' style=\"&apos;&quot;&gt;&lt;b&gt;\">x</span>")
    }

    private func fields(title: String) -> TextFields {
        TextFields(
            TextValues(
                NamingFacts(source: SourceName(BytePath("a.jpg"))), dateTaken: nil, words: PictureWords(title: title)),
            rendition: nil, scale: 1)
    }

    @Test(arguments: ["\u{0600}<b>x\u{0600}</b>", "a <\u{0301}b> &\u{200D}"])
    func `no mark beside a sign of markup makes it one`(title: String) throws {
        let found = try bare("{title}", markup: true, fields(title: title))
        #expect(!found.unicodeScalars.contains("<") && found.unicodeScalars.filter { $0 == "&" }.count >= 3)
        #expect(try filled("<b>{title}</b>", markup: true, fields(title: title)).plain.contains("<b>\u{2068}" + title))
    }

    @Test func `values that are cut leave the markup around them whole`() throws {
        let fields = fields(title: String(repeating: "&", count: 5000))
        let found = try filled("<b>" + String(repeating: "{title}", count: 9) + "</b>", markup: true, fields)
        #expect(
            found.text.hasSuffix("&amp;\u{2069}\u{2068}\u{2069}\u{2068}\u{2069}\u{2068}\u{2069}\u{2068}\u{2069}</b>"))
        #expect(found.plain.unicodeScalars.count <= 20_000)
    }

    @Test func `a field without a value and a default is named`() throws {
        let found = try filled("© {copyright}, {artist}")
        #expect(found.empty == ["{copyright}"] && found.text.hasPrefix("© , "))
        #expect(
            try filled("{rendition}{ext}{scale}", fields(rendition: nil)).empty == ["{rendition}", "{ext}", "{scale}"])
        #expect(try filled("{scale}").empty == [] && bare("{scale}", fields(scale: 2)) == "@2x")
    }

    @Test(arguments: [
        ("© {title} by desk", "\u{200E}"), ("{title} (1 × 2) {stem}.jpg", "\u{200E}"), ("{title}: שם", "\u{200F}"),
        ("Photo {title}", nil), ("{title}", nil), ("({title})", nil), ("{copyright}by desk", nil),
    ])
    func `the written words decide the direction of a line, and no value before them`(
        text: String, mark: Unicode.Scalar?
    ) throws {
        let found = try filled(text, fields(title: "דוד"))
        #expect(found.text.unicodeScalars.first { [0x200E, 0x200F].contains($0.value) } == mark)
        #expect(mark == nil || found.text.unicodeScalars.first == mark && found.plain.unicodeScalars.first == mark)
        let second = try filled("Abc\n" + text, fields(title: "דוד")).text.split(separator: "\n")
        #expect(second.count == 2 && second[0] == "Abc" && (mark == nil || second[1].unicodeScalars.first == mark))
        let marked = try filled("<b>{title}</b> 1", markup: true, fields(title: "דוד")).text
        #expect(marked.unicodeScalars.first == "<")
    }

    @Test func `a default stands for what scale 1 does not say`() throws {
        #expect(
            try bare("[{scale|1x}]", fields(scale: 1)) == "[1x]" && bare("[{scale|1x}]", fields(scale: 2)) == "[@2x]")
    }

    @Test func `words that are written count, and fields do not`() throws {
        #expect(try TextTemplate("ab{title|cd}{{").writtenCount == 5)
    }

    @Test func `a very long value, and a very long text, are cut`() throws {
        let naming = NamingFacts(source: SourceName(BytePath("a.jpg")))
        let long = PictureWords(title: String(repeating: "x", count: 100_000))
        let fields = TextFields(TextValues(naming, dateTaken: nil, words: long), rendition: nil, scale: 1)
        let title = try filled("{title}", fields)
        #expect(title.text.unicodeScalars.count == 4098)
        #expect(title.cuts == ["only the first 4096 characters of {title} are drawn"])
        let text = try filled(String(repeating: "y", count: 100_000))
        #expect(text.text.count == 20_000 && text.cuts == ["only the first 20000 characters of the text are drawn"])
        let both = try filled(String(repeating: "{title}", count: 6), markup: true, fields)
        #expect(both.cuts.count == 2 && both.cuts.last == text.cuts[0])
        #expect(try filled(String(repeating: "y", count: 20_000)).cuts == [])
        #expect(try filled("{title}", self.fields(title: String(repeating: "x", count: 4095))).cuts == [])
    }

    @Test(arguments: [
        ("{titl}", "did you mean 'title'?"), ("{date-taken}", "{date-taken:…} needs fields of a date"),
        ("{date-taken:%q}", "{date-taken:…} knows"), ("{stem", "has no partner"),
        ("{caption|{title}}", "no field in that of '{caption|…}'"), ("a } b", "has no partner"),
        ("{nonsense}", "the fields are {stem}"),
    ])
    func `a mistake is explained`(text: String, words: String) throws {
        let error = #expect(throws: NameTemplateError.self) { try TextTemplate(text) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `a template says what it has to know`() throws {
        #expect(try TextTemplate("{title}").needsMetadata && !TextTemplate("{stem}").needsMetadata)
        #expect(try TextTemplate("{stem}").needsName && !TextTemplate("{title} {width}").needsName)
        #expect(try TextTemplate("{hash}").needsHash && !TextTemplate("{date:%Y}").needsHash)
    }
}
