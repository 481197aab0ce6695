/// The shape of a rectangle, width to height: `4:5`, or a decimal such as `0.8`.
package struct Ratio: ParameterValue, Hashable {
    package let width, height: Double

    package init(_ width: Double, _ height: Double) { (self.width, self.height) = (width, height) }

    /// The largest rectangle of this shape within another, in pixels.
    package func largest(in size: PixelSize) -> PixelSize {
        isWider(than: size)
            ? PixelSize(size.width, max(1, rounded(Double(size.width) * height / width)))
            : PixelSize(max(1, rounded(Double(size.height) * width / height)), size.height)
    }

    /// The smallest rectangle of this shape around another, in pixels.
    package func smallest(around size: PixelSize) -> PixelSize {
        isWider(than: size)
            ? PixelSize(rounded(Double(size.height) * width / height), size.height)
            : PixelSize(size.width, rounded(Double(size.width) * height / width))
    }

    private func isWider(than size: PixelSize) -> Bool { width * Double(size.height) > height * Double(size.width) }

    package static var expectation: String { "a ratio of width to height such as 4:5 or 0.8" }
    package static var schema: JSONValue {
        [
            "anyOf": [
                ["type": "number", "exclusiveMinimum": 0],
                ["type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(:[0-9]+(\\.[0-9]+)?)?$"],
            ]
        ]
    }
    package static var placeholder: Ratio { Ratio(1, 1) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Ratio? { node.text.flatMap(Ratio.init) }

    /// - Returns: nil if it is not written as one.
    package init?(_ text: String) {
        let sides = text.split(separator: ":", omittingEmptySubsequences: false).map { finiteNumber(String($0)) }
        guard (1...2).contains(sides.count), let width = sides[0], let height = sides.count == 2 ? sides[1] : 1 else {
            return nil
        }
        // Beyond, a picture of this shape would be a line of more pixels than there are.
        let most = Double(maximumCoordinate)
        guard width > 0, height > 0, (1 / most...most).contains(width / height) else { return nil }
        self.init(width, height)
    }

    package var written: String {
        height == 1 ? writtenNumber(width) : "\(writtenNumber(width)):\(writtenNumber(height))"
    }
}
