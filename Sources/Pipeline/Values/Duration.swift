// Lengths of time as the user writes them: a number with its unit.

extension Duration: ParameterValue {
    private static let units: [(suffix: String, nanoseconds: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    package static var expectation: String { "a time such as 500ms, 2s, 10m or 1h" }
    package static var schema: JSONValue { ["type": "string", "pattern": #"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$"#] }
    package static var placeholder: Duration { .seconds(1) }

    /// Reads `500ms`, `2s`, `1.5m`, `1h` or `1d`: never negative, and at most ten years.
    package init?(written text: String) {
        // The longest unit first, since `ms` ends in `s`.
        guard let unit = Self.units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.dropLast(unit.suffix.count)
        guard let first = digits.first, first.isASCII, first.isNumber, digits.last != ".",
            !digits.contains(where: { "+-eE".contains($0) }),
            let number = finiteNumber(String(digits))
        else { return nil }
        let nanoseconds = number * Double(unit.nanoseconds)
        guard nanoseconds <= 3650 * 86_400e9 else { return nil }
        self = .nanoseconds(Int64(nanoseconds.rounded()))
    }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Duration? {
        guard let text = node.text else { return nil }
        if let value = Duration(written: text) { return value }
        guard let number = finiteNumber(text), number >= 0 else { return nil }
        log.problem(
            node.position, "expected \(expectation), found '\(text)' without a unit; write \(text)s for seconds")
        return nil
    }

    /// In the largest unit that gives a whole number.
    package var written: String {
        let nanoseconds = inNanoseconds
        let unit = Self.units.last { nanoseconds >= $0.nanoseconds && nanoseconds % $0.nanoseconds == 0 }
        if let unit { return "\(nanoseconds / unit.nanoseconds)\(unit.suffix)" }
        return nanoseconds == 0 ? "0s" : writtenNumber(Double(nanoseconds) / 1_000_000) + "ms"
    }

    /// Whole nanoseconds; the sum of both components of a time of at most ten years.
    package var inNanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
