// A descriptor becomes a picture: exactly the loader of the format that the supervisor recognised, never libvips' own guess.
import Pipeline
import Stages
import Vips

enum Loader {
    /// What the header of a picture says that was opened with all its frames.
    static func facts(of format: SourceFormat, _ image: Image) throws -> SourceFacts {
        let pages = max(1, image.pages)
        let isStacked = pages > 1 && image.pageHeight < image.height
        return SourceFacts(
            format: format, size: PixelSize(image.width, isStacked ? image.pageHeight : image.height),
            orientation: image.int("orientation") ?? 1, frames: pages, hasAlpha: image.hasAlpha, colour: try colour(of: image),
            depth: image.format == .uchar ? .eight : .sixteen, hasProfile: image.has("icc-profile-data"),
            isInterlaced: (image.int("interlaced") ?? image.int("jpeg-multiscan") ?? 0) != 0, captureDate: captureDate(of: image))
    }

    /// Opens a picture for decoding. Rows come once, from top to bottom.
    /// - Parameter allFrames: all frames of an animation below each other, instead of the first picture of the file.
    /// - Throws: `VipsError`; `Failure` with the code `unsupported-colour` if its values are none that stages know.
    static func open(_ file: OpenFile, format: SourceFormat, shrink: Int, allFrames: Bool, tolerance: Tolerance) throws -> Image {
        var arguments: [(String, Argument)] = [
            ("source", .source(try Source(descriptor: file.descriptor))), ("access", "sequential"),
            ("fail_on", .string(tolerance == .truncated ? "none" : "error")),
        ]
        switch format {
        case .jpeg: if shrink > 1 { arguments.append(("shrink", .int(shrink))) }
        case .webp:
            if shrink > 1 { arguments.append(("scale", .double(1 / Double(shrink)))) }
            if allFrames { arguments.append(("n", -1)) }
        case .gif: if allFrames { arguments.append(("n", -1)) }
        case .png, .tiff, .heic, .avif: break
        }
        return try normalised(try Operation(loader(of: format), arguments).image())
    }

    /// The picture as stages know pictures: 8 or 16 bits without a sign in each band, or Lab in numbers of its own.
    private static func normalised(_ image: Image) throws -> Image {
        switch (image.interpretation, image.format) {
        // Ten bits of lightness and eleven of each colour, packed into four bytes.
        case ("labq", _): return try image.colourspace("labs")
        case ("lab", .float), ("labs", _), (_, .uchar), (_, .ushort): return image
        // Numbers from 0 to 1. With a profile they are the profile's own, else they are light.
        case ("scrgb", .float), ("scrgb", .double):
            let colours = try image.droppingAlpha()
            let hasProfile = image.has("icc-profile-data")
            let deep = try hasProfile ? colours.linear([65_535], [0.5]).cast(.ushort).copy(interpretation: "rgb16") : colours.colourspace("rgb16")
            guard image.hasAlpha else { return deep }
            let alpha = try image.extractBands(from: image.bands - 1, count: 1).linear([65_535], [0.5]).cast(.ushort)
            return try deep.bandjoin(alpha).copy(interpretation: "rgb16")
        default:
            let found = "\(image.bands) bands of \(image.interpretation), \(image.format.rawValue)"
            throw Failure(.unsupportedColour, stage: "read", "expected values of 8 or 16 bits without a sign, found \(found)")
        }
    }

    private static func loader(of format: SourceFormat) -> String {
        switch format {
        case .jpeg: "jpegload_source"
        case .png: "pngload_source"
        case .webp: "webpload_source"
        case .gif: "gifload_source"
        case .tiff: "tiffload_source"
        case .heic, .avif: "heifload_source"
        }
    }

    private static func colour(of image: Image) throws -> ColourModel {
        let colours = image.bands - (image.hasAlpha ? 1 : 0)
        switch (image.interpretation, colours) {
        case ("lab", 3), ("labs", 3), ("labq", _): return .lab
        case ("cmyk", 4): return .cmyk
        case ("b-w", 1), ("grey16", 1): return .grey
        case ("srgb", 3), ("rgb", 3), ("rgb16", 3), ("scrgb", 3): return .rgb
        default:
            let found = "\(image.bands) bands of \(image.interpretation), \(image.format.rawValue)"
            throw Failure(.unsupportedColour, stage: "read", "expected gray, RGB, CMYK or Lab, found \(found)")
        }
    }

    private static func captureDate(of image: Image) -> String? {
        // libvips gives EXIF texts as `value (value, ASCII, 20 components, 20 bytes)`.
        guard let field = image.string("exif-ifd2-DateTimeOriginal") ?? image.string("exif-ifd0-DateTime") else { return nil }
        let date = String(field.prefix(19))
        return isDate(date) && !date.hasPrefix("0000") ? date : nil
    }
}
