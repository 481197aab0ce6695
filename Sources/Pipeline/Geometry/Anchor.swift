/// Where a picture sits in a larger or smaller space.
package struct Anchor: Hashable, Sendable {
    package enum Edge: String, ParameterWord {
        case start, center, end

        /// - Parameter room: what is left, in pixels; negative if what is placed is larger.
        package func offset(in room: Int) -> Int {
            switch self {
            case .start: 0
            // An arithmetic shift is the floor of half, also below zero; a division would cut towards zero.
            case .center: room >> 1
            case .end: room
            }
        }
    }

    /// How the place is found.
    package enum Kind: Hashable, Sendable {
        case edges(horizontal: Edge, vertical: Edge)
        /// A point of the picture that is kept as near to the middle as the picture reaches; 0…1 of its width and
        /// height.
        case focus(x: Double, y: Double)
        /// The part that people look at: edges, skin and strong colors.
        case attention
        /// The busiest part.
        case entropy
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }
    package init(_ horizontal: Edge, _ vertical: Edge) { self.init(.edges(horizontal: horizontal, vertical: vertical)) }

    package static let center = Anchor(.center, .center)

    /// The place depends on what is in the picture.
    package var needsMeasurement: Bool { kind == .attention || kind == .entropy }

    /// The anchor once the picture was measured: the middle of what was found. Before that, the middle of the picture.
    package func resolved(by measurement: Measurement?) -> Anchor {
        guard needsMeasurement else { return self }
        guard case .box(let left, let top, let width, let height)? = measurement else { return .center }
        return Anchor(.focus(x: left + width / 2, y: top + height / 2))
    }

    /// The edge that an offset is counted from; the middle for a point.
    package var horizontal: Edge { if case .edges(let edge, _) = kind { edge } else { .center } }
    package var vertical: Edge { if case .edges(_, let edge) = kind { edge } else { .center } }

    /// The offset of an inner picture in an outer space, in pixels; negative if the inner one is larger.
    package func offset(of inner: PixelSize, in outer: PixelSize) -> PixelOffset {
        switch kind {
        case .edges(let horizontal, let vertical):
            PixelOffset(
                horizontal.offset(in: outer.width - inner.width), vertical.offset(in: outer.height - inner.height))
        case .focus(let x, let y):
            PixelOffset(
                Self.offset(x, inner: inner.width, outer: outer.width),
                Self.offset(y, inner: inner.height, outer: outer.height))
        case .attention, .entropy: Self.center.offset(of: inner, in: outer)
        }
    }

    /// The smaller of the two is centred on the point of the larger one, and stays within it.
    private static func offset(_ focus: Double, inner: Int, outer: Int) -> Int {
        let (small, large) = (min(inner, outer), max(inner, outer))
        let offset = min(max(rounded(focus * Double(large) - Double(small) / 2), 0), large - small)
        return inner <= outer ? offset : -offset
    }

    /// Every name, the preferred one first for each anchor.
    static let names: [(name: String, anchor: Anchor)] = [
        ("center", Anchor(.center, .center)),
        ("top", Anchor(.center, .start)),
        ("bottom", Anchor(.center, .end)),
        ("leading", Anchor(.start, .center)),
        ("trailing", Anchor(.end, .center)),
        ("top-leading", Anchor(.start, .start)),
        ("top-trailing", Anchor(.end, .start)),
        ("bottom-leading", Anchor(.start, .end)),
        ("bottom-trailing", Anchor(.end, .end)),
        ("left", Anchor(.start, .center)),
        ("right", Anchor(.end, .center)),
        ("top-left", Anchor(.start, .start)),
        ("top-right", Anchor(.end, .start)),
        ("bottom-left", Anchor(.start, .end)),
        ("bottom-right", Anchor(.end, .end)),
    ]
}

extension Anchor: ParameterValue {
    package static var expectation: String { "one of " + names.map(\.name).joined(separator: ", ") }
    package static var schema: JSONValue { ["enum": .array(names.map { .string($0.name) })] }
    package static var placeholder: Anchor { .center }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Anchor? {
        guard let text = node.text else { return nil }
        if let found = names.first(where: { $0.name == text }) { return found.anchor }
        let hint = hint(for: text, among: names.map(\.name))
        log.problem(node.position, "expected \(expectation), found '\(text)'\(hint)")
        return nil
    }

    package var written: String { Self.names.first { $0.anchor == self }?.name ?? "center" }
}

extension Anchor {
    fileprivate typealias Names = [(name: String, anchor: Anchor)]

    fileprivate static func expectationOfPoints(among names: Names) -> String {
        "one of \(names.map(\.name).joined(separator: ", ")), or a point such as { x: 30%, y: 70% }"
    }

    fileprivate static func schemaOfPoints(among names: Names) -> JSONValue {
        ["anyOf": [["enum": .array(names.map { .string($0.name) })], FocusPoint.mappingSchema()]]
    }

    /// Reads one of the names, or a point.
    fileprivate static func readPoint(_ node: YAMLNode, among names: Names, _ log: inout ReadingLog) -> Anchor? {
        if case .mapping = node.content {
            return Parameters.read(FocusPoint.self, from: node, owner: "the focus point", &log).map {
                Anchor(.focus(x: $0.x, y: $0.y))
            }
        }
        guard let text = node.text else { return nil }
        if let found = names.first(where: { $0.name == text }) { return found.anchor }
        let hint = hint(for: text, among: names.map(\.name))
        log.problem(node.position, "expected \(expectationOfPoints(among: names)), found '\(text)'\(hint)")
        return nil
    }

    fileprivate static func hint(for text: String, among names: [String]) -> String {
        ["attention", "entropy"].contains(text)
            ? "; only stages that keep a part of the picture look for it" : suggestion(for: text, among: names)
    }
}

/// A place in the picture: an edge, a corner, or a point.
package struct PointAnchor: ParameterValue, Hashable {
    package let anchor: Anchor

    package init(_ anchor: Anchor) { self.anchor = anchor }

    package static var expectation: String { Anchor.expectationOfPoints(among: Anchor.names) }
    package static var schema: JSONValue { Anchor.schemaOfPoints(among: Anchor.names) }
    package static var placeholder: PointAnchor { PointAnchor(.center) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PointAnchor? {
        Anchor.readPoint(node, among: Anchor.names, &log).map { PointAnchor($0) }
    }

    package var written: String { PartAnchor(anchor).written }
}

/// The anchor of a stage that keeps a part of the picture: an edge, a point, or what is worth seeing.
package struct PartAnchor: ParameterValue, Hashable {
    package let anchor: Anchor

    package init(_ anchor: Anchor) { self.anchor = anchor }

    private static let names =
        Anchor.names + [("attention", Anchor(.attention)), ("entropy", Anchor(.entropy))]

    package static var expectation: String { Anchor.expectationOfPoints(among: names) }
    package static var schema: JSONValue { Anchor.schemaOfPoints(among: names) }
    package static var placeholder: PartAnchor { PartAnchor(.center) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PartAnchor? {
        Anchor.readPoint(node, among: names, &log).map { PartAnchor($0) }
    }

    package var written: String {
        switch anchor.kind {
        case .edges: anchor.written
        case .focus(let x, let y): "{ x: \(writtenNumber(x * 100))%, y: \(writtenNumber(y * 100))% }"
        case .attention: "attention"
        case .entropy: "entropy"
        }
    }
}

/// `{ x: 30%, y: 70% }`.
private struct FocusPoint: ParameterGroup {
    let x: Double
    let y: Double

    init(_ p: inout Parameters) {
        x = Self.fraction(at: "x", of: p.required("x", "From the left, as a percentage of the picture's width."), &p)
        y = Self.fraction(at: "y", of: p.required("y", "From the top, as a percentage of the picture's height."), &p)
    }

    private static func fraction(at key: String, of length: Length, _ p: inout Parameters) -> Double {
        guard case .percent(let percent) = length, (0...100).contains(percent) else {
            // CSS and image programs write shares from 0 to 1.
            let share: Double? = if case .points(let points) = length, (0...1).contains(points) { points } else { nil }
            let remedy = share.map { "; write \(writtenNumber(($0 * 10_000).rounded() / 100))%" } ?? ""
            p.problem(at: key, "'\(key)' of a focus point expects 0% to 100%, found \(length.written)\(remedy)")
            return 0.5
        }
        return percent / 100
    }
}
