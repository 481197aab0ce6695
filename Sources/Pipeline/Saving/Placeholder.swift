/// A fact about the look of a picture, for pages to show before it is loaded.
package enum Placeholder: String, ParameterWord {
    /// The color that most pixels are near to.
    case color
    /// A blurred picture in some 25 bytes, as evanw.github.io/thumbhash describes it.
    case thumbhash
}

/// One of them, or several.
struct PlaceholderList: ParameterValue {
    let placeholders: [Placeholder]

    static var expectation: String { "color, thumbhash, or a list of them" }
    static var placeholder: PlaceholderList { PlaceholderList(placeholders: [.color]) }
    static var schema: JSONValue {
        [
            "anyOf": [
                Placeholder.schema, ["type": "array", "minItems": 1, "uniqueItems": true, "items": Placeholder.schema],
            ]
        ]
    }
    var written: String { placeholders.map(\.rawValue).joined(separator: ", ") }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PlaceholderList? {
        guard case .list(let items) = node.content else {
            return Placeholder.read(node, &log).map { PlaceholderList(placeholders: [$0]) }
        }
        if items.isEmpty { return nil }
        return PlaceholderList(placeholders: items.compactMap { Placeholder.read($0, &log) })
    }
}
