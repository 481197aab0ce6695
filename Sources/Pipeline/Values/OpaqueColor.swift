/// A color that nothing shows through: one that replaces transparency, or that has no meaning with it.
package struct OpaqueColor: ParameterValue, Hashable {
    package let color: Color

    /// - Parameter color: an opaque one.
    package init(_ color: Color) { self.color = color }

    package static var expectation: String { "an opaque color such as white, #f80 or #ff8800" }
    package static var schema: JSONValue { Color.schema }
    package static var placeholder: OpaqueColor { OpaqueColor(.placeholder) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> OpaqueColor? {
        guard let color = Color.read(node, expecting: expectation, &log), color.isOpaque else { return nil }
        return OpaqueColor(color)
    }

    package var written: String { color.written }
}
