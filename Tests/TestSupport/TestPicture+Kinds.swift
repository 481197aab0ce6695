// Pictures of every kind that stages meet: grey or RGB, with alpha or without, 8 or 16 bits.
package import Vips

/// The kind of a test picture: its bands and their depth.
package struct PictureKind: Hashable, Sendable, CustomStringConvertible {
    package let isGrey: Bool
    package let hasAlpha: Bool
    /// 16 bits instead of 8.
    package let isDeep: Bool

    package init(isGrey: Bool = false, hasAlpha: Bool = false, isDeep: Bool = false) {
        self.isGrey = isGrey
        self.hasAlpha = hasAlpha
        self.isDeep = isDeep
    }

    package static let all = [false, true].flatMap { deep in
        [false, true].flatMap { grey in [false, true].map { PictureKind(isGrey: grey, hasAlpha: $0, isDeep: deep) } }
    }

    package var colours: Int { isGrey ? 1 : 3 }
    package var bands: Int { colours + (hasAlpha ? 1 : 0) }
    package var maximum: Int { isDeep ? 65_535 : 255 }
    package var description: String {
        (isGrey ? "grey" : "RGB") + (hasAlpha ? "+alpha" : "") + (isDeep ? " 16 bit" : " 8 bit")
    }
}

extension TestPicture {
    /// A picture of the grid's numbers; 1 and 2 bands are grey.
    package static func make(_ grid: PixelGrid) throws -> Image {
        try TestVips.start()
        let isGrey = grid.bands <= 2
        let low = try Image(
            bytes: grid.values.map { UInt8(truncatingIfNeeded: $0) }, width: grid.width, height: grid.height,
            bands: grid.bands)
        guard grid.maximum > 255 else { return try low.copy(interpretation: isGrey ? .bw : .srgb) }
        let high = try Image(
            bytes: grid.values.map { UInt8($0 >> 8) }, width: grid.width, height: grid.height, bands: grid.bands)
        let sum = try high.linear([256], [0]).add(low).cast(.ushort)
        return try sum.copy(interpretation: isGrey ? .grey16 : .rgb16).inMemory()
    }

    /// A picture whose pixels are given by a function of their place, in the kind's own numbers.
    package static func make(
        width: Int, height: Int, kind: PictureKind, _ value: (_ x: Int, _ y: Int) -> [Int]
    ) throws -> Image {
        var values: [Int] = []
        values.reserveCapacity(width * height * kind.bands)
        for y in 0..<height { for x in 0..<width { values += value(x, y) } }
        return try make(
            PixelGrid(width: width, height: height, bands: kind.bands, maximum: kind.maximum, values: values))
    }

    /// A picture in which no two neighbours are alike, so that a probe tells where a pixel came from: up to 250 × 250
    /// places.
    package static func coded(width: Int, height: Int, kind: PictureKind = PictureKind()) throws -> Image {
        let factor = kind.isDeep ? 257 : 1
        return try make(width: width, height: height, kind: kind) { x, y in
            let colour = kind.isGrey ? [(x * 7 + y * 61) % 251] : [x % 251, y % 251, (x * 5 + y * 3) % 251]
            return (colour + (kind.hasAlpha ? [255 - (x * 3 + y * 11) % 200] : [])).map { $0 * factor }
        }
    }
}
