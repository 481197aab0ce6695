/// A number with its noun in messages: `1 source`, `2 sources`.
/// - Parameter plural: nil if it is the noun with an s.
package func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
