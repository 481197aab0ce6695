// The short form of a size: `800x600>`, as vipsthumbnail and ImageMagick users write it.

/// Whether a picture may become larger, smaller, or both.
package enum ScalingLimit: Hashable, Sendable {
    case none, onlyShrink, onlyEnlarge
}

/// A size in the short form: `800x600`, `800x`, `x600`, `800` (a square box), `50%`, with `>` `<` `!` `^` after it.
package struct GeometryString: Hashable, Sendable {
    package let width: PositiveLength?
    package let height: PositiveLength?
    package let mode: ScalingMode
    package let limit: ScalingLimit
    package let text: String

    /// - Throws: a sentence that says what is wrong with the text.
    init(_ text: String) throws(GeometryStringError) {
        self.text = text
        let flags = text.drop { !"><!^".contains($0) }
        let size = text.prefix(text.count - flags.count)
        guard flags.allSatisfy({ "><!^".contains($0) }), !size.isEmpty, Set(flags).count == flags.count else {
            throw GeometryStringError(message: "expected \(Self.expectation), found '\(text)'")
        }
        (width, height) = try Self.sides(size, of: text)
        guard !(flags.contains(">") && flags.contains("<")) else {
            throw GeometryStringError(
                message: "'>' (only shrink) and '<' (only enlarge) exclude each other in '\(text)'")
        }
        limit = flags.contains(">") ? .onlyShrink : flags.contains("<") ? .onlyEnlarge : .none
        let exact = flags.contains("!")
        let cover = flags.contains("^")
        guard !(exact && (cover || limit != .none)) else {
            throw GeometryStringError(
                message: "'!' (exactly this size) cannot be combined with '>', '<' or '^' in '\(text)'")
        }
        guard !(exact || cover) || (width != nil && height != nil) else {
            throw GeometryStringError(message: "'\(exact ? "!" : "^")' needs both a width and a height in '\(text)'")
        }
        let isPercent = if case .percent = width?.length { true } else { false }
        mode = exact || isPercent ? .scaleToFill : cover ? .aspectFill : .aspectFit
    }

    private init(square side: Int) {
        width = PositiveLength(.points(Double(side)))
        height = width
        mode = .aspectFit
        limit = .none
        text = String(side)
    }

    private static func sides(
        _ size: Substring, of text: String
    ) throws(GeometryStringError) -> (PositiveLength?, PositiveLength?) {
        if size.hasSuffix("%"), let percent = finiteNumber(String(size.dropLast())), percent > 0 {
            return (PositiveLength(.percent(percent)), PositiveLength(.percent(percent)))
        }
        let parts = size.split(separator: "x", omittingEmptySubsequences: false)
        let sides = try parts.map { part throws(GeometryStringError) -> PositiveLength? in
            guard !part.isEmpty else { return nil }
            guard part.allSatisfy(\.isNumber), let points = finiteNumber(String(part)), points > 0,
                points <= Double(maximumCoordinate)
            else {
                throw GeometryStringError(message: "expected \(expectation), found '\(text)'")
            }
            return PositiveLength(.points(points))
        }
        switch (sides.count, sides.first ?? nil, sides.last ?? nil) {
        case (1, let side?, _): return (side, side)
        case (2, let width, let height) where width != nil || height != nil: return (width, height)
        default: throw GeometryStringError(message: "expected \(expectation), found '\(text)'")
        }
    }
}

struct GeometryStringError: Error {
    let message: String
}

extension GeometryString: ParameterValue {
    package static var expectation: String {
        "a size such as 800x600, 800x, x600, 800 or 50%, followed by > < ! or ^ if you like"
    }
    package static var schema: JSONValue {
        ["type": ["string", "integer"], "pattern": "^([0-9]+x?|[0-9]*x[0-9]+|[0-9.]+%)[><!^]*$"]
    }
    package static var placeholder: GeometryString { GeometryString(square: 1) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> GeometryString? {
        guard let text = node.text else { return nil }
        do throws(GeometryStringError) {
            return try GeometryString(text)
        } catch {
            log.problem(node.position, error.message)
            return nil
        }
    }

    package var written: String { text }
}
