/// Margins on the four sides, 0 or more: `{ all: 10 }` or `{ top: 20, leading: 5 }`.
package struct EdgeInsets: ParameterMapping {
    package let top, leading, bottom, trailing: Length

    package init(top: Length, leading: Length, bottom: Length, trailing: Length) {
        (self.top, self.leading, self.bottom, self.trailing) = (top, leading, bottom, trailing)
    }

    package static let none = EdgeInsets(top: .points(0), leading: .points(0), bottom: .points(0), trailing: .points(0))

    package init(_ p: inout Parameters) {
        self.init(signed: &p)
        for (name, length) in sides where length.amount < 0 {
            let key = p.has(name) ? name : "all"
            p.problem(at: key, "'\(key)' expects 0 or more, found \(length.written)")
        }
    }

    /// Declares margins that may be negative; part of a stage's own parameters.
    package init(signed p: inout Parameters) {
        let all: Length? = p.optional(
            "all", "On each side; a percentage is of the width at the sides, of the height above and below.")
        let rest = all ?? .points(0)
        top = p.optional("top", "Above; default `all`.") ?? rest
        leading = p.optional("leading", "On the left; default `all`.") ?? rest
        bottom = p.optional("bottom", "Below; default `all`.") ?? rest
        trailing = p.optional("trailing", "On the right; default `all`.") ?? rest
    }

    private var sides: [(name: String, length: Length)] {
        [("top", top), ("leading", leading), ("bottom", bottom), ("trailing", trailing)]
    }

    package static var expectation: String { "insets such as { all: 10 } or { top: 20, leading: 5 }" }
    package static var owner: String { "the insets" }
    package static var placeholder: EdgeInsets { .none }
    package var written: String {
        if sides.allSatisfy({ $0.length == top }) { return "{ all: \(top.written) }" }
        return "{ " + sides.map { "\($0.name): \($0.length.written)" }.joined(separator: ", ") + " }"
    }

    /// Pixels on each side; percentages are of a picture's width at the sides, of its height above and below.
    package func pixels(of size: PixelSize, scale: Double) -> PixelInsets {
        PixelInsets(
            top: top.pixels(of: size.height, scale: scale), left: leading.pixels(of: size.width, scale: scale),
            bottom: bottom.pixels(of: size.height, scale: scale), right: trailing.pixels(of: size.width, scale: scale))
    }
}

/// The same in pixels.
package struct PixelInsets: Hashable, Sendable {
    package let top, left, bottom, right: Int
}
