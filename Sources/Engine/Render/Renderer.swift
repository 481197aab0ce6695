// Follows a plan from the first byte to the last: decode, upright, colours, shared stages, then each rendition.
import CLinux
import Glibc
import Pipeline
import Stages
import Vips

struct Renderer {
    let plan: Plan
    let pipeline: PipelineFile
    let assets: AssetStore
    let colours: ColourConversion
    var thumbnail: ThumbnailFacts?

    /// Renders renditions of the plan, by their places in it, each into its descriptor.
    func render(_ source: ProbedSource, _ wanted: [Int], to outputs: [OpenFile]) throws -> RenderResult {
        let image = try source.image(plan.load, tolerance: pipeline.tolerance)
        let metadata = SourceMetadata(image)
        let (starts, warnings) = try starts(from: image)
        let beginning = Beginning(starts: starts, metadata: metadata, warnings: try warnings + source.warnings(pipeline.tolerance))
        return try render(beginning, wanted, to: outputs) {
            _ = try source.reopened(shrink: plan.load.shrink, tolerance: pipeline.tolerance).inMemory()
        }
    }

    /// Where the renditions begin.
    struct Beginning {
        /// What each rendition begins with.
        let starts: [Frames]
        let metadata: SourceMetadata
        let warnings: [Warning]
    }

    /// - Parameter decode: decodes the source to nothing, to tell whether an error is its fault.
    func render(_ beginning: Beginning, _ wanted: [Int], to outputs: [OpenFile], decode: () throws -> Void) throws -> RenderResult {
        var sizes: [RenderedSize] = []
        for (index, output) in zip(wanted, outputs) {
            let rendition = plan.renditions[index]
            do {
                sizes.append(try render(rendition, from: beginning.starts[index], beginning.metadata, to: output))
            } catch let error as VipsError {
                throw cause(of: error, rendition, output, decode: decode)
            }
        }
        let warnings = beginning.warnings + beginning.metadata.warnings(for: plan.renditions.map(\.policy))
        return RenderResult(renditions: sizes, warnings: warnings, peakMemory: Int(clinux_peak_memory()))
    }

    // MARK: - From the source to the first stage of each rendition

    /// The source with all its pixels in memory, as the first stage gets it.
    func wholePicture(_ source: ProbedSource) throws -> Frames {
        let image = try source.reopened(shrink: 1, allFrames: plan.load.loadsAllFrames, tolerance: pipeline.tolerance).inMemory()
        let converted = try colours.convert(image.upright(orientation: plan.source.orientation)).image.inMemory()
        let timing = Timing(image, frames: plan.load.loadsAllFrames ? plan.source.frames : 1)
        let single = try withoutFrames(converted)
        return timing.frames > 1 ? try timing.frames(of: single) : Frames(images: [single])
    }

    /// What each rendition begins with.
    private func starts(from image: Image) throws -> (starts: [Frames], warnings: [Warning]) {
        var decoded = plan.load.isHeldInMemory ? try image.inMemory() : image
        if !plan.load.turnsLate { decoded = try decoded.upright(orientation: plan.source.orientation) }
        var (converted, warnings) = try colours.convert(decoded)
        // Several renditions read it; what the conversion costs is paid once.
        if plan.holdsShared && plan.shared.isEmpty && converted !== decoded { converted = try converted.inMemory() }
        let timing = Timing(image, frames: plan.load.loadsAllFrames ? plan.source.frames : 1)
        let single = try withoutFrames(converted)
        if plan.scalesAtOnce && plan.shared.isEmpty { return (try scaledAtOnce(single, timing), warnings) }
        let frames = timing.frames > 1 ? try timing.frames(of: single) : Frames(images: [single])
        var shared = try run(plan.shared, on: frames, RenderContext(scale: 1, assets: assets))
        if plan.scalesAtOnce { return (try scaledAtOnce(shared.images[0], timing), warnings) }
        if plan.holdsShared && !plan.shared.isEmpty { shared = try shared.map { try $0.inMemory() } }
        return (plan.renditions.map { $0.format.supportsAnimation ? shared : Frames(images: [shared.images[0]]) }, warnings)
    }

    /// The picture at the size that each rendition's first stage scales to, while its rows pass once. That stage finds nothing left to scale.
    private func scaledAtOnce(_ image: Image, _ timing: Timing) throws -> [Frames] {
        let isLying = plan.load.turnsLate && plan.source.orientation >= 5
        let targets = try plan.renditions.map { rendition in
            guard let scaling = rendition.firstScaling, let kernel = ResamplingKernel(scaling.kernel) else {
                throw MismatchedPlan(stage: rendition.steps.first?.name ?? "save")
            }
            let size = isLying ? scaling.size.transposed : scaling.size
            return ResamplingTarget(width: size.width, height: size.height, kernel: kernel)
        }
        // The last pixel of a JPEG that is shrunk on load stands for what is left of the source, which may be less than a pixel.
        let shrink = Double(plan.load.shrink)
        let isFraction = plan.source.format == .jpeg && plan.load.turnsLate
        let extent = isFraction ? (Double(plan.source.size.width) / shrink, Double(plan.source.size.height) / shrink) : nil
        return try image.resampled(to: targets, extent: extent, frames: timing.frames).map { scaled in
            if timing.frames > 1 { return try timing.frames(of: scaled) }
            return Frames(images: [plan.load.turnsLate ? try scaled.upright(orientation: plan.source.orientation) : scaled])
        }
    }

    /// The picture as one, whatever it says of frames and pages; checked against the header that was planned with.
    private func withoutFrames(_ image: Image) throws -> Image {
        guard plan.load.loadsAllFrames else { return image }
        guard image.height == plan.source.size.height * plan.source.frames else {
            throw Failure(.changedWhileRead, stage: "decode", "the header promised \(plan.source.frames) frames, the file has others")
        }
        return try image.removingMetadata(["page-height", "n-pages", "delay", "loop", "gif-delay", "gif-loop"])
    }

    // MARK: - Stages

    func run(_ steps: [Step], on start: Frames, _ context: RenderContext) throws -> Frames {
        var frames = start
        for (index, step) in steps.enumerated() {
            // The first stage's input was held while loading, where it needs that.
            if !step.plan.isStreaming && index > 0 { frames = try frames.map { try $0.inMemory() } }
            do {
                frames = try step.render(frames, in: context)
            } catch let error as VipsError where error.reason != .failed {
                throw Failure(.internal, stage: step.name, "the stage asked libvips for what it cannot do", detail: error.description)
            }
            try check(frames, against: step)
        }
        return frames
    }

    /// Plan and pixels must agree. Before the first scaling stage a picture that was shrunk on load is smaller than planned.
    private func check(_ frames: Frames, against step: Step) throws {
        let planned = step.output
        let isShrunk = !plan.isSet && plan.load.shrink > 1 && step.plan.footing == .anySize
        for image in frames.images {
            guard isShrunk || (image.width == planned.size.width && image.height == planned.size.height), image.hasAlpha == planned.hasAlpha,
                image.bands == planned.bands
            else {
                let found = "\(image.width)×\(image.height) with \(image.bands) bands"
                throw Failure(.internal, stage: step.name, "planned \(planned.size) with \(planned.bands) bands, rendered \(found)")
            }
        }
    }

    // MARK: - Saving

    private func render(_ rendition: RenditionPlan, from start: Frames, _ metadata: SourceMetadata, to output: OpenFile) throws -> RenderedSize {
        let context = RenderContext(scale: rendition.scale, assets: assets)
        var frames = try run(rendition.steps, on: start, context)
        let save = rendition.rendition.save
        if !save.supportsAlpha { frames = try frames.map { try $0.flattened(onto: save.background, in: context) } }
        let policy = save.metadata
        let (image, keepsNothing) = try metadata.applied(
            to: try joined(frames, rendition.format), policy: policy, keepsProfile: pipeline.profile == .keep)
        let marked = try marked(image, rendition)
        try Saver(settings: save, depth: rendition.output.depth).save(marked, to: output, strip: keepsNothing && marked === image)
        // libvips has been seen to succeed with its error buffer full and the pixels wrong.
        if pipeline.tolerance == .nothing { try VipsLibrary.requireNoErrors(after: "save") }
        return RenderedSize(size: PixelSize(frames.images[0].width, frames.images[0].height), frames: frames.images.count)
    }

    private func joined(_ frames: Frames, _ format: OutputFormat) throws -> Image {
        guard frames.images.count > 1 else { return frames.images[0] }
        let height = frames.images[0].height
        return try (frames.stack ?? Image.arrayjoin(frames.images)).editingMetadata { editor in
            editor.set("page-height", int: height)
            editor.set("delay", ints: format == .gif ? inHundredths(frames.delays) : frames.delays)
            editor.set("loop", int: frames.repeatCount)
        }
    }

    /// A thumbnail for file managers says what it was made of.
    private func marked(_ image: Image, _ rendition: RenditionPlan) throws -> Image {
        guard rendition.rendition.layout == .freedesktop, let thumbnail else { return image }
        return try image.editingMetadata { editor in
            for (index, entry) in thumbnail.texts.enumerated() { editor.set("png-comment-\(index)-\(entry.key)", string: entry.text) }
        }
    }

    /// GIF counts hundredths of a second. Each frame ends at one near its own time, so that the errors do not add up.
    private func inHundredths(_ delays: [Int]) -> [Int] {
        var (end, shown) = (0, 0)
        return delays.map { delay in
            end += delay
            let next = (end + 5) / 10 * 10
            defer { shown = next }
            return next - shown
        }
    }

    // MARK: - Failures

    /// Decoding runs while encoding pulls, so an error says little about who failed. Writing and decoding alone tell.
    private func cause(of error: VipsError, _ rendition: RenditionPlan, _ output: OpenFile, decode: () throws -> Void) -> Failure {
        // Why it takes no more is for the supervisor to find out, and soon: others may make room.
        guard takesMore(output) else {
            return Failure(.encodingFailed, stage: "save", "'\(rendition.title)' cannot be written", detail: error.message)
        }
        _ = VipsLibrary.takeErrors()
        do {
            try decode()
        } catch {
            return Failure(.corrupt, stage: "decode", "the picture is damaged", detail: (error as? VipsError)?.message ?? "\(error)")
        }
        return Failure(
            .encodingFailed, stage: "save", "'\(rendition.title)' cannot be encoded as \(rendition.format.rawValue)", detail: error.message)
    }

    /// Whether the output takes another block at its end.
    private func takesMore(_ output: OpenFile) -> Bool {
        let block = [UInt8](repeating: 0, count: 65_536)
        let end = lseek(output.descriptor, 0, SEEK_END)
        defer { ftruncate(output.descriptor, end) }
        return pwrite(output.descriptor, block, block.count, end) == block.count
    }
}

/// When the frames of an animation are shown.
private struct Timing {
    let frames: Int
    private let delays: [Int]
    private let repeatCount: Int

    /// - Parameter frames: how many of them there are.
    init(_ image: Image, frames: Int) {
        let known = (image.ints("delay") ?? []).prefix(frames)
        self.frames = frames
        delays = frames > 1 ? known + Array(repeating: known.last ?? 100, count: frames - known.count) : []
        repeatCount = frames > 1 ? image.int("loop") ?? 0 : 0
    }

    func frames(of stack: Image) throws -> Frames {
        try Frames(stack: stack, count: frames, delays: delays, repeatCount: repeatCount)
    }
}
