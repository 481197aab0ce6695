// `width: ">= 2000"`: what a number of a picture is compared with.

/// The unit in which a number of a picture is written.
package protocol BoundUnit: Sendable {
    /// One comparison, for messages.
    static var example: String { get }
    /// A number as a regular expression.
    static var pattern: String { get }
    /// The schema of a number alone.
    static var number: JSONValue { get }
    static func number(_ text: String) -> Double?
    static func written(_ number: Double) -> String
}

/// The numbers between two others, as comparisons that all must hold: `">= 1200, < 2000"`. A number alone means itself.
package struct Bounds<Unit: BoundUnit>: ParameterValue, Hashable {
    package let interval: Interval
    package let written: String

    package static var expectation: String { "a comparison such as \"\(Unit.example)\", or several with commas" }
    package static var schema: JSONValue {
        let one = "(>=|<=|>|<|=)? *\(Unit.pattern)"
        return [
            "anyOf": [Unit.number, ["type": "string", "pattern": .string("^ *\(one) *(, *\(one) *)*$")]]
        ]
    }
    package static var placeholder: Bounds { Bounds(interval: .all, written: Unit.example) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Bounds? {
        guard let text = node.text, !node.isNull else { return nil }
        var interval = Interval.all
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let one = comparison(item) else { return nil }
            interval = interval.intersection(one)
        }
        if interval.isEmpty {
            log.problem(node.position, "no number is \(text): write comparisons that can hold together")
        }
        return Bounds(interval: interval, written: text)
    }

    private static func comparison(_ text: Substring) -> Interval? {
        let text = String(text).trimmed
        let sign = [">=", "<=", ">", "<", "="].first { text.hasPrefix($0) } ?? ""
        guard let number = Unit.number(String(text.dropFirst(sign.count)).trimmed) else { return nil }
        switch sign {
        case ">=": return Interval(from: number, to: .infinity)
        case ">": return Interval(from: number, isOpenBelow: true, to: .infinity)
        case "<=": return Interval(from: -.infinity, to: number)
        case "<": return Interval(from: -.infinity, to: number, isOpenAbove: true)
        default: return Interval(from: number, to: number)
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

/// Pixels, counted.
package enum CountUnit: BoundUnit {
    package static var example: String { ">= 2000" }
    package static var pattern: String { "[0-9]+([KkMmGg][Pp]?)?" }
    package static var number: JSONValue { ["type": "integer", "minimum": 1] }
    package static func number(_ text: String) -> Double? { Count(text).map { Double($0.value) } }
    package static func written(_ number: Double) -> String { writtenNumber(number) }
}

/// Width to height.
package enum RatioUnit: BoundUnit {
    package static var example: String { ">= 16:9" }
    package static var pattern: String { "[0-9]+(\\.[0-9]+)?(:[0-9]+(\\.[0-9]+)?)?" }
    package static var number: JSONValue { ["type": "number", "exclusiveMinimum": 0] }
    package static func number(_ text: String) -> Double? {
        Ratio(text).map { $0.width / $0.height }
    }
    package static func written(_ number: Double) -> String {
        writtenNumber((number * 1000).rounded() / 1000)
    }
}

/// Numbers without a gap.
package struct Interval: Hashable, Sendable {
    package let lower, upper: Double
    package let isOpenBelow, isOpenAbove: Bool

    package static let all = Interval(from: -.infinity, to: .infinity)

    package init(from lower: Double, isOpenBelow: Bool = false, to upper: Double, isOpenAbove: Bool = false) {
        (self.lower, self.upper) = (lower, upper)
        (self.isOpenBelow, self.isOpenAbove) = (isOpenBelow, isOpenAbove)
    }

    package var isEmpty: Bool { lower > upper || lower == upper && (isOpenBelow || isOpenAbove) }

    package func contains(_ number: Double) -> Bool {
        (isOpenBelow ? number > lower : number >= lower) && (isOpenAbove ? number < upper : number <= upper)
    }

    package func intersection(_ other: Interval) -> Interval {
        let (lower, upper) = (max(lower, other.lower), min(upper, other.upper))
        return Interval(
            from: lower, isOpenBelow: [self, other].contains { $0.lower == lower && $0.isOpenBelow },
            to: upper, isOpenAbove: [self, other].contains { $0.upper == upper && $0.isOpenAbove })
    }
}
