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
        var frames = try run(rendition.steps, on: start, context, resized: resized)
        let save = rendition.rendition.save
        let encoder = save.encoder
        let watch = AlphaWatch()
        if let background = rendition.background {
            frames = try frames.map {
                try $0.promoted(to: rendition.output.colour).flattened(onto: background, watch: watch)
            }
        }
        if rendition.output.depth == .sixteen { frames = try frames.map { try $0.inSixteenBits() } }
        let keepsProfile = pipeline.profile == .keep
        let delays = plan.isSet ? frames.shownDelays(in: rendition.format) : frames.delays
        let texts = rendition.rendition.layout == .freedesktop ? thumbnail?.texts : nil
        let isEight = rendition.output.depth == .eight && !encoder.reducesDepth
        // The specification of thumbnails knows 8 bits only.
        if texts != nil || isEight { frames = try frames.map { try $0.inEightBits() } }
        try frames.compute()
        let whole = try frames.joined(for: rendition.format, delays: delays)
        let (coloured, converted) = keepsProfile ? try whole.keepingColours(by: type(of: encoder), output) : (whole, [])
        let (image, keepsNothing, kept, lost) = try metadata.applied(
            to: coloured, rendition, encoder: type(of: encoder), keepsProfile: keepsProfile)
        try encoder.save(image, as: rendition.output, to: output, strip: keepsNothing)
        try PNGTexts.add(texts ?? [], kept, to: output)
        let slowed = Warning(
            .animationSlowed,
            "'\(rendition.title)': \(rendition.format.rawValue) shows frames for at least \(rendition.format.declaration.animation?.shortestFrame ?? 0) ms, or browsers play them at 100 ms"
        )
        let flattened = Warning(
            .alphaFlattened, "'\(rendition.title)' is saved without transparency, drawn on \(save.background.written)")
        let warnings =
            converted + lost + (delays == frames.delays ? [] : [slowed]) + (watch.sawTransparency ? [flattened] : [])
        return (RenderedSize(size: frames.pictures[0].size, frames: frames.pictures.count), warnings)
    }
}
