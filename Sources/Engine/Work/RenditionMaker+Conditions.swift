// The parts of the pipeline that apply to a source: by its header, and by its pixels if conditions ask for that.
import Messages
import Pipeline

/// A source, and the parts of the pipeline that apply to it.
struct AppliedPipeline {
    /// With what was found in the pixels, if they were looked at.
    let input: ProbedInput
    var leftOut = OmittedParts()
    var omissions: [Omission] = []
    /// The bytes that the worker was expected to need for a look at the pixels at most.
    var memory = 0

    /// The parts that do not apply, as the worker gets them.
    var message: OmittedParts? { leftOut.isEmpty ? nil : leftOut }

    func planner(_ planner: Planner, saying texts: TextValues?) -> Planner {
        input.planner(planner, saying: texts, without: leftOut)
    }
}

extension RenditionMaker {
    /// Judges the conditions of the pipeline. The picture is decoded only if they depend on it.
    /// - Throws: `Failure` if the source is not what the pipeline requires.
    func applied(
        to input: ProbedInput, _ known: WorkerSlot.Known, _ task: SourceTask
    ) throws -> AppliedPipeline {
        if let applied = try appliedByHeader(to: input, task) { return applied }
        guard case .picture(let facts, let name) = input else {
            throw Failure(.internal, stage: "plan", "a set was to be looked at for a condition")
        }
        let settings = task.settings
        let look = try planned { () throws(PlanFailure) in
            try known.planner.planLook(at: facts, pixelsPerPoint: name.pixelsPerPoint)
        }
        try checkMemory(look.memory, settings.limits)
        let memory = ReservedMemory(look.memory, of: settings.memory, alone: task.isAlone)
        let isTransparent = try settings.memory.holding(memory.reserved) {
            try worker.slot.isTransparent(known, within: look.time, memory: memory)
        }
        guard var applied = try appliedByHeader(to: input.found(transparent: isTransparent), task) else {
            throw Failure(.internal, stage: "plan", "a condition is open after all was looked at")
        }
        applied.memory = look.memory
        return applied
    }

    /// - Returns: nil if only the pixels could say it.
    /// - Throws: as above.
    func appliedByHeader(to input: ProbedInput, _ task: SourceTask) throws(Failure) -> AppliedPipeline? {
        let pipeline = task.settings.pipeline.file
        guard pipeline.hasConditions || pipeline.requirement != nil else { return AppliedPipeline(input: input) }
        let subject = input.subject(at: task.source.name.path)
        if let finding = pipeline.requirement.map(subject.judge) {
            guard let holds = finding.holds else { return nil }
            guard holds else { throw Failure(.requirementNotMet, stage: "plan", "'require': \(finding.words)") }
        }
        return pipeline.omitted(for: subject).map {
            AppliedPipeline(input: input, leftOut: $0.parts, omissions: $0.omissions)
        }
    }
}
