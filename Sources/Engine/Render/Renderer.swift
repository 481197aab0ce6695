// Follows a plan from the first byte to the last: decode, upright, colours, shared stages, then each rendition.
import CLinux
import Glibc
import Pipeline
import Stages
import Vips

struct Renderer {
    private(set) var plan: SourcePlan
    let pipeline: PipelineFile
    let assets: AssetStore
    let colours: ColourConversion
    var thumbnail: ThumbnailFacts?

    /// Renders renditions of the plan, by their places in it, each into its descriptor.
    func render(_ source: ProbedSource, wanted: [Int], to outputs: [OpenFile]) throws -> RenderResult {
        guard plan.drawings.isEmpty else { return try draw(source, wanted: wanted, to: outputs) }
        let trial = DecoderTrial {
            try source.reopened(plan.load, tolerance: pipeline.tolerance).image.evaluated()
        }
        let picture = try source.picture(plan.load, tolerance: pipeline.tolerance)
        let metadata = SourceMetadata(picture.image)
        let missing = try source.warnings(pipeline.tolerance)
        let (starts, warnings) = try judging(trial) { try self.starts(from: picture, of: source) }
        // A warning says already that the file is truncated.
        let judge = missing.contains { $0.code == .sourceTruncated } ? nil : trial
        return try render(
            Beginning(starts: starts, metadata: metadata, warnings: warnings + missing), wanted: wanted, to: outputs,
            trial: judge)
    }

    /// Draws a vector picture anew for each rendition.
    private func draw(_ source: ProbedSource, wanted: [Int], to outputs: [OpenFile]) throws -> RenderResult {
        let results = try zip(wanted, outputs).map { index, output in
            var renderer = self
            renderer.plan = plan.drawings[index]
            return try renderer.render(source, wanted: [0], to: [output])
        }
        let warnings = results.flatMap(\.warnings)
        return RenderResult(
            renditions: results.flatMap(\.renditions),
            warnings: warnings.indices.filter { !warnings[..<$0].contains(warnings[$0]) }.map { warnings[$0] },
            peakMemory: Int(clinux_peak_memory()))
    }

    /// Where the renditions begin.
    struct Beginning {
        /// What each rendition begins with.
        let starts: [Frames]
        let metadata: SourceMetadata
        let warnings: [Warning]
    }

    /// - Parameter trial: judges messages of libvips; nil if they are to be ignored.
    func render(
        _ beginning: Beginning, wanted: [Int], to outputs: [OpenFile], trial: DecoderTrial?
    ) throws -> RenderResult {
        var sizes: [RenderedSize] = []
        var warnings = beginning.warnings
        for (index, output) in zip(wanted, outputs) {
            let rendition = plan.renditions[index]
            try judging(trial) {
                do {
                    let (size, notes) = try render(
                        rendition, from: beginning.starts[index], resized: plan.beginsResized(rendition: index),
                        beginning.metadata, to: output)
                    sizes.append(size)
                    warnings += notes.filter { !warnings.contains($0) }
                    let said = try trial?.warnings(VipsLibrary.takeErrors()) ?? []
                    warnings += said.filter { !warnings.contains($0) }
                } catch let error as SystemError {
                    throw NoRoom(rendition: rendition.title, detail: error.description)
                } catch let error as VipsError {
                    if error.isFullDisk || !takesMore(output) {
                        throw NoRoom(rendition: rendition.title, detail: error.message)
                    }
                    let message = "'\(rendition.title)' cannot be encoded as \(rendition.format.rawValue)"
                    throw FailedOperation(.encodingFailed, stage: "save", message, error)
                }
            }
        }
        warnings += beginning.metadata.warnings(for: plan.renditions)
        return RenderResult(renditions: sizes, warnings: warnings, peakMemory: Int(clinux_peak_memory()))
    }

    /// Finds out whose fault a failed operation is.
    func judging<Value>(_ trial: DecoderTrial?, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as FailedOperation {
            throw trial?.failure(after: error) ?? error.failure
        }
    }

    // MARK: - From the source to the first stage of each rendition

    /// The source with all its pixels in memory, as the first stage gets it.
    func wholePicture(_ source: ProbedSource) throws -> Frames {
        let picture = try source.reopened(shrink: 1, allFrames: plan.load.loadsAllFrames, tolerance: pipeline.tolerance)
            .inMemory()
        let timing = FrameTiming(picture.image, plan)
        return try frames(of: converted(turned(picture, timing)).picture.inMemory(), timing)
    }

    /// What each rendition begins with.
    private func starts(
        from picture: Picture, of source: ProbedSource
    ) throws -> (starts: [Frames], warnings: [Warning]) {
        if plan.load.isHeldInMemory { return try starts(from: source.inMemory(picture, shrink: plan.load.shrink)) }
        // Here alone the rows are read from top to bottom, and all of them before this returns.
        guard plan.load.turnsLate, let decoder = source.decoder(of: picture, shrink: plan.load.shrink) else {
            return try starts(from: picture)
        }
        do {
            return try starts(from: picture.with(decoder.streamed()))
        } catch {
            // Whatever is wrong, libvips finds it again.
            _ = VipsLibrary.takeErrors()
            return try starts(from: picture)
        }
    }

    private func starts(from picture: Picture) throws -> (starts: [Frames], warnings: [Warning]) {
        let timing = FrameTiming(picture.image, plan)
        let decoded = plan.load.turnsLate ? picture : try turned(picture, timing)
        var (converted, warnings) = try converted(decoded)
        // Several renditions read it; what the conversion costs is paid once.
        if plan.holdsShared && plan.shared.isEmpty && converted.image !== decoded.image {
            converted = try converted.inMemory()
        }
        if plan.scalesAtOnce && plan.shared.isEmpty {
            return (try scaledAtOnce(withoutFrames(converted), timing), warnings)
        }
        let frames = try frames(of: converted, timing)
        var shared = try run(
            plan.shared, on: frames, RenderContext(assets: assets), resized: plan.load.resizes)
        if plan.scalesAtOnce { return (try scaledAtOnce(shared.pictures[0], timing), warnings) }
        if plan.holdsShared && !plan.shared.isEmpty { shared = try shared.map { try $0.inMemory() } }
        let starts = try plan.renditions.indices.map { index in
            let frames = plan.renditions[index].format.supportsAnimation ? shared : Frames([shared.pictures[0]])
            return try plan.load.asAlone(frames, rendition: index)
        }
        return (starts, warnings)
    }

    /// The picture in the colours that stages work in.
    func converted(_ picture: Picture) throws -> (picture: Picture, warnings: [Warning]) {
        do {
            return try colours.convert(picture)
        } catch let error as VipsError {
            throw FailedOperation(
                .unsupportedColour, stage: "decode", "the picture's colors cannot be converted to sRGB", error)
        }
    }

    /// The picture at the size that each rendition's first stage scales to, while its rows pass once. That stage finds
    /// nothing left to scale.
    private func scaledAtOnce(_ picture: Picture, _ timing: FrameTiming) throws -> [Frames] {
        let swapsSides = plan.load.turnsLate && plan.source.orientation >= 5
        let targets = try zip(plan.renditions, plan.load.shrinks).map { rendition, shrink in
            guard let scaling = rendition.firstScaling, let kernel = ResamplingKernel(rawValue: scaling.kernel.rawValue)
            else {
                throw MismatchedPlan(stage: rendition.steps.first?.name ?? "save")
            }
            let size = swapsSides ? scaling.size.transposed : scaling.size
            // Each is made of the pixels that it would get alone.
            return ResamplingTarget(
                width: size.width, height: size.height, kernel: kernel, shrink: shrink / plan.load.shrink)
        }
        // The last pixel of a picture that is shrunk on load stands for what is left of the source, which may be less
        // than a pixel.
        let shrink = Double(plan.load.shrink)
        let isFraction = [.jpeg, .webp].contains(plan.source.format) && plan.load.turnsLate
        let extent =
            isFraction ? (Double(plan.source.size.width) / shrink, Double(plan.source.size.height) / shrink) : nil
        return try picture.withoutOrientation().image.resampled(to: targets, extent: extent, frames: timing.frames).map
        { image in
            let scaled = picture.with(image)
            if timing.frames > 1 { return try timing.frames(of: scaled) }
            return Frames([plan.load.turnsLate ? try scaled.upright(orientation: plan.source.orientation) : scaled])
        }
    }

    /// A decoded still as a person sees it; the frames of an animation are turned when they have been cut out.
    private func turned(_ decoded: Picture, _ timing: FrameTiming) throws -> Picture {
        timing.frames > 1 ? decoded : try decoded.upright(orientation: plan.source.orientation)
    }

    /// The frames as a person sees them.
    private func frames(of decoded: Picture, _ timing: FrameTiming) throws -> Frames {
        let single = try withoutFrames(decoded)
        guard timing.frames > 1 else { return Frames([single]) }
        return try timing.frames(of: single.withoutOrientation()).map {
            try $0.upright(orientation: plan.source.orientation)
        }
    }

    /// The picture as one, whatever it says of frames and pages; checked against the header that was planned with.
    private func withoutFrames(_ picture: Picture) throws -> Picture {
        guard plan.load.loadsAllFrames else { return picture }
        guard picture.height == plan.source.size.height * plan.source.frames else {
            throw Failure(
                .changedWhileRead, stage: "decode",
                "the header promised \(plan.source.frames) frames, the file has others")
        }
        return picture.with(
            try picture.image.removingMetadata(["page-height", "n-pages", "delay", "loop", "gif-delay", "gif-loop"]))
    }

    // MARK: - Stages

    /// - Parameter resized: whether the decoder made `start` smaller than planned, or larger, for the first stage that
    ///   scales to make up for.
    func run(
        _ steps: [PlannedStage], on start: Frames, _ context: RenderContext, resized: Bool = false
    ) throws -> Frames {
        var frames = start
        var isResized = resized
        for (index, step) in steps.enumerated() {
            // The first stage's input was held while loading, if it needs that.
            if index > 0 {
                frames = try step.plan.isStreaming ? frames.keepingRows() : frames.map { try $0.inMemory() }
            }
            do {
                frames = try step.render(frames, in: context)
            } catch let error as VipsError {
                guard error.reason == .failed else {
                    throw Failure(
                        .internal, stage: step.name, "the stage asked libvips for what it cannot do",
                        detail: error.description)
                }
                throw FailedOperation(.internal, stage: step.name, "'\(step.name)' failed on this picture", error)
            }
            isResized = isResized && step.plan.sizeDependence == .anySize
            try check(frames, against: step, isResized: isResized)
        }
        return frames
    }

    /// Plan and pixels must agree.
    private func check(_ frames: Frames, against step: PlannedStage, isResized: Bool) throws {
        let planned = step.output
        for picture in frames.pictures
        where picture.pixels != planned.pixels || !(isResized || picture.size == planned.size) {
            let found = "\(picture.size) in \(picture.pixels)"
            throw Failure(
                .internal, stage: step.name, "planned \(planned.size) in \(planned.pixels), rendered \(found)")
        }
    }

    // MARK: - Saving

    private func render(
        _ rendition: RenditionPlan, from start: Frames, resized: Bool, _ metadata: SourceMetadata, to output: OpenFile
    ) throws -> (size: RenderedSize, warnings: [Warning]) {
        let context = RenderContext(assets: assets)
        // Turned once: encoders that take a whole picture, and stages that read rows twice, would turn it for each use.
        let start = plan.turnsRenditions ? try start.map { try $0.inMemory() } : start
        var frames = try run(rendition.steps, on: start, context, resized: resized)
        let save = rendition.rendition.save
        let watch = AlphaWatch()
        if let background = rendition.background {
            frames = try frames.map {
                try $0.promoted(to: rendition.output.colour).flattened(onto: background, watch: watch)
            }
        }
        if rendition.output.depth == .sixteen { frames = try frames.map { try $0.inSixteenBits() } }
        let policy = save.metadata
        let keepsProfile = pipeline.profile == .keep
        let delays = plan.isSet ? frames.shownDelays(in: rendition.format) : frames.delays
        let texts = rendition.rendition.layout == .freedesktop ? thumbnail?.texts : nil
        // The specification of thumbnails knows 8 bits only, and so does libvips' search for a palette, which cuts what
        // is above.
        let isEight = rendition.output.depth == .eight && rendition.format == .png
        if texts != nil || isEight { frames = try frames.map { try $0.inEightBits() } }
        let whole = try frames.joined(for: rendition.format, delays: delays)
        let (coloured, converted) = keepsProfile ? try whole.keepingColours(in: rendition.format, output) : (whole, [])
        let (image, keepsNothing) = try metadata.applied(
            to: coloured, policy: policy, format: rendition.format, keepsProfile: keepsProfile)
        try Saver(settings: save, picture: rendition.output).save(image, to: output, strip: keepsNothing)
        if let texts { try PNGTexts.add(texts, to: output) }
        let slowed = Warning(
            .animationSlowed,
            "'\(rendition.title)': gif shows frames for at least \(Frames.shortestInGIF) ms, or browsers play them at 100 ms"
        )
        let flattened = Warning(
            .alphaFlattened, "'\(rendition.title)' is saved without transparency, drawn on \(save.background.written)")
        let warnings =
            converted + (delays == frames.delays ? [] : [slowed]) + (watch.sawTransparency ? [flattened] : [])
        return (RenderedSize(size: frames.pictures[0].size, frames: frames.pictures.count), warnings)
    }

    // MARK: - Failures

    /// Whether the output takes another block at its end.
    private func takesMore(_ output: OpenFile) -> Bool {
        let block = [UInt8](repeating: 0, count: 65_536)
        let end = lseek(output.descriptor, 0, SEEK_END)
        defer { ftruncate(output.descriptor, end) }
        return pwrite(output.descriptor, block, block.count, end) == block.count
    }
}

/// An output took no more. The supervisor finds out for itself why.
struct NoRoom: Error {
    let rendition: String
    /// libvips' words.
    let detail: String
}

extension VipsError {
    /// Returns true if a write failed because the disk was full. By now it may have room again, since others write to
    /// it too.
    fileprivate var isFullDisk: Bool { [ENOSPC, EDQUOT].contains { message.contains(String(cString: strerror($0))) } }
}

extension LoadPlan {
    /// The decoded picture as a rendition would get it if there were no other, whatever size the others need.
    func asAlone(_ frames: Frames, rendition index: Int) throws -> Frames {
        guard shrinks[index] > shrink else { return frames }
        return try frames.map { $0.with(try $0.image.averaged(by: shrinks[index] / shrink)) }
    }
}
