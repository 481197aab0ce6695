// The mill file as it may be shown: without what may be a secret.

extension MillFile {
    /// The text of the file, without its comments, the arguments of hooks' commands, and all of an address but its host. A
    /// secret that is in a file of its own is named by its path only.
    package var masked: String {
        guard let root = readYAML(text).root else { return "" }
        var lines: [String] = []
        Self.write(root, "", &lines, isHook: false)
        return lines.map { BytePath($0).printable + "\n" }.joined()
    }

    private static let hidden = "•••"
    private static let hooks: Set = ["on-success", "on-failure", "on-pause"]

    private static func write(_ node: YAMLNode, _ indent: String, _ lines: inout [String], isHook: Bool) {
        switch node.content {
        case .scalar: lines.append(indent + inline(node))
        case .mapping(let entries):
            for entry in entries {
                let isHook = isHook || hooks.contains(entry.key)
                if isHook, let command = command(entry.key, entry.value) {
                    lines.append("\(indent)\(entry.key): \(command)")
                } else if case .scalar = entry.value.content {
                    lines.append("\(indent)\(entry.key): \(inline(entry.value))")
                } else {
                    lines.append("\(indent)\(entry.key):")
                    write(entry.value, indent + "  ", &lines, isHook: isHook)
                }
            }
        case .list(let items):
            for item in items {
                var part: [String] = []
                write(item, indent + "  ", &part, isHook: isHook)
                // The dash is where the first line of the item begins.
                if let first = part.first { part[0] = indent + "- " + first.dropFirst(indent.count + 2) }
                lines += part
            }
        }
    }

    private static func command(_ key: String, _ value: YAMLNode) -> String? {
        guard case .list(let words) = value.content, let program = words.first else { return nil }
        return masked(command: [inline(program)] + words.dropFirst().map { $0.text ?? "" })
    }

    private static func inline(_ node: YAMLNode) -> String { node.text.map { masked(address: $0) } ?? "" }

    /// A hook's command: its program, and how many arguments it has.
    package static func masked(command words: [String]) -> String {
        (words.prefix(1) + words.dropFirst().map { _ in hidden }).joined(separator: " ")
    }

    /// An address, with its host only; any other text as it is.
    package static func masked(address text: String) -> String {
        guard let scheme = text.firstRange(of: "://") else { return text }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        // Also a user and a password may be in it, and a path may be all that a receiver asks for.
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let isWhole = host.count == rest.count
        return "\(text[..<scheme.upperBound])\(host)\(isWhole ? "" : "/" + hidden)"
    }
}
