// Renditions that come out like an earlier one, in name and content: a small picture that several sizes leave as it is.

extension RenditionPlan {
    /// The places of the renditions without those that would write the same file again.
    static func distinct(_ renditions: [RenditionPlan]) -> [Int] {
        var kept: [Int] = []
        for (index, one) in renditions.enumerated() where !kept.contains(where: { one.repeats(renditions[$0]) }) {
            kept.append(index)
        }
        return kept
    }

    private func repeats(_ other: RenditionPlan) -> Bool {
        // No file says how many of its pixels are a point.
        var alike = other.output
        alike.pixelsPerPoint = output.pixelsPerPoint
        guard rendition.layout == .plain, other.rendition.layout == .plain, output == alike,
            output.certainty == .exact,
            rendition.canonicalSave == other.rendition.canonicalSave, nameParts == other.nameParts
        else { return false }
        let stages = effectiveStages
        return stages == other.effectiveStages && (stages.isEmpty || scale == other.scale)
    }

    private var nameParts: [NameTemplate.Part] {
        rendition.template.fixed(rendition: rendition.name, scale: scale, ext: format.fileExtension)
    }

    /// The texts of the stages that change the picture.
    private var effectiveStages: [String] {
        let idle = steps.filter(\.plan.changesNothing).compactMap(\.path)
        return stages.filter { !idle.contains($0.path) }.map(\.canonical)
    }
}
