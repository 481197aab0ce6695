// A rendition after its stages: what is saved of them, and how.

extension Planner {
    /// - Parameters:
    ///   - index: the rendition's place in the pipeline.
    ///   - start: what its first step gets.
    func plan(
        _ rendition: Rendition, at index: Int, scale: Int, steps: [PlannedStage], from start: PictureInfo
    ) throws(PlanFailure) -> RenditionPlan {
        let (output, background) = try saved(steps.last?.output ?? start, rendition)
        let fields = fields(rendition: rendition, scale: scale)
        let (statements, notes) = rendition.save.metadata.texts.filled(fields, on: output.size)
        let stages = places(rendition.stages, rendition: index).map { ($0.path, $0.use.canonical) }
        return RenditionPlan(
            rendition: rendition.filled(fields, on: output.size), index: index, scale: scale, steps: steps,
            stages: stages, output: output, background: background, statements: statements, notes: notes)
    }

    private func saved(
        _ drawn: PictureInfo, _ rendition: Rendition
    ) throws(PlanFailure) -> (output: PictureInfo, background: Ink?) {
        let format = rendition.save.format
        guard format.supports(drawn.colour) else {
            let message =
                "\(format.rawValue) cannot hold \(drawn.colour.rawValue) colors; remove 'profile: keep' or save as tiff"
            throw PlanFailure(.unsupportedColour, stage: "save", message)
        }
        let longest = max(drawn.size.width, drawn.size.height)
        guard longest <= format.maximumSide else {
            let message =
                "'\(rendition.name)' would be \(drawn.size) pixels; \(format.rawValue) holds up to \(format.maximumSide) a side"
            throw PlanFailure(.tooLargeForFormat, stage: "save", message)
        }
        // Until stages have measured the picture, its size is a bound.
        if drawn.certainty == .exact, let refusal = rendition.save.encoding.refusal(of: drawn.size) {
            throw PlanFailure(.tooLargeForFormat, stage: "save", "'\(rendition.name)' \(refusal)")
        }
        if rendition.layout == .freedesktop, let most = Layout.longestSide(in: rendition.name), longest > most,
            drawn.certainty == .exact
        {
            let message =
                "'\(rendition.name)' would be \(drawn.size) pixels; such thumbnails have at most \(most) a side"
            throw PlanFailure(
                .tooLargeForFormat, stage: "save", message + "; scale with 'resize: { size: \"\(most)x\(most)>\" }'")
        }
        var output = drawn
        var background: Ink?
        if !rendition.save.encoding.holdsAlpha, drawn.hasAlpha {
            guard drawn.colour != .cmyk else {
                let message =
                    "\(format.rawValue) has no transparency, and 'background' cannot be drawn in cmyk colors; remove 'profile: keep' or save as tiff"
                throw PlanFailure(.unsupportedColour, stage: "save", message)
            }
            background = try output.ink(rendition.save.background, for: "save")
            output.hasAlpha = false
        }
        output.depth = rendition.save.encoding.depth(of: drawn.depth)
        return (output, background)
    }
}
