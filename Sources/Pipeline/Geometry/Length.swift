/// A length as the user writes it: points, or a percentage of the incoming picture.
package enum Length: Hashable, Sendable {
    /// A bare number. It is multiplied by the pixels that a point has.
    case points(Double)
    /// `50%`. It is not multiplied.
    case percent(Double)

    /// Whole pixels, rounded half away from zero; may be zero or negative.
    /// - Parameters:
    ///   - side: the side of the incoming picture that a percentage refers to, in pixels.
    ///   - scale: pixels in one point.
    package func pixels(of side: Int, scale: Double) -> Int {
        switch self {
        case .points(let points): rounded(points * scale)
        case .percent(let percent): rounded(Double(side) * percent / 100)
        }
    }

    /// The same, exactly: for a radius or a sigma, which need not be whole.
    package func exactPixels(of side: Int, scale: Double) -> Double {
        switch self {
        case .points(let points): points * scale
        case .percent(let percent): Double(side) * percent / 100
        }
    }

    package var amount: Double {
        switch self {
        case .points(let amount), .percent(let amount): amount
        }
    }

    init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = finiteNumber(String(text.dropLast())) else { return nil }
            self = .percent(percent)
        } else {
            guard let points = finiteNumber(text) else { return nil }
            self = .points(points)
        }
    }
}

extension Length: ParameterValue {
    package static var expectation: String { "a length: points such as 120, or a percentage such as 50%" }
    package static var schema: JSONValue {
        ["anyOf": [["type": "number"], ["type": "string", "pattern": "^[-+]?[0-9.]+%?$"]]]
    }
    package static var placeholder: Length { .points(1) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Length? {
        guard let text = node.text, let length = Length(text) else { return nil }
        guard abs(length.amount) <= Double(maximumCoordinate) else {
            log.problem(node.position, "the length '\(text)' is larger than any picture")
            return nil
        }
        return length
    }

    package var written: String {
        switch self {
        case .points(let points): writtenNumber(points)
        case .percent(let percent): writtenNumber(percent) + "%"
        }
    }
}

/// A length above zero: a size.
package struct PositiveLength: ParameterValue, Hashable {
    package let length: Length

    package init(_ length: Length) { self.length = length }

    package func pixels(of side: Int, scale: Double) -> Int { max(1, length.pixels(of: side, scale: scale)) }

    /// It does not depend on a picture.
    package var isPoints: Bool { if case .points = length { true } else { false } }

    package static var expectation: String { "a length above 0: points such as 120, or a percentage such as 50%" }
    package static var schema: JSONValue {
        ["anyOf": [["type": "number", "exclusiveMinimum": 0], ["type": "string", "pattern": "^\\+?[0-9.]+%?$"]]]
    }
    package static var placeholder: PositiveLength { PositiveLength(.points(1)) }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PositiveLength? {
        guard let length = Length.read(node, &log), length.amount > 0 else { return nil }
        return PositiveLength(length)
    }
    package var written: String { length.written }
}
