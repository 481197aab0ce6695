// Patterns of paths, as `--include` and `--exclude` take them.

/// A pattern for a path below a folder: `*` and `?` stay within a name, `**` stands for any number of folders,
/// `{jpg,png}` for one of several texts.
///
/// Without a slash it is a pattern for the name of a file or folder at any depth; with one, it begins at the folder. A
/// slash at its end means folders only. Upper and lower case are the same for ASCII.
package struct PathPattern: Hashable, Sendable {
    package let text: String
    private let choices: [[Part]]
    private let isAnchored: Bool
    private let needsFolder: Bool

    private enum Part: Hashable {
        case name(NamePattern)
        case anyFolders
    }

    /// Braces multiply; more than this is a mistake.
    private static let mostChoices = 1000

    /// - Returns: nil for an empty pattern, and for one with braces that do not match or with a NUL.
    package init?(_ text: String) {
        self.text = text
        needsFolder = text.hasSuffix("/")
        isAnchored = text.dropLast(needsFolder ? 1 : 0).contains("/")
        guard let expanded = Self.expanded(Array(text.utf8)[...]) else { return nil }
        var choices: [[Part]] = []
        for choice in expanded {
            guard let parts = Self.parts(choice) else { return nil }
            choices.append(parts)
        }
        self.choices = choices
    }

    private static func parts(_ pattern: [UInt8]) -> [Part]? {
        var parts: [Part] = []
        for component in pattern.split(separator: UInt8(ascii: "/")) {
            if component.elementsEqual("**".utf8) {
                parts.append(.anyFolders)
            } else if let name = NamePattern(literally: Array(component)) {
                parts.append(.name(name))
            } else {
                return nil
            }
        }
        return parts.isEmpty ? nil : parts
    }

    /// `{a,b}c` as `ac` and `bc`.
    private static func expanded(_ pattern: ArraySlice<UInt8>) -> [[UInt8]]? {
        guard let open = pattern.firstIndex(of: UInt8(ascii: "{")) else {
            return pattern.contains(UInt8(ascii: "}")) ? nil : [Array(pattern)]
        }
        guard let close = pattern[open...].firstIndex(of: UInt8(ascii: "}")) else { return nil }
        let inner = pattern[(open + 1)..<close]
        guard !pattern[..<open].contains(UInt8(ascii: "}")), !inner.contains(UInt8(ascii: "{")) else { return nil }
        guard let rests = expanded(pattern[(close + 1)...]) else { return nil }
        let texts = inner.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard texts.count * rests.count <= mostChoices else { return nil }
        return texts.flatMap { text in rests.map { Array(pattern[..<open]) + text + $0 } }
    }

    /// A path that it matches.
    var example: String {
        let parts = choices.first ?? []
        return parts.map { part in
            switch part {
            case .name(let name): name.text.replacing("*", with: "x").replacing("?", with: "x")
            case .anyFolders: "x"
            }
        }.joined(separator: "/")
    }

    /// Whether the pattern means this file or folder itself, whatever it says of the folders above it.
    /// - Parameter path: the names from the folder down.
    package func matches(_ path: ArraySlice<[UInt8]>, isFolder: Bool) -> Bool {
        guard !path.isEmpty, isFolder || !needsFolder else { return false }
        return choices.contains { parts in Self.matches(isAnchored ? path : path.suffix(1), parts[...]) }
    }

    private static func matches(_ path: ArraySlice<[UInt8]>, _ parts: ArraySlice<Part>) -> Bool {
        switch parts.first {
        case nil: path.isEmpty
        case .name(let name): path.first.map(name.matches) == true && matches(path.dropFirst(), parts.dropFirst())
        case .anyFolders where parts.count == 1: !path.isEmpty
        case .anyFolders: path.indices.contains { matches(path[$0...], parts.dropFirst()) }
        }
    }
}
