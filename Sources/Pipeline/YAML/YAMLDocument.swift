// The one file that knows the YAML library: text in, nodes with positions out, or diagnostics.
import Yams

/// Reads a YAML text of one document.
///
/// Anchors, aliases, merge keys and repeated keys are refused: the file says what it says, once.
/// - Parameter need: the key that it must have, for the message about an empty file.
/// - Returns: the root, or nil if the text cannot be read as far as that; and every mistake found.
func readYAML(_ text: String, need: String = "renditions") -> (root: YAMLNode?, problems: [Diagnostic]) {
    var reader = YAMLReader()
    do {
        // The meaning of a scalar is decided by whoever asks for it; the usual resolver takes a millisecond to make its
        // regular expressions.
        if let alias = AliasSearch.first(in: text) { return (nil, [alias]) }
        let parser = try Parser(yaml: text, resolver: .basic)
        guard let root = try parser.singleRoot() else {
            return (
                nil, [Diagnostic(Position(line: 1, column: 1), "the file is empty; expected a mapping with '\(need)'")]
            )
        }
        // Nodes hold their anchors weakly; the parser owns them.
        return withExtendedLifetime(parser) { (reader.node(root), reader.problems) }
    } catch let error as YamlError {
        return (nil, [diagnostic(for: error, in: text)])
    } catch {
        return (nil, [Diagnostic(Position(line: 1, column: 1), "not YAML: \(error)")])
    }
}

/// Finds aliases before a text is composed: a few of them, within each other, would take the composer for ever.
private enum AliasSearch {
    /// The anchor of the first alias that has one before it. Words that only look like a pair of these, within a text, are
    /// taken for one.
    static func first(in text: String) -> Diagnostic? {
        guard text.utf8.contains(UInt8(ascii: "&")), text.utf8.contains(UInt8(ascii: "*")) else { return nil }
        var anchors: [Substring: Position] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var before: Character = " "
            for place in line.indices {
                defer { before = line[place] }
                let sign = line[place]
                guard sign == "&" || sign == "*", before.isWhitespace || "[{,:-?".contains(before) else { continue }
                let name = line[line.index(after: place)...].prefix { !$0.isWhitespace && !"[]{},".contains($0) }
                if name.isEmpty { continue }
                if sign == "&" {
                    anchors[name] = Position(line: index + 1, column: line[..<place].unicodeScalars.count + 1)
                } else if let anchor = anchors[name] {
                    return Diagnostic(
                        anchor,
                        "anchors and aliases are not supported (found '\(name.prefix(80))'); write the value out where it is needed"
                    )
                }
            }
        }
        return nil
    }
}

private struct YAMLReader {
    var problems: [Diagnostic] = []
    /// More of them help nobody.
    private static let mostProblems = 100

    private var nodes = 0
    /// Aliases can make a small text stand for any number of nodes.
    private static let mostNodes = 20_000

    mutating func node(_ node: Node) -> YAMLNode? {
        nodes += 1
        let position = node.mark.map { Position(line: $0.line, column: $0.column) } ?? Position(line: 1, column: 1)
        guard nodes <= Self.mostNodes else {
            if nodes == Self.mostNodes + 1 { refuse(position, "the file is too long to be a pipeline") }
            return nil
        }
        refuseAnchor(of: node, position)
        switch node {
        case .scalar(let scalar):
            let quoted = scalar.style == .singleQuoted || scalar.style == .doubleQuoted
            return YAMLNode(content: .scalar(scalar.string, quoted: quoted), position: position)
        case .sequence(let sequence):
            return YAMLNode(content: .list(sequence.compactMap { self.node($0) }), position: position)
        case .mapping(let mapping):
            return YAMLNode(content: .mapping(entries(mapping)), position: position)
        case .alias:
            refuse(position, "aliases are not supported; write the value out where it is needed")
            return nil
        }
    }

    private mutating func entries(_ mapping: Node.Mapping) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        for (key, value) in mapping {
            let position = key.mark.map { Position(line: $0.line, column: $0.column) } ?? Position(line: 1, column: 1)
            guard let name = key.scalar?.string else {
                refuse(position, "a key must be a word")
                continue
            }
            refuseAnchor(of: key, position)
            guard name != "<<" else {
                refuse(position, "merge keys are not supported; write the values out where they are needed")
                continue
            }
            // In braces, `{format:webp}` is a key without a value.
            let missingSpace = YAMLNode(text: name, position: position).missingSpace
            if !missingSpace.isEmpty, isPlain(key), value.scalar?.string == "", let colon = name.firstIndex(of: ":") {
                refuse(position, "found the key '\(name)' without a value\(missingSpace)")
                let rest = YAMLNode(text: String(name[name.index(after: colon)...]), position: position)
                entries.append(.init(key: String(name[..<colon]), keyPosition: position, value: rest))
                continue
            }
            if let value = node(value) { entries.append(.init(key: name, keyPosition: position, value: value)) }
        }
        return entries
    }

    private func isPlain(_ node: Node) -> Bool {
        guard let style = node.scalar?.style else { return false }
        return style != .singleQuoted && style != .doubleQuoted
    }

    /// The value is read all the same, as if it were written out, so that other mistakes show too.
    private mutating func refuseAnchor(of node: Node, _ position: Position) {
        guard let anchor = node.anchor else { return }
        let message =
            "anchors and aliases are not supported (found '\(anchor.rawValue)'); write the value out where it is needed"
        if !problems.contains(Diagnostic(position, message)) { refuse(position, message) }
    }

    private mutating func refuse(_ position: Position, _ message: String) {
        if problems.count < Self.mostProblems { problems.append(Diagnostic(position, message)) }
    }
}

private func diagnostic(for error: YamlError, in text: String) -> Diagnostic {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
        let place = Position(line: mark.line, column: mark.column)
        if problem.contains("nesting level") { return Diagnostic(place, "it is nested too deeply") }
        let slip = YAMLSlip(in: text, near: place, problem: problem)
        return Diagnostic(slip?.position ?? place, "not YAML: \(problem)" + (slip.map { "; \($0.remedy)" } ?? ""))
    case .composer(_, let problem, let mark, _):
        let place = Position(line: mark.line, column: mark.column)
        guard problem.contains("another document") else { return Diagnostic(place, "not YAML: \(problem)") }
        return Diagnostic(
            place, "a second document begins here (---); a file holds one, so move the rest to a file of its own")
    case .reader(let problem, let offset, _, let text):
        return Diagnostic(position(of: offset ?? 0, in: text), "not YAML: \(problem)")
    case .duplicatedKeysInMapping(let duplicates, let context):
        let first = Position(line: context.mark.line, column: context.mark.column)
        let key = duplicates.first.map { "\($0)" } ?? ""
        return repeatedKey(key, in: text, from: first)
    default:
        return Diagnostic(Position(line: 1, column: 1), "not YAML: \(error)")
    }
}

/// The mistake of a key that is written twice, at its second place.
/// - Parameter first: where its mapping begins, or where the key is for the first time.
private func repeatedKey(_ key: String, in text: String, from first: Position) -> Diagnostic {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let indent = String(repeating: " ", count: first.column - 1)
    let places = lines.indices.dropFirst(first.line - 1).filter { line in
        [key, "'\(key)'", "\"\(key)\""].contains { lines[line].hasPrefix("\(indent)\($0):") }
    }
    guard places.count > 1 else { return Diagnostic(first, "duplicate key '\(key)'; write it once") }
    let second = Position(line: places[1] + 1, column: first.column)
    return Diagnostic(second, "duplicate key '\(key)'; it was first used in line \(places[0] + 1)")
}

/// The place of a character that is counted from the beginning of the text.
private func position(of offset: Int, in text: String) -> Position {
    let before = text.prefix(offset)
    let line = before.reversed().prefix { !$0.isNewline }
    return Position(line: before.count(where: \.isNewline) + 1, column: line.reduce(1) { $0 + $1.unicodeScalars.count })
}
