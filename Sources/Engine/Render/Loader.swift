// A descriptor becomes a picture: exactly the loader of the format that the supervisor recognised, never libvips' own
// guess.
import Pipeline
import Stages
import Vips

enum Loader {
    /// What the header of a picture says that was opened with all its frames.
    /// - Parameter droppedBands: how many the file has besides.
    static func facts(of format: SourceFormat, _ picture: Picture, droppedBands: Int) -> SourceFacts {
        let image = picture.image
        // The pages of a JPEG 2000 are smaller sizes of the same picture.
        let pages = format == .jp2 ? 1 : max(1, image.pages)
        let isStacked = pages > 1 && image.pageHeight < image.height
        var facts = SourceFacts(
            format: format, size: PixelSize(image.width, isStacked ? image.pageHeight : image.height),
            // A decoder of HEIF turns the picture by what the container says, and by that alone; EXIF repeats it.
            orientation: format.isHEIF ? 1 : image.int("orientation") ?? 1, frames: pages, hasAlpha: picture.hasAlpha,
            colour: picture.pixels.colour,
            depth: picture.pixels.depth, hasProfile: picture.profile != nil,
            isInterlaced: (image.int("interlaced") ?? image.int("jpeg-multiscan") ?? 0) != 0,
            captureDate: captureDate(of: image))
        facts.metadataBytes = SourceMetadata.bytes(of: image)
        facts.profileBytes = image.byteCount(of: "icc-profile-data")
        facts.droppedBands = droppedBands
        return facts
    }

    /// Opens a picture for decoding. Rows come once, from top to bottom.
    /// - Parameters:
    ///   - page: from 1; nil for the first.
    ///   - factor: how many times as wide and high as its own size a vector picture is drawn.
    ///   - allFrames: all frames of an animation below each other, instead of the first picture of the file.
    /// - Returns: also how many bands of the file it lacks.
    /// - Throws: `VipsError`; `Failure` with the code `unsupported-colour` if its values are none that stages know.
    static func open(
        _ file: OpenFile, format: SourceFormat, page: Int? = nil, shrink: Int, factor: Double = 1, allFrames: Bool,
        tolerance: Tolerance
    ) throws -> (picture: Picture, droppedBands: Int) {
        var arguments: [(String, Argument)] = [
            ("source", .source(try Source(descriptor: file.descriptor))), ("access", "sequential"),
            ("fail_on", .string(tolerance == .truncated ? "none" : "error")),
        ]
        if let page, page > 1 { arguments.append(("page", .int(page - 1))) }
        switch format {
        case .jpeg: if shrink > 1 { arguments.append(("shrink", .int(shrink))) }
        case .webp, .gif: if allFrames { arguments.append(("n", -1)) }
        case .svg, .pdf: arguments.append(("scale", .double(factor)))
        case .png, .tiff, .heic, .avif, .jxl, .jp2: break
        }
        var image = try Operation(operation(for: format), arguments).image()
        if format == .png, tolerance == .truncated { image = try withoutLeftovers(image, of: file) }
        let extra = try file.structureForDecoding { extraSamples(format, page: page ?? 1, $0) }
        let known = try withKnownBands(image, extra: extra).withLightDivided(by: extra.first { $0.isAlpha })
        // libvips before 8.14.6 frees what a HEIF says of itself with the picture that was opened, even if copies of it
        // are still there: https://github.com/libvips/libvips/pull/3725.
        let picture = try Picture(decoded: format.isHEIF ? namingXMP(of: known.copyingBlobs()) : known)
        return (picture, image.bands - known.bands)
    }

    /// A truncated PNG with gray, instead of what happened to be in memory, where libvips has read no rows: parts of other
    /// pictures may be there.
    /// - Throws: `Failure` with the code `truncated` if no row can be read; `VipsError`.
    private static func withoutLeftovers(_ image: Image, of file: OpenFile) throws -> Image {
        let strict = try Operation(
            operation(for: .png),
            [
                ("source", .source(try Source(descriptor: file.descriptor))), ("access", "sequential"),
                ("fail_on", "error"),
            ]
        ).image()
        let rows = try strict.rowsBeforeFault()
        _ = VipsLibrary.takeErrors()
        guard rows < image.height else { return image }
        guard rows > 0 else {
            throw Failure(.truncated, stage: "decode", "the file ends before a row of the picture is whole")
        }
        let most = image.format == .ushort ? 65_535.0 : 255
        let colours = image.bands - (image.hasAlpha ? 1 : 0)
        let gray = Array(repeating: (most / 2).rounded(), count: colours) + (image.hasAlpha ? [most] : [])
        return try image.extractArea(left: 0, top: 0, width: image.width, height: rows)
            .embed(x: 0, y: 0, width: image.width, height: image.height, background: gray)
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

    /// libvips recognises XMP in HEIC and AVIF only if it begins with its element, without the instructions that most
    /// programs write around it.
    private static func namingXMP(of image: Image) throws(VipsError) -> Image {
        let packet = image.fields.lazy.filter { $0.hasPrefix("heif-mime-") }.compactMap(image.blob).first {
            $0.starts(with: "<?xpacket".utf8)
        }
        guard let packet, !image.has("xmp-data") else { return image }
        return try image.editingMetadata { $0.set("xmp-data", blob: packet) }
    }

    /// libvips' operation that decodes a format.
    static func operation(for format: SourceFormat) -> String {
        switch format {
        case .jpeg: "jpegload_source"
        case .png: "pngload_source"
        case .webp: "webpload_source"
        case .gif: "gifload_source"
        case .tiff: "tiffload_source"
        case .heic, .avif: "heifload_source"
        case .svg: "svgload_source"
        case .pdf: "pdfload_source"
        case .jxl: "jxlload_source"
        case .jp2: "jp2kload_source"
        }
    }

    /// libvips' class of the operations that decode a format on request, which are blocked unless a worker is of that
    /// kind.
    static func blockedClass(for format: SourceFormat) -> String? {
        switch format {
        case .jpeg, .png, .webp, .gif, .tiff, .heic, .avif: nil
        case .svg: "VipsForeignLoadSvg"
        case .pdf: "VipsForeignLoadPdf"
        case .jxl: "VipsForeignLoadJxl"
        case .jp2: "VipsForeignLoadJp2k"
        }
    }

    private static func captureDate(of image: Image) -> String? {
        // libvips gives EXIF texts as `value (value, ASCII, 20 components, 20 bytes)`.
        guard let field = image.string("exif-ifd2-DateTimeOriginal") ?? image.string("exif-ifd0-DateTime") else {
            return nil
        }
        let date = String(field.prefix(19))
        return isDate(date) && !date.hasPrefix("0000") ? date : nil
    }
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
