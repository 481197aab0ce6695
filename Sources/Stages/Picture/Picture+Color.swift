// Colours in a picture's own numbers.
package import Pipeline
package import Vips

extension Picture {
    /// A colour in the picture's own numbers, or the nearest that they can say; one for each band except alpha. It is
    /// there to be compared with pixels. What is drawn is an `Ink`, which the plan has found the picture can hold.
    func nearestNumbers(to color: Color) throws -> [Double] {
        let levels = [color.red, color.green, color.blue]
        // Colors that need no conversion are asked for often.
        if profile == nil, pixels.colour == .rgb || (isGrey && color.isGrey) {
            return levels.prefix(pixels.colour.bands).map { Double($0) * (white / 255) }
        }
        if let profile, pixels.colour == .rgb,
            let exact = ColorSpaceLight(ICCProfile(profile), isGrey: false)?.numbers(
                ofStandard: levels.map { Double($0) / 255 })
        {
            return exact.map { ($0 * white).rounded() }
        }
        let pixel = try Image(bytes: levels.map { UInt8(clamping: $0) }, width: 1, height: 1, bands: 3).copy(
            interpretation: .srgb)
        let depth = 8 * pixels.depth.bytes
        let own =
            switch (pixels.colour, profile) {
            case (.lab, _): try pixel.colourspace(.lab).unsignedLab()
            case (_, let profile?): try pixel.converted(toProfile: profile, depth: depth)
            case (.cmyk, nil): try pixel.iccTransform(to: .cmyk, input: .srgb, depth: depth)
            case (.grey, nil), (.rgb, nil): try pixel.colourspace(.bw).linear([white / 255], [0])
            }
        return Array(try own.getpoint(x: 0, y: 0).prefix(pixels.colour.bands))
    }

    /// A colour that the plan has found the picture can hold, in the picture's own numbers without alpha.
    func components(of ink: Ink) throws -> [Double] {
        let isHeld =
            switch pixels.colour {
            case .rgb: true
            case .grey: ink.color.isGrey || profile != nil
            case .cmyk, .lab: false
            }
        guard isHeld else { throw MismatchedPlan(stage: "draw") }
        return try nearestNumbers(to: ink.color)
    }

    /// The same, with alpha if the picture has one.
    func componentsWithAlpha(of ink: Ink) throws -> [Double] {
        try components(of: ink) + (hasAlpha ? [ink.color.alpha * white] : [])
    }

    /// A picture of one colour in this one's format.
    func filled(with ink: Ink, size: PixelSize, hasAlpha: Bool) throws -> Picture {
        try filled(components(of: ink) + (hasAlpha ? [ink.color.alpha * white] : []), size: size, hasAlpha: hasAlpha)
    }

    /// An opaque picture of one color: the average of another one of this picture's format.
    func filled(withAverageOf pixels: Picture, size: PixelSize) throws -> Picture {
        try filled(average(of: pixels), size: size, hasAlpha: false)
    }

    /// Composites onto the average of another picture of this one's format, and drops the alpha.
    func flattened(ontoAverageOf pixels: Picture) throws -> Picture {
        hasAlpha ? try flattened(onto: average(of: pixels)) : self
    }

    /// Composites onto an opaque colour and drops the alpha.
    /// - Parameter watch: finds out whether that changes a pixel.
    package func flattened(onto ink: Ink, watch: AlphaWatch? = nil) throws -> Picture {
        guard hasAlpha else { return self }
        let watched = if let watch { with(try image.watched(by: watch)) } else { self }
        return try watched.flattened(onto: components(of: ink))
    }

    private func flattened(onto numbers: [Double]) throws -> Picture {
        // In floating point, since libvips cuts off what it should round.
        try storing(image.cast(.float).flatten(background: numbers, maximumAlpha: white), hasAlpha: false)
    }

    /// The average of pixels, weighed by their alpha; white if nothing is seen of them.
    private func average(of pixels: Picture) throws -> [Double] {
        guard hasAlpha else { return try pixels.image.means() }
        let means = try pixels.image.premultiply(maximumAlpha: white).means()
        let alpha = means[means.count - 1] / white
        guard alpha > 0 else { return try nearestNumbers(to: .white) }
        return means.dropLast().map { min($0 / alpha, white) }
    }

    /// - Parameter numbers: for each band, alpha included.
    private func filled(_ numbers: [Double], size: PixelSize, hasAlpha: Bool) throws -> Picture {
        let pixel = try Image.black(width: 1, height: 1, bands: numbers.count)
        let painted = try storing(
            pixel.linear(Array(repeating: 0, count: numbers.count), numbers), hasAlpha: hasAlpha)
        return painted.with(
            try painted.image.embed(
                x: 0, y: 0, width: size.width, height: size.height, background: numbers.map { $0.rounded() }))
    }

    /// A canvas of one colour, with alpha, in 8 bits.
    init(_ ink: Ink, size: PixelSize) throws {
        let color = ink.color
        let pixels = PixelFormat(color.isGrey ? .grey : .rgb)
        let pixel = try Image.black(width: 1, height: 1, bands: pixels.bands).copy(
            interpretation: pixels.interpretation)
        let model = Picture(pixel, pixels, profile: nil)
        self = try model.filled(
            model.nearestNumbers(to: color) + [color.alpha * model.white], size: size, hasAlpha: true)
    }

    /// A canvas through which all is seen, in 8 bits of gray.
    init(clear size: PixelSize) throws {
        let pixels = PixelFormat(.grey, hasAlpha: true)
        let pixel = try Image.black(width: 1, height: 1, bands: pixels.bands).copy(
            interpretation: pixels.interpretation)
        self = try Picture(pixel, pixels, profile: nil).onCanvas(size)
    }

    /// Every pixel in one colour; alpha stays.
    func painted(in ink: Ink) throws -> Picture {
        let components = try components(of: ink)
        let factors = components.map { _ in 0.0 } + (hasAlpha ? [1] : [])
        return try storing(image.linear(factors, components + (hasAlpha ? [0] : [])))
    }
}

extension Image {
    /// An sRGB picture in the colours of a profile. Alpha goes along.
    package func converted(toProfile profile: [UInt8], depth: Int) throws -> Image {
        let numbers = try colourspace(format == .ushort ? .rgb16 : .srgb)
        if let exact = try numbers.converted(exactlyTo: ICCProfile(profile), depth: depth) { return exact }
        return try numbers.iccTransform(toProfile: profile, input: .srgb, depth: depth)
    }

    /// The same by curves and a matrix; nil if the profile has more than that, or is gray.
    private func converted(exactlyTo profile: ICCProfile, depth: Int) throws -> Image? {
        let isDeep = format == .ushort || depth == 16
        guard bands - (hasAlpha ? 1 : 0) == 3, let from = ColorSpaceLight(nil, isGrey: false),
            let to = ColorSpaceLight(profile, isGrey: false),
            let loop = ColorLoop(from: from, to: to, depth: isDeep ? .sixteen : .eight)
        else { return nil }
        var deep = self
        if isDeep, format != .ushort {
            deep = try linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16)
        }
        let converted = try loop.applied(to: Picture(decoded: deep)).image
        guard isDeep, depth == 8 else { return converted }
        return try converted.linear([1.0 / 257], [0]).rint().cast(.uchar).copy(interpretation: .srgb)
    }
}
