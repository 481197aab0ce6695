/// An asset as far as planning needs it: upright, in sRGB.
package struct AssetFacts: Hashable, Sendable, Codable {
    /// Pixels. A vector picture has `measuringFactor` times its size here, which need not be whole pixels.
    package let size: PixelSize
    /// From the `@Nx` of its name; of a vector picture, `measuringFactor` times that.
    package let pixelsPerPoint: Int
    package let isGrey: Bool
    package let depth: BitDepth
    /// Bytes that a worker needs at most until it has it in memory, itself among them.
    package let decoding: Int
    /// It is not in memory, but drawn in each size that is needed.
    package let isVector: Bool

    package init(
        size: PixelSize, pixelsPerPoint: Int, isGrey: Bool, depth: BitDepth = .eight, decoding: Int = 0,
        isVector: Bool = false
    ) {
        self.size = size
        self.pixelsPerPoint = pixelsPerPoint
        self.isGrey = isGrey
        self.depth = depth
        self.decoding = decoding
        self.isVector = isVector
    }

    /// The asset as stages get it: with an alpha channel.
    package var picture: PictureInfo {
        PictureInfo(
            size: size, hasAlpha: true, colour: isGrey ? .grey : .rgb, depth: depth,
            pixelsPerPoint: Double(pixelsPerPoint))
    }

    /// Bytes of it that stay in memory.
    var held: Int { isVector ? 0 : picture.bytes }
}

// MARK: - Vector pictures

extension AssetFacts {
    /// How many times as wide and high as it is a vector picture is measured.
    package static let measuringFactor = 64

    /// The asset as its own stages get it. A vector picture is drawn with as many pixels in a point as are asked for.
    package func picture(pixelsPerPoint: Double) -> PictureInfo {
        guard isVector else { return picture }
        var drawn = picture.resized(to: picture.naturalSize(scale: pixelsPerPoint))
        drawn.pixelsPerPoint = pixelsPerPoint
        return drawn
    }

    /// How many times as large as it is a vector picture is drawn to fill a size. It keeps its proportions: one that is
    /// stretched is drawn so large that neither side is enlarged.
    package func drawingFactor(filling wanted: PixelSize) -> Double {
        let across = Double(wanted.width) / own.width
        let down = Double(wanted.height) / own.height
        let factor = own.width >= own.height ? across : down
        let drawn = (width: (own.width * factor).rounded(), height: (own.height * factor).rounded())
        let isAlike =
            min(drawn.width, drawn.height) >= 1 && abs(drawn.width - Double(wanted.width)) <= 1
            && abs(drawn.height - Double(wanted.height)) <= 1
        return isAlike ? factor : max(across, down)
    }

    /// The size in which a vector picture is drawn to fill another one; nil if this is none.
    package func drawing(filling wanted: PixelSize) -> PixelSize? {
        guard isVector else { return nil }
        let factor = drawingFactor(filling: wanted)
        return PixelSize(rounded(own.width * factor), rounded(own.height * factor))
    }

    /// The size of a vector picture in its own pixels.
    private var own: (width: Double, height: Double) {
        let factor = Double(Self.measuringFactor)
        return (Double(size.width) / factor, Double(size.height) / factor)
    }
}
