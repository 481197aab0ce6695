// Patterns of file names, as `ignore` of an inbox takes them.

/// A pattern for one name, without folders: `*` stands for any bytes, `?` for one. With `!` before it, a name is taken
/// after all.
package struct NamePattern: Hashable, Sendable {
    package let text: String
    /// The pattern says that a name is a source, whatever the patterns before it and the usual list say.
    package let isException: Bool
    private let bytes: [UInt8]

    /// - Returns: nil for an empty pattern and for one with a slash or NUL, which no name has.
    package init?(_ text: String) {
        self.text = text
        isException = text.hasPrefix("!")
        bytes = Array(isException ? text.utf8.dropFirst() : text.utf8[...])
        guard !bytes.isEmpty, !bytes.contains(0), !bytes.contains(UInt8(ascii: "/")) else { return nil }
    }

    /// A pattern in which `!` is nothing special.
    init?(literally bytes: [UInt8]) {
        guard !bytes.isEmpty, !bytes.contains(0), !bytes.contains(UInt8(ascii: "/")) else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
        isException = false
        self.bytes = bytes
    }

    /// Upper and lower case are the same for ASCII. Takes time in proportion to name × pattern at most.
    package func matches(_ name: [UInt8]) -> Bool {
        var (place, index) = (0, 0)
        // Where to go on when what follows the last star does not fit: the star may stand for one byte more.
        var star: (place: Int, index: Int)?
        while index < name.count {
            if place < bytes.count, bytes[place] == UInt8(ascii: "*") {
                star = (place, index)
                place += 1
            } else if place < bytes.count,
                bytes[place] == UInt8(ascii: "?") || lowered(bytes[place]) == lowered(name[index])
            {
                place += 1
                index += 1
            } else if let last = star {
                star = (last.place, last.index + 1)
                place = last.place + 1
                index = last.index + 1
            } else {
                return false
            }
        }
        return bytes[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

private func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
}

/// `ignore: ["*.xmp", "!*.tmp"]`.
package struct NamePatternList: ParameterValue {
    package let patterns: [NamePattern]

    package init(_ patterns: [NamePattern]) { self.patterns = patterns }

    package static var expectation: String { "a list of name patterns such as [\"*.xmp\", \"!*.tmp\"]" }
    package static var schema: JSONValue {
        ["type": "array", "items": ["type": "string", "pattern": "^!?[^/!][^/]*$"]]
    }
    package static var placeholder: NamePatternList { NamePatternList([]) }
    package var written: String { "[" + patterns.map(\.text).joined(separator: ", ") + "]" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> NamePatternList? {
        guard case .list(let items) = node.content else { return nil }
        return NamePatternList(items.compactMap { pattern($0, &log) })
    }

    private static func pattern(_ node: YAMLNode, _ log: inout ReadingLog) -> NamePattern? {
        if let text = node.text, let pattern = NamePattern(text) { return pattern }
        log.problem(node.position, "expected a pattern for one name, without '/', found \(node.found)")
        return nil
    }
}
