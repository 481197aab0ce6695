// The source in the worker: its descriptor, what its header says, and the picture that was opened to read it.
import Pipeline
import Stages
import Vips

/// A source whose header was read.
final class ProbedSource {
    let facts: SourceFacts
    private let file: OpenFile
    /// Opened for the header, its pixels not read yet. They come once, so it is used once.
    private var unread: Picture?

    /// - Parameters:
    ///   - page: the one to read, from 1. If the file has fewer, the facts are of its first page, and say how many it
    ///     has.
    ///   - words: whether the facts are to have what the metadata say in words.
    init(_ file: OpenFile, format: SourceFormat, page: Int? = nil, words: Bool = false) throws {
        self.file = file
        guard try !file.structureForDecoding({ isPlainYCbCr(format, page: page ?? 1, $0) }) else {
            throw Failure(
                .unsupportedColour, stage: "read",
                "expected gray, RGB, CMYK or Lab, found YCbCr without JPEG's compression")
        }
        guard try !file.structureForDecoding({ isMadeOfItself(format, in: $0) }) else {
            throw Failure(.corrupt, stage: "read", "expected a picture, found one that is made of itself")
        }
        guard try !file.structureForDecoding({ lacksSize(format, in: $0) }) else {
            throw Failure(
                .corrupt, stage: "read",
                "the SVG has neither a viewBox nor a width and height in units, so it has no size; add a viewBox")
        }
        var (picture, dropped) = try Loader.open(
            file, format: format, shrink: 1, allFrames: page == nil, tolerance: .nothing)
        var facts = Loader.facts(of: format, picture, droppedBands: dropped)
        if let page, page <= facts.frames {
            (picture, dropped) = try Loader.open(
                file, format: format, page: page, shrink: 1, allFrames: false, tolerance: .nothing)
            let count = facts.frames
            facts = Loader.facts(of: format, picture, droppedBands: dropped)
            (facts.frames, facts.page) = (count, page)
        }
        facts.bytes = try file.status().bytes
        facts.coded = try file.structureForDecoding { format.codedPicture(in: $0) }
        if words {
            let image = picture.image
            facts.words = PictureWords(
                xmp: image.blob("xmp-data"), exif: image.blob("exif-data"), iptc: image.blob("iptc-data"))
        }
        self.facts = facts
        unread = picture
    }

    // MARK: - Opening

    /// The picture as planned, of which no pixel was read yet.
    func opened(_ load: LoadPlan, tolerance: Tolerance) throws -> Picture {
        let isOpened =
            load.shrink == 1 && load.factor == 1 && load.loadsAllFrames == facts.isAnimated
            && tolerance == .nothing
        if isOpened, let picture = unread {
            unread = nil
            return picture
        }
        return try reopened(load, tolerance: tolerance)
    }

    /// The picture from the beginning again, as planned.
    func reopened(_ load: LoadPlan, tolerance: Tolerance) throws -> Picture {
        let picture = try reopened(
            shrink: load.shrink, factor: load.factor, allFrames: load.loadsAllFrames, tolerance: tolerance)
        guard load.scale > 1, !load.resizes else { return picture }
        // A drawing 24.4 points wide is 24 pixels, and 73 at three times its size, where 72 are planned.
        let (width, height) = (facts.size.width * load.scale, facts.size.height * load.scale)
        guard picture.width != width || picture.height != height else { return picture }
        let clear = [Double](repeating: 0, count: picture.image.bands)
        return picture.with(try picture.image.embed(x: 0, y: 0, width: width, height: height, background: clear))
    }

    /// The picture from the beginning again.
    /// - Parameters:
    ///   - shrink: the decoder delivers one pixel for so many along a side.
    ///   - factor: how many times as wide and high a vector picture is drawn, if it is not that.
    func reopened(
        shrink: Int, factor: Double? = nil, allFrames: Bool = false, tolerance: Tolerance
    ) throws -> Picture {
        unread = nil
        let picture = try Loader.open(
            file, format: facts.format, page: facts.page, shrink: shrink, factor: factor ?? 1 / Double(shrink),
            allFrames: allFrames, tolerance: lacksEnd(tolerating: tolerance) ? .truncated : .nothing
        ).picture
        // libheif looks past the end of a good file to learn its size, and libvips leaves that in its error buffer.
        if facts.format == .heic || facts.format == .avif { _ = VipsLibrary.takeErrors() }
        return picture
    }

    /// Whether the file is truncated, and that is tolerated. Other damage is not, and libvips does not survive a
    /// truncated interlaced PNG.
    func lacksEnd(tolerating tolerance: Tolerance) throws(Failure) -> Bool {
        guard tolerance == .truncated, !(facts.format == .png && facts.isInterlaced) else { return false }
        return try file.structureForDecoding { completeness(of: facts.format, in: $0) } == .incomplete
    }

    // MARK: - Who decodes

    /// The pixels of a picture that was opened, by whoever decodes them: libvips, row by row when they are asked for,
    /// or a decoder of this program, which leaves to libvips what it does not know and what is not without a fault.
    func decoded(_ opened: Picture, shrink: Int, _ beginning: Beginning) throws -> Picture {
        let picture: Picture
        switch facts.format {
        case .png:
            let decoder = try file.structureForDecoding { PNGDecoder($0) }
            picture = try decoder?.decoded(opened.image).map(opened.with) ?? opened
        case .webp:
            let decoder = facts.page == nil ? try file.structureForDecoding { WebPDecoder($0) } : nil
            let decoded = try decoder?.decoded(opened.image, shrink: shrink)
            picture = opened.with(try decoded ?? opened.image.averaged(by: shrink))
        case .jpeg:
            let decoder = beginning == .streamed ? nil : JPEGDecoder(file, like: opened.image, shrink: shrink)
            let decoded = beginning == .held ? try decoder?.decoded() : try decoder?.streamed()
            picture = decoded.map(opened.with) ?? opened
        case .gif, .tiff, .heic, .avif, .svg, .pdf, .jxl, .jp2:
            picture = opened
        }
        return beginning == .held ? try picture.inMemory() : picture
    }

    /// Reads the rows of a picture as they are decoded. A decoder of this program finds a fault when they are read: then
    /// libvips decodes, and they are read once more.
    func fallingBack<Value>(_ opened: Picture, shrink: Int, _ read: (Picture) throws -> Value) throws -> Value {
        let decoded = try decoded(opened, shrink: shrink, .scaled)
        guard facts.format == .jpeg, decoded.image !== opened.image else { return try read(decoded) }
        do {
            return try read(decoded)
        } catch {
            _ = VipsLibrary.takeErrors()
            return try read(opened)
        }
    }

    /// Warnings about what the file has and the decoder has not given: frames, rows, or a profile.
    func warnings(_ tolerance: Tolerance) throws(Failure) -> [Warning] {
        let warnings = try file.structureForDecoding(warnings)
        guard try lacksEnd(tolerating: tolerance) else { return warnings }
        let message = "the file ends before the picture does; what is missing is gray"
        return warnings + [Warning(.sourceTruncated, message)]
    }

    private func warnings(_ bytes: ByteSource) -> [Warning] {
        var warnings: [Warning] = []
        if hasHiddenFrames(facts.format, in: bytes) {
            let kind = facts.format == .png ? "APNG" : "\(facts.format.rawValue.uppercased()) sequences"
            warnings.append(
                Warning(.animationDropped, "animations in \(kind) are not read; only the first picture is used"))
        }
        if let address = linkedFile(facts.format, in: bytes) {
            let message =
                "the SVG shows '\(address.prefix(200))', which is not read: the picture lacks it; embed it in the SVG"
            warnings.append(Warning(.linkNotFollowed, message))
        }
        if !facts.hasProfile, hasProfile(facts.format, in: bytes) {
            warnings.append(.badProfile(isPress: facts.colour == .cmyk))
        }
        return warnings
    }
}

extension OpenFile {
    /// What code that knows no files finds in the structure of a source. The supervisor finds out whether the file or
    /// its disk is to blame if it cannot be read.
    func structureForDecoding<Found>(_ find: (ByteSource) -> Found) throws(Failure) -> Found {
        do throws(SystemError) {
            return try structure(find)
        } catch {
            throw Failure(.corrupt, stage: "decode", "the picture cannot be read", detail: error.description)
        }
    }
}
