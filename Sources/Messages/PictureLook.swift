/// The look of a rendition, for pages to show before it is loaded.
package struct PictureLook: Codable, Sendable, Equatable {
    /// Red, green and blue, eight bits each; nil if it is not wanted, or if the picture is fully transparent.
    package let color: Int?
    /// As https://evanw.github.io/thumbhash describes it; nil if it is not wanted.
    package let thumbHash: [UInt8]?

    package init(color: Int?, thumbHash: [UInt8]?) { (self.color, self.thumbHash) = (color, thumbHash) }

    /// With alpha: six bytes, then half a byte each for 14, 5, 5 and 14 numbers; without, five bytes and 27, 5 and 5.
    private static let longestHash = 25

    package var isPlausible: Bool {
        color.map { (0...0xFF_FFFF).contains($0) } ?? true
            && thumbHash.map { (5...Self.longestHash).contains($0.count) } ?? true
    }

    /// As CSS writes it: `#a0b1c2`.
    package var cssColor: String? {
        color.map { color in
            let digits = String(color, radix: 16)
            return "#" + String(repeating: "0", count: 6 - digits.count) + digits
        }
    }
}
