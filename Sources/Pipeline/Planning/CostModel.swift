// The cost of a plan: bytes of memory for admission, seconds for the deadlines. Bounds, not averages.

package struct CostModel {
    let source: SourceFacts
    let load: LoadPlan
    let decoded: PictureInfo
    let shared: [PlannedStage]
    let renditions: [RenditionPlan]
    let assets: [AssetFacts]
    /// The stages work in other colors than the file has.
    private let isConverted: Bool
    /// All stages.
    private let steps: [PlannedStage]

    init(
        source: SourceFacts, load: LoadPlan, decoded: PictureInfo, shared: [PlannedStage],
        renditions: [RenditionPlan], assets: [AssetFacts] = [], isConverted: Bool
    ) {
        (self.source, self.load, self.decoded) = (source, load, decoded)
        (self.shared, self.renditions, self.assets) = (shared, renditions, assets)
        self.isConverted = isConverted
        steps = shared + renditions.flatMap(\.steps)
    }

    /// The memory that a worker needs before it has any picture: libraries, tables, buffers of lines, and `keptMemory`.
    package static let base = libraries + keptMemory
    /// Its part without a heap.
    package static let libraries = 48 << 20
    /// The least memory for all workers to recommend: a small picture fits.
    package static let smallestBudget = "128M"
    /// Freed memory that a worker keeps in any case from one picture to the next.
    package static let keptMemory = 32 << 20

    /// Bytes of memory that the worker needs at most.
    var memory: Int {
        let parts = [keptAssets, Self.drawing(by: steps), decodedRows(loadedSize, 448), writtenRows]
        return saturating(Self.base, Self.withAssets(assets, parts.reduce(work, saturating)))
    }

    /// Bytes of the rows that libvips buffers after decoding, in the decoder's own bands and depth.
    /// - Parameters:
    ///   - size: of the picture as it is decoded.
    ///   - count: how many rows.
    private func decodedRows(_ size: PixelSize, _ count: Int) -> Int {
        var delivered = decoded.resized(to: size)
        delivered.depth = source.depth
        // Extra bands are decoded too, and removed afterwards.
        let bands = max(delivered.bands, source.bands)
        // A picture that is in memory is read from there.
        let count = source.isUnpackedAtOnce ? count / 4 : count
        guard let bytes = source.parts?.sampleBytes, bytes > delivered.depth.bytes else {
            return Self.rows(count, of: delivered) / delivered.bands * bands
        }
        // They are converted before any stage has them, with rows of their own.
        return Self.rows(1024 * bytes / delivered.depth.bytes, of: delivered, atMost: 4) / delivered.bands * bands
    }

    /// Bytes of the rows that libvips buffers before encoding, unless the encoder takes all of them at once.
    private var writtenRows: Int {
        renditions.map {
            $0.rendition.save.takesWhole($0.output) ? 0 : Self.rows(512, of: $0.output, atMost: 1)
        }.max() ?? 0
    }

    /// Bytes of some rows; of small pictures no more than so many times all.
    private static func rows(_ count: Int, of picture: PictureInfo, atMost times: Int = 2) -> Int {
        picture.bands * picture.depth.bytes * min(count * picture.size.width, times * picture.size.area)
    }

    /// Bytes of assets that the worker keeps.
    var keptAssets: Int { Self.keptAssets(assets, by: steps) }

    /// Bytes of memory that the worker needs at most to look at the picture for the stages of a path that measure it: all
    /// pixels are decoded, however small the renditions are, and the last one that measures sees what those before it
    /// make of them. 0 if none does.
    func looking(along path: [PlannedStage]) -> Int {
        guard let last = path.lastIndex(where: { $0.stage.needsMeasurement }) else { return 0 }
        let before = HeldPictures.held(by: path[..<last], isInputHeld: true)
        let rows = HeldPictures.rows(of: [path[last].input, path[last].input], in: path[last])
        let seen = last == 0 ? 0 : path[last].input.bytes
        let work = max(decodingAll, [before.peak, seen, rows].reduce(decoded.bytes, saturating))
        let drawing = Self.drawing(by: Array(path[..<last]))
        return saturating(Self.base, Self.withAssets(assets, [keptAssets, drawing].reduce(work, saturating)))
    }

    /// The same to look at the picture as it is decoded.
    var lookingAtAll: Int { saturating(Self.base, Self.withAssets(assets, decodingAll)) }

    /// Bytes while all pixels are decoded into memory.
    private var decodingAll: Int {
        let whole = decoded.bytes
        // As the decoder delivers it, and upright in the colors that stages work in, unless that changes nothing.
        let isDelivered = source.isUnpackedAtOnce || source.isReadOutOfOrder || source.format.declaration.deliversWhole
        let isCopied = isConverted || source.orientation > 1 || !source.isUnpackedAtOnce
        let pictures = saturating(isDelivered ? delivered(decoded.size) : 0, isCopied ? whole : 0)
        // More rows than usual, since what is held is made of them as they come.
        return [decoder(shrink: 1), decodedRows(decoded.size, 640)].reduce(pictures, saturating)
    }

    /// The most at any time: while the source is decoded, while that is made which all renditions begin with, or while
    /// they are made, one after the other.
    private var work: Int {
        let decoder = decoder(shrink: load.shrink)
        let decoding = saturating(decoder, loaded)
        let shared = HeldPictures.held(by: shared[...], factor: load.ratio, isInputHeld: true)
        let reading = [source.isUnpackedAtOnce ? 0 : decoder, loaded, converted].reduce(shared.peak, saturating)
        let holdsResult: Bool
        switch load.beginning {
        case .scaled(let turnedLate): return max(decoding, scaling(reading, turnedLate: turnedLate))
        case .upright(_, .scaled): return max(decoding, scaling(reading, turnedLate: false))
        case .upright(_, .held): holdsResult = true
        case .upright(_, .streamed): holdsResult = false
        }
        let isScaled = self.shared.contains(where: \.isScaling)
        let result = self.shared.last.map { $0.output.scaled(by: isScaled ? 1 : load.ratio).bytes }
        let own = zip(renditions, load.shrinks).map { rendition, shrink in
            rendition.held(from: isScaled ? 1 : load.ratio * Double(load.shrink) / Double(shrink))
        }
        let made = saturating(means(of: result ?? loaded), own.max() ?? 0)
        guard holdsResult, let result else {
            return max(decoding, reading, saturating(rest, saturating(shared.kept, made)))
        }
        // The memory for reading is freed when the result is in memory.
        return max(decoding, saturating(reading, result), saturating(result, made))
    }

    /// While all renditions' first stages scale the rows that pass, and after that.
    /// - Parameter reading: bytes that are freed when all of the picture has been scaled.
    private func scaling(_ reading: Int, turnedLate: Bool) -> Int {
        let scaled = renditions.map { saturating($0.scaledFirst, $0.rowsOfFirst) }.reduce(0, saturating)
        let own = renditions.map { rendition in
            let first = rendition.scaledFirst
            // Its first stage finds the scaled picture made.
            return saturating(turnedLate ? first : 0, rendition.held(from: 1, isMade: first))
        }
        return max(saturating(reading, scaled), saturating(scaled, own.max() ?? 0))
    }

    /// Bytes of decoding that are there until the end: rows that come once keep their decoder.
    private var rest: Int {
        saturating(isRead ? 0 : decoder(shrink: load.shrink), converted > 0 ? converted : loaded)
    }

    /// Bytes of the smaller pictures that renditions are made of which allow more shrinking than others.
    private func means(of whole: Int) -> Int {
        load.shrinks.filter { $0 > load.shrink }.map { shrink in
            let ratio = shrink / load.shrink
            return whole / (ratio * ratio)
        }.reduce(0, saturating)
    }

    /// Bytes that are allocated at most when renditions begin to be made, whatever was freed before.
    var making: Int {
        let shared = HeldPictures.held(by: shared[...], factor: load.ratio, isInputHeld: true)
        let results = renditions.map { saturating($0.scaledFirst, $0.rowsOfFirst) }.reduce(0, saturating)
        let own = renditions.map { $0.held(from: load.ratio) }.max() ?? 0
        // Rows that come while renditions are made are still to be decoded.
        let decoding = isRead ? 0 : saturating(decoder(shrink: load.shrink), decodedRows(loadedSize, 448))
        return [
            decoding, isRead ? 0 : loaded, converted, shared.peak, results, means(of: loaded), own,
            self.shared.last?.output.bytes ?? 0, writtenRows,
            Self.drawing(by: steps), keptAssets,
        ].reduce(0, saturating)
    }

    /// Seconds that decoding and encoding may take on a slow machine.
    var seconds: Double {
        let pixels = Double(source.size.area) * Double(load.loadsAllFrames ? source.frames : 1)
        let drawn = Double(load.scale * load.enlargement)
        return pixels * drawn * drawn / Self.pixelsPerSecond + Self.drawingSeconds(by: steps)
            + renditions.map(Self.encodingSeconds).reduce(0, +)
    }

    /// Pixels that are decoded or drawn in a second.
    static let pixelsPerSecond = 2_000_000.0

    /// The size of what the decoder delivers.
    private var loadedSize: PixelSize {
        let size = decoded.scaled(by: load.ratio).size
        return PixelSize(size.width + 1, size.height + 1)
    }

    /// All pixels are in memory before the first stage has any, and the decoder is gone.
    private var isRead: Bool { load.beginning.isHeld || source.isUnpackedAtOnce }

    /// The picture as the decoder delivers it, if all of it is held.
    private var loaded: Int {
        // Some decoders always deliver all of it, with all frames.
        let isWhole = isRead || source.format.declaration.deliversWhole
        return isWhole ? delivered(loadedSize) : 0
    }

    /// Bytes of what the decoder delivers: the picture in its own colors.
    private func delivered(_ size: PixelSize) -> Int {
        var delivered = decoded.resized(to: size)
        if source.colour.bands > delivered.colour.bands { delivered.colour = source.colour }
        return delivered.bytes
    }

    /// The same in the colors that stages work in, if several renditions read it.
    private var converted: Int {
        guard isConverted, shared.isEmpty, load.beginning.sharing == .held else { return 0 }
        return decoded.resized(to: loadedSize).bytes
    }

    /// The bytes that the decoder itself holds, besides what it has delivered.
    private func decoder(shrink: Int) -> Int { source.decoderBytes(shrink: shrink, to: loadedSize) }

    /// Bytes needed to save a rendition: for all of it, if the format is an animation or the encoder wants that, and for
    /// the encoder.
    static func saving(_ plan: RenditionPlan) -> Int {
        let (output, save) = (plan.output, plan.rendition.save)
        let isTaken = output.frames > 1 || save.takesWhole(output)
        let isHeld = plan.steps.last.map { $0.plan.isResultHeld && $0.output == output } ?? false
        return saturating(isTaken && !isHeld ? output.bytes : 0, save.memory(saving: output))
    }

    static func encodingSeconds(_ plan: RenditionPlan) -> Double {
        let megapixels = Double(plan.output.size.area) * Double(plan.output.frames) / 1_000_000
        return megapixels * plan.rendition.save.secondsPerMegapixel
    }
}

extension LoadPlan {
    /// How many pixels are delivered for a planned one, along a side.
    fileprivate var ratio: Double { Double(enlargement) / Double(shrink) }
}

extension RenditionPlan {
    /// Bytes of the picture that its first stage scales to, which is made while the rows of all renditions pass.
    fileprivate var scaledFirst: Int { firstScaling.map { steps[0].input.resized(to: $0.size).bytes } ?? 0 }

    /// Bytes of some rows of both.
    fileprivate var rowsOfFirst: Int { steps.first.map { HeldPictures.rows(of: [$0.input, $0.output], in: $0) } ?? 0 }

    /// The bytes that its stages and its encoder hold.
    /// - Parameters:
    ///   - factor: how much larger than planned the picture comes in.
    ///   - isMade: bytes of what the first stage finds made.
    fileprivate func held(from factor: Double, isMade made: Int = 0) -> Int {
        let stages = HeldPictures.held(by: steps[...], factor: factor, isInputHeld: true, isMade: made)
        return max(stages.peak, saturating(stages.kept, CostModel.saving(self)))
    }
}
