/// A number with its noun in messages: `1 source`, `2 sources`.
/// - Parameter plural: nil if it is the noun with an s.
package func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// `run`, `run and plan`, `run, plan and shard`.
package func listed(_ words: [String], by conjunction: String = "and") -> String {
    words.count < 2
        ? words.joined() : words.dropLast().joined(separator: ", ") + " \(conjunction) " + (words.last ?? "")
}

/// `png`, `png or tiff`, `jpeg, png or tiff`.
package func alternatives(_ words: [String]) -> String { listed(words, by: "or") }
