// The warnings of a plan.

extension Planner {
    /// Conditions have left nothing to do.
    var nothingApplies: [Warning] {
        guard renditions.isEmpty else { return [] }
        return [Warning(.nothingApplies, "no rendition's 'when' holds for it, so that nothing is made of it")]
    }

    func sourceWarnings(_ source: SourceFacts) -> [Warning] {
        var warnings: [Warning] = []
        if source.frames > 1, !source.isAnimated, source.page == nil {
            warnings.append(Warning(.pagesDropped, "the file has \(source.frames) pages; only the first is used"))
        }
        warnings += source.color?.warnings ?? []
        if source.droppedBands > 0 {
            let message = "the file has \(counted(source.droppedBands, "channel")) besides colors and alpha; not used"
            warnings.append(Warning(.channelsDropped, message))
        }
        return warnings
    }

    /// The warnings of what the stages and the formats do that a user may not expect.
    /// - Parameter frames: of the source, or of what a set is joined to.
    func warnings(of shared: [PlannedStage], _ renditions: [RenditionPlan], frames: Int) -> [Warning] {
        var warnings = renditions.compactMap { animationDropped($0, frames: frames) }
        warnings += equalScales(renditions)
        warnings += enlargements(shared, "the shared stages")
        for rendition in renditions { warnings += enlargements(rendition.steps, "'\(rendition.title)'") }
        warnings += (shared + renditions.flatMap(\.steps)).flatMap(\.plan.warnings)
        warnings += renditions.flatMap(\.notes)
        guard warnings.count > 1 else { return warnings }
        // Several scales, and several formats of one rendition, have the same to say.
        var seen: Set<Warning> = []
        return warnings.filter { seen.insert($0).inserted }
    }

    /// Scales of one rendition that come out as large as a smaller one, since the source has no more pixels.
    func equalScales(_ renditions: [RenditionPlan]) -> [Warning] {
        zip(renditions, renditions.dropFirst()).compactMap { first, second in
            guard first.index == second.index, first.output.size == second.output.size,
                second.output.certainty == .exact
            else { return nil }
            let message =
                "'\(second.title)' has \(second.output.size) pixels like '\(first.title)': nothing is enlarged, and the source has no more"
            return Warning(.scaleWithoutEffect, message)
        }
    }

    func depthReduced(_ plan: RenditionPlan, _ source: SourceFacts) -> Warning? {
        guard plan.rendition.isLikeSource, source.depth != .eight, plan.output.depth == .eight else { return nil }
        let message =
            "'\(plan.title)': \(plan.format.rawValue) has 8 bits a channel, the \(source.format.rawValue) has more"
        return Warning(.depthReduced, message + "; \(listed(OutputFormat.withSixteenBits)) keep them")
    }

    private func animationDropped(_ plan: RenditionPlan, frames: Int) -> Warning? {
        guard frames > 1 && !plan.format.supportsAnimation else { return nil }
        let message =
            "'\(plan.title)': \(plan.format.rawValue) has no animation; only the first of \(frames) frames is used"
        return Warning(.animationDropped, message)
    }

    func enlargements(_ steps: [PlannedStage], _ place: String) -> [Warning] {
        // Without a measured size it is not known whether a stage enlarges.
        steps.filter { $0.plan.isEnlarging && $0.input.certainty == .exact }.map { step in
            // A frame's output is the frame; the picture in it is what was enlarged.
            let drawn = if case .scales(let size, _) = step.plan.sizeDependence { size } else { step.output.size }
            return Warning(.upscaled, "\(place): '\(step.name)' enlarges \(step.input.size) to \(drawn)")
        }
    }
}
