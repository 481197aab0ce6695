// Numbers and lists in sentences.
import Engine
import Pipeline

/// `; 4 other files passed over; --allow svg reads 2 of them`: files that a search has found and that are no pictures.
/// Empty if there are none.
func passedOverClause(_ reasons: [NoPicture: Int]) -> String {
    let count = reasons.values.reduce(0, +)
    guard count > 0 else { return "" }
    let onRequest = SourceFormat.onRequest.filter { reasons[.onRequest($0)] != nil }
    let readable = onRequest.reduce(0) { $0 + (reasons[.onRequest($1)] ?? 0) }
    let which = count == 1 ? "it" : readable == count ? "them" : "\(readable) of them"
    let formats = onRequest.map(\.rawValue).joined(separator: ",")
    return "; \(counted(count, "other file")) passed over"
        + (onRequest.isEmpty ? "" : "; --allow \(formats) reads \(which)")
}

/// `12,345`.
func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    let parts = digits.indices.map { index in
        let isStart = index > 0 && (digits.count - index) % 3 == 0
        return (isStart ? "," : "") + String(digits[index])
    }
    return (number < 0 ? "-" : "") + parts.joined()
}

/// `1 inbox`, `12,345 inboxes`.
func grouped(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// `9 corrupt, 3 too-many-pixels`: the most frequent first.
func countedByCode(_ counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \(oneLine($0.key))" }
        .joined(separator: ", ")
}
