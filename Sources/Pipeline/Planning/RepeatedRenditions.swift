// Renditions that come out like an earlier one, in name and content: a small picture that several sizes leave as it is.

extension RenditionPlan {
    /// The renditions without those that would write the same file again.
    static func distinct(_ renditions: [RenditionPlan]) -> [RenditionPlan] {
        var kept: [RenditionPlan] = []
        for one in renditions where !kept.contains(where: { one.repeats($0) }) { kept.append(one) }
        return kept
    }

    private func repeats(_ other: RenditionPlan) -> Bool {
        guard rendition.layout == .plain, other.rendition.layout == .plain, output == other.output,
            output.certainty == .exact,
            rendition.canonicalSave == other.rendition.canonicalSave, nameParts == other.nameParts
        else { return false }
        let stages = effectiveStages
        return stages == other.effectiveStages && (stages.isEmpty || scale == other.scale)
    }

    private var nameParts: [NameTemplate.Part] {
        rendition.template.fixed(rendition: rendition.name, scale: scale, ext: format.fileExtension)
    }

    /// What the stages say that change the picture.
    private var effectiveStages: [String] {
        zip(rendition.stages, steps).filter { !$1.plan.changesNothing }.map { use, _ in use.canonical }
    }
}
