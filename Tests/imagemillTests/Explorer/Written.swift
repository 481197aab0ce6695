// A part of a pipeline file as it is written, so that it can be taken apart.

/// A YAML value.
indirect enum Written: Equatable, Sendable {
    /// A number, or true or false.
    case plain(String)
    case text(String)
    case list([Written])
    case mapping([Entry])

    struct Entry: Equatable, Sendable {
        let key: String
        var value: Written
    }

    /// In YAML's flow style.
    var yaml: String {
        switch self {
        case .plain(let text): text
        case .text(let text): "\"\(text)\""
        case .list(let items): "[" + items.map(\.yaml).joined(separator: ", ") + "]"
        case .mapping(let entries): "{ " + entries.map { "\($0.key): \($0.value.yaml)" }.joined(separator: ", ") + " }"
        }
    }

    var entries: [Entry] { if case .mapping(let entries) = self { entries } else { [] } }

    /// Whether a key is anywhere in it.
    func contains(key: String) -> Bool {
        switch self {
        case .plain, .text: false
        case .list(let items): items.contains { $0.contains(key: key) }
        case .mapping(let entries): entries.contains { $0.key == key || $0.value.contains(key: key) }
        }
    }

    /// The items of a list, or the value alone.
    var items: [Written] { if case .list(let items) = self { items } else { [self] } }

    /// The words of a scalar.
    var word: String? {
        switch self {
        case .plain(let text), .text(let text): text
        case .list, .mapping: nil
        }
    }

    /// A mapping's value; nil takes the key away.
    subscript(key: String) -> Written? {
        get { entries.first { $0.key == key }?.value }
        set {
            var entries = entries
            let index = entries.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (nil, let value?): entries.append(Entry(key: key, value: value))
            case (let index?, nil): entries.remove(at: index)
            case (nil, nil): break
            }
            self = .mapping(entries)
        }
    }

    /// The same with one thing less, or one thing simpler: first whole parts are left out, then what is in them.
    var simpler: [Written] {
        switch self {
        case .plain(let text): Self.rounder(text).map { .plain($0) }
        case .text(let text):
            text.hasSuffix("%")
                ? Self.rounder(String(text.dropLast())).map { .text($0 + "%") } : []
        case .list(let items):
            items.indices.map { index in .list(items.indices.filter { $0 != index }.map { items[$0] }) }
                + (items.count == 1 ? [items[0]] : [])
                + items.indices.flatMap { index in
                    items[index].simpler.map { part in
                        var items = items
                        items[index] = part
                        return .list(items)
                    }
                }
        case .mapping(let entries):
            entries.indices.map { index in .mapping(entries.indices.filter { $0 != index }.map { entries[$0] }) }
                + entries.indices.flatMap { index in
                    entries[index].value.simpler.map { part in
                        var entries = entries
                        entries[index].value = part
                        return .mapping(entries)
                    }
                }
        }
    }

    /// Numbers that are easier to read.
    private static func rounder(_ text: String) -> [String] {
        guard let number = Double(text) else { return [] }
        let rounded = [1, 10, 100, (number / 10).rounded() * 10, number.rounded()]
        let simple = rounded.map { String(Int($0)) }.filter { $0 != text && $0.count <= text.count }
        return simple.enumerated().filter { simple.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }
}
