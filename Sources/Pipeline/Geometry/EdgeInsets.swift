/// Margins on the four sides, 0 or more: `{ all: 10 }` or `{ top: 20, leading: 5 }`.
package struct EdgeInsets: ParameterMapping {
    package let top, leading, bottom, trailing: Length

    package init(top: Length, leading: Length, bottom: Length, trailing: Length) {
        (self.top, self.leading, self.bottom, self.trailing) = (top, leading, bottom, trailing)
    }

    package static let none = EdgeInsets(top: .points(0), leading: .points(0), bottom: .points(0), trailing: .points(0))

    package init(_ p: inout Parameters) {
        self.init(&p, of: Distance.self, \.length)
    }

    /// Declares margins that may be negative; part of a stage's own parameters.
    package init(signed p: inout Parameters) {
        self.init(&p, of: Length.self, \.self)
    }

    private init<Margin: ParameterValue>(
        _ p: inout Parameters, of type: Margin.Type, _ length: KeyPath<Margin, Length>
    ) {
        let all: Margin? = p.optional(
            "all", "On each side; a percentage is of the width at the sides, of the height above and below.")
        let rest = all?[keyPath: length] ?? .points(0)
        func side(_ key: String, _ text: String, _ p: inout Parameters) -> Length {
            let margin: Margin? = p.optional(key, text)
            return margin?[keyPath: length] ?? rest
        }
        top = side("top", "Above; default `all`.", &p)
        leading = side("leading", "On the left; default `all`.", &p)
        bottom = side("bottom", "Below; default `all`.", &p)
        trailing = side("trailing", "On the right; default `all`.", &p)
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

    /// The same for margins of 0 or more.
    /// - Throws: `PlanFailure` if one is below 0.
    package func pixels(
        of size: PixelSize, scale: Double, _ key: String, in stage: String
    ) throws(PlanFailure) -> PixelInsets {
        for (name, length) in sides {
            let side = name == "top" || name == "bottom" ? size.height : size.width
            _ = try Distance(length).exactPixels(of: side, scale: scale, "\(key).\(name)", in: stage)
        }
        return pixels(of: size, scale: scale)
    }
}

/// The same in pixels.
package struct PixelInsets: Hashable, Sendable {
    package let top, left, bottom, right: Int
}
