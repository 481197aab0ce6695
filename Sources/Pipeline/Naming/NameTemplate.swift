// `file:`, the name of a rendition with fields in braces.

/// A rendition's file name with fields: `{stem}-{rendition}{scale}.{ext}`.
package struct NameTemplate: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        case literal(String)
        case stem, ext, dir, rendition, scale, width, height
        /// The first digits of the source's SHA-256.
        case hash(digits: Int)
        /// The first digits of the rendition's own SHA-256, which is known when it is rendered.
        case contentHash(digits: Int)
        /// When the picture was taken, else the file's modification time, in UTC; with strftime's `%Y %m %d %H %M %S`.
        case date(format: String)
    }

    package let text: String
    package let parts: [Part]

    package static let forOne = NameTemplate(text: "{stem}{scale}.{ext}", parts: [.stem, .scale, .literal("."), .ext])
    package static let forSeveral = NameTemplate(
        text: "{stem}-{rendition}{scale}.{ext}", parts: [.stem, .literal("-"), .rendition, .scale, .literal("."), .ext])

    /// The template of a rendition without `file`.
    /// - Parameters:
    ///   - single: the file has one rendition.
    ///   - widths: the rendition has `widths`.
    static func usual(single: Bool, widths: Bool) -> NameTemplate {
        guard widths else { return single ? .forOne : .forSeveral }
        let rendition = single ? "" : "-{rendition}"
        return NameTemplate(
            text: "{stem}\(rendition)-{width}.{ext}",
            parts: [.stem] + (single ? [] : [.literal("-"), .rendition]) + [.literal("-"), .width, .literal("."), .ext])
    }

    private init(text: String, parts: [Part]) {
        self.text = text
        self.parts = parts
    }

    /// Two equal braces stand for one. A value that a picture has for a parameter is a part of one name: it makes no
    /// folders.
    /// - Throws: a sentence that says what is wrong.
    init(_ template: String) throws(NameTemplateError) {
        let (numbered, values) = TextTemplate.numbered(template)
        let names = values.map { $0.replacing("/", with: "-") }
        func words(_ text: Substring) -> String { TextTemplate.pieces(text, names).map(\.words).joined() }
        let text = words(numbered[...])
        var (parts, literal): ([Part], String) = ([], "")
        var rest = numbered[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            literal += rest[..<open]
            let after = rest[rest.index(after: open)...]
            if after.first == rest[open] {
                literal.append(rest[open])
                rest = after.dropFirst()
                continue
            }
            guard rest[open] == "{", let close = after.firstIndex(of: "}") else {
                throw NameTemplateError(message: "a brace in '\(text)' has no partner; a brace itself is written twice")
            }
            if !literal.isEmpty { parts.append(.literal(words(literal[...]))) }
            literal = ""
            parts.append(try Self.field(words(after[..<close])))
            rest = after[after.index(after: close)...]
        }
        literal += rest
        if !literal.isEmpty { parts.append(.literal(words(literal[...]))) }
        self.init(text: text, parts: parts)
        try checkPath()
    }

    /// - Parameter others: fields that are known to the caller, for the list of all.
    static func field(_ field: String, besides others: [String] = []) throws(NameTemplateError) -> Part {
        let pieces = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let argument = pieces.count == 2 ? pieces[1] : nil
        switch (pieces[0], argument) {
        case ("stem", nil): return .stem
        case ("ext", nil): return .ext
        case ("dir", nil): return .dir
        case ("rendition", nil): return .rendition
        case ("scale", nil): return .scale
        case ("width", nil): return .width
        case ("height", nil): return .height
        case ("hash", let digits), ("content-hash", let digits):
            guard let count = Int(digits ?? "16"), (4...64).contains(count) else {
                throw NameTemplateError(message: "{\(pieces[0]):N} takes 4 to 64 digits, found '\(digits ?? "")'")
            }
            if pieces[0] == "hash" { return .hash(digits: count) }
            guard others.isEmpty else {
                throw NameTemplateError(
                    message: "{content-hash} is known when the picture is rendered; use it in 'file' alone")
            }
            return .contentHash(digits: count)
        case ("date", let format?):
            try checkDate(format, field: "date")
            return .date(format: format)
        case ("date", nil): throw NameTemplateError(message: "{date} needs a format, such as {date:%Y/%m}")
        default:
            let known =
                ["stem", "ext", "dir", "rendition", "scale", "width", "height", "hash:8", "date:%Y/%m"]
                + (others.isEmpty ? ["content-hash:8"] : others)
            let hint = suggestion(for: pieces[0], among: known.map { String($0.prefix { $0 != ":" }) })
            let list = known.map { "{\($0)}" }.joined(separator: " ")
            throw NameTemplateError(
                message: "unknown field '{\(field)}'\(hint.isEmpty ? "; the fields are \(list)" : hint)")
        }
    }

    static func checkDate(_ format: String, field: String) throws(NameTemplateError) {
        guard format.contains("%") else {
            throw NameTemplateError(
                message: "{\(field):…} needs fields of a date, such as {\(field):%Y-%m-%d}, found '\(format)'")
        }
        var rest = format[...]
        while let percent = rest.firstIndex(of: "%") {
            let letter = rest[rest.index(after: percent)...].first
            guard let letter, "YmdHMS".contains(letter) else {
                throw NameTemplateError(
                    message: "{\(field):…} knows %Y %m %d %H %M %S, found '%\(letter.map(String.init) ?? "")'")
            }
            rest = rest[rest.index(percent, offsetBy: 2)...]
        }
    }

    private func checkPath() throws(NameTemplateError) {
        func fail(_ reason: String) -> NameTemplateError { NameTemplateError(message: "'\(text)' \(reason)") }
        guard !text.isEmpty, !text.hasSuffix("/") else { throw fail("is not the name of a file") }
        guard !text.hasPrefix("/") else { throw fail("must be relative: it is a path inside the output folder") }
        guard !text.hasPrefix("~/") else { throw fail("is a path inside the output folder, where ~ means nothing") }
        guard !text.split(separator: "/").contains("..") else {
            throw fail("must stay inside the output folder: remove '..'")
        }
        guard !text.split(separator: "/").contains(".") else { throw fail("has a '.' that leads nowhere; remove it") }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw fail("has a control character")
        }
        guard !text.hasPrefix(".imagemill") else { throw fail("is kept for Imagemill's own files") }
    }

    package var needsHash: Bool { parts.contains { if case .hash = $0 { true } else { false } } }
    package var needsContents: Bool { parts.contains { if case .contentHash = $0 { true } else { false } } }

    /// The formats that an extension without a field stands for, as in `{stem}.jpg`; none if it is no picture's.
    var namedFormats: [SourceFormat] {
        guard case .literal(let end)? = parts.last, let dot = end.lastIndex(of: ".") else { return [] }
        let name = end[end.index(after: dot)...].lowercased()
        return SourceFormat.allCases.filter { $0.fileExtensions.contains(name) }
    }

    /// The names that it gives end as files of some kind do.
    package var hasExtension: Bool {
        if parts.contains(.ext) { return true }
        guard case .literal(let end)? = parts.last else { return false }
        return end.contains(".")
    }

    package var namesSize: Bool { parts.contains(.width) || parts.contains(.height) }

    /// The template with everything filled in that does not depend on the source; equal for two renditions that write
    /// one name.
    func fixed(rendition: String, scale: Int, ext: String) -> [Part] {
        var result: [Part] = []
        for part in parts {
            let literal: String? =
                switch part {
                case .literal(let text): text
                case .ext: ext
                case .rendition: rendition
                case .scale: scaleSuffix(scale)
                case .stem, .dir, .width, .height, .hash, .contentHash, .date: nil
                }
            guard let literal else {
                result.append(part)
                continue
            }
            if case .literal(let before)? = result.last {
                result[result.count - 1] = .literal(before + literal)
            } else if !literal.isEmpty {
                result.append(.literal(literal))
            }
        }
        return result
    }
}

struct NameTemplateError: Error {
    let message: String
}

/// `{scale}`: nothing at 1, else `@2x`.
func scaleSuffix(_ scale: Int) -> String { scale == 1 ? "" : "@\(scale)x" }

extension NameTemplate: ParameterValue {
    package static var expectation: String { "a file name with fields, such as \"{stem}-thumb{scale}.{ext}\"" }
    package static var schema: JSONValue { ["type": "string", "minLength": 1] }
    package static var placeholder: NameTemplate { .forOne }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> NameTemplate? {
        guard let text = node.template ?? node.text else { return nil }
        do throws(NameTemplateError) {
            return try NameTemplate(text)
        } catch {
            log.problem(node.position, error.message)
            return nil
        }
    }

    package var written: String { text }
}
