// A colour as the user writes it, always sRGB.

/// A colour in sRGB.
package struct Color: Hashable, Sendable {
    /// 0…255.
    package let red, green, blue: Int
    /// 0 (transparent) … 1 (opaque).
    package let alpha: Double

    package init(red: Int, green: Int, blue: Int, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    package static let white = Color(red: 255, green: 255, blue: 255)
    package static let black = Color(red: 0, green: 0, blue: 0)
    package static let transparent = Color(red: 0, green: 0, blue: 0, alpha: 0)

    package var isOpaque: Bool { alpha >= 1 }
    package var isTransparent: Bool { alpha <= 0 }
    /// A shade of grey, or nothing at all: drawing it leaves a grey picture grey.
    package var isGrey: Bool { (red == green && green == blue) || isTransparent }

    /// Reads `white`, `transparent`, `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`.
    package init?(_ text: String) {
        let lowered = text.lowercased()
        if lowered == "transparent" {
            self = .transparent
        } else if let value = Self.named[lowered] {
            self.init(red: value >> 16 & 255, green: value >> 8 & 255, blue: value & 255)
        } else {
            self.init(hex: lowered)
        }
    }

    private init?(hex text: String) {
        guard text.hasPrefix("#"), text.utf8.dropFirst().allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
            return nil
        }
        var digits = text.dropFirst().compactMap(\.hexDigitValue)
        // The short form doubles each digit.
        if digits.count == 3 || digits.count == 4 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? Double(bytes[3]) / 255 : 1)
    }
}

extension Color: ParameterValue {
    package static var expectation: String { "a color such as white, transparent, #f80, #ff8800 or #ff880080" }
    package static var schema: JSONValue { ["type": "string"] }
    package static var placeholder: Color { .white }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Color? {
        read(node, expecting: expectation, &log)
    }

    /// - Parameter expectation: which colors are expected, for messages.
    static func read(_ node: YAMLNode, expecting expectation: String, _ log: inout ReadingLog) -> Color? {
        // An unquoted # starts a comment, so that nothing is left of the value.
        if node.isNull {
            log.problem(node.position, "expected \(expectation), found nothing; a color with # needs quotes: '#ff8800'")
            return nil
        }
        guard let text = node.text else { return nil }
        if let color = Color(text) { return color }
        let hint = suggestion(for: text, among: Array(named.keys) + ["transparent"])
        log.problem(node.position, "expected \(expectation), found '\(text)'\(hint)")
        return nil
    }

    package var written: String {
        if let name = Self.named.filter({ Color($0.key) == self }).keys.min() { return name }
        if self == .transparent { return "transparent" }
        let bytes = [red, green, blue] + (isOpaque ? [] : [rounded(alpha * 255)])
        return "#" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
