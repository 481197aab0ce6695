package import Pipeline
package import Vips

/// A picture whose pixels have a known meaning: what stages receive and return.
package struct Picture {
    package let image: Image
    package let pixels: PixelFormat
    /// The ICC profile of the numbers; nil for sRGB and its grey.
    package let profile: [UInt8]?

    init(_ image: Image, _ pixels: PixelFormat, profile: [UInt8]?) {
        (self.image, self.pixels, self.profile) = (image, pixels, profile)
    }

    /// A picture as a decoder delivers it: packed numbers are unpacked, those of floating point are made whole, and
    /// Lab loses its sign.
    /// - Throws: `Failure` with the code `unsupported-colour` if its numbers are none that stages know.
    package init(decoded image: Image) throws {
        let whole = try Self.withKnownNumbers(image)
        let isLab = [.lab, .labs, .labq].contains(image.interpretation)
        let colour: ColourModel
        switch (isLab ? .lab : whole.interpretation, whole.bands - (whole.hasAlpha ? 1 : 0)) {
        case (.bw, 1), (.grey16, 1): colour = .grey
        case (.srgb, 3), (.rgb, 3), (.rgb16, 3): colour = .rgb
        case (.cmyk, 4): colour = .cmyk
        case (.lab, 3): colour = .lab
        default: throw Self.unsupported(image, expected: "gray, RGB, CMYK or Lab")
        }
        let depth: BitDepth = whole.format == .uchar ? .eight : .sixteen
        let pixels = PixelFormat(colour, depth, hasAlpha: whole.hasAlpha)
        let isNamed = whole.interpretation == pixels.interpretation
        self.init(
            isNamed ? whole : try whole.copy(interpretation: pixels.interpretation), pixels,
            profile: whole.blob("icc-profile-data"))
    }

    private static func withKnownNumbers(_ image: Image) throws -> Image {
        switch (image.interpretation, image.format) {
        // Ten bits of lightness and eleven of each colour, packed into four bytes.
        case (.labq, _):
            // A TIFF has eight bits of lightness: libvips puts zeros below them, which makes white 1020 of 1023.
            return try image.colourspace(.labs).linear([1023.0 / 1020, 1, 1], [0, 0, 0]).rint().cast(.short)
                .copy(interpretation: .labs).unsignedLab()
        case (.lab, .float) where image.bands <= 4, (.labs, .short) where image.bands <= 4:
            return try image.unsignedLab()
        case (_, .uchar), (_, .ushort): return image
        // Numbers from 0 to 1. With a profile they are the profile's own, else they are light.
        case (.scrgb, .float), (.scrgb, .double):
            let colours = try image.droppingAlpha()
            let hasProfile = image.has("icc-profile-data")
            let deep =
                hasProfile
                ? try colours.linear([65_535], [0.5]).cast(.ushort).copy(interpretation: .rgb16)
                : try colours.colourspace(.rgb16)
            guard image.hasAlpha else { return deep }
            let alpha = try image.extractBands(from: image.bands - 1, count: 1).linear([65_535], [0.5]).cast(.ushort)
            return try deep.bandjoin(alpha).copy(interpretation: .rgb16)
        default: throw unsupported(image, expected: "values of 8 or 16 bits without a sign")
        }
    }

    private static func unsupported(_ image: Image, expected: String) -> Failure {
        let found = "\(image.bands) bands of \(image.interpretation.rawValue), \(image.format.rawValue)"
        return Failure(.unsupportedColour, stage: "read", "expected \(expected), found \(found)")
    }
}

extension PixelFormat {
    /// libvips' name for the meaning of the numbers.
    package var interpretation: Interpretation {
        switch (colour, depth) {
        case (.grey, .eight): .bw
        case (.grey, .sixteen), (.grey, .float): .grey16
        case (.rgb, .eight): .srgb
        case (.rgb, .sixteen), (.rgb, .float): .rgb16
        case (.cmyk, _): .cmyk
        // libvips has no Lab without signs. To it these are three bands of 16 bits.
        case (.lab, _): .rgb16
        }
    }
}

extension Picture {
    package var width: Int { image.width }
    package var height: Int { image.height }
    package var size: PixelSize { PixelSize(image.width, image.height) }
    package var hasAlpha: Bool { pixels.hasAlpha }
    var isGrey: Bool { pixels.colour == .grey }
    /// The number of a band that is full.
    package var white: Double { pixels.depth == .sixteen ? 65_535 : 255 }

    /// Other pixels of the same format.
    package func with(_ image: Image) -> Picture { Picture(image, pixels, profile: profile) }

    /// Computed numbers as pixels of the same format.
    /// - Parameter hasAlpha: whether the last band is alpha; default as in this picture.
    func storing(_ numbers: Image, hasAlpha: Bool? = nil) throws -> Picture {
        var stored = pixels
        stored.hasAlpha = hasAlpha ?? pixels.hasAlpha
        return Picture(
            try numbers.rint().cast(image.format).copy(interpretation: stored.interpretation), stored, profile: profile)
    }

    /// The picture for an encoder, which finds its profile in the image: one that was made of other pixels has none there.
    package func showingProfile() throws -> Picture {
        guard let profile, !image.has(Self.profileField) else { return self }
        return with(try image.editingMetadata { $0.set(Self.profileField, blob: profile) })
    }

    private static let profileField = "icc-profile-data"

    /// The picture with its pixels computed once and held in memory.
    package func inMemory() throws -> Picture { with(try image.inMemory()) }
}

// Changes of the format.
extension Picture {
    /// Grey as three equal bands, if the plan says that a colour is drawn.
    package func promoted(to colour: ColourModel) throws -> Picture {
        guard colour == .rgb, isGrey else { return self }
        let promoted = PixelFormat(.rgb, pixels.depth, hasAlpha: hasAlpha)
        return Picture(try image.colourspace(promoted.interpretation), promoted, profile: profile)
    }

    /// The picture with 8 bits a band.
    package func inEightBits() throws -> Picture {
        guard pixels.depth != .eight else { return self }
        let coarse = PixelFormat(pixels.colour, .eight, hasAlpha: hasAlpha)
        return Picture(try image.colourspace(coarse.interpretation), coarse, profile: profile)
    }

    /// The picture with the pixels that all members of a set have.
    package func unified(to common: PixelFormat) throws -> Picture {
        var picture = try promoted(to: common.colour)
        if common.hasAlpha { picture = try picture.addingAlpha() }
        guard common.depth == .sixteen else { return picture }
        return try picture.inSixteenBits()
    }

    /// The picture with 16 bits a band: 255 becomes 65535, which libvips' own way does not do.
    package func inSixteenBits() throws -> Picture {
        guard pixels.depth == .eight else { return self }
        let deep = PixelFormat(pixels.colour, .sixteen, hasAlpha: hasAlpha)
        return Picture(
            try image.linear([257], [0]).cast(.ushort).copy(interpretation: deep.interpretation), deep, profile: profile
        )
    }

    /// The picture, whose numbers are those of a profile.
    package func withProfile(_ profile: [UInt8]) throws -> Picture {
        Picture(try image.editingMetadata { $0.set(Self.profileField, blob: profile) }, pixels, profile: profile)
    }

    /// The picture, whose numbers are those of sRGB or of its grey whatever its profile says.
    package func withoutProfile() throws -> Picture {
        Picture(try image.removingMetadata(["icc-profile-data"]), pixels, profile: nil)
    }
}
