// The mistakes in a file that the user wrote: what is wrong, where, and what to do about it.

/// A place in a text; line and column count from 1, columns in Unicode scalars.
package struct Position: Equatable, Hashable, Comparable, Sendable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: Position, right: Position) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One mistake in a file that the user wrote.
package struct Diagnostic: Equatable, Sendable {
    package let position: Position
    package let message: String

    package init(_ position: Position, _ message: String) {
        self.position = position
        self.message = message
    }
}

/// Every mistake of one file, in the order of the text.
package struct Diagnostics: Error, Equatable, CustomStringConvertible {
    /// The file as the user named it.
    package let file: String
    package let items: [Diagnostic]
    private let lines: [Substring]

    package init(file: String, text: String, items: [Diagnostic]) {
        // "\r\n" is one Character, so that splitting by Character would miss it.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        self.init(file: file, lines: lines, items: items)
    }

    /// These and others of the same file, each once.
    package func adding(_ others: [Diagnostic]) -> Diagnostics {
        Diagnostics(file: file, lines: lines, items: items + others.filter { !items.contains($0) })
    }

    private init(file: String, lines: [Substring], items: [Diagnostic]) {
        (self.file, self.lines) = (file, lines)
        self.items = items.sorted { $0.position < $1.position }
    }

    /// `file:line:column: error: message`, the line itself, and a caret under the place; once for each mistake.
    package var description: String {
        items.map(rendered).joined(separator: "\n")
    }

    /// The text below the message of the first mistake, and the other mistakes; nil for one that has no place.
    package var excerpts: String? {
        let first = items.first.flatMap(excerpt)
        let texts = [first].compactMap(\.self) + items.dropFirst().map(rendered)
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }

    private static let (shownBefore, mostShown) = (120, 200)

    private func rendered(_ item: Diagnostic) -> String {
        let head = "\(file):\(item.position.line):\(item.position.column): error: \(item.message)"
        return head + (excerpt(item).map { "\n\($0)" } ?? "")
    }

    /// The line, and a caret under the place.
    private func excerpt(_ item: Diagnostic) -> String? {
        guard lines.indices.contains(item.position.line - 1) else { return nil }
        let line = lines[item.position.line - 1].unicodeScalars
        guard !line.isEmpty else { return nil }
        // A long line is cut around the place.
        let start = max(0, item.position.column - Self.shownBefore)
        let shown = line.dropFirst(start).prefix(Self.mostShown)
        let (head, tail) = (start > 0 ? "…" : "", shown.endIndex < line.endIndex ? "…" : "")
        // A tab stays a tab, so that the caret is below the place on a terminal.
        let indent = shown.prefix(item.position.column - 1 - start).map { $0 == "\t" ? "\t" : " " }.joined()
        // A stranger's file must not write on a terminal.
        let clean = String(
            String.UnicodeScalarView(
                shown.map {
                    let isControl = $0 != "\t" && $0.properties.generalCategory == .control
                    return isControl || $0.properties.generalCategory == .format ? "\u{FFFD}" : $0
                }))
        return "  \(head)\(clean)\(tail)\n  \(head.isEmpty ? "" : " ")\(indent)^"
    }
}
