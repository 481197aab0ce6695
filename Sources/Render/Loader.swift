// A descriptor becomes a picture: exactly the loader of the format that the supervisor recognised, never libvips' own
// guess.
import Pipeline
import Stages
import System
import Vips

enum Loader {
    /// A picture that was opened.
    struct Opened {
        let picture: Picture
        /// Bands of the file that it lacks.
        let droppedBands: Int
        /// The profile in the file, which may not be the picture's.
        let profile: [UInt8]?
        /// The colors that the file states otherwise.
        let stated: StatedColor?
    }

    /// The facts from the header of a picture that was opened with all its frames.
    static func facts(of format: SourceFormat, _ opened: Opened) -> SourceFacts {
        let picture = opened.picture
        let image = picture.image
        let pages = format.decoder.pagesAreSizes ? 1 : max(1, image.pages)
        let isStacked = pages > 1 && image.pageHeight < image.height
        var facts = SourceFacts(
            format: format, size: PixelSize(image.width, isStacked ? image.pageHeight : image.height),
            orientation: format.decoder.turnsPicture ? 1 : image.int("orientation") ?? 1, frames: pages,
            hasAlpha: picture.hasAlpha,
            colour: picture.pixels.colour,
            depth: picture.pixels.depth, hasProfile: opened.profile != nil,
            isInterlaced: (image.int("interlaced") ?? image.int("jpeg-multiscan") ?? 0) != 0,
            captureDate: captureDate(of: image))
        facts.metadataBytes = SourceMetadata.bytes(of: image)
        facts.profileBytes = opened.profile?.count ?? 0
        facts.color = ColorFacts(opened.profile.map(ICCProfile.init), opened.stated)
        facts.droppedBands = opened.droppedBands
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
        /// The finished picture in a raw file is not used.
        var developsRaw = false
    }

    /// Opens a picture for decoding.
    /// - Throws: `VipsError`; `Failure` with the code `unsupported-colour` if its values are none that stages know.
    static func open(
        _ file: ReceivedFile, format: SourceFormat, _ opening: Opening = Opening(), tolerance: Tolerance = .nothing
    ) throws -> Opened {
        let opened = try format.decoder.opened(file, opening, tolerance: tolerance)
        let corrected = try format.decoder.corrected(opened, of: file, page: opening.page ?? 1, tolerance: tolerance)
            .withoutProfileOfLab()
        let stated = try file.structureForDecoding {
            try? format.declaration.structure.statedColor(of: opening.page ?? 1, in: $0)
        }
        return Opened(
            picture: try Picture(decoded: corrected.described(by: stated)),
            droppedBands: opened.bands - corrected.bands, profile: corrected.blob("icc-profile-data"), stated: stated)
    }

    /// Opens a preview in a picture's file, as a file of its own.
    /// - Parameter file: the picture's.
    static func open(_ bytes: [UInt8], of file: ReceivedFile, format: SourceFormat, shrink: Int) throws -> Picture {
        let opened = try Operation(
            format.decoder.operation,
            [("source", .source(try Source(bytes: bytes))), ("fail_on", "error")]
                + format.decoder.options(shrink: shrink, factor: 1, allFrames: false)
        ).image()
        let corrected = try format.decoder.corrected(opened, of: file, page: 1, tolerance: .nothing)
            .withoutProfileOfLab()
        let stated = try? format.declaration.structure.statedColor(of: 1, in: ByteSource(bytes))
        return try Picture(decoded: corrected.described(by: stated))
    }

    private static func captureDate(of image: Image) -> String? {
        // libvips gives EXIF texts as `value (value, ASCII, 20 components, 20 bytes)`. Cameras whose clock was never set
        // write zeros, or blanks.
        ["exif-ifd2-DateTimeOriginal", "exif-ifd0-DateTime"].lazy
            .compactMap { image.string($0).map { String($0.prefix(19)) } }
            .first { isDate($0) && !$0.hasPrefix("0000") }
    }
}

extension Image {
    /// Lab says which colors it has: a profile could only say the same once more, and would be applied to other numbers
    /// than it is for.
    fileprivate func withoutProfileOfLab() throws(VipsError) -> Image {
        [.lab, .labs, .labq].contains(interpretation) ? try removingMetadata(["icc-profile-data"]) : self
    }

    /// The picture with a profile that says what the file says otherwise, if that counts. Without one it is in sRGB.
    fileprivate func described(by stated: StatedColor?) throws(VipsError) -> Image {
        let hasProfile = has("icc-profile-data")
        guard let stated, !hasProfile || stated.overrulesProfile else { return self }
        let isGray = bands < 3
        guard !stated.color.isStandard,
            let profile = ICCProfile(stated.color, isGray: isGray, peak: stated.peak)
        else { return hasProfile ? try removingMetadata(["icc-profile-data"]) : self }
        return try editingMetadata { $0.set("icc-profile-data", blob: profile.bytes) }
    }
}
