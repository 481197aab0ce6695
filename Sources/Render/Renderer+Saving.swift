// One rendition, from what it begins with to its file.
import Messages
import Pipeline
import Stages
import System
import Vips

extension Renderer {
    func render(
        _ rendition: RenditionPlan, from start: Frames, resized: Bool, _ metadata: SourceMetadata, to output: OpenFile
    ) throws -> (size: RenderedSize, warnings: [Warning]) {
        // Turned once: encoders that take a whole picture, and stages that read rows twice, would turn it for each use.
        let start = plan.load.beginning.isTurnedLate ? try start.map { try $0.inMemory() } : start
        let drawn = try run(rendition.steps, on: start, context, resized: resized)
        let watch = AlphaWatch()
        var frames = try asSaved(drawn, rendition, watch)
        try frames.compute()
        let delays = plan.isSet ? frames.shownDelays(in: rendition.format) : frames.delays
        let whole = try frames.joined(for: rendition.format, delays: delays)
        let (reached, warnings) = try save(whole, rendition, metadata, to: output)
        return (
            RenderedSize(size: frames.pictures[0].size, frames: frames.pictures.count, reached: reached),
            warnings + (delays == frames.delays ? [] : [rendition.slowedWarning])
                + (watch.sawTransparency ? [rendition.flattenedWarning] : [])
        )
    }

    /// The frames with the alpha and the depth that they are saved with.
    private func asSaved(_ drawn: Frames, _ rendition: RenditionPlan, _ watch: AlphaWatch) throws -> Frames {
        var frames = drawn
        if let background = rendition.background {
            frames = try frames.map {
                try $0.promoted(to: rendition.output.colour).flattened(onto: background, watch: watch)
            }
        }
        if rendition.output.depth == .sixteen { frames = try frames.map { try $0.inSixteenBits() } }
        let isEight = rendition.output.depth == .eight && !rendition.rendition.save.encoder.reducesDepth
        // The specification of thumbnails knows 8 bits only.
        if texts(of: rendition) != nil || isEight { frames = try frames.map { try $0.inEightBits() } }
        return try frames.map { try $0.showingProfile() }
    }

    /// Writes a still, or all frames below each other, with its metadata.
    private func save(
        _ stack: Image, _ rendition: RenditionPlan, _ metadata: SourceMetadata, to output: OpenFile
    ) throws -> (reached: ReachedQuality?, warnings: [Warning]) {
        let encoder = rendition.rendition.save.encoder
        let keepsProfile = pipeline.profile == .keep
        let (coloured, converted) =
            keepsProfile ? try stack.keepingColours(by: encoder, output) : (stack, [])
        let (image, keepsNothing, kept, lost) = try metadata.applied(
            to: coloured, rendition, encoder: type(of: encoder), keepsProfile: keepsProfile)
        let found = try encode(image, rendition, strip: keepsNothing, to: output)
        try PNGTexts.add(texts(of: rendition) ?? [], kept, to: output)
        return (found?.reached, converted + lost + [found?.warning].compactMap(\.self))
    }

    /// The texts by which a thumbnail names its source; nil if the rendition is none.
    private func texts(of rendition: RenditionPlan) -> [(key: String, text: String)]? {
        rendition.rendition.layout == .freedesktop ? thumbnail?.texts : nil
    }
}

extension RenditionPlan {
    fileprivate var slowedWarning: Warning {
        Warning(
            .animationSlowed,
            "'\(title)': \(format.rawValue) shows frames for at least \(format.declaration.animation?.shortestFrame ?? 0) ms, or browsers play them at 100 ms"
        )
    }

    fileprivate var flattenedWarning: Warning {
        Warning(
            .alphaFlattened, "'\(title)' is saved without transparency, drawn on \(rendition.save.background.written)")
    }
}
