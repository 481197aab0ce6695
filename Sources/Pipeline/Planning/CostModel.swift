// What a plan costs: bytes of memory for admission, seconds for the deadlines. Bounds, not averages.

package struct CostModel {
    let source: SourceFacts
    let load: LoadPlan
    let decoded: PictureInfo
    let shared: [PlannedStage]
    let scalesAtOnce: Bool
    let renditions: [RenditionPlan]
    var assets: [AssetFacts] = []

    /// What a worker needs before it has any picture: libraries, tables, buffers of lines.
    static let base = 96 << 20
    /// Bytes of assets that a worker keeps at the sizes at which they were drawn, for the next picture.
    package static let keptAssets = 16 << 20

    /// Bytes of memory that the worker needs at most.
    var memory: Int {
        let last = shared.last.map { $0.output.enlarged(shared.contains(where: \.isScaling) ? 1 : load.enlargement) }
        let sharedHeld = renditions.count > 1 && !scalesAtOnce ? (last ?? loaded).bytes : 0
        let together =
            scalesAtOnce ? renditions.map { held(fromShared: $0.steps.prefix(1)) }.reduce(0, saturating) : 0
        let perRendition = renditions.map { rendition in
            // Its first step is part of what is scaled together.
            let steps =
                scalesAtOnce ? Self.held(by: rendition.steps.dropFirst()) : held(fromShared: rendition.steps[...])
            return saturating(steps, Self.saving(rendition))
        }
        let parts = [
            decoder, holdsLoaded ? loaded.bytes : 0, held(fromStart: shared), sharedHeld, together,
            perRendition.max() ?? 0,
        ]
        return saturating(Self.base, Self.withAssets(assets, parts.reduce(0, saturating)))
    }

    /// What stages hold of which the first ones get the picture as it was loaded.
    private func held(fromStart steps: [PlannedStage]) -> Int {
        let scaling = steps.firstIndex(where: \.isScaling) ?? steps.count - 1
        let early = steps.prefix(scaling + 1).map { Self.held(by: $0, enlargement: load.enlargement) }
        return saturating(early.reduce(0, saturating), Self.held(by: steps.dropFirst(scaling + 1)))
    }

    /// What stages hold that follow the shared ones.
    private func held(fromShared steps: ArraySlice<PlannedStage>) -> Int {
        shared.contains(where: \.isScaling) ? Self.held(by: steps) : held(fromStart: Array(steps))
    }

    /// Bytes of the assets, which are decoded one after the other before there is any other picture, and of what comes
    /// then.
    static func withAssets(_ assets: [AssetFacts], _ work: Int) -> Int {
        guard !assets.isEmpty else { return work }
        let pictures = assets.map(\.picture.bytes)
        // The most that a decoder takes, AVIF's, and the picture before it is converted.
        let decoding = assets.map { asset in
            let (bytes, overflow) = asset.size.area.multipliedReportingOverflow(by: 14)
            return overflow ? Int.max : bytes
        }
        return pictures.reduce(max(decoding.max() ?? 0, saturating(keptAssets, work)), saturating)
    }

    /// Seconds that decoding and encoding may take on a slow machine.
    var seconds: Double {
        let pixels = Double(source.size.area) * Double(load.loadsAllFrames ? source.frames : 1)
        let drawn = Double(load.enlargement * load.enlargement)
        return pixels * drawn / 2_000_000 + renditions.map(Self.encodingSeconds).reduce(0, +)
    }

    /// The picture as the decoder delivers it.
    private var loaded: PictureInfo {
        let size = decoded.enlarged(load.enlargement).size
        return decoded.resized(to: PixelSize(size.width / load.shrink + 1, size.height / load.shrink + 1))
    }

    /// WebP is always decoded as a whole, with all its frames.
    private var holdsLoaded: Bool { load.isHeldInMemory || source.format == .webp }

    /// What the decoder itself holds, besides what it has delivered.
    private var decoder: Int {
        let pixels = source.size.area
        let delivered = pixels / (load.shrink * load.shrink)
        let bands = source.colour.bands + (source.hasAlpha ? 1 : 0)
        return switch source.format {
        // The coefficients of the whole picture, 16 bits each, whatever the size of the result.
        case .jpeg: source.isInterlaced ? 2 * bands * pixels : 0
        // The file, its pixels as they are packed and unpacked, and the result.
        case .png:
            source.isInterlaced
                ? source.pixelBytes : source.isDecodedAsAWhole ? 13 * source.pixelBytes / 4 + (128 << 10) : 0
        // The file, and RGBA and alpha as the decoder has them if there are no losses; besides, two frames, or what is
        // made smaller afterwards.
        case .webp: saturating(source.bytes, (source.isAnimated ? 12 : load.shrink > 1 ? 9 : 5) * pixels)
        case .gif: 4 * 2 * delivered
        // A file may be one strip.
        case .tiff: source.pixelBytes
        // The decoder's planes, and the same as RGB.
        case .heic, .avif: 10 * max(pixels, source.codedSize?.area ?? 0)
        // Tiles, and layers of the drawing, which may be as large as the whole. Filters may need more; then the worker
        // is stopped.
        case .svg, .pdf: saturating(160 << 20, 16 * loaded.size.area)
        case .jxl, .jp2: 24 * pixels
        }
    }

    /// What stages hold.
    static func held(by steps: ArraySlice<PlannedStage>) -> Int { steps.map { held(by: $0) }.reduce(0, saturating) }

    /// What a stage holds: what comes in, if it does not read it row by row; the pictures on its way; and some rows of
    /// all of them.
    /// - Parameter enlargement: how many times larger than planned the picture comes in.
    static func held(by step: PlannedStage, enlargement: Int = 1) -> Int {
        let input = step.input.enlarged(enlargement)
        let intermediates =
            step.isScaling ? step.plan.intermediates : step.plan.intermediates.map { $0.enlarged(enlargement) }
        let pictures = (step.plan.isStreaming ? [] : [input]) + intermediates
        let sides = ([input] + intermediates).map { saturating($0.size.width, $0.size.height) }.reduce(0, saturating)
        let (rows, overflow) = sides.multipliedReportingOverflow(by: 128 * max(step.input.bands, step.output.bands))
        return pictures.map(\.bytes).reduce(overflow ? .max : rows, saturating)
    }

    /// Bytes needed to save a rendition: for all frames of an animation, and for the encoder.
    static func saving(_ plan: RenditionPlan) -> Int {
        saturating(plan.output.frames > 1 ? plan.output.bytes : 0, encoder(plan))
    }

    /// What an encoder holds, by the most that was measured for a pixel of noise at any effort and quality.
    private static func encoder(_ plan: RenditionPlan) -> Int {
        let output = plan.output
        let pixels = output.size.area
        return switch plan.rendition.save.encoding {
        case .jpeg(let options): options.progressive ? 6 * pixels : 0
        case .png(let options):
            // The pixels, the rows as they are packed, and the result, which is no larger.
            if options.takesWhole(bytes: output.bytes) {
                4 * output.bytes
            } else {
                options.paletteColors != nil ? 9 * pixels : options.progressive ? output.bytes : 0
            }
        // Alpha is packed without losses beside the colours.
        case .webp(let options): (options.lossless ? 40 : output.hasAlpha ? 64 : 24) * pixels + output.bytes
        case .avif: (40 + (output.hasAlpha ? 24 : 0) + (output.depth == .eight ? 0 : 24)) * pixels
        case .tiff: 0
        case .gif: 12 * pixels + output.bytes
        }
    }

    static func encodingSeconds(_ plan: RenditionPlan) -> Double {
        let megapixels = Double(plan.output.size.area) * Double(plan.output.frames) / 1_000_000
        let secondsPerMegapixel: Double =
            switch plan.rendition.save.encoding {
            case .jpeg: 0.5
            case .png: 4
            case .webp(let options): options.lossless ? 20 : 5
            case .avif(let options): 5 * Double(options.effort + 1)
            case .tiff: 1
            case .gif: 5
            }
        return megapixels * secondsPerMegapixel
    }
}

extension PlannedStage {
    fileprivate var isScaling: Bool { if case .scales = plan.sizeDependence { true } else { false } }
}

extension PictureInfo {
    fileprivate func enlarged(_ factor: Int) -> PictureInfo {
        factor == 1 ? self : resized(to: PixelSize(size.width * factor, size.height * factor))
    }
}
