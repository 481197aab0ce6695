// The one file that knows the YAML library: text in, nodes with positions out, or diagnostics.
import Yams

/// Reads a YAML text of one document.
///
/// Anchors, aliases, merge keys and repeated keys are refused: the file says what it says, once.
/// - Returns: the root, or nil where the text cannot be read as far as that; and every mistake found.
func readYAML(_ text: String) -> (root: YAMLNode?, problems: [Diagnostic]) {
    var reader = YAMLReader()
    do {
        guard let root = try Parser(yaml: text).singleRoot() else {
            return (nil, [Diagnostic(Position(line: 1, column: 1), "the file is empty; expected a mapping with 'renditions'")])
        }
        return (reader.node(root), reader.problems)
    } catch let error as YamlError {
        return (nil, [diagnostic(for: error)])
    } catch {
        return (nil, [Diagnostic(Position(line: 1, column: 1), "not YAML: \(error)")])
    }
}

private struct YAMLReader {
    var problems: [Diagnostic] = []

    mutating func node(_ node: Node) -> YAMLNode? {
        let position = node.mark.map { Position(line: $0.line, column: $0.column) } ?? Position(line: 1, column: 1)
        if let anchor = node.anchor {
            refuse(position, "anchors and aliases are not supported (found '\(anchor.rawValue)'); write the value out where it is needed")
            return nil
        }
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
            guard name != "<<" else {
                refuse(position, "merge keys are not supported; write the values out where they are needed")
                continue
            }
            if let value = node(value) { entries.append(.init(key: name, keyPosition: position, value: value)) }
        }
        return entries
    }

    private mutating func refuse(_ position: Position, _ message: String) {
        problems.append(Diagnostic(position, message))
    }
}

private func diagnostic(for error: YamlError) -> Diagnostic {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
        return Diagnostic(Position(line: mark.line, column: mark.column), "not YAML: \(problem)")
    case .duplicatedKeysInMapping(let duplicates, let context):
        let mark = context.mark
        let names = duplicates.map { "'\($0)'" }.joined(separator: ", ")
        return Diagnostic(Position(line: mark.line, column: mark.column), "the key \(names) stands twice in one mapping")
    default:
        return Diagnostic(Position(line: 1, column: 1), "not YAML: \(error)")
    }
}
