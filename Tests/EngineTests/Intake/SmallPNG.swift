// A PNG for tests that need a complete picture and no decoder.

/// A complete PNG of one pixel.
enum SmallPNG {
    static let bytes: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
        + chunk("IDAT", [1, 2, 3, 4])
        + chunk("IEND", [])

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(body.count)] + Array(name.utf8) + body + [0, 0, 0, 0]
    }
}
