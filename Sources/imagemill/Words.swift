// Numbers in sentences.

/// `1 source`, `2 sources`.
/// - Parameter plural: nil if it is the noun with an s.
func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// `; 4 other files passed over`: files that a search has found and that are no pictures. Empty if there are none.
func passedOverClause(_ count: Int) -> String {
    count == 0 ? "" : "; \(counted(count, "other file")) passed over"
}
