// What a plan costs: bytes of memory for admission, seconds for the deadlines. Bounds, not averages.

package struct CostModel {
    let source: SourceFacts
    let load: LoadPlan
    let decoded: PictureInfo
    let shared: [PlannedStage]
    let sharing: Sharing
    let renditions: [RenditionPlan]
    var assets: [AssetFacts] = []

    /// What a worker needs before it has any picture: libraries, tables, buffers of lines, and `keptMemory`.
    package static let base = 80 << 20
    /// The least memory for all workers to recommend: a small picture fits.
    package static let smallestBudget = "128M"
    /// Freed memory that a worker keeps at most from one picture to a smaller one.
    package static let keptMemory = 32 << 20
    /// Bytes of assets that a worker keeps at the sizes at which they were drawn, for the next picture.
    package static let keptAssets = 16 << 20

    /// Bytes of memory that the worker needs at most.
    var memory: Int {
        let work = [decoder, loaded, converted, work].reduce(0, saturating)
        return saturating(Self.base, Self.withAssets(assets, work))
    }

    /// What the shared stages hold, and then each rendition in its turn.
    private var work: Int {
        let shared = HeldPictures.held(by: shared[...], factor: load.ratio, isInputHeld: true)
        guard sharing != .scaled else {
            // What came before is let go when all of it has been scaled.
            let scaled = renditions.map { saturating($0.scaledFirst, $0.rowsOfFirst) }.reduce(0, saturating)
            let own = renditions.map { rendition in
                let first = rendition.scaledFirst
                let turned = load.turnsLate(source) ? first : 0
                // Its first stage finds the scaled picture made.
                return saturating(turned, rendition.held(from: 1, isMade: first))
            }
            return max(saturating(shared.peak, scaled), saturating(scaled, own.max() ?? 0))
        }
        let isScaled = self.shared.contains(where: \.isScaling)
        let result = self.shared.last.map { $0.output.scaled(by: isScaled ? 1 : load.ratio).bytes }
        let holdsShared = sharing == .held && !self.shared.isEmpty
        let kept = holdsShared ? result ?? 0 : shared.kept
        let means = load.shrinks.filter { $0 > load.shrink }.map { shrink in
            let ratio = shrink / load.shrink
            return (result ?? loaded) / (ratio * ratio)
        }
        let own = zip(renditions, load.shrinks).map { rendition, shrink in
            rendition.held(from: isScaled ? 1 : load.ratio * Double(load.shrink) / Double(shrink))
        }
        return max(
            saturating(shared.peak, holdsShared ? kept : 0),
            [kept, means.reduce(0, saturating), own.max() ?? 0].reduce(0, saturating))
    }

    /// Bytes of the assets, which are decoded one after the other before there is any other picture, and of what comes
    /// then.
    static func withAssets(_ assets: [AssetFacts], _ work: Int) -> Int {
        guard !assets.isEmpty else { return work }
        let pictures = assets.map(\.picture.bytes)
        // The most that a decoder takes, AVIF's, and the picture before it is converted.
        let decoding = assets.map { asset in
            let (bytes, overflow) = asset.size.area.multipliedReportingOverflow(by: 17 * asset.picture.depth.bytes)
            return overflow ? Int.max : bytes
        }
        return pictures.reduce(max(decoding.max() ?? 0, saturating(keptAssets, work)), saturating)
    }

    /// Seconds that decoding and encoding may take on a slow machine.
    var seconds: Double {
        let pixels = Double(source.size.area) * Double(load.loadsAllFrames ? source.frames : 1)
        let drawn = Double(load.scale * load.enlargement)
        return pixels * drawn * drawn / 2_000_000 + renditions.map(Self.encodingSeconds).reduce(0, +)
    }

    /// The size of what the decoder delivers.
    private var loadedSize: PixelSize {
        let size = decoded.scaled(by: load.ratio).size
        return PixelSize(size.width + 1, size.height + 1)
    }

    /// The picture as the decoder delivers it, if all of it is held.
    private var loaded: Int {
        guard load.beginning == .held || source.format.declaration.deliversWhole else { return 0 }
        var delivered = decoded.resized(to: loadedSize)
        // It is held in its own colors.
        if source.colour.bands > delivered.colour.bands { delivered.colour = source.colour }
        return delivered.bytes
    }

    /// The same in the colors that stages work in, if several renditions read it.
    private var converted: Int {
        let isConverted = source.colour != decoded.colour || (source.hasProfile && !decoded.keepsProfile)
        guard isConverted, shared.isEmpty, sharing == .held else { return 0 }
        return decoded.resized(to: loadedSize).bytes
    }

    /// What the decoder itself holds, besides what it has delivered.
    private var decoder: Int {
        source.format.declaration.memory(decoding: source, shrink: load.shrink, to: loadedSize)
    }

    /// Bytes needed to save a rendition: for all frames of an animation, and for the encoder.
    static func saving(_ plan: RenditionPlan) -> Int {
        let output = plan.output
        return saturating(
            output.frames > 1 ? output.bytes : 0, plan.rendition.save.encoding.memory(saving: output))
    }

    static func encodingSeconds(_ plan: RenditionPlan) -> Double {
        let megapixels = Double(plan.output.size.area) * Double(plan.output.frames) / 1_000_000
        return megapixels * plan.rendition.save.encoding.secondsPerMegapixel
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

    /// What its stages and its encoder hold.
    /// - Parameters:
    ///   - factor: how much larger than planned the picture comes in.
    ///   - isMade: bytes of what the first stage finds made.
    fileprivate func held(from factor: Double, isMade made: Int = 0) -> Int {
        let stages = HeldPictures.held(by: steps[...], factor: factor, isInputHeld: true, isMade: made)
        return max(stages.peak, saturating(stages.kept, CostModel.saving(self)))
    }
}
