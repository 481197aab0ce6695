// What several stages do with pixels: scaling, alpha, and colours in the picture's own numbers.
package import Pipeline
package import Vips

extension Image {
    /// The profile of a picture that keeps its own: colours are converted into it. A picture in sRGB carries none.
    var keptProfile: [UInt8]? { blob("icc-profile-data") }

    /// The value of a band that is full: 255 or 65535.
    var maximumValue: Double { format == .ushort ? 65_535 : 255 }

    var isGrey: Bool { bands <= 2 }

    /// The picture with an alpha channel, opaque where it had none.
    package func addingAlpha() throws -> Image {
        hasAlpha ? self : try bandjoin(constants: [maximumValue])
    }

    package func droppingAlpha() throws -> Image {
        hasAlpha ? try extractBands(from: 0, count: bands - 1) : self
    }

    /// Grey as three equal bands, where the plan says that a colour is drawn.
    func inColour(_ model: ColourModel) throws -> Image {
        guard model == .rgb, isGrey else { return self }
        return try colourspace(format == .ushort ? "rgb16" : "srgb")
    }

    /// The picture after work in premultiplied floating point, so that transparent pixels lend no colour to their neighbours.
    func premultiplied(_ work: (Image) throws -> Image) throws -> Image {
        let maximum = maximumValue
        let meaning = interpretation
        let worked = try work(premultiply(maximumAlpha: maximum))
        return try worked.unpremultiply(maximumAlpha: maximum).rint().cast(format).copy(interpretation: meaning)
    }

    /// Scales to a size in pixels.
    package func scaled(to size: PixelSize, kernel: ScalingKernel = .lanczos3, inLinearLight linear: Bool = false) throws -> Image {
        guard width != size.width || height != size.height else { return self }
        guard let weighing = ResamplingKernel(kernel) else { return try resize(width: size.width, height: size.height, kernel: "nearest") }
        let resample = { (image: Image) throws -> Image in
            try image.resampled(to: ResamplingTarget(width: size.width, height: size.height, kernel: weighing))
        }
        return linear ? try inLinearLight(resample) : try resample(self)
    }

    /// The picture after work on light instead of on sRGB's numbers. A kept profile is taken to have sRGB's curve, which most have.
    private func inLinearLight(_ work: (Image) throws -> Image) throws -> Image {
        let space = interpretation
        let maximum = maximumValue
        let format = format
        // The alpha channel is no light: it goes along as a band of its own, premultiplied into the others.
        let light = try droppingAlpha().colourspace("scrgb")
        guard hasAlpha else { return try work(light).colourspace(space).cast(format) }
        // In its own range, since libvips takes an alpha below 0.01 for none.
        let alpha = try extractBands(from: bands - 1, count: 1).cast(.float)
        let covered = try light.multiply(alpha.linear([1 / maximum], [0]))
        let worked = try work(covered.bandjoin(alpha).copy(interpretation: "multiband"))
        let coverage = try worked.extractBands(from: worked.bands - 1, count: 1)
        let colour = try worked.unpremultiply(maximumAlpha: maximum).extractBands(from: 0, count: worked.bands - 1)
        let back = try colour.copy(interpretation: "scrgb").colourspace(space).cast(format)
        return try back.bandjoin(coverage.rint().cast(format)).copy(interpretation: space)
    }

    /// Every pixel's alpha times a factor from 0 to 1.
    func multiplyingAlpha(by factor: Double) throws -> Image {
        guard factor < 1 else { return self }
        let picture = try addingAlpha()
        let factors = Array(repeating: 1.0, count: picture.bands - 1) + [factor]
        let zeros = Array(repeating: 0.0, count: picture.bands)
        return try picture.linear(factors, zeros).rint().cast(format).copy(interpretation: interpretation)
    }

    /// Every pixel's alpha times a mask of one band, 0 to 255.
    func multiplyingAlpha(by mask: Image) throws -> Image {
        let picture = try addingAlpha()
        let alpha = try picture.extractBands(from: picture.bands - 1, count: 1)
        let masked = try alpha.multiply(mask).linear([1.0 / 255], [0]).rint().cast(format)
        return try picture.extractBands(from: 0, count: picture.bands - 1).bandjoin(masked).copy(interpretation: interpretation)
    }
}

extension ResamplingKernel {
    /// The kernel of the same name; nil for `nearest`, which takes whole pixels and weighs none.
    package init?(_ kernel: ScalingKernel) {
        switch kernel {
        case .nearest: return nil
        case .lanczos3: self = .lanczos3
        case .lanczos2: self = .lanczos2
        case .mitchell: self = .mitchell
        case .cubic: self = .cubic
        case .linear: self = .linear
        }
    }
}

extension RenderContext {
    /// A colour in the picture's own numbers, without alpha: as many as the picture has colour bands.
    func values(of color: Color, in image: Image) throws -> [Double] {
        let bands = image.bands - (image.hasAlpha ? 1 : 0)
        if let profile = image.keptProfile { return try converted(color, to: profile, depth: image.format == .ushort ? 16 : 8, bands: bands) }
        let factor = image.maximumValue / 255
        return [color.red, color.green, color.blue].prefix(bands).map { Double($0) * factor }
    }

    /// The same with alpha where the picture has one.
    func valuesWithAlpha(of color: Color, in image: Image) throws -> [Double] {
        try values(of: color, in: image) + (image.hasAlpha ? [color.alpha * image.maximumValue] : [])
    }

    private func converted(_ color: Color, to profile: [UInt8], depth: Int, bands: Int) throws -> [Double] {
        let bytes = [color.red, color.green, color.blue].map { UInt8(clamping: $0) }
        let pixel = try Image(bytes: bytes, width: 1, height: 1, bands: 3).copy(interpretation: "srgb")
        return try pixel.converted(toProfile: profile, depth: depth).getpoint(x: 0, y: 0).prefix(bands).map { $0 }
    }
}

extension Image {
    /// An sRGB picture in the colours of a profile. Alpha goes along.
    package func converted(toProfile profile: [UInt8], depth: Int) throws -> Image {
        let lab = try colourspace(format == .ushort ? "rgb16" : "srgb").iccImport(from: "srgb").editingMetadata {
            $0.set("icc-profile-data", blob: profile)
        }
        return try lab.iccExport(depth: depth)
    }
}
