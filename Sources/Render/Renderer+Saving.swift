// One rendition, from what it begins with to its file.
import Messages
import Pipeline
import Stages
import System
import Vips

extension Renderer {
    func render(
        _ rendition: RenditionPlan, at index: Int, _ starts: Starts, to output: OpenFile
    ) throws -> (size: RenderedSize, warnings: [Warning]) {
        // One after the other: turned pictures of all renditions would be held beside those that they are made of.
        let given = starts.frames[index]
        let start =
            plan.load.beginning == .scaled(turnedLate: true) || starts.ofPreviews.contains(index)
            ? try given.map { $0.with(try $0.image.turned(orientation: plan.source.orientation)) } : given
        let drawings = DrawnParts()
        let drawn = try run(
            rendition.steps, on: start,
            StageRun(
                context, isResized: plan.beginsResized(rendition: index),
                drawn: rendition.gainMap == nil ? nil : drawings))
        let watch = AlphaWatch()
        var frames = try asSaved(drawn, rendition, watch)
        try frames.compute()
        let delays = plan.isSet ? frames.shownDelays(in: rendition.format) : frames.delays
        let whole = try frames.joined(for: rendition.format, delays: delays)
        let (map, lost) = try gainMap(of: rendition, starts, drawings)
        let saved = try save(whole, rendition, starts, map, to: output)
        return (
            RenderedSize(
                size: frames.pictures[0].size, frames: frames.pictures.count, reached: saved.reached, look: saved.look,
                isOriginal: saved.isOriginal,
                isOfPreview: starts.ofPreviews.contains(index) || plan.source.raw == .preview),
            saved.warnings + lost + (delays == frames.delays ? [] : [rendition.slowedWarning])
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

    /// A rendition as it was written.
    private struct Saved {
        var reached: ReachedQuality?
        var look: PictureLook?
        var isOriginal = false
        var warnings: [Warning] = []
    }

    /// Writes a still, or all frames below each other, with its metadata.
    /// - Parameter map: the rendition's gain map, as a JPEG.
    private func save(
        _ stack: Image, _ rendition: RenditionPlan, _ starts: Starts, _ map: GainMapPart?, to output: OpenFile
    ) throws -> Saved {
        let save = rendition.rendition.save
        let keepsProfile = pipeline.profile.isCarried
        let (coloured, converted) =
            keepsProfile ? try stack.keepingColours(by: save.encoder, output) : (stack, [])
        let (dressed, keepsNothing, kept, lost) = try starts.metadata.applied(
            to: coloured, rendition, encoder: type(of: save.encoder), keepsProfile: keepsProfile)
        let isReadAgain = save.target != nil || !save.placeholders.isEmpty
        let image = isReadAgain && !dressed.isInMemory ? try dressed.inMemory() : dressed
        var saved = Saved(warnings: converted + lost)
        if !save.placeholders.isEmpty { saved.look = try PictureLook(of: image, save.placeholders) }
        var map = map
        var found = try encode(image, rendition, strip: keepsNothing, beside: map?.bytes ?? 0, to: output)
        if map != nil, found?.isTooLarge == true {
            map = nil
            saved.warnings.append(rendition.hdrDropped("'max-bytes' leaves no room for its gain map"))
            found = try encode(image, rendition, strip: keepsNothing, beside: 0, to: output)
        }
        if let found {
            saved.reached = found.reached
            saved.warnings += [found.warning].compactMap(\.self)
        } else {
            try save.encoder.save(image, as: rendition.output, to: output, strip: keepsNothing)
        }
        try PNGTexts.add(texts(of: rendition) ?? [], kept, to: output)
        if let map { saved.warnings += try map.add(to: output, rendition) }
        guard let original = try starts.source?.original(for: rendition, of: plan, pipeline), converted.isEmpty else {
            return saved
        }
        let bytes = try original.status().bytes
        guard try bytes < output.status().bytes, bytes <= save.target?.mostBytes ?? .max else { return saved }
        try output.empty()
        try original.readThrough { bytes throws(SystemError) in
            try output.append(bytes, for: BytePath(rendition.title))
        }
        return Saved(look: saved.look, isOriginal: true)
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
