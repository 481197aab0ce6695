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

/// `run`, `run and plan`, `run, plan and shard`.
func listed(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
}
