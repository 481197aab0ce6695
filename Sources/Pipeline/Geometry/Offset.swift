/// How far something is moved: `{ x: 8, y: 8 }`.
package struct Offset: ParameterMapping {
    package let x: Length
    package let y: Length

    package init(x: Length, y: Length) {
        self.x = x
        self.y = y
    }

    package static let zero = Offset(x: .points(0), y: .points(0))

    package init(_ p: inout Parameters) {
        x = p.optional("x", .points(0), "To the side.")
        y = p.optional("y", .points(0), "Down or up.")
    }

    package static var expectation: String { "an offset such as { x: 8, y: 8 }" }
    package static var owner: String { "the offset" }
    package static var placeholder: Offset { .zero }
    package var written: String { "{ x: \(x.written), y: \(y.written) }" }
}
