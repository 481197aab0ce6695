// What a plan costs: bytes of memory for admission, seconds for the deadline. Bounds, not averages.

struct CostModel {
    let source: SourceFacts
    let load: LoadPlan
    let decoded: Geometry
    let shared: [Step]
    let scalesAtOnce: Bool
    let renditions: [RenditionPlan]

    /// What a worker needs before it has any picture: libraries, tables, buffers of lines.
    static let base = 96 << 20

    /// Bytes of memory that the worker needs at most.
    var memory: Int {
        let sharedHeld = renditions.count > 1 && !scalesAtOnce ? (shared.last?.output ?? loaded).bytes : 0
        let together = scalesAtOnce ? renditions.compactMap { $0.steps.first.map(Self.scaling) }.reduce(0, saturating) : 0
        let perRendition = renditions.map { saturating(held(scalesAtOnce ? $0.steps.dropFirst() : $0.steps[...]), Self.encoder($0)) }.max() ?? 0
        let parts = [Self.base, decoder, load.isHeldInMemory ? loaded.bytes : 0, held(shared[...]), sharedHeld, together, perRendition]
        return parts.reduce(0, saturating)
    }

    /// Seconds after which the worker has hung: a minute, and what decoding and encoding may take on a slow machine.
    var deadline: Double {
        let pixels = Double(source.size.area) * Double(load.loadsAllFrames ? source.frames : 1)
        return 60 + pixels / 2_000_000 + renditions.map(Self.encodingSeconds).reduce(0, +)
    }

    /// The picture as the decoder delivers it.
    private var loaded: Geometry {
        decoded.resized(to: PixelSize(decoded.size.width / load.shrink + 1, decoded.size.height / load.shrink + 1))
    }

    /// What the decoder itself holds, besides what it has delivered.
    private var decoder: Int {
        let pixels = source.size.area
        let delivered = pixels / (load.shrink * load.shrink)
        let bands = source.colour.bands + (source.hasAlpha ? 1 : 0)
        return switch source.format {
        // The coefficients of the whole picture, 16 bits each, whatever the size of the result.
        case .jpeg: source.isInterlaced ? 2 * bands * pixels : 0
        case .png: source.isInterlaced ? bands * source.depth.bytes * pixels : 0
        case .webp: 4 * 2 * delivered
        case .gif: 4 * 2 * delivered
        // A file may be one strip.
        case .tiff: bands * source.depth.bytes * pixels
        // The decoder's planes, and the same as RGB.
        case .heic, .avif: 10 * pixels
        }
    }

    /// What stages hold that cannot work row by row.
    private func held(_ steps: ArraySlice<Step>) -> Int {
        let inputs = steps.filter { !$0.plan.isStreaming || $0.input.frames > 1 }.map(\.input.bytes)
        return inputs.reduce(Self.made(by: steps), saturating)
    }

    /// What stages hold besides what comes in.
    static func made(by steps: ArraySlice<Step>) -> Int {
        let outputs = steps.filter { $0.output.frames > 1 }.map(\.output.bytes)
        return (outputs + steps.map(scaling) + steps.map(\.plan.heldBytes)).reduce(0, saturating)
    }

    /// A scaled picture is held, and some rows of it and of its source are while it is made.
    private static func scaling(_ step: Step) -> Int {
        guard case .scales(let size, _) = step.plan.footing else { return 0 }
        let rows = step.input.size.width + step.input.size.height + size.width + size.height
        return saturating(step.input.resized(to: size).bytes, rows * 128 * step.input.bands)
    }

    static func encoder(_ plan: RenditionPlan) -> Int {
        let pixels = plan.output.size.area
        return switch plan.rendition.save.encoding {
        case .jpeg(let options): options.progressive ? 6 * pixels : 0
        case .png(let options): options.paletteColors != nil ? 9 * pixels : options.progressive ? plan.output.bytes : 0
        case .webp: 14 * pixels + plan.output.bytes
        case .avif: 40 * pixels
        case .tiff: 0
        case .gif: 9 * pixels + plan.output.bytes
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
