import Pipeline
import Vips

extension TIFFSource: SourceDecoder {
    static func corrected(_ opened: Image, of file: ReceivedFile, page: Int, tolerance: Tolerance) throws -> Image {
        let extra = try file.structureForDecoding { extraSamples(page: page, $0) }
        return try withKnownBands(opened, extra: extra).withLightDivided(by: extra.first { $0.isAlpha })
    }

    /// The colours and at most one alpha channel. libvips takes for alpha whatever comes first after the colours.
    /// - Parameter extra: the bands after the colours.
    private static func withKnownBands(_ image: Image, extra: [ExtraSample]) throws(VipsError) -> Image {
        let colours = image.bands - extra.count
        guard extra.map(\.isAlpha) != [true], !extra.isEmpty, [1, 3, 4].contains(colours) else { return image }
        let known = try image.extractBands(from: 0, count: colours)
        guard let alpha = extra.firstIndex(where: \.isAlpha) else { return known }
        return try known.bandjoin(image.extractBands(from: colours + alpha, count: 1))
    }

    static let sample = """
        SUkqABgAAAB4nGNgGAWjYOQCAAMAAAEAEAAAAQMAAQAAABAAAAABAQMAAQAAABAAAAACAQMAAwAAAO4AAAADAQMAAQAAAAgAAAAGAQMAAQAAAAIAAA\
        ARAQQAAQAAAAgAAAASAQMAAQAAAAEAAAAVAQMAAQAAAAMAAAAWAQMAAQAAAIAAAAAXAQQAAQAAAA8AAAAaAQUAAQAAAN4AAAAbAQUAAQAAAOYAAAAc\
        AQMAAQAAAAEAAAAoAQMAAQAAAAMAAAA9AQMAAQAAAAIAAABTAQMAAwAAAPQAAAAAAAAACgAAAAEAAAAKAAAAAQAAAAgACAAIAAEAAQABAA==
        """
}

extension Image {
    /// A decoded picture in floating point, from 0 to 1, whose colors are divided by their alpha as far as 1.
    ///
    /// libvips divides when it decodes, but before 8.15 it takes the alpha for one up to 255. Its own multiplication
    /// undoes that, whichever version it is.
    fileprivate func withLightDivided(by alpha: ExtraSample?) throws(VipsError) -> Image {
        guard alpha == .multipliedAlpha, interpretation == .scrgb, hasAlpha else { return self }
        return try premultiply().unpremultiply(maximumAlpha: 1)
    }
}
