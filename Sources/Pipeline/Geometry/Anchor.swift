/// Where a picture sits in a larger or smaller space.
package struct Anchor: Hashable, Sendable {
    package enum Edge: Hashable, Sendable { case start, center, end }

    package let horizontal: Edge
    package let vertical: Edge

    package init(_ horizontal: Edge, _ vertical: Edge) {
        self.horizontal = horizontal
        self.vertical = vertical
    }

    package static let center = Anchor(.center, .center)

    /// The offset of an inner picture in an outer space, in pixels; negative where the inner one is larger.
    package func offset(of inner: PixelSize, in outer: PixelSize) -> PixelOffset {
        PixelOffset(
            Self.offset(horizontal, inner: inner.width, outer: outer.width), Self.offset(vertical, inner: inner.height, outer: outer.height))
    }

    private static func offset(_ edge: Edge, inner: Int, outer: Int) -> Int {
        switch edge {
        case .start: 0
        // An arithmetic shift is the floor of half, also below zero; a division would cut towards zero.
        case .center: (outer - inner) >> 1
        case .end: outer - inner
        }
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
        log.problem(node.position, "expected \(expectation), found '\(text)'\(suggestion(for: text, among: names.map(\.name)))")
        return nil
    }

    package var written: String { Self.names.first { $0.anchor == self }?.name ?? "center" }
}
