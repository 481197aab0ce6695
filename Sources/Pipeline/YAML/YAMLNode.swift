// A YAML document as this project reads it: scalars, lists and mappings with their positions. Knows nothing of a YAML
// library.

/// One node of a YAML document.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        /// The text, and whether it was in quotes (then it is never a number or a boolean).
        case scalar(String, quoted: Bool)
        case list([YAMLNode])
        case mapping([Entry])
    }

    package struct Entry: Sendable {
        package let key: String
        package let keyPosition: Position
        package let value: YAMLNode

        /// The same key with another value.
        func with(_ value: YAMLNode) -> Entry { Entry(key: key, keyPosition: keyPosition, value: value) }
    }

    package let content: Content
    package let position: Position
    /// The text for who reads fields in braces, if parameters have put braces into it that are none.
    var template: String?

    /// The text unquoted, at a place that it is not written at.
    init(text: String, position: Position) { self.init(content: .scalar(text, quoted: false), position: position) }

    init(content: Content, position: Position) {
        self.content = content
        self.position = position
    }

    /// A mapping whose key has another text for its value.
    func replacing(_ key: String, with text: String) -> YAMLNode {
        guard case .mapping(let entries) = content else { return self }
        let changed = entries.map { $0.key == key ? $0.with(YAMLNode(text: text, position: $0.value.position)) : $0 }
        return YAMLNode(content: .mapping(changed), position: position)
    }

    /// A mapping without one of its keys, and that key's entry.
    func taking(_ key: String) -> (rest: YAMLNode, taken: Entry?) {
        guard case .mapping(let entries) = content, let taken = entries.first(where: { $0.key == key }) else {
            return (self, nil)
        }
        return (YAMLNode(content: .mapping(entries.filter { $0.key != key }), position: position), taken)
    }

    /// Whether it is a mapping that has this key.
    func hasKey(_ key: String) -> Bool {
        guard case .mapping(let entries) = content else { return false }
        return entries.contains { $0.key == key }
    }

    /// A scalar's text; nil for a list or a mapping.
    package var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// A scalar's text; nil if it was in quotes.
    package var plainText: String? {
        if case .scalar(let text, quoted: false) = content { text } else { nil }
    }

    /// The correction, for a message, if `key:value` without a space was read as a text.
    package var missingSpace: String {
        guard let text = plainText, let colon = text.firstIndex(of: ":"), colon != text.startIndex,
            text.index(after: colon) != text.endIndex, text.count <= Self.longestShown,
            text[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" })
        else { return "" }
        return "; write a space after the colon: \(text[..<colon]): \(text[text.index(after: colon)...])"
    }

    /// Nothing was written: `key:` alone, `~` or `null`.
    package var isNull: Bool {
        ["", "~", "null"].contains(plainText ?? "something")
    }

    /// Characters of a value that a message shows.
    private static let longestShown = 80

    /// The node as it was found, for a message: `'abc'`, `a list`, `a mapping`, `nothing`.
    package var found: String {
        switch content {
        case .scalar(_, quoted: false) where isNull: "nothing"
        case .scalar(let text, quoted: true) where finiteNumber(text) != nil: "'\(text)' in quotes"
        case .scalar(let text, _) where text.count > Self.longestShown:
            "'\(BytePath(String(text.prefix(Self.longestShown - 1))).printable)…'"
        case .scalar(let text, _): "'\(BytePath(text).printable)'"
        case .list(let items): items.isEmpty ? "an empty list" : "a list"
        case .mapping(let entries): entries.isEmpty ? "an empty mapping" : "a mapping"
        }
    }
}
