// The source in the worker: its descriptor, what its header says, and the picture that was opened to read it.
import CLinux
import Messages
import Pipeline
import Stages
import System
import Vips

/// A source whose header was read.
final class ProbedSource {
    let facts: SourceFacts
    private let file: ReceivedFile
    /// Opened for the header, its pixels not read yet. They come once, so it is used once.
    private var unread: Picture?

    /// - Parameters:
    ///   - page: the one to read, from 1. If the file has fewer, the facts are of its first page, and say how many it
    ///     has.
    ///   - wanted: of the metadata, for the facts.
    init(
        _ file: OpenFile, format: SourceFormat, page: Int? = nil, wanted: WantedMetadata = WantedMetadata()
    ) throws {
        let file = ReceivedFile(file)
        self.file = file
        let structure = format.declaration.structure
        let refusal = try file.structureForDecoding { try? structure.refusal(of: page ?? 1, in: $0) }
        if let refusal { throw refusal }
        var opened = try Loader.open(
            file, format: format, Loader.Opening(allFrames: page == nil, developsRaw: wanted.developsRaw))
        var facts = Loader.facts(of: format, opened)
        if let page, page <= facts.frames {
            opened = try Loader.open(file, format: format, Loader.Opening(page: page))
            let count = facts.frames
            facts = Loader.facts(of: format, opened)
            (facts.frames, facts.page) = (count, page)
        }
        facts.bytes = try file.opened.status().bytes
        facts.gainMap = try file.structureForDecoding { try? structure.gainMap(of: page ?? 1, in: $0) }
        facts.coded = try file.structureForDecoding { try? structure.codedPicture(in: $0) }
        facts.parts = try file.structureForDecoding { try? structure.storedParts(of: page ?? 1, in: $0) }
        if let raw = file.raw {
            facts.raw = raw.reading
            facts.coded = CodedPicture(raw.sensorSize)
            facts.captureDate = facts.captureDate ?? raw.captureDate
            facts.previews = raw.smallPreview.map { [$0].showing(facts.size) } ?? []
        }
        if wanted.previews && format != .raw {
            facts.previews =
                try file.structureForDecoding { try? structure.previews(in: $0) }?.showing(facts.size) ?? []
        }
        if wanted.words || !wanted.fields.isEmpty {
            let metadata = try Self.metadata(of: opened.picture.image, in: file, facts)
            if wanted.words { facts.words = PictureWords(metadata.statements) }
            if !wanted.fields.isEmpty { facts.metadata = metadata.values(of: wanted.fields, in: facts) }
        }
        self.facts = facts
        unread = opened.picture
    }

    /// The metadata of the picture as it was opened.
    func metadata(of opened: Picture) throws -> SourceMetadata {
        try Self.metadata(of: opened.image, in: file, facts)
    }

    private static func metadata(of image: Image, in file: ReceivedFile, _ facts: SourceFacts) throws -> SourceMetadata
    {
        let structure = facts.format.declaration.structure
        let own = try file.structureForDecoding { try? structure.statements(of: facts.page ?? 1, in: $0) }
        let png = try file.structureForDecoding { try? structure.pngFacts(in: $0) }
        let unread = try file.structureForDecoding { try? structure.unreadMetadata(of: facts.page ?? 1, in: $0) }
        return try SourceMetadata(image, png: png ?? PNGFacts(), own: own ?? Statements(), unread: unread)
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
        return try picture.extended(to: PixelSize(width, height))
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
            file, format: facts.format,
            Loader.Opening(
                page: facts.page, shrink: shrink, factor: factor ?? 1 / Double(shrink), allFrames: allFrames,
                developsRaw: file.raw?.reading != .preview),
            tolerance: lacksEnd(tolerating: tolerance) ? .truncated : .nothing
        ).picture
        if facts.format.decoder.leavesMessages { _ = VipsLibrary.takeErrors() }
        return picture
    }

    /// Whether the file is truncated, judged by its structure.
    func lacksEnd() throws(Failure) -> Bool {
        try file.structureForDecoding { completeness(of: facts.format, in: $0) } == .incomplete
    }

    /// Whether the file is truncated, and that is tolerated. Other damage is not.
    func lacksEnd(tolerating tolerance: Tolerance) throws(Failure) -> Bool {
        guard tolerance == .truncated, facts.format.decoder.canBeTruncated(facts) else { return false }
        return try lacksEnd()
    }

    // MARK: - Its own bytes

    /// The file itself, if a rendition may have its bytes: no pixel changes, and nothing has to be removed.
    func original(for rendition: RenditionPlan, of plan: SourcePlan, _ pipeline: PipelineFile) throws -> OpenFile? {
        guard rendition.rendition.save.isNeverLarger, rendition.keepsEveryPixel(of: plan, profile: pipeline.profile)
        else { return nil }
        let structure = facts.format.declaration.structure
        let isWhole = try file.structureForDecoding { bytes in
            let hasOnlyWhatStays = rendition.keptMetadata == .all || (try? structure.hasPixelsOnly(bytes)) == true
            // A profile that cannot be used would be used by others.
            let hasUnreadProfile = !facts.hasProfile && (try? structure.hasProfile(bytes)) == true
            return hasOnlyWhatStays && !hasUnreadProfile && (try? structure.hasHiddenFrames(bytes)) != true
        }
        return isWhole ? file.opened : nil
    }

    /// The gain map for renditions that keep it; nil if there is none.
    func gainMap(for plans: [GainMapPlan]) throws -> SourceGainMap? {
        guard let map = facts.gainMap, let size = map.size, map.isReadable, !plans.isEmpty else { return nil }
        let structure = facts.format.declaration.structure
        let own = try file.structureForDecoding { try? structure.gainMapFile(in: $0, of: facts.format) }
        return try own.map { try SourceGainMap($0, size, orientation: facts.orientation, for: plans) }
    }

    // MARK: - The decoder

    /// The pixels of a picture that was opened, by libvips or by a decoder of this program.
    func decoded(_ opened: Picture, shrink: Int, _ beginning: Beginning) throws -> Picture {
        let pixels = try facts.format.decoder.pixels(of: opened.image, in: file, facts, shrink: shrink, beginning)
        let picture = pixels.map(opened.with) ?? opened
        // Memory that the decoder has freed is not counted for the stages.
        if facts.isUnpackedAtOnce { clinux_return_freed_memory(CostModel.keptMemory) }
        return beginning.isHeld ? try picture.inMemory() : picture
    }

    /// A preview, with its pixels in memory.
    /// - Returns: nil if it is damaged, or another one than the file says.
    func decoded(_ load: PreviewLoad) throws(Failure) -> Picture? {
        // The picture's own messages stay for whoever judges them.
        let decoded = try? VipsLibrary.settingMessagesAside { () -> Picture? in
            let opened = try facts.format.decoder.preview(load, in: file, of: facts.format)
            guard let picture = try opened?.inMemory() else { return nil }
            return VipsLibrary.takeErrors().isEmpty || facts.format.decoder.leavesMessages ? picture : nil
        }
        let (size, shrink) = (load.preview.size, load.shrink)
        guard let picture = decoded, abs(picture.size.width * shrink - size.width) < shrink,
            abs(picture.size.height * shrink - size.height) < shrink, picture.hasAlpha == facts.hasAlpha,
            picture.pixels.colour == facts.colour, picture.pixels.depth == facts.depth
        else { return nil }
        return picture
    }

    /// Reads the rows of a picture as they are decoded.
    func fallingBack<Value>(
        _ opened: Picture, shrink: Int, _ beginning: Beginning, _ read: (Picture) throws -> Value
    ) throws -> Value {
        let decoded = try decoded(opened, shrink: shrink, beginning)
        guard facts.format.decoder.findsFaultsLate, decoded.image !== opened.image else { return try read(decoded) }
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
        let (format, structure) = (facts.format.declaration, facts.format.declaration.structure)
        if (try? structure.hasHiddenFrames(bytes)) == true {
            let message =
                "animations in \(format.unreadAnimation) are not read; only the \(format.deliveredFrame) picture is used"
            warnings.append(Warning(.animationDropped, message))
        }
        if let address = structure.linkedFile(in: bytes) {
            let (title, shown) = (format.title, address.prefix(200))
            let message =
                "the \(title) shows '\(shown)', which is not read: the picture lacks it; embed it in the \(title)"
            warnings.append(Warning(.linkNotFollowed, message))
        }
        if !facts.hasProfile, (try? structure.hasProfile(bytes)) == true {
            warnings.append(.badProfile(isPress: facts.colour == .cmyk))
        }
        return warnings
    }
}

extension Picture {
    /// The picture with transparent rows and columns at the bottom and on the right, or without those that are too many.
    func extended(to size: PixelSize) throws -> Picture {
        guard self.size != size else { return self }
        let clear = [Double](repeating: 0, count: image.bands)
        return with(try image.embed(x: 0, y: 0, width: size.width, height: size.height, background: clear))
    }
}
