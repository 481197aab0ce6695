// Whether a text is markup, as far as that can be said without Pango, which alone knows what attributes mean.

/// The search for a mistake in the tags and the entities of a text that is to be Pango's markup.
struct TextMarkup {
    /// Tags that Pango knows. All but `span` have no attributes.
    private static let tags = ["b", "big", "i", "markup", "s", "span", "sub", "sup", "small", "tt", "u"]
    private static let entities = ["amp", "lt", "gt", "quot", "apos"]

    private var rest: Substring.UnicodeScalarView
    private var open: [String] = []

    /// - Returns: nil if the text is markup, else a sentence that says what is wrong.
    static func problem(in text: String) -> String? {
        var reading = TextMarkup(rest: Substring(text).unicodeScalars)
        do throws(Problem) {
            try reading.read()
            return nil
        } catch {
            return error.message
        }
    }

    private struct Problem: Error {
        let message: String
    }

    private init(rest: Substring.UnicodeScalarView) { self.rest = rest }

    private mutating func read() throws(Problem) {
        while let next = rest.first {
            switch next {
            case "<": try readTag()
            case "&": try readEntity()
            default: rest.removeFirst()
            }
        }
        if let tag = open.last { throw Problem(message: "<\(tag)> is never closed; add </\(tag)>") }
    }

    private mutating func readTag() throws(Problem) {
        let start = rest
        rest.removeFirst()
        if rest.starts(with: "!--".unicodeScalars) { return try skip(to: "-->", from: start) }
        if rest.starts(with: "![CDATA[".unicodeScalars) { return try skip(to: "]]>", from: start) }
        if rest.first == "?" { return try skip(to: "?>", from: start) }
        let isEnd = rest.first == "/"
        if isEnd { rest.removeFirst() }
        let name = String(readName())
        guard !name.isEmpty else {
            throw Problem(message: "'\(Self.shown(start))' is no tag; write &lt; for the sign itself")
        }
        guard Self.tags.contains(name) else {
            throw Problem(
                message:
                    "there is no tag <\(isEnd ? "/" : "")\(name)>\(suggestion(for: name, among: Self.tags)); the tags are \(Self.tags.joined(separator: ", "))"
            )
        }
        if isEnd { return try readEnd(of: name, from: start) }
        let hasAttributes = try readAttributes(from: start)
        guard !hasAttributes || name == "span" else {
            throw Problem(message: "<\(name)> has no attributes, found '\(Self.shown(start))'; write <span …>")
        }
        // Pango knows none that has nothing in it, but takes it.
        if rest.first == "/" { rest.removeFirst() } else { open.append(name) }
        try readBracket(from: start)
    }

    private mutating func readEnd(of name: String, from start: Substring.UnicodeScalarView) throws(Problem) {
        skipSpace()
        try readBracket(from: start)
        guard let last = open.popLast() else { throw Problem(message: "</\(name)> closes nothing") }
        guard last == name else {
            throw Problem(message: "</\(name)> closes <\(last)>; tags are closed in the order </\(last)></\(name)>")
        }
    }

    /// - Returns: whether there is one.
    private mutating func readAttributes(from start: Substring.UnicodeScalarView) throws(Problem) -> Bool {
        var found = false
        skipSpace()
        while let next = rest.first, next != ">", next != "/" {
            let name = readName()
            skipSpace()
            guard !name.isEmpty, rest.popFirst() == "=" else {
                throw Problem(message: "an attribute is written as size=\"larger\", found '\(Self.shown(start))'")
            }
            skipSpace()
            guard let quote = rest.popFirst(), quote == "\"" || quote == "'", let end = rest.firstIndex(of: quote)
            else {
                throw Problem(message: "the value of \(String(name)) needs quotes in '\(Self.shown(start))'")
            }
            var value = TextMarkup(rest: rest[..<end])
            while let scalar = value.rest.first {
                if scalar == "&" { try value.readEntity() } else { value.rest.removeFirst() }
            }
            rest = rest[rest.index(after: end)...]
            found = true
            skipSpace()
        }
        return found
    }

    private mutating func readBracket(from start: Substring.UnicodeScalarView) throws(Problem) {
        guard rest.popFirst() == ">" else {
            throw Problem(message: "the tag '\(Self.shown(start))' has no >; write &lt; for the sign itself")
        }
    }

    private mutating func readEntity() throws(Problem) {
        let start = rest
        rest.removeFirst()
        let name = rest.prefix { $0 != ";" && $0 != "&" && $0 != "<" && !$0.properties.isWhitespace }
        rest = rest[name.endIndex...]
        guard rest.popFirst() == ";", Self.isEntity(String(name)) else {
            throw Problem(message: "'\(Self.shown(start))' is no character; write &amp; for the sign itself")
        }
    }

    private static func isEntity(_ name: String) -> Bool {
        guard name.hasPrefix("#") else { return entities.contains(name) }
        let number = name.dropFirst()
        let code = number.first == "x" ? UInt32(number.dropFirst(), radix: 16) : UInt32(number)
        return code.flatMap { UnicodeScalar($0) }.map { $0.value > 0 } ?? false
    }

    private mutating func readName() -> Substring.UnicodeScalarView {
        let name = rest.prefix {
            !$0.properties.isWhitespace && !["<", ">", "/", "=", "&", "\"", "'"].contains($0)
        }
        rest = rest[name.endIndex...]
        return name
    }

    private mutating func skipSpace() { rest = rest.drop { $0.properties.isWhitespace } }

    private mutating func skip(to end: String, from start: Substring.UnicodeScalarView) throws(Problem) {
        while !rest.isEmpty {
            if rest.starts(with: end.unicodeScalars) {
                rest = rest.dropFirst(end.unicodeScalars.count)
                return
            }
            rest.removeFirst()
        }
        throw Problem(message: "'\(Self.shown(start))' has no \(end)")
    }

    /// The beginning of what is wrong.
    private static func shown(_ text: Substring.UnicodeScalarView) -> String {
        let tag = text.prefix { $0 != ">" && $0 != "\n" }
        let whole = tag.endIndex < text.endIndex && text[tag.endIndex] == ">" ? text[...tag.endIndex] : tag
        return whole.count > 30 ? String(String.UnicodeScalarView(whole.prefix(29))) + "…" : String(whole)
    }
}

extension TextTemplate {
    /// The mistake in the words as markup; nil if there is none. The values of fields are no markup, their defaults
    /// are.
    package var markupProblem: String? {
        func written(_ hasValues: Bool) -> String {
            parts.reduce(into: "") { text, part in
                switch part {
                case .literal(let words): text += words
                case .field(_, let fallback, _):
                    text += hasValues ? "x" : fallback?.map { $0.literalWords ?? "x" }.joined() ?? "x"
                }
            }
        }
        return TextMarkup.problem(in: written(true)) ?? TextMarkup.problem(in: written(false))
    }
}
