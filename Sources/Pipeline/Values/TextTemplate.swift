// `text:`, words that are drawn on a picture, with fields in braces.

/// Words with fields: `© {artist|unknown}, {date-taken:%Y}`.
package struct TextTemplate: Hashable, Sendable {
    package enum Field: Hashable, Sendable {
        /// A field that names have too.
        case name(NameTemplate.Part)
        /// When the picture was taken, if it says so.
        case dateTaken(format: String)
        case title, caption, artist, copyright
        /// A value that the picture has for a parameter of the pipeline.
        case value(String)

        /// The picture's metadata have its value.
        var isOfMetadata: Bool {
            switch self {
            case .dateTaken, .title, .caption, .artist, .copyright: true
            case .name, .value: false
            }
        }
    }

    /// Around the value of a parameter in a text that is read as a template: control characters, which are never drawn.
    private static let (valueStart, valueEnd): (Unicode.Scalar, Unicode.Scalar) = ("\u{2}", "\u{3}")

    /// A text that is read as the value of a field.
    static func marked(_ value: String) -> String { "\(valueStart)\(unmarked(value))\(valueEnd)" }

    static func unmarked(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != valueStart && $0 != valueEnd }))
    }

    /// A template with each marked value replaced by its number between the marks, so that no sign in it counts.
    static func numbered(_ text: String) -> (text: String, values: [String]) {
        var (result, values) = (String.UnicodeScalarView(), [String]())
        var rest = text.unicodeScalars[...]
        while let mark = rest.firstIndex(of: valueStart) {
            result += rest[..<mark]
            let value = rest[mark...].dropFirst().prefix { $0 != valueEnd }
            result.append(valueStart)
            result += "\(values.count)".unicodeScalars
            result.append(valueEnd)
            values.append(String(value))
            rest = rest[value.endIndex...].dropFirst()
        }
        return (String(result + rest), values)
    }

    /// The literals and values in a part of a numbered template.
    static func pieces(_ text: Substring, _ values: [String]) -> [(words: String, isValue: Bool)] {
        var pieces: [(words: String, isValue: Bool)] = []
        var rest = text.unicodeScalars[...]
        while let mark = rest.firstIndex(of: valueStart) {
            if mark > rest.startIndex { pieces.append((String(rest[..<mark]), false)) }
            let number = rest[mark...].dropFirst().prefix { $0 != valueEnd }
            if let place = Int(String(number)), values.indices.contains(place), !values[place].isEmpty {
                pieces.append((values[place], true))
            }
            rest = rest[number.endIndex...].dropFirst()
        }
        if !rest.isEmpty { pieces.append((String(rest), false)) }
        return pieces
    }

    private static func parts(_ text: Substring, _ values: [String]) -> [Part] {
        pieces(text, values).map { words, isValue in
            isValue ? .field(.value(words), default: nil, written: "a value") : .literal(words)
        }
    }

    enum Part: Hashable, Sendable {
        case literal(String)
        /// - Parameters:
        ///   - default: literals and values of parameters.
        ///   - written: the field as the user wrote it, without its default.
        case field(Field, default: [Part]?, written: String)

        var literalWords: String? { if case .literal(let words) = self { words } else { nil } }
    }

    package let text: String
    let parts: [Part]

    /// - Throws: a sentence that says what is wrong.
    init(_ text: String) throws(NameTemplateError) {
        let (numbered, values) = Self.numbered(text)
        var (parts, literal): ([Part], String) = ([], "")
        var rest = numbered[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            literal += rest[..<brace]
            let after = rest[rest.index(after: brace)...]
            if after.first == rest[brace] {
                literal.append(rest[brace])
                rest = after.dropFirst()
                continue
            }
            guard rest[brace] == "{", let close = after.firstIndex(of: "}") else {
                throw NameTemplateError(message: "a brace in '\(text)' has no partner; a brace itself is written twice")
            }
            parts += Self.parts(literal[...], values)
            literal = ""
            parts.append(try Self.part(String(after[..<close]), values))
            rest = after[after.index(after: close)...]
        }
        parts += Self.parts((literal + rest)[...], values)
        self.text = Self.unmarked(text)
        self.parts = parts
    }

    private static func part(_ written: String, _ values: [String]) throws(NameTemplateError) -> Part {
        let pieces = written.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard pieces.count == 1 || !pieces[1].contains("{") else {
            throw NameTemplateError(
                message: "a default is plain words: there can be no field in that of '{\(pieces[0])|…}'")
        }
        let fallback = pieces.count == 2 ? parts(pieces[1][...], values) : nil
        return .field(try field(unmarked(pieces[0])), default: fallback, written: "{\(unmarked(pieces[0]))}")
    }

    private static func field(_ written: String) throws(NameTemplateError) -> Field {
        switch written {
        case "title": return .title
        case "caption": return .caption
        case "artist": return .artist
        case "copyright": return .copyright
        case "year": return .name(.date(format: "%Y"))
        default: break
        }
        let name = "date-taken"
        guard written == name || written.hasPrefix(name + ":") else {
            return .name(
                try NameTemplate.field(
                    written, besides: ["year", "date-taken:%d.%m.%Y", "title", "caption", "artist", "copyright"]))
        }
        let format = String(written.dropFirst(name.count + 1))
        try NameTemplate.checkDate(format, field: name)
        return .dateTaken(format: format)
    }

    private var fields: [Field] {
        parts.compactMap { if case .field(let field, _, _) = $0 { field } else { nil } }
    }

    /// Whether it is an address of the web, or begins with a field, which may be one.
    var mayBeAddress: Bool {
        guard case .literal(let start)? = parts.first else { return true }
        return ["https://", "http://"].contains { start.hasPrefix($0) } && !start.contains(where: \.isWhitespace)
    }

    /// How many lines are written in it: a value is never more than one.
    package var lines: Int {
        parts.reduce(1) { count, part in
            if case .literal(let words) = part { count + words.count { $0 == "\n" || $0 == "\r\n" } } else { count }
        }
    }

    /// The fields, as they are written, that have a value only where it is known for which rendition they are.
    var emptyBeforeRenditions: [String] {
        parts.compactMap {
            switch $0 {
            case .field(.name(.rendition), nil, let written), .field(.name(.ext), nil, let written),
                .field(.name(.scale), nil, let written):
                written
            default: nil
            }
        }
    }

    /// How many Unicode scalars are written in it, without fields.
    package var writtenCount: Int {
        parts.reduce(0) { count, part in
            switch part {
            case .literal(let words): count + words.unicodeScalars.count
            case .field(_, let fallback, _):
                count + (fallback ?? []).reduce(0) { $0 + ($1.literalWords?.unicodeScalars.count ?? 0) }
            }
        }
    }

    package var needsMetadata: Bool { fields.contains(where: \.isOfMetadata) }
    package var needsHash: Bool {
        fields.contains { if case .name(.hash) = $0 { true } else { false } }
    }
    package var needsRendition: Bool {
        fields.contains { if case .name(.rendition) = $0 { true } else { false } }
    }
    /// Its words depend on more than the source's bytes.
    package var needsName: Bool {
        fields.contains {
            switch $0 {
            case .name(.stem), .name(.dir), .name(.date): true
            default: false
            }
        }
    }
}

extension TextTemplate: ParameterValue {
    package static var expectation: String { "a text with fields, such as \"© {artist|unknown}\"" }
    package static var schema: JSONValue { ["type": "string", "minLength": 1] }
    // No text at all is no mistake of a template.
    package static var placeholder: TextTemplate { TextTemplate(text: "Text", parts: [.literal("Text")]) }

    private init(text: String, parts: [Part]) { (self.text, self.parts) = (text, parts) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> TextTemplate? {
        guard let text = node.template ?? node.text, !node.isNull else { return nil }
        do throws(NameTemplateError) {
            return try TextTemplate(text)
        } catch {
            log.problem(node.position, error.message)
            return nil
        }
    }

    package var written: String { text }
}

// MARK: - Values

/// The values of the fields of texts, as far as the source decides them.
package struct TextValues: Hashable, Sendable, Codable {
    let stem: String
    let folder: String
    /// `YYYY:MM:DD HH:MM:SS`.
    let date: String
    let hash: String?
    let dateTaken: String?
    let words: PictureWords

    package init(_ naming: NamingFacts, dateTaken: String?, words: PictureWords) {
        stem = BytePath(naming.source.stem).text
        folder = naming.source.path.directory.text
        (date, hash, self.dateTaken, self.words) = (naming.date, naming.hash, dateTaken, words)
    }

    package static let none = TextValues(
        NamingFacts(source: SourceName(BytePath([]))), dateTaken: nil, words: PictureWords())
}

/// The values of fields in one place of a pipeline.
package struct TextFields: Sendable {
    var values = TextValues.none
    /// Nil in shared stages.
    var rendition: (name: String, ext: String)?
    var scale = 1

    package init() {}

    init(_ values: TextValues, rendition: (name: String, ext: String)?, scale: Int) {
        (self.values, self.rendition, self.scale) = (values, rendition, scale)
    }

    /// The value of a field on a picture; nil if there is none.
    fileprivate func value(of field: TextTemplate.Field, on size: PixelSize) -> String? {
        let value: String? =
            switch field {
            case .name(.literal(let text)): text
            case .name(.stem): values.stem
            case .name(.ext): rendition?.ext
            case .name(.dir): values.folder
            case .name(.rendition): rendition?.name
            case .name(.scale): rendition == nil ? nil : scaleSuffix(scale)
            case .name(.width): String(size.width)
            case .name(.height): String(size.height)
            case .name(.hash(let digits)): values.hash.map { String($0.prefix(digits)) }
            // No text is read with this one.
            case .name(.contentHash): nil
            case .name(.date(let format)): formatted(values.date, as: format)
            case .dateTaken(let format): values.dateTaken.map { formatted($0, as: format) }
            case .title: values.words.title
            case .caption: values.words.caption
            case .artist: values.words.artist
            case .copyright: values.words.copyright
            case .value(let text): text
            }
        // At scale 1 there is nothing to say.
        if case .name(.scale) = field { return value }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

}

/// A template with everything filled in.
package struct FilledText: Hashable, Sendable {
    package let text: String
    /// The same if it is not read as markup.
    package let plain: String
    /// The fields that have neither a value nor a default.
    package let empty: [String]
    /// The parts of it that are left out, as messages say it.
    package let cuts: [String]
}

extension TextTemplate {
    /// The words for a picture. A value is never read as a field; its lines become one, and its direction does not
    /// reach out of it.
    /// - Parameter isMarkup: the template is markup, and the values are not.
    package func filled(_ fields: TextFields, on size: PixelSize, isMarkup: Bool) -> FilledText {
        var (text, plain, empty): (String, String, [String]) = ("", "", [])
        var cuts: [String] = []
        var direction = WrittenDirection(isMarkup: isMarkup)
        func add(_ part: Part) {
            switch part {
            case .literal(let words):
                text += words
                plain += words
                direction.add(words)
            case .field(let field, let fallback, let written):
                if let value = fields.value(of: field, on: size), !value.isEmpty || fallback == nil {
                    let count = value.unicodeScalars.count
                    // Metadata are cut at the longest value where they are read.
                    let isLongest = field.isOfMetadata && count >= Rights.longestValue
                    if isLongest || count > Rights.longestValue {
                        let cut = "only the first \(Rights.longestValue) characters of \(written) are drawn"
                        if !cuts.contains(cut) { cuts.append(cut) }
                    }
                    // Cut here, since a cut of the whole could be within markup.
                    let room = max(0, Self.longest - plain.unicodeScalars.count)
                    let clean = Self.isolated(value, atMost: room)
                    if room < min(count, Rights.longestValue), !cuts.contains(Self.cutText) {
                        cuts.append(Self.cutText)
                    }
                    text += isMarkup ? Self.escaped(clean) : clean
                    plain += clean
                    direction.addValue()
                } else if let fallback {
                    fallback.forEach(add)
                } else {
                    empty.append(written)
                }
            }
        }
        parts.forEach(add)
        text = direction.applied(to: text)
        plain = direction.applied(to: plain)
        // An escape has up to six characters.
        let most = isMarkup ? 6 * Self.longest : Self.longest
        if text.unicodeScalars.count > most, !cuts.contains(Self.cutText) { cuts.append(Self.cutText) }
        return FilledText(
            text: Self.lines(text, atMost: most), plain: Self.lines(plain, atMost: Self.longest), empty: empty,
            cuts: cuts)
    }

    private static let cutText = "only the first \(longest) characters of the text are drawn"

    /// The words for metadata, where values are as they are.
    /// - Parameter escape: for the values of fields.
    /// - Returns: also the fields that have neither a value nor a default, and whether a value is not all there.
    func stated(
        _ fields: TextFields, on size: PixelSize, escape: (String) -> String = { $0 }
    ) -> (text: String, empty: [String], isCut: Bool) {
        var (text, empty, isCut): (String, [String], Bool) = ("", [], false)
        func add(_ part: Part) {
            switch part {
            case .literal(let words): text += words
            case .field(let field, let fallback, let written):
                if let words = fields.value(of: field, on: size), !words.isEmpty || fallback == nil {
                    text += escape(words)
                    isCut = isCut || field.isOfMetadata && words.unicodeScalars.count >= Rights.longestValue
                } else if let fallback {
                    fallback.forEach(add)
                } else {
                    empty.append(written)
                }
            }
        }
        parts.forEach(add)
        return (text, empty, isCut || text.unicodeScalars.count > Rights.longestValue)
    }

    /// A value within marks that keep its direction to itself. Marks that would close them are left out.
    private static func isolated(_ value: String, atMost count: Int) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in value.unicodeScalars.prefix(min(count, Rights.longestValue)) {
            switch scalar.value {
            case 0x202A...0x202E, 0x2066...0x2069: break
            case 0x2028, 0x2029: kept.append(" ")
            default: kept.append(scalar.properties.generalCategory == .control ? " " : scalar)
            }
        }
        return "\u{2068}" + String(kept) + "\u{2069}"
    }

    private static func escaped(_ value: String) -> String {
        // By scalars, as Pango reads them: a mark before or after a "<" makes one character of both.
        value.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // Within an attribute they would end it.
            case "\"": result += "&quot;"
            case "'": result += "&apos;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Line feeds stay, and all other control characters become spaces. What is beyond any picture is cut.
    private static func lines(_ text: String, atMost count: Int) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(count) {
            kept.append(scalar != "\n" && scalar.properties.generalCategory == .control ? " " : scalar)
        }
        while kept.last == "\n" { kept.removeLast() }
        return String(kept)
    }

    /// The most Unicode scalars that are drawn.
    package static let longest = 20_000
}
