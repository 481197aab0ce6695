// The slips that most often make a YAML parser stumble, and what to write instead.

/// A usual slip, found in the text near the place where the parser gave up.
struct YAMLSlip {
    let position: Position
    let remedy: String

    /// - Parameters:
    ///   - place: where the parser gave up; the slip is in that line, or in the one before it.
    ///   - problem: what the parser says.
    init?(in text: String, near place: Position, problem: String) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { Array($0) }
        func line(_ number: Int) -> [Character] { lines.indices.contains(number - 1) ? lines[number - 1] : [] }
        let here = line(place.line)
        if here.contains("\t") {
            self.init(position: place, remedy: "indent with spaces, not with tabs")
            return
        }
        if let column = Self.unquotedParameter(in: here) {
            self.init(
                position: Position(line: place.line, column: column),
                remedy: "a parameter in braces needs quotes: \"\(Self.text(of: here, from: column))\"")
            return
        }
        // An unquoted # begins a comment, so that the parser notices only in a later line.
        for number in [place.line, place.line - 1] {
            guard let column = Self.value(in: line(number), beginningWith: ["#"]) else { continue }
            self.init(
                position: Position(line: number, column: column), remedy: "a color with # needs quotes: '#ff8800'")
            return
        }
        // The innermost: mappings in braces go on after one, too.
        let braced = Self.values(in: here, beginningWith: ["{"]).last { Self.goesOnAfterBrace(here, from: $0) }
        if let column = braced {
            let value = Self.text(of: here, from: column)
            self.init(
                position: Position(line: place.line, column: column),
                remedy: "a value that begins with { needs quotes: \"\(value)\"")
        } else if let column = Self.value(in: here, beginningWith: [">", "<", "%", "@", "`", "!", "&", "*"]) {
            let value = Self.text(of: here, from: column)
            self.init(
                position: Position(line: place.line, column: column), remedy: "put the value in quotes: \"\(value)\"")
        } else if problem.contains("unexpected end of stream"), let quote = Self.openQuote(lines) {
            self.init(position: quote, remedy: "the quote that begins here is not closed")
        } else if problem.hasSuffix("expected ',' or '}'") || problem.hasSuffix("expected ',' or ']'") {
            let (opening, closing) = problem.hasSuffix("'}'") ? ("{", "}") : ("[", "]")
            self.init(
                position: place,
                remedy:
                    "'\(opening)' before this place needs a '\(closing)', or there is a comma missing between two values"
            )
        } else if problem.hasSuffix("expected key") || problem.contains("mapping values are not allowed") {
            self.init(
                position: place, remedy: "lines that belong together must be indented by the same number of spaces")
        } else {
            return nil
        }
    }

    private init(position: Position, remedy: String) {
        self.position = position
        self.remedy = remedy
    }

    /// The columns of values, after `: ` or `- `, that begin with one of these characters.
    private static func values(in line: [Character], beginningWith first: Set<Character>) -> [Int] {
        line.indices.dropFirst(2).filter {
            line[$0 - 1] == " " && [":", "-"].contains(line[$0 - 2]) && first.contains(line[$0])
        }.map { $0 + 1 }
    }

    private static func value(in line: [Character], beginningWith first: Set<Character>) -> Int? {
        values(in: line, beginningWith: first).first
    }

    /// The column of the value that has the first `${` outside of quotes.
    private static func unquotedParameter(in line: [Character]) -> Int? {
        var quote: Character?
        var start = 0
        for (index, character) in line.enumerated() {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == "$", line.indices.contains(index + 1), line[index + 1] == "{" {
                return start + 1
            } else if [" ", "[", "{", ","].contains(character) {
                start = index + 1
            }
        }
        return nil
    }

    /// The last quote that begins a value and has no partner in its line.
    private static func openQuote(_ lines: [[Character]]) -> Position? {
        for (index, line) in lines.enumerated().reversed() {
            guard let column = value(in: line, beginningWith: ["\"", "'"]) else { continue }
            if line[column...].contains(line[column - 1]) { continue }
            return Position(line: index + 1, column: column)
        }
        return nil
    }

    /// `{stem}.{ext}`: a brace that closes is followed by more.
    private static func goesOnAfterBrace(_ line: [Character], from column: Int) -> Bool {
        guard let close = line[(column - 1)...].firstIndex(of: "}") else { return false }
        return line[(close + 1)...].contains { $0 != " " && $0 != "}" && $0 != "," }
    }

    /// The value up to the end of the line, or of the braces around it.
    private static func text(of line: [Character], from column: Int) -> String {
        let rest = line[(column - 1)...]
        let isInBraces = line[..<(column - 1)].contains("{")
        var depth = 0
        let end = rest.firstIndex { character in
            depth += character == "{" ? 1 : character == "}" ? -1 : 0
            return isInBraces && (depth < 0 || depth == 0 && character == ",")
        }
        return String(String(rest[..<(end ?? rest.endIndex)]).reversed().drop { $0 == " " }.reversed())
    }
}
