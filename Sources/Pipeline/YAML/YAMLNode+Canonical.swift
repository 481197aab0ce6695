// A node as text in which only what it says counts: for digests that must not change with comments, indentation or the
// order of keys.

extension YAMLNode {
    /// One text for all nodes that say the same.
    package var canonical: String { canonical(without: []) }

    /// - Parameter left: keys of this mapping that do not count.
    package func canonical(without left: Set<String>) -> String {
        if isNull { return "~" }
        switch content {
        // Lengths keep what is written from looking like structure. A quoted `1` is no number.
        case .scalar(let text, let quoted): return (quoted ? "q" : "s") + counted(text)
        case .list(let items): return "[" + items.map(\.canonical).joined() + "]"
        case .mapping(let entries):
            let kept = entries.filter { !left.contains($0.key) }.sorted { $0.key < $1.key }
            return "{" + kept.map { counted($0.key) + $0.value.canonical }.joined() + "}"
        }
    }

    /// The value of a mapping's key, as one text for all that say the same; empty if the key is not there.
    package func canonical(of key: String) -> String {
        guard case .mapping(let entries) = content, let entry = entries.first(where: { $0.key == key }) else {
            return ""
        }
        return entry.value.canonical
    }
}

private func counted(_ text: String) -> String { "\(text.utf8.count):\(text)" }
