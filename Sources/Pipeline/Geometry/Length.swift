/// A length as the user writes it: points, or a percentage of the incoming picture.
package enum Length: Hashable, Sendable {
    /// A bare number. It is multiplied by the pixels that a point has.
    case points(Double)
    /// `50%`. It is not multiplied.
    case percent(Double)
    /// `100% - 64`: both, added up.
    case sum(percent: Double, points: Double)

    /// Whole pixels, rounded half away from zero; may be zero or negative.
    /// - Parameters:
    ///   - side: the side of the incoming picture that a percentage refers to, in pixels.
    ///   - scale: pixels in one point.
    package func pixels(of side: Int, scale: Double) -> Int {
        switch self {
        case .points(let points): rounded(points * scale)
        case .percent(let percent): rounded(Double(side) * percent / 100)
        case .sum: rounded(exactPixels(of: side, scale: scale))
        }
    }

    /// The same, exactly: for a radius or a sigma, which need not be whole.
    package func exactPixels(of side: Int, scale: Double) -> Double {
        switch self {
        case .points(let points): points * scale
        case .percent(let percent): Double(side) * percent / 100
        case .sum(let percent, let points): Double(side) * percent / 100 + points * scale
        }
    }

    /// Points or percents; nil for a sum, which is of some picture only.
    package var amount: Double? {
        switch self {
        case .points(let amount), .percent(let amount): amount
        case .sum: nil
        }
    }

    /// Points, a percentage, or both with `+` or `-` between.
    init?(_ text: String) {
        let parts = Self.terms(of: text).map { term -> Length? in
            if term.hasSuffix("%") { return finiteNumber(String(term.dropLast())).map { .percent($0) } }
            return finiteNumber(term).map { .points($0) }
        }
        switch (parts.count, parts[0], parts[parts.count - 1]) {
        case (1, let length?, _): self = length
        case (2, .percent(let percent)?, .points(let points)?), (2, .points(let points)?, .percent(let percent)?):
            self = .sum(percent: percent, points: points)
        default: return nil
        }
    }

    /// The parts of a sum, each with its sign.
    private static func terms(of text: String) -> [String] {
        var terms = [""]
        // A sign begins a part, unless it is that of a number or of its exponent.
        var isAfterNumber = false
        for character in text {
            if "+-".contains(character), isAfterNumber {
                terms.append(String(character))
                isAfterNumber = false
            } else if character == " " {
                // Spaces are around signs only.
                guard isAfterNumber || terms.count > 1 else { return [text] }
                if !isAfterNumber { continue }
                terms[terms.count - 1].append(character)
            } else {
                terms[terms.count - 1].append(character)
                isAfterNumber = !"eE+-".contains(character)
            }
        }
        return terms.dropLast().map { term in String(term.reversed().drop { $0 == " " }.reversed()) } + [
            terms[terms.count - 1]
        ]
    }
}

extension Length: ParameterValue {
    package static var expectation: String { "a length: \(forms)" }
    fileprivate static let forms = "points such as 120, a percentage such as 50%, or both as in 100% - 64"
    package static var schema: JSONValue {
        ["anyOf": [["type": "number"], ["type": "string", "pattern": .string("^([-+]?[0-9.]+%?|\(sumPattern))$")]]]
    }
    /// A percentage and points, in any order.
    fileprivate static let sumPattern = "[-+]?[0-9.]+(% *[-+] *[0-9.]+| *[-+] *[0-9.]+%)"
    package static var placeholder: Length { .points(1) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Length? {
        guard let text = node.text, let length = Length(text) else { return nil }
        guard length.parts.allSatisfy({ abs($0) <= Double(maximumCoordinate) }) else {
            log.problem(node.position, "the length '\(text)' is larger than any picture")
            return nil
        }
        return length
    }

    package var written: String {
        switch self {
        case .points(let points): writtenNumber(points)
        case .percent(let percent): writtenNumber(percent) + "%"
        case .sum(let percent, let points):
            "\(writtenNumber(percent))% \(points < 0 ? "-" : "+") \(writtenNumber(abs(points)))"
        }
    }

    fileprivate var parts: [Double] {
        switch self {
        case .points(let amount), .percent(let amount): [amount]
        case .sum(let percent, let points): [percent, points]
        }
    }
}

// MARK: - Lengths that are held to a range

/// A length above zero: a size. Whether a sum is, is known with the picture.
package struct PositiveLength: ParameterValue, Hashable {
    package let length: Length

    package init(_ length: Length) { self.length = length }

    /// Whole pixels, at least one.
    /// - Parameters:
    ///   - key: the parameter, for messages.
    ///   - stage: the stage that has it.
    /// - Throws: `PlanFailure` if a sum is not above 0.
    package func pixels(of side: Int, scale: Double, _ key: String, in stage: String) throws(PlanFailure) -> Int {
        _ = try exactPixels(of: side, scale: scale, key, in: stage)
        return max(1, length.pixels(of: side, scale: scale))
    }

    /// The same, exactly: for a radius or a sigma, which need not be whole.
    package func exactPixels(
        of side: Int, scale: Double, _ key: String, in stage: String
    ) throws(PlanFailure) -> Double {
        let exact = length.exactPixels(of: side, scale: scale)
        guard exact > 0 else { throw length.failure(of: side, scale: scale, key, in: stage, expected: "more than 0") }
        return exact
    }

    /// It does not depend on a picture.
    package var isPoints: Bool { if case .points = length { true } else { false } }

    package static var expectation: String { "a length above 0: \(Length.forms)" }
    package static var schema: JSONValue {
        [
            "anyOf": [
                ["type": "number", "exclusiveMinimum": 0],
                ["type": "string", "pattern": .string("^(\\+?[0-9.]+%?|\(Length.sumPattern))$")],
            ]
        ]
    }
    package static var placeholder: PositiveLength { PositiveLength(.points(1)) }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PositiveLength? {
        guard let length = Length.read(node, &log), length.parts.contains(where: { $0 > 0 }) else { return nil }
        return PositiveLength(length)
    }
    package var written: String { length.written }
}

/// A length of zero or more: a distance. Whether a sum is, is known with the picture.
package struct Distance: ParameterValue, Hashable {
    package let length: Length

    package init(_ length: Length) { self.length = length }

    package static let zero = Distance(.points(0))

    /// Whole pixels.
    /// - Parameters:
    ///   - key: the parameter, for messages.
    ///   - stage: the stage that has it.
    /// - Throws: `PlanFailure` if a sum is below 0.
    package func pixels(of side: Int, scale: Double, _ key: String, in stage: String) throws(PlanFailure) -> Int {
        _ = try exactPixels(of: side, scale: scale, key, in: stage)
        return length.pixels(of: side, scale: scale)
    }

    /// The same, exactly: for a radius or a sigma, which need not be whole.
    package func exactPixels(
        of side: Int, scale: Double, _ key: String, in stage: String
    ) throws(PlanFailure) -> Double {
        let exact = length.exactPixels(of: side, scale: scale)
        // A rounded sum may be next to 0.
        guard exact > -1e-6 else { throw length.failure(of: side, scale: scale, key, in: stage, expected: "0 or more") }
        return exact
    }

    package static var expectation: String { "a length of 0 or more: \(Length.forms)" }
    package static var schema: JSONValue {
        [
            "anyOf": [
                ["type": "number", "minimum": 0],
                ["type": "string", "pattern": .string("^(\\+?[0-9.]+%?|\(Length.sumPattern))$")],
            ]
        ]
    }
    package static var placeholder: Distance { .zero }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Distance? {
        guard let length = Length.read(node, &log),
            length.parts.contains(where: { $0 > 0 }) || length.parts.allSatisfy({ $0 == 0 })
        else { return nil }
        return Distance(length)
    }
    package var written: String { length.written }
}

extension Length {
    /// The failure of a length that is too small for its parameter on this picture.
    fileprivate func failure(
        of side: Int, scale: Double, _ key: String, in stage: String, expected: String
    ) -> PlanFailure {
        let exact = exactPixels(of: side, scale: scale)
        let density = scale == 1 ? "" : ", with \(writtenNumber(scale)) pixels in a point,"
        return PlanFailure(
            .emptyResult, stage: stage,
            "'\(key)': \(written) of \(counted(side, "pixel"))\(density) is \(writtenNumber((exact * 100).rounded() / 100)); expected \(expected)"
        )
    }
}
