// What will happen to one source: made without pixels, shown by `imagemill plan`, followed by the worker.

/// One stage with its plan.
package struct Step: Sendable {
    package let stage: any PlannedStage
    package let plan: any StagePlan
    package let input: Geometry

    package var name: String { type(of: stage).name }
    package var output: Geometry { plan.output }
}

/// How the source is decoded.
package struct LoadPlan: Hashable, Sendable {
    /// The decoder delivers one pixel for `shrink` × `shrink` of the source.
    package let shrink: Int
    /// All frames of an animation, or only the first picture of the file.
    package let loadsAllFrames: Bool
    /// The pixels are needed in another order than the decoder delivers them, or several times.
    package let isHeldInMemory: Bool
}

/// One file to write.
package struct RenditionPlan: Sendable {
    package let rendition: Rendition
    package let scale: Int
    package let steps: [Step]
    /// As it is saved.
    package let output: Geometry

    package var format: OutputFormat { rendition.save.format }
    /// Its title in messages: `thumb@2x`.
    package var title: String { rendition.name + scaleSuffix(scale) }
}

/// What will happen to one source.
package struct Plan: Sendable {
    package let source: SourceFacts
    package let load: LoadPlan
    /// The picture as the first stage gets it, in pixels of the source.
    package let decoded: Geometry
    package let shared: [Step]
    /// The shared result feeds several renditions, so it is computed once and held.
    package let holdsShared: Bool
    package let renditions: [RenditionPlan]
    /// Bytes that the worker needs at most.
    package let memory: Int
    /// Seconds after which the worker is stopped.
    package let deadline: Double
    package let warnings: [Warning]

    /// The names of all renditions, in their order.
    /// - Parameter version: 1, or more where other sources own the names.
    /// - Throws: `PlanFailure` where a name cannot be used, or two renditions would have one.
    package func names(for facts: NamingFacts, version: Int) throws(PlanFailure) -> [RenditionName] {
        var names: [RenditionName] = []
        for plan in renditions {
            let name = try plan.rendition.template.name(
                for: facts, rendition: plan.rendition.name, scale: plan.scale, format: plan.format, size: plan.output.size, version: version)
            if names.contains(where: { $0.path == name.path }) {
                let message = "two renditions of this source would both be named '\(name.path.printable)'; add {rendition} or {scale} to 'file'"
                throw PlanFailure(.nameTaken, stage: "publish", message)
            }
            names.append(name)
        }
        return names
    }
}
