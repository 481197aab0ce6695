// Parameters of a pipeline: declared, given and put in place.
import Stages
import Testing

@testable import Pipeline

@Suite struct PipelineParameterTests {
    private static let head = """
        parameters:
          side: { type: length, default: 64, about: "The longest side." }
          share: { type: number, default: 0.5 }
          ink: { type: color, default: "#336699" }
          words: { type: text, default: "{no field} & 5" }
          focus: { type: point, default: { x: 30%, y: 70% } }
          mark: { type: file, default: mark.png }
          kind: { type: choice, choices: [png, jpeg], default: png }

        """

    private static func text(_ stages: String, save: String = "png") -> String {
        head + "renditions:\n  a:\n    stages:\n      - \(stages)\n    save: { format: \"\(save)\" }\n"
    }

    private static func file(_ text: String, _ given: [String: String] = [:]) throws(Diagnostics) -> PipelineFile {
        try PipelineFile(text: text, file: "p.yaml", given: given, catalogue: .all)
    }

    private static func mistakes(_ text: String, _ given: [String: String] = [:]) -> [String] {
        do throws(Diagnostics) {
            _ = try file(text, given)
            return []
        } catch {
            return error.items.map { "\($0.position.line):\($0.position.column) \($0.message)" }
        }
    }

    @Test(arguments: [
        (
            #"frame: { width: "${side}", height: "${side}", anchor: "${focus}", mode: aspect-fill }"#,
            "frame: { width: 64, height: 64, anchor: { x: 30%, y: 70% }, mode: aspect-fill }"
        ),
        (#"resize: { size: "${side}x${side}>" }"#, #"resize: { size: "64x64>" }"#),
        (#"border: { width: 4, color: "${ink}" }"#, ##"border: { width: 4, color: "#336699" }"##),
        (#"opacity: { alpha: "${share}" }"#, "opacity: { alpha: 0.5 }"),
        (#"overlay: { image: "${mark}" }"#, "overlay: { image: mark.png }"),
        (#"text: { text: "${words}, {stem} $${" }"#, #"text: { text: "{{no field}} & 5, {stem} $${" }"#),
        (#"sharpen: { when: { width: ">= ${side}" } }"#, #"sharpen: { when: { width: ">= 64" } }"#),
    ])
    func `a value is used as if it was written there`(used: String, written: String) throws {
        let one = try Self.file(Self.text(used, save: "${kind}"))
        let other = try Self.file(Self.text(written, save: "png"))
        let uses = [one, other].map { $0.renditions[0].stages[0] }
        #expect("\(uses[0].stage)" == "\(uses[1].stage)")
        #expect("\(uses[0].condition as Any)" == "\(uses[1].condition as Any)")
        #expect(one.renditions[0].save.format == .png && one.assets.map(\.path) == other.assets.map(\.path))
    }

    @Test func `a value that is given is stronger, and changes what decides the bytes`() throws {
        let text = Self.text(#"frame: { width: "${side}", height: "${side}", anchor: "${focus}", mode: aspect-fill }"#)
        let usual = try Self.file(text)
        let given = try Self.file(text, ["side": "50%", "focus": "10% 20%"])
        #expect(usual.canonical == given.canonical)
        #expect(usual.renditions[0].canonical != given.renditions[0].canonical)
        #expect(try Self.file(text, ["side": "64"]).renditions[0].canonical == usual.renditions[0].canonical)
        #expect(given.settings.first == ParameterSetting(name: "side", value: "50%", origin: .set))
        #expect(usual.settings.map(\.value).contains("{ x: 30%, y: 70% }"))
        #expect(given.settings.map(\.origin).filter { $0 == .set }.count == 2)
    }

    @Test(arguments: [
        (["side": "wide"], "2:3 the value of 'side' expects a length"),
        (["ink": "blu"], "4:3 the value of 'ink' expects a color"),
        (["share": "many"], "3:3 the value of 'share' expects a number, found 'many'"),
        (["focus": "left-ish"], "6:3 the value of 'focus' expects a point such as { x: 30%, y: 70% }, or 30% 70%"),
        (["kind": "jpg"], "8:3 the value of 'kind' expects one of png or jpeg, found 'jpg'; did you mean 'jpeg'?"),
        (["sied": "5"], "1:1 no parameter is called 'sied', which has a value; did you mean 'side'?"),
    ])
    func `a value of another kind is one mistake, with the place of its parameter`(
        given: [String: String], words: String
    ) {
        let found = Self.mistakes(Self.text(#"border: { width: "${side}", color: "${ink}" }"#), given)
        #expect(found.count == 1 && found[0].hasPrefix(words), "\(found)")
    }

    @Test(arguments: [
        (#"border: { width: "${sied}" }"#, "no parameter is called 'sied'; did you mean 'side'?"),
        (#"border: { width: "${side" }"#, "'${' has no partner in '${side'; write $${ if it is no parameter"),
        ("border: { width: ${side} }", #"a parameter in braces needs quotes: "${side}""#),
        (
            #"text: { text: "at ${focus}" }"#,
            "'${focus}' is a point, which has a place of its own and none within a text"
        ),
        (#"border: { width: "${ink}" }"#, "'width' expects"),
    ])
    func `a use that cannot be is said with its place`(use: String, words: String) {
        let found = Self.mistakes(Self.text(use))
        #expect(found.count == 1 && found[0].hasPrefix("12:") && found[0].contains(words), "\(found)")
    }

    @Test func `a picture's metadata are stronger than the pipeline, and weaker than what is given`() throws {
        let text = """
            parameters:
              ink: { type: color, default: red, from: xmp:dc:title }
              again: { type: color, default: red, from: xmp:dc:title }
              side: { type: length, default: 64, from: iptc:Headline }
              city: { type: number, default: 1, from: iptc:City }
            renditions:
              a:
                stages: [ { border: { width: "${side}", color: "${ink}" } }, { opacity: { alpha: "${city}" } } ]
                save: { format: png }
            """
        let fields = ["xmp:dc:title", "iptc:Headline", "iptc:City"].compactMap { MetadataField($0) }
        let open = try Self.file(text, ["city": "0.5"])
        #expect(open.metadataFields == Array(fields.dropLast()))
        let values = [
            MetadataValue(fields[0], "#123456"), MetadataValue(fields[1], "5"), MetadataValue(fields[2], "0.7"),
        ]
        let file = try PipelineFile(
            text: text, file: "p.yaml", given: ["city": "0.5"], ofPicture: PictureValues(metadata: values),
            catalogue: .all)
        #expect(file.settings.map(\.value) == ["#123456", "#123456", "5", "0.5"])
        #expect(file.settings.map(\.origin) == [.metadata, .metadata, .metadata, .set])
        let written = ##"border: { width: 5, color: "#123456" }"##
        #expect(
            "\(file.renditions[0].stages[0].stage)"
                == "\(try Self.file(Self.text(written)).renditions[0].stages[0].stage)")
        let bad = #expect(throws: Diagnostics.self) {
            try PipelineFile(
                text: text, file: "p.yaml", ofPicture: PictureValues(metadata: [MetadataValue(fields[1], "wide")]),
                catalogue: .all)
        }
        #expect(
            bad?.items.map(\.message).first?.hasPrefix(
                "the value of 'side' (iptc:Headline) expects a length") == true, "\(bad as Any)")
    }

    private static let sides = """
        parameters:
          side: { type: length, default: 64, from: iptc:Headline }
          ink: { type: color, default: red }
          words: { type: text, default: none }
          most: { type: number, default: 1000000 }
          focus: { type: point, default: { x: 50%, y: 50% } }
        limits: { max-pixels: "${most}" }
        renditions:
          a:
            stages:
              - border: { width: "${side}", color: "${ink}" }
              - text: { text: "<b>{stem}</b> ${words}{stem}", markup: true }
              - frame: { width: 9, height: 9, mode: aspect-fill, anchor: "${focus}" }
            save: { format: png }
        """

    /// As YAML writes it, whatever is in it.
    private static func quoted(_ text: String) -> String {
        let signs = text.unicodeScalars.map {
            $0.isASCII && $0.value > 0x20 && $0 != "\"" ? "\($0)" : "\\U" + Self.eight($0)
        }
        return "\"\(signs.joined())\""
    }

    private static func eight(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func file(_ sidecars: [(String, String)], given: [String: String] = [:]) throws -> PipelineFile {
        let values = PictureValues(
            metadata: [MetadataField("iptc:Headline").map { MetadataValue($0, "7") }].compactMap(\.self),
            sidecars: sidecars.map {
                Sidecar(name: $0.0, text: $0.1, origin: $0.0.hasPrefix("_") ? .folder : .sidecar)
            })
        return try PipelineFile(text: sides, file: "p.yaml", given: given, ofPicture: values, catalogue: .all)
    }

    @Test func `a sidecar is stronger than its folder's, and both are stronger than all else`() throws {
        let file = try Self.file(
            [("_imagemill.yaml", "side: 8\nink: blue\n"), ("a.jpg.yaml", "ink: '#123456'\nfocus: 20% 70%\n")],
            given: ["side": "9", "words": "given", "ink": "white"])
        #expect(file.settings.map(\.value) == ["8", "#123456", "given", "1000000", "{ x: 20%, y: 70% }"])
        #expect(file.settings.map(\.origin) == [.folder, .sidecar, .set, .pipeline, .sidecar])
        for blank in ["", "\n", "# nothing yet\n  # nor here\n"] {
            #expect(try Self.file([("a.jpg.yaml", blank)]).settings.map(\.value).first == "7")
        }
    }

    @Test(arguments: [
        ("side: wide", "a.jpg.yaml:1:7", "'side' expects a length"),
        (
            "ink: blue\nsied: 4", "a.jpg.yaml:2:1",
            "no parameter is called 'sied', which has a value; did you mean 'side'?"
        ),
        ("- side", "a.jpg.yaml:1:1", "expected a mapping from the names of parameters to values, found a list"),
        ("side:\t4\n\tink: 5", "a.jpg.yaml:2:1", "indent with spaces, not with tabs"),
        ("side: &a 4\nink: *a", "a.jpg.yaml:1:7", "anchors and aliases are not supported"),
        ("side: 4\nside: 5", "a.jpg.yaml:2:1", "'side'"),
        ("most: 5", "a.jpg.yaml:1:1", "'limits' uses 'most' and is the same for all pictures"),
        ("words: [a]", "a.jpg.yaml:1:8", "'words' expects a text"),
    ])
    func `a mistake in a sidecar is said with its place there`(text: String, place: String, words: String) {
        let found = #expect(throws: Diagnostics.self) { try Self.file([("a.jpg.yaml", text)]) }
        #expect(found.map { "\($0)" }?.hasPrefix(place + ": error: ") == true, "\(found as Any)")
        #expect(found?.items.contains { $0.message.contains(words) } == true, "\(found as Any)")
    }

    @Test func `a hostile sidecar is refused at once, in few words`() {
        let levels = (1...9).map {
            "\("abcdefghij".dropFirst($0).prefix(1)): &l\($0) [*l\($0 - 1), *l\($0 - 1), *l\($0 - 1)]"
        }
        let bomb = "a: &l0 [x, x, x, x, x, x, x, x, x]\n" + levels.joined(separator: "\n") + "\n? *l9\n: 1\n"
        let many = "{" + (0..<6000).map { "k\($0): 1" }.joined(separator: ", ") + "}"
        let anchors = (0..<4000).map { "k\($0): &a\($0) 1\n" }.joined()
        for text in [
            bomb, many, anchors, String(repeating: "[", count: 60_000), String(repeating: "- ", count: 30_000),
        ] {
            let start = SuspendingClock.now
            let found = #expect(throws: Diagnostics.self) { try Self.file([("a.jpg.yaml", text)]) }
            #expect((found?.excerpts?.utf8.count ?? 0) + (found.map { "\($0)" }?.utf8.count ?? 0) < 200_000)
            #expect(.now - start < .seconds(20))
        }
    }

    @Test(arguments: [("a/b {x}", "a-b {x}"), ("..", ".."), ("{hash:4}", "{hash:4}")])
    func `a picture's own text is a part of one name`(value: String, name: String) throws {
        let text = """
            parameters: { words: { type: text, default: none } }
            renditions: { a: { file: "x${words}/{stem}.png", save: { format: png } } }
            """
        let values = PictureValues(
            sidecars: [Sidecar(name: "a", text: "words: \(Self.quoted(value))\n", origin: .sidecar)])
        let file = try PipelineFile(text: text, file: "p.yaml", ofPicture: values, catalogue: .all)
        #expect(file.renditions[0].template.parts.first == .literal("x\(name)/"))
    }

    @Test(arguments: [
        ("Tom & <Jerry>", "\u{2068}Tom &amp; &lt;Jerry&gt;\u{2069}"),
        ("{hash:8} {", "\u{2068}{hash:8} {\u{2069}"), ("a} <b>{stem|b", "\u{2068}a} &lt;b&gt;{stem|b\u{2069}"),
        ("\u{301}\u{202E}</b>", "\u{2068}\u{301}&lt;/b&gt;\u{2069}"),
        ("\u{2}<b>\u{3}<i>", "\u{2068}&lt;b&gt;&lt;i&gt;\u{2069}"),
        ("two\nlines", "\u{2068}two lines\u{2069}"),
        ("", ""),
    ])
    func `a picture's own text is drawn as the value of a field`(value: String, drawn: String) throws {
        let file = try Self.file([("a.jpg.yaml", "words: \(Self.quoted(value))\n")])
        let text = try #require(file.texts.first)
        #expect(text.markupProblem == nil)
        var fields = TextFields()
        fields.values = TextValues(
            NamingFacts(source: SourceName(BytePath("a.jpg"))), dateTaken: nil, words: PictureWords())
        let filled = text.filled(fields, on: PixelSize(9, 9), isMarkup: true)
        #expect(filled.text == "<b>\u{2068}a\u{2069}</b> \(drawn)\u{2068}a\u{2069}", "\(filled)")
        // So it is as the default of a field.
        let other = Self.sides.replacing("${words}{stem}", with: "{title|<i>${words}</i>}")
        let values = PictureValues(
            sidecars: [Sidecar(name: "a", text: "words: \(Self.quoted(value))\n", origin: .sidecar)])
        let fallback = try PipelineFile(text: other, file: "p.yaml", ofPicture: values, catalogue: .all)
        #expect(
            fallback.texts.first?.filled(fields, on: PixelSize(9, 9), isMarkup: true).text
                == "<b>\u{2068}a\u{2069}</b> <i>\(drawn)</i>")
        // A value that the user gives is the user's own, and its markup stays.
        let given = try Self.file([], given: ["words": "<i>x</i>"])
        #expect(
            given.texts.first?.filled(fields, on: PixelSize(9, 9), isMarkup: true).text.contains("<i>x</i>") == true)
    }

    @Test(arguments: [
        ("parameters: 5", "'parameters' expects a mapping from names to parameters, found '5'"),
        ("parameters: { a: { type: text } }", "the parameter 'a' needs 'default'"),
        ("parameters: { a: { type: length, default: wide } }", "'default' of 'a' expects a length"),
        ("parameters: { 1a: { type: text, default: x } }", "a parameter is named by letters, digits, '-' and '_'"),
        ("parameters: { a: { type: choice, default: x } }", "a choice needs 'choices', a list of its values"),
        ("parameters: { a: { type: text, default: x, choices: [x] } }", "only a choice has 'choices'; remove it"),
        ("parameters: { a: { type: size, default: x } }", "expected one of text, number, length"),
        (
            "parameters: { a: { type: color, default: red, from: title } }",
            "'from' expects a field of metadata, such as xmp:dc"
        ),
        (
            "parameters: { a: { type: color, default: red, from: xmp:cd:title } }",
            "no prefix of XMP is called 'cd'; known are"
        ),
        ("parameters: { a: { type: color, default: red, from: iptc:Headlin } }", "did you mean 'iptc:Headline'?"),
        (
            "parameters: { a: { type: color, default: red, from: exif:FNumber } }",
            "no field is called 'exif:FNumber'; known are"
        ),
        (
            "parameters: { a: { type: color, default: red, from: xmp:regions } }",
            "'xmp:regions' is a point; expected 'type: point'"
        ),
        (
            "parameters: { a: { type: point, default: { x: 1%, y: 1% }, from: iptc:City } }",
            "a point comes from xmp:regions, found iptc:City"
        ),
        (
            "parameters: { a: { type: number, default: 5, from: iptc:City } }\nlimits: { max-pixels: \"${a}\" }",
            "'limits' is the same for all pictures, and 'a' comes from each one's metadata"
        ),
    ])
    func `a declaration that cannot be is said`(head: String, words: String) {
        let found = Self.mistakes(head + "\nrenditions: { a: { save: { format: png } } }\n")
        #expect(found.count == 1 && found[0].contains(words), "\(found)")
    }
}
