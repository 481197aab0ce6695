// The header of a picture, read by a worker before any pixel is decoded.

/// Facts from a picture's header. They come from a worker, so `isPlausible` must be asked before they are used.
package struct SourceFacts: Hashable, Sendable, Codable {
    package var format: SourceFormat
    /// Pixels as stored, before the orientation is applied; of one frame.
    package var size: PixelSize
    /// EXIF orientation, 1…8.
    package var orientation: Int
    /// Frames of an animation, or pages.
    package var frames: Int
    package var hasAlpha: Bool
    package var colour: ColourModel
    package var depth: BitDepth
    package var hasProfile: Bool
    /// The page, from 1, that the pipeline asks for and that all of this is about; nil for the first one, or all
    /// frames.
    package var page: Int?
    /// The decoder must hold the whole picture, as for progressive JPEG and interlaced PNG.
    package var isInterlaced: Bool
    /// Bands of the file that are neither colours nor alpha, which nobody reads.
    package var droppedBands = 0
    /// Bytes of the file; 0 if that is not known.
    package var bytes = 0
    /// Bytes of EXIF, XMP, IPTC and texts.
    package var metadataBytes = 0
    /// Bytes of the colour profile.
    package var profileBytes = 0
    /// The facts from the codec's own header, for HEIC, AVIF, WebP, PNG and JPEG: its decoder allocates by that. Nil if
    /// nothing is known.
    package var coded: CodedPicture?
    /// The parts that a TIFF is stored in. Nil if nothing is known.
    package var parts: StoredParts?
    /// The colors of its numbers; nil if the file does not say, so that they are taken for sRGB.
    package var color: ColorFacts?
    /// The second picture in the file that makes it HDR; nil if there is none.
    package var gainMap: GainMapFacts?
    /// The previews in the file that may be used, the smallest first; empty if they were not asked for.
    package var previews: [EmbeddedPreview] = []
    /// The part of a raw file that is read; nil for other formats.
    package var raw: RawReading?
    /// When the picture was taken, by its EXIF; `YYYY:MM:DD HH:MM:SS` without a time zone.
    package var captureDate: String?
    /// The words of its metadata; nil if they were not asked for.
    package var words: PictureWords?
    /// The values of the metadata fields that were asked for; nil if none were.
    package var metadata: [MetadataValue]?
    /// Whether a pixel is not opaque; nil if nobody has looked.
    package var isTransparent: Bool?

    package init(
        format: SourceFormat, size: PixelSize, orientation: Int = 1, frames: Int = 1, hasAlpha: Bool = false,
        colour: ColourModel = .rgb,
        depth: BitDepth = .eight, hasProfile: Bool = false, isInterlaced: Bool = false, captureDate: String? = nil
    ) {
        self.format = format
        self.size = size
        self.orientation = (1...8).contains(orientation) ? orientation : 1
        self.frames = max(1, frames)
        self.hasAlpha = hasAlpha
        self.colour = colour
        self.depth = depth
        self.hasProfile = hasProfile
        self.isInterlaced = isInterlaced
        self.captureDate = captureDate
    }

    /// Pixels as a person sees them, the orientation applied.
    package var uprightSize: PixelSize { orientation >= 5 ? size.transposed : size }

    /// Its first row as a person sees it is not the first one in the file: all of it is decoded to turn it upright.
    package var isReadOutOfOrder: Bool { orientation > 2 }

    /// Whether a header can say this at all. A worker that a picture has taken over could claim anything.
    package var isPlausible: Bool {
        let sides = 1...maximumCoordinate
        if let coded, ![coded.size.width, coded.size.height].allSatisfy((0...maximumCoordinate).contains) {
            return false
        }
        if let parts, ![parts.size.width, parts.size.height].allSatisfy(sides.contains) { return false }
        if let parts, !(1...StoredParts.mostSampleBytes).contains(parts.sampleBytes) { return false }
        return sides.contains(size.width) && sides.contains(size.height) && (1...8).contains(orientation)
            && (1...1_000_000).contains(frames) && (0...65_535).contains(droppedBands)
            && metadataBytes >= 0 && profileBytes >= 0 && (1...1_000_000).contains(page ?? 1)
            && captureDate.map(isDate) ?? true && color?.isPlausible ?? true
            && gainMap?.isPlausible ?? true && (raw != nil) == (format == .raw)
            && previews.count <= EmbeddedPreview.most
            && previews.allSatisfy(\.isPlausible) && words?.isPlausible ?? true
            && metadata?.allSatisfy(\.isPlausible) ?? true
    }

    /// Several frames that follow each other in time, not pages. One that the pipeline asks for is a still.
    package var isAnimated: Bool { format.declaration.hasFrames && frames > 1 && page == nil }

    /// Its numbers may mean something else than those of sRGB.
    package var hasOwnColors: Bool { hasProfile || color?.isStandard == false }

    /// Bands of the file.
    var bands: Int { colour.bands + (hasAlpha ? 1 : 0) + droppedBands }

    /// Bytes of all pixels of one frame, uncompressed.
    package var pixelBytes: Int { bands * depth.bytes * size.area }

    /// The decoder has the whole picture in memory before it delivers the first row.
    var isDecodedAsAWhole: Bool { format.declaration.isDecodedAsAWhole(self) }

    /// A decoder of this program delivers all pixels at once.
    package var isUnpackedAtOnce: Bool { format.declaration.isUnpackedAtOnce(self) }

    /// Bytes that the decoder holds at most while it works, besides what it delivers.
    /// - Parameters:
    ///   - shrink: how many pixels of the source, along a side, it makes one of.
    ///   - delivered: the size of what it delivers.
    func decoderBytes(shrink: Int, to delivered: PixelSize) -> Int {
        format.declaration.memory(decoding: self, shrink: shrink, to: delivered)
    }
}

/// `YYYY:MM:DD HH:MM:SS` and nothing else, since it becomes part of names; a day and a time that there are.
package func isDate(_ text: String) -> Bool {
    let pattern = "0000:00:00 00:00:00"
    guard text.utf8.count == pattern.utf8.count else { return false }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isWritten = zip(text.utf8, pattern.utf8).allSatisfy { found, expected in
        digits.contains(expected) ? digits.contains(found) : found == expected
    }
    guard isWritten else { return false }
    let numbers = text.split { ": ".contains($0) }.compactMap { Int($0) }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), (1...days[month - 1]).contains(day) else { return false }
    // A minute may have a leap second.
    return numbers[3] < 24 && numbers[4] < 60 && numbers[5] <= 60
}
