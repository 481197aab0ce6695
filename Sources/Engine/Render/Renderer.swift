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

    /// Renders every rendition into its descriptor, in the order of the plan.
    func render(_ source: OpenFile, to outputs: [OpenFile]) throws -> RenderResult {
        var decoding = try decode(source)
        let metadata = SourceMetadata(decoding.frames.images[0])
        let context = RenderContext(scale: 1, assets: assets)
        var shared = try run(plan.shared, on: decoding.frames, context)
        if plan.holdsShared && !plan.shared.isEmpty { shared = try shared.map { try $0.inMemory() } }
        var sizes: [RenderedSize] = []
        for (rendition, output) in zip(plan.renditions, outputs) {
            do {
                sizes.append(try render(rendition, from: shared, metadata, to: output))
            } catch let error as VipsError {
                throw try cause(of: error, source, rendition, output)
            }
        }
        decoding.warnings += metadata.warnings(for: plan.renditions.map(\.rendition.save.metadata))
        return RenderResult(renditions: sizes, warnings: decoding.warnings, peakMemory: Int(clinux_peak_memory()))
    }

    // MARK: - From the source to the first stage

    private func decode(_ source: OpenFile) throws -> (frames: Frames, warnings: [Warning]) {
        let facts = plan.source
        var image = try Loader.open(
            source, format: facts.format, shrink: plan.load.shrink, allFrames: plan.load.loadsAllFrames, tolerance: pipeline.tolerance)
        // libheif looks past the end of a good file to learn its size, and libvips leaves that in its error buffer.
        if facts.format == .heic || facts.format == .avif { _ = VipsLibrary.takeErrors() }
        let delays = image.ints("delay") ?? []
        let repeatCount = image.int("loop") ?? 0
        if plan.load.isHeldInMemory { image = try image.inMemory() }
        let upright = try image.upright(orientation: facts.orientation)
        var (converted, warnings) = try ColourConversion(policy: pipeline.profile).convert(upright)
        // Several renditions read it; what the conversion costs is paid once.
        if plan.holdsShared && plan.shared.isEmpty && converted !== image { converted = try converted.inMemory() }
        if pipeline.tolerance == .truncated, completeness(of: facts.format, in: try source.byteSource()) == .incomplete {
            warnings.append(Warning(.sourceTruncated, "the file ends before the picture does; what is missing is grey"))
        }
        return (try frames(of: converted, delays: delays, repeatCount: repeatCount), warnings)
    }

    private func frames(of image: Image, delays: [Int], repeatCount: Int) throws -> Frames {
        guard plan.load.loadsAllFrames else { return Frames(images: [image]) }
        let height = plan.source.size.height
        guard image.height == height * plan.source.frames else {
            throw Failure(.changedWhileRead, stage: "decode", "the header promised \(plan.source.frames) frames, the file has others")
        }
        let single = try image.editingMetadata { editor in
            for field in ["page-height", "n-pages", "delay", "loop", "gif-delay", "gif-loop"] { editor.remove(field) }
        }
        let images = try (0..<plan.source.frames).map {
            try single.extractArea(left: 0, top: $0 * height, width: image.width, height: height)
        }
        let known = delays.prefix(images.count)
        return Frames(
            images: images, delays: known + Array(repeating: known.last ?? 100, count: images.count - known.count), repeatCount: repeatCount)
    }

    // MARK: - Stages

    private func run(_ steps: [Step], on start: Frames, _ context: RenderContext) throws -> Frames {
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
        let isShrunk = plan.load.shrink > 1 && step.plan.footing == .anySize
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

    private func render(_ rendition: RenditionPlan, from shared: Frames, _ metadata: SourceMetadata, to output: OpenFile) throws -> RenderedSize {
        var start = shared
        if !rendition.format.supportsAnimation { start = Frames(images: [shared.images[0]]) }
        let context = RenderContext(scale: rendition.scale, assets: assets)
        var frames = try run(rendition.steps, on: start, context)
        let save = rendition.rendition.save
        if !save.supportsAlpha { frames = try frames.map { try $0.flattened(onto: save.background, in: context) } }
        let policy = save.metadata
        let (image, keepsNothing) = try metadata.applied(to: try joined(frames), policy: policy, keepsProfile: pipeline.profile == .keep)
        try Saver(settings: save, depth: rendition.output.depth).save(image, to: output, strip: keepsNothing)
        // libvips has been seen to succeed with its error buffer full and the pixels wrong.
        if pipeline.tolerance == .nothing { try VipsLibrary.requireNoErrors(after: "save") }
        return RenderedSize(size: PixelSize(frames.images[0].width, frames.images[0].height), frames: frames.images.count)
    }

    private func joined(_ frames: Frames) throws -> Image {
        guard frames.images.count > 1 else { return frames.images[0] }
        let height = frames.images[0].height
        return try Image.arrayjoin(frames.images).editingMetadata { editor in
            editor.set("page-height", int: height)
            editor.set("delay", ints: frames.delays)
            editor.set("loop", int: frames.repeatCount)
        }
    }

    // MARK: - Failures

    /// Decoding runs while encoding pulls, so an error says little about who failed. Writing and decoding alone tell.
    private func cause(of error: VipsError, _ source: OpenFile, _ rendition: RenditionPlan, _ output: OpenFile) throws -> Failure {
        if let failure = writeFailure(output) { return failure }
        _ = VipsLibrary.takeErrors()
        do {
            _ = try Loader.open(source, format: plan.source.format, shrink: plan.load.shrink, allFrames: false, tolerance: pipeline.tolerance)
                .inMemory()
        } catch {
            return Failure(.corrupt, stage: "decode", "the picture is damaged", detail: error.message)
        }
        return Failure(
            .encodingFailed, stage: "save", "'\(rendition.title)' cannot be encoded as \(rendition.format.rawValue)", detail: error.message)
    }

    /// Whether the output takes more bytes, tried with a block at its end.
    private func writeFailure(_ output: OpenFile) -> Failure? {
        let block = [UInt8](repeating: 0, count: 65_536)
        _ = lseek(output.descriptor, 0, SEEK_END)
        let written = write(output.descriptor, block, block.count)
        guard written < block.count else { return nil }
        return SystemError("write a rendition", code: written < 0 ? errno : ENOSPC).asOutputFailure
    }
}
