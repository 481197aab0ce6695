// Numbers with a unit, as options and settings take them.

/// A count such as `300M`: K, M and G stand for thousands, millions and thousand millions; so do KP, MP and GP, since
/// pixels are counted in megapixels.
package struct Count: Hashable, Sendable {
    package let value: Int

    package init?(_ text: String) {
        let number = ["KP", "MP", "GP"].contains(text.suffix(2).uppercased()) ? String(text.dropLast()) : text
        guard let value = scaled(number, by: 1000) else { return nil }
        self.value = value
    }
}

/// Bytes such as `512M`: K, M and G stand for KiB, MiB and GiB.
package struct ByteCount: Hashable, Sendable {
    package let value: Int

    package init?(_ text: String) {
        guard let value = scaled(text, by: 1024) else { return nil }
        self.value = value
    }
}

/// A time such as `30s`, of a millisecond or more.
package struct PositiveTime: Hashable, Sendable {
    package let milliseconds: Int

    package init?(_ text: String) {
        guard let time = Duration(written: text), time >= .milliseconds(1) else { return nil }
        milliseconds = Int(time.inNanoseconds / 1_000_000)
    }
}

extension Count: ParameterValue {
    package static var expectation: String { "a count such as 5000, 300M or 24MP" }
    package static var schema: JSONValue { amountSchema("^[0-9]+([KkMmGg][Pp]?)?$") }
    package static var placeholder: Count { Count("1")! }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Count? { node.text.flatMap { Count($0) } }
    package var written: String { String(value) }
}

extension ByteCount: ParameterValue {
    package static var expectation: String { "a number of bytes such as 512M or 4G" }
    package static var schema: JSONValue { amountSchema("^[0-9]+[KkMmGg]?$") }
    package static var placeholder: ByteCount { ByteCount("1")! }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> ByteCount? {
        node.text.flatMap { ByteCount($0) }
    }
    package var written: String { String(value) }
}

extension PositiveTime: ParameterValue {
    package static var expectation: String { Duration.expectation }
    package static var schema: JSONValue { Duration.schema }
    package static var placeholder: PositiveTime { PositiveTime("1s")! }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PositiveTime? {
        Duration.read(node, &log).flatMap { PositiveTime($0.written) }
    }
    package var written: String { Duration.milliseconds(milliseconds).written }
}

private func amountSchema(_ pattern: String) -> JSONValue {
    ["anyOf": [["type": "integer", "minimum": 1], ["type": "string", "pattern": .string(pattern)]]]
}

private func scaled(_ text: String, by step: Int) -> Int? {
    let units: [Character: Int] = ["K": 1, "M": 2, "G": 3]
    var digits = text[...]
    var factor = 1
    if let unit = text.last?.uppercased().first, let power = units[unit] {
        digits.removeLast()
        for _ in 0..<power { factor *= step }
    }
    guard let number = Int(digits), number > 0 else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : value
}
