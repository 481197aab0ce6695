// Alpha: added, dropped, multiplied, and kept out of what is done to colours.
import Pipeline
import Vips

extension Picture {
    /// The band of alpha, alone; nil if there is none.
    var alpha: Image? {
        get throws { hasAlpha ? try image.extractBands(from: image.bands - 1, count: 1) : nil }
    }

    /// How much of a mask covers each pixel, as one band: its alpha, or its lightness if it has none.
    var coverage: Image {
        get throws { try alpha ?? withoutColors().image }
    }

    /// The picture with an alpha channel, opaque if it had none.
    package func addingAlpha() throws -> Picture {
        guard !hasAlpha else { return self }
        let covered = PixelFormat(pixels.colour, pixels.depth, hasAlpha: true)
        return Picture(try image.bandjoin(constants: [white]), covered, profile: profile)
    }

    package func droppingAlpha() throws -> Picture {
        guard hasAlpha else { return self }
        return Picture(try image.droppingAlpha(), PixelFormat(pixels.colour, pixels.depth), profile: profile)
    }

    /// The picture after work in premultiplied floating point, so that transparent pixels lend no colour to their
    /// neighbours; without alpha, after the same work on its pixels as they are.
    func premultiplied(_ work: (Image) throws -> Image) throws -> Picture {
        guard hasAlpha else { return with(try work(image)) }
        return try storing(work(image.premultiply(maximumAlpha: white)).unpremultiply(maximumAlpha: white))
    }

    /// The picture after work on its colours alone. Its alpha goes along unchanged.
    func onColours(_ work: (Picture) throws -> Image) throws -> Picture {
        guard let alpha = try alpha else { return with(try work(self)) }
        return with(try work(self).bandjoin(alpha).copy(interpretation: pixels.interpretation))
    }

    /// Every pixel's alpha times a factor from 0 to 1.
    func multiplyingAlpha(by factor: Double) throws -> Picture {
        guard factor < 1 else { return self }
        let picture = try addingAlpha()
        let bands = picture.image.bands
        return try picture.storing(
            picture.image.linear(Array(repeating: 1, count: bands - 1) + [factor], Array(repeating: 0, count: bands)))
    }

    /// Every pixel's alpha times a mask of one band.
    /// - Parameter full: the number of the mask that changes nothing.
    func multiplyingAlpha(by mask: Image, full: Double = 255) throws -> Picture {
        let picture = try addingAlpha()
        guard let alpha = try picture.alpha else { return picture }
        let masked = try alpha.multiply(mask).linear([1 / full], [0]).rint().cast(image.format)
        return picture.with(
            try picture.image.droppingAlpha().bandjoin(masked).copy(interpretation: pixels.interpretation))
    }

    /// Composites onto other pixels: source-over on premultiplied values.
    /// - Parameter under: colors in this picture's numbers, multiplied by their alpha, and alpha, which is its last
    ///   band as it is this picture's.
    func composited(over under: Image) throws -> Picture {
        let premultiplied = try image.premultiply(maximumAlpha: white)
        let uncovered = try premultiplied.extractBands(from: image.bands - 1, count: 1).linear([-1 / white], [1])
        return try storing(premultiplied.add(under.multiply(uncovered)).unpremultiply(maximumAlpha: white))
    }

    /// Other pixels composited onto this picture.
    /// - Parameter over: as `under` for the other way round, also if this picture has no alpha.
    func composited(under over: Image) throws -> Picture {
        let uncovered = try over.extractBands(from: over.bands - 1, count: 1).linear([-1 / white], [1])
        guard hasAlpha else {
            return try storing(image.multiply(uncovered).add(over.extractBands(from: 0, count: over.bands - 1)))
        }
        let premultiplied = try image.premultiply(maximumAlpha: white)
        return try storing(premultiplied.multiply(uncovered).add(over).unpremultiply(maximumAlpha: white))
    }

    /// Composites onto a colour that is neither opaque nor transparent: source-over on premultiplied values.
    private func composited(over ink: Ink) throws -> Picture {
        guard hasAlpha else { return self }
        let (components, color) = (try components(of: ink), ink.color)
        // result = picture + colour × (1 − picture's alpha), all premultiplied, alpha included.
        let premultiplied = try image.premultiply(maximumAlpha: white)
        let colour = components.map { $0 * color.alpha } + [color.alpha * white]
        let uncovered = try premultiplied.extractBands(from: image.bands - 1, count: 1).linear([-1 / white], [1])
        let under = try uncovered.linear(colour, Array(repeating: 0, count: image.bands))
        return try storing(premultiplied.add(under).unpremultiply(maximumAlpha: white))
    }
}

extension Picture {
    /// The picture in a frame of one colour, which is seen around it and through it; what does not fit is cut.
    /// - Parameter ink: nil if the picture covers the frame and nothing is seen of the colour.
    func laid(over ink: Ink?, in frame: PixelSize, at offset: PixelOffset) throws -> Picture {
        guard let ink else { return self }
        let isPlaced = offset == PixelOffset(0, 0) && size == frame
        if ink.color.isOpaque {
            let flat = try flattened(onto: ink)
            return isPlaced ? flat : try flat.onCanvas(frame, at: offset, background: ink)
        }
        let placed = isPlaced ? self : try addingAlpha().onCanvas(frame, at: offset)
        return ink.color.isTransparent ? placed : try placed.composited(over: ink)
    }
}

extension Image {
    /// The bands without alpha.
    func droppingAlpha() throws(VipsError) -> Image { hasAlpha ? try extractBands(from: 0, count: bands - 1) : self }
}
