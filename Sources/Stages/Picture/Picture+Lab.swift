// Lab in numbers like those of all other pictures of 16 bits. libvips has it with signs, and in floating point.
package import Pipeline
package import Vips

extension Image {
    /// libvips' Lab in 16 bits without a sign: lightness and alpha up to 65535, and 32768 for an a or b of 0. Each
    /// whole number of libvips has one of its own.
    func unsignedLab() throws -> Image {
        guard interpretation == .labs else {
            let factors = [655.35, 256, 256, 257], offsets: [Double] = [0, 32_768, 32_768, 0]
            return try linear(Array(factors.prefix(bands)), Array(offsets.prefix(bands))).stored(.ushort, .rgb16)
        }
        let colours = try droppingAlpha().linear([65_535 / 32_767.0, 1, 1], [0, 32_768, 32_768])
        guard hasAlpha else { return try colours.stored(.ushort, .rgb16) }
        // Files have alpha without a sign, and libvips takes its bits as they are.
        let alpha = try extractBands(from: bands - 1, count: 1)
        let whole = try alpha.choosing(where: alpha.more(than: -1), else: alpha.linear([1], [65_536]))
        return try colours.bandjoin(whole).stored(.ushort, .rgb16)
    }

    /// The inverse: the same numbers as libvips had them.
    fileprivate func signedLab() throws -> Image {
        let colours = try extractBands(from: 0, count: 3).linear([32_767 / 65_535.0, 1, 1], [0, -32_768, -32_768])
        guard hasAlpha else { return try colours.stored(.short, .labs) }
        let alpha = try extractBands(from: bands - 1, count: 1)
        let bits = try alpha.linear([1], [-65_536]).choosing(where: alpha.more(than: 32_767), else: alpha)
        return try colours.bandjoin(bits).stored(.short, .labs)
    }

    private func stored(_ format: BandFormat, _ meaning: Interpretation) throws -> Image {
        try rint().cast(format).copy(interpretation: meaning)
    }
}

extension Picture {
    /// The image for what goes by the meaning of numbers: conversions between spaces of colour, and savers.
    package var inLibvipsNumbers: Image {
        get throws { pixels.colour == .lab ? try image.signedLab() : image }
    }

    /// Colours of the same meaning that libvips has computed, as this picture has its own.
    func fromLibvips(_ colours: Image) throws -> Image {
        pixels.colour == .lab ? try colours.unsignedLab() : try colours.cast(image.format)
    }

    /// The picture in other colours. Alpha goes along.
    /// - Parameters:
    ///   - pixels: of as many bits as this picture, or of 16.
    ///   - work: converts colours without alpha in numbers that libvips knows.
    package func converted(to pixels: PixelFormat, _ work: (Image) throws -> Image) throws -> Picture {
        let colours = try work(droppingAlpha().inLibvipsNumbers)
        let whole = try alpha.map { try colours.bandjoin($0) } ?? colours
        return try Picture(whole.copy(interpretation: pixels.interpretation), pixels, profile: nil).withoutProfile()
    }
}
