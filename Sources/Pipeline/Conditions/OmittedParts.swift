// The renditions and stages of a pipeline that its conditions leave out for a source.

/// The parts of a pipeline that do not apply to a source, by their places.
package struct OmittedParts: Hashable, Sendable, Codable {
    package private(set) var renditions: Set<Int> = []
    package private(set) var stages: Set<Planner.StagePath> = []

    package init() {}

    package var isEmpty: Bool { renditions.isEmpty && stages.isEmpty }
}

/// A part that does not apply, for a person.
package struct Omission: Hashable, Sendable {
    /// The rendition's title; nil for a shared stage.
    package let rendition: String?
    /// The stage; nil if the whole rendition is left out.
    package let stage: String?
    /// The fact that was found, and the value that the condition expects.
    package let reason: String
}

extension PipelineFile {
    /// Whether the pixels of a rendition may depend on the source's name.
    package var stagesNeedName: Bool { uses.compactMap(\.condition).contains(where: \.needsName) }

    private var uses: [StageUse] { stages + renditions.flatMap(\.stages) }

    /// The parts that do not apply to a source, and why.
    /// - Returns: nil if only the pixels could say it.
    package func omitted(for subject: Subject) -> (parts: OmittedParts, omissions: [Omission])? {
        var parts = OmittedParts()
        var omissions: [Omission] = []
        var isKnown = true
        func applies(_ condition: Condition?, _ rendition: Rendition?, _ stage: StageUse?) -> Bool {
            guard let finding = condition.map(subject.judge), finding.holds != true else { return true }
            isKnown = isKnown && finding.holds == false
            let omission = Omission(rendition: rendition?.title, stage: stage?.name, reason: finding.words)
            // Several formats of one rendition have the same to say.
            if !omissions.contains(omission) { omissions.append(omission) }
            return false
        }
        func omit(_ uses: [StageUse], _ rendition: (index: Int, value: Rendition)?) {
            for (index, use) in uses.enumerated() where !applies(use.condition, rendition?.value, use) {
                parts.omit(Planner.StagePath(rendition: rendition?.index, stage: index))
            }
        }
        var isEmpty = true
        for (index, rendition) in renditions.enumerated() {
            if applies(rendition.condition, rendition, nil) {
                isEmpty = false
                omit(rendition.stages, (index, rendition))
            } else {
                parts.omit(rendition: index)
            }
        }
        // Without renditions, shared stages are not run.
        if !isEmpty || !isKnown { omit(stages, nil) }
        return isKnown ? (parts, omissions) : nil
    }
}

extension OmittedParts {
    fileprivate mutating func omit(rendition index: Int) { renditions.insert(index) }
    fileprivate mutating func omit(_ path: Planner.StagePath) { stages.insert(path) }
}
