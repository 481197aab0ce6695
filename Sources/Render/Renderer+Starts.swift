// The picture that each rendition begins with: the source decoded, turned upright, in the colors that stages work in,
// and after the shared stages.
import Kernels
import Pipeline
import Stages
import Vips

extension Renderer {
    /// The source with all its pixels in memory, as the first stage gets it.
    func wholePicture(_ source: ProbedSource) throws -> Frames {
        let opened = try source.reopened(shrink: 1, allFrames: plan.load.loadsAllFrames, tolerance: pipeline.tolerance)
        let timing = FrameTiming(opened.image, plan)
        let picture = try source.decoded(opened, shrink: 1, Beginning(lookingAt: plan.source))
        return try frames(of: converted(turned(picture, timing)).picture.inMemory(), timing)
    }

    /// The frames that each rendition begins with.
    /// - Parameter opened: the source, of which no pixel was read yet.
    func starts(from opened: Picture, of source: ProbedSource) throws -> (starts: [Frames], warnings: [Warning]) {
        let timing = FrameTiming(opened.image, plan)
        switch plan.load.beginning {
        case .upright(_, let sharing):
            let decoded = try source.decoded(opened, shrink: plan.load.shrink, plan.load.beginning)
            return try starts(from: turned(decoded, timing), timing, sharing)
        case .scaled:
            // All rows are read before this returns. Whatever is wrong with them, libvips finds it again.
            return try source.fallingBack(opened, shrink: plan.load.shrink, plan.load.beginning) { decoded in
                let (converted, warnings) = try converted(decoded)
                return (try scaledAtOnce(withoutFrames(converted), timing, isTurned: false), warnings)
            }
        }
    }

    /// - Parameter upright: the decoded picture; the frames of an animation are turned later.
    private func starts(
        from upright: Picture, _ timing: FrameTiming, _ sharing: Beginning.Sharing
    ) throws -> (starts: [Frames], warnings: [Warning]) {
        var (converted, warnings) = try converted(upright)
        // Several renditions read it; what the conversion costs is paid once.
        if sharing == .held && plan.shared.isEmpty && converted.image !== upright.image {
            converted = try converted.inMemory()
        }
        let shared = try run(
            plan.shared, on: frames(of: converted, timing),
            StageRun(
                context, isResized: plan.load.resizes, computesEach: sharing != .streamed,
                drawn: plan.hasGainMap ? sharedDrawings : nil))
        switch sharing {
        case .scaled:
            return (try scaledAtOnce(shared.pictures[0], timing, isTurned: true), warnings)
        case .held where !plan.shared.isEmpty:
            return (try eachOf(shared.map { try $0.inMemory() }), warnings)
        case .held, .streamed:
            return (try eachOf(shared), warnings)
        }
    }

    /// One result for each rendition.
    private func eachOf(_ shared: Frames) throws -> [Frames] {
        try plan.renditions.indices.map { index in
            try plan.load.asAlone(frames(of: plan.renditions[index], from: shared), rendition: index)
        }
    }

    /// The picture in the colours that stages work in.
    func converted(_ picture: Picture) throws -> (picture: Picture, warnings: [Warning]) {
        do {
            return try colours.convert(picture)
        } catch let error as VipsError {
            throw FailedOperation(
                .unsupportedColour, stage: "decode", "the picture's colors cannot be converted", error)
        }
    }

    /// The previews that renditions are made of, each at the size that the rendition's first stage scales to; as they are
    /// stored, not turned.
    /// - Returns: for each rendition; nil if it is made of the picture itself. None if the file ends before the picture
    ///   does, which is to be noticed.
    func previews(of source: ProbedSource) throws -> [Frames?] {
        var starts = [Frames?](repeating: nil, count: plan.renditions.count)
        guard plan.load.previews.contains(where: { $0 != nil }), try !source.lacksEnd() else { return starts }
        for load in Set(plan.load.previews.compactMap(\.self)) {
            guard let decoded = try source.decoded(load), let picture = try? converted(decoded).picture else {
                continue
            }
            let shrink = Double(load.shrink)
            let extent = (Double(load.preview.size.width) / shrink, Double(load.preview.size.height) / shrink)
            let places = plan.load.previews.indices.filter { plan.load.previews[$0] == load }
            let targets = try places.map { try target(of: plan.renditions[$0], isTurned: false, shrink: 1) }
            let scaled = try picture.withoutOrientation().image.resampled(to: targets, extent: extent, frames: 1)
            for (place, image) in zip(places, scaled) { starts[place] = Frames([picture.with(image)]) }
        }
        return starts
    }

    /// The picture at the size that each rendition's first stage scales to, while its rows pass once. That stage finds
    /// nothing left to scale.
    /// - Parameter isTurned: whether the picture is upright already; otherwise each is turned when it is rendered.
    private func scaledAtOnce(_ picture: Picture, _ timing: FrameTiming, isTurned: Bool) throws -> [Frames] {
        let targets = try zip(plan.renditions, plan.load.shrinks).map { rendition, shrink in
            // Each is made of the pixels that it would get alone.
            try target(of: rendition, isTurned: isTurned, shrink: shrink / plan.load.shrink)
        }
        // The last pixel of a picture that is shrunk on load stands for what is left of the source, which may be less
        // than a pixel.
        let shrink = Double(plan.load.shrink)
        let isFraction = plan.load.shrink > 1 && !plan.source.format.isVector && !isTurned
        let extent =
            isFraction ? (Double(plan.source.size.width) / shrink, Double(plan.source.size.height) / shrink) : nil
        return try picture.withoutOrientation().image.resampled(to: targets, extent: extent, frames: timing.frames).map
        { image in
            let scaled = picture.with(image)
            if timing.frames > 1 { return try timing.frames(of: scaled) }
            return Frames([scaled])
        }
    }

    /// The scaling of a rendition's first stage.
    /// - Parameters:
    ///   - isTurned: whether the picture is upright already.
    ///   - shrink: so many pixels along a side are averaged before.
    private func target(of rendition: RenditionPlan, isTurned: Bool, shrink: Int) throws -> ResamplingTarget {
        guard let scaling = rendition.firstScaling else {
            throw MismatchedPlan(stage: rendition.steps.first?.name ?? "save")
        }
        let size = !isTurned && plan.source.orientation >= 5 ? scaling.size.transposed : scaling.size
        return ResamplingTarget(width: size.width, height: size.height, kernel: scaling.kernel, shrink: shrink)
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
}

extension LoadPlan {
    /// The decoded picture as a rendition would get it if there were no other, whatever size the others need.
    func asAlone(_ frames: Frames, rendition index: Int) throws -> Frames {
        guard shrinks[index] > shrink else { return frames }
        return try frames.map { $0.with(try $0.image.averaged(by: shrinks[index] / shrink)) }
    }
}
