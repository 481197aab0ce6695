// The plain types of parameters: numbers, booleans, texts, and enums of words.

/// A number, which a parameter can hold to a range.
package protocol ParameterNumber: ParameterValue, Comparable {
    var json: JSONValue { get }
}

extension Int: ParameterNumber {
    package static var expectation: String { "a whole number" }
    package static var schema: JSONValue { ["type": "integer"] }
    package static var placeholder: Int { 1 }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Int? { node.plainText.flatMap { Int($0) } }
    package var written: String { String(self) }
    package var json: JSONValue { .int(self) }
}

extension Double: ParameterNumber {
    package static var expectation: String { "a number" }
    package static var schema: JSONValue { ["type": "number"] }
    package static var placeholder: Double { 1 }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Double? {
        node.plainText.flatMap(finiteNumber)
    }
    package var written: String { writtenNumber(self) }
    package var json: JSONValue { .double(self) }
}

extension Bool: ParameterValue {
    package static var expectation: String { "true or false" }
    package static var schema: JSONValue { ["type": "boolean"] }
    package static var placeholder: Bool { false }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Bool? {
        switch node.plainText {
        case "true": true
        case "false": false
        default: nil
        }
    }
    package var written: String { self ? "true" : "false" }
}

extension String: ParameterValue {
    package static var expectation: String { "a text" }
    package static var schema: JSONValue { ["type": "string"] }
    package static var placeholder: String { "" }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> String? { node.text }
    package var written: String { self }
}

/// A closed set of words; an enum with string values becomes a parameter's type by naming this.
package protocol ParameterWord: ParameterValue, RawRepresentable, CaseIterable where RawValue == String {
    /// The words for it in a file: its value, and others that are usual.
    var words: [String] { get }
}

extension ParameterWord {
    package var words: [String] { [rawValue] }

    package init?(word: String) {
        guard let value = Self.allCases.first(where: { $0.words.contains(word) }) else { return nil }
        self = value
    }

    package static var expectation: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
    package static var schema: JSONValue { ["enum": .array(allCases.flatMap(\.words).map { .string($0) })] }
    package static var placeholder: Self { allCases[allCases.startIndex] }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Self? {
        guard let text = node.text else { return nil }
        if let value = Self(word: text) { return value }
        log.problem(
            node.position,
            "expected \(expectation), found '\(text)'\(suggestion(for: text, among: allCases.map(\.rawValue)))")
        return nil
    }
    package var written: String { rawValue }
}

/// A number as decimal digits; YAML's `.inf`, hexadecimal and the like are not numbers here.
package func finiteNumber(_ text: String) -> Double? {
    guard text.allSatisfy({ "0123456789.+-eE".contains($0) }), let value = Double(text), value.isFinite else {
        return nil
    }
    return value
}

/// A number without a needless `.0`.
package func writtenNumber(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
}
