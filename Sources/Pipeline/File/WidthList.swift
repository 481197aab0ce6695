/// `widths: 320` or `widths: [320, 640, 1280]`: pixels.
struct WidthList: ParameterValue {
    let widths: [Int]

    private static let range = 1...maximumCoordinate
    static var expectation: String { "a width in pixels such as 640, or a list such as [320, 640, 1280]" }
    static var schema: JSONValue {
        let one: JSONValue = ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
        return ["anyOf": [one, ["type": "array", "items": one, "minItems": 1, "uniqueItems": true]]]
    }
    static var placeholder: WidthList { WidthList(widths: [1]) }
    var written: String { "[" + widths.map(String.init).joined(separator: ", ") + "]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> WidthList? {
        guard case .list(let items) = node.content else {
            return Int.read(node, &log).flatMap { range.contains($0) ? WidthList(widths: [$0]) : nil }
        }
        guard !items.isEmpty else { return nil }
        var widths: [Int] = []
        for item in items {
            if let width = Int.read(item, &log), range.contains(width) {
                if widths.contains(width) { log.problem(item.position, "duplicate width \(width); remove one of them") }
                widths.append(width)
            } else {
                let text = item.text ?? ""
                let number = text.hasSuffix("px") ? Int(text.dropLast(2)) : nil
                let remedy = number.map { "; write \($0) without a unit" } ?? ""
                log.problem(
                    item.position,
                    "a width is a whole number of pixels from 1 to \(range.upperBound), found \(item.found)\(remedy)")
            }
        }
        return WidthList(widths: widths)
    }
}
