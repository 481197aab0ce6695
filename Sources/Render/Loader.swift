// A descriptor becomes a picture: exactly the loader of the format that the supervisor recognised, never libvips' own
// guess.
import Pipeline
import Stages
import System
import Vips

enum Loader {
    /// The facts from the header of a picture that was opened with all its frames.
    /// - Parameter droppedBands: how many the file has besides.
    static func facts(of format: SourceFormat, _ picture: Picture, droppedBands: Int) -> SourceFacts {
        let image = picture.image
        let pages = format.decoder.pagesAreSizes ? 1 : max(1, image.pages)
        let isStacked = pages > 1 && image.pageHeight < image.height
        var facts = SourceFacts(
            format: format, size: PixelSize(image.width, isStacked ? image.pageHeight : image.height),
            orientation: format.decoder.turnsPicture ? 1 : image.int("orientation") ?? 1, frames: pages,
            hasAlpha: picture.hasAlpha,
            colour: picture.pixels.colour,
            depth: picture.pixels.depth, hasProfile: picture.profile != nil,
            isInterlaced: (image.int("interlaced") ?? image.int("jpeg-multiscan") ?? 0) != 0,
            captureDate: captureDate(of: image))
        facts.metadataBytes = SourceMetadata.bytes(of: image)
        facts.profileBytes = image.byteCount(of: "icc-profile-data")
        facts.droppedBands = droppedBands
        return facts
    }

    /// How a file is opened.
    struct Opening {
        /// The page, from 1; nil for the first.
        var page: Int?
        /// The decoder delivers one pixel for so many along a side.
        var shrink = 1
        /// How many times as wide and high as its own size a vector picture is drawn.
        var factor = 1.0
        /// All frames of an animation below each other, instead of the first picture of the file.
        var allFrames = false
    }

    /// Opens a picture for decoding. Rows come once, from top to bottom.
    /// - Returns: also how many bands of the file it lacks.
    /// - Throws: `VipsError`; `Failure` with the code `unsupported-colour` if its values are none that stages know.
    static func open(
        _ file: OpenFile, format: SourceFormat, _ opening: Opening = Opening(), tolerance: Tolerance = .nothing
    ) throws -> (picture: Picture, droppedBands: Int) {
        var arguments: [(String, Argument)] = [
            ("source", .source(try Source(descriptor: file.descriptor))), ("access", "sequential"),
            ("fail_on", .string(tolerance == .truncated ? "none" : "error")),
        ]
        if let page = opening.page, page > 1 { arguments.append(("page", .int(page - 1))) }
        arguments += format.decoder.options(
            shrink: opening.shrink, factor: opening.factor, allFrames: opening.allFrames)
        let opened = try Operation(format.decoder.operation, arguments).image()
        let corrected = try format.decoder.corrected(opened, of: file, page: opening.page ?? 1, tolerance: tolerance)
        return (try Picture(decoded: corrected), opened.bands - corrected.bands)
    }

    private static func captureDate(of image: Image) -> String? {
        // libvips gives EXIF texts as `value (value, ASCII, 20 components, 20 bytes)`. Cameras whose clock was never set
        // write zeros, or blanks.
        ["exif-ifd2-DateTimeOriginal", "exif-ifd0-DateTime"].lazy
            .compactMap { image.string($0).map { String($0.prefix(19)) } }
            .first { isDate($0) && !$0.hasPrefix("0000") }
    }
}
