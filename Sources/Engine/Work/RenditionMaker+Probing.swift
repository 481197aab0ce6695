// The look at a source before it is planned: its header, and what stages must see of its pixels.
import Messages
import Pipeline
import System

extension RenditionMaker {
    func probe(_ task: SourceTask) throws -> ProbedInput {
        switch task.opened {
        case .picture(let picture):
            // A set has no metadata of its own that a text could say.
            let wanted = task.settings.pipeline.file.wantedMetadata
            return .picture(try probe(picture, of: task, wanted), task.source.name)
        case .set(let set):
            var members: [MemberFacts] = []
            var failed = FailedMembers()
            for (index, source) in set.sources.enumerated() {
                let member = try onFiles { () throws(Failure) in try set.open(index) }
                do {
                    let facts = try memberNamed(source) { try probe(member, of: task) }
                    members.append(MemberFacts(name: source.location.name, facts: facts))
                } catch let failure as Failure {
                    try failed.note(failure, source)
                }
            }
            try failed.check()
            return .set(members)
        }
    }

    /// Says which member it is that failed; a worker's death is no member's fault.
    private func memberNamed(_ member: SourceFile, _ work: () throws -> SourceFacts) throws -> SourceFacts {
        do {
            return try work()
        } catch let failure as Failure {
            return try namingMember(member) { () throws(Failure) in throw failure }
        }
    }

    /// Works on a source, and does not blame it if this system has no decoder for it.
    func readably<Value>(_ opened: OpenedInput, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let failure as Failure where failure.code == .corrupt || failure.code == .setMemberFailed {
            let missing = Set(opened.formats).filter(\.mayBeMissing).first { (try? worker.canRead($0)) == false }
            throw missing.map {
                Failure(.unsupportedFormat, stage: failure.stage, $0.missingDecoder, detail: failure.detail)
            } ?? failure
        }
    }

    func probe(
        _ opened: OpenedSource, of task: SourceTask, _ wanted: WantedMetadata = WantedMetadata()
    ) throws -> SourceFacts {
        let settings = task.settings
        do {
            let facts = try settings.memory.holding(task.isAlone ? settings.memory.total : 0) {
                try worker.slot.facts(of: opened, page: settings.pipeline.file.page, wanted: wanted, settings.limits)
            }
            try opened.checkStructure(facts, settings.limits)
            return facts
        } catch let failure as Failure {
            throw opened.refined(failure)
        }
    }

    /// Measures on the whole picture what stages must see before the plan is known. Its memory is given back
    /// meanwhile: a source that waits for its names must not hold any.
    /// - Returns: also the bytes that the worker was expected to need for it at most.
    func measurements(
        of applied: AppliedPipeline, _ texts: TextValues?, _ known: WorkerSlot.Known, _ task: SourceTask
    ) throws -> ([StageMeasurement], memory: Int) {
        let (input, settings) = (applied.input, task.settings)
        let planner = applied.planner(known.planner, saying: texts)
        guard planner.needsMeasurement, !settings.isDryRun else { return ([], 0) }
        let bound = try planned { () throws(PlanFailure) in try input.plan(by: planner) }
        try checkMemory(bound.memory, settings.limits)
        let message = RenderMessage(
            pipeline: known.number, source: input.message, texts: texts, leftOut: applied.message)
        let memory = ReservedMemory(bound.memory, of: settings.memory, alone: task.isAlone)
        return try settings.memory.holding(memory.reserved) {
            (
                try worker.slot.measurements(
                    message, known.planner, of: task.opened, within: bound.time, memory: memory),
                bound.memory
            )
        }
    }

    func checkMemory(_ memory: Int, _ limits: Limits) throws(Failure) {
        guard memory <= limits.maximumMemory else {
            let message =
                "rendering would need up to \(memory >> 20) MiB; the budget is \(limits.maximumMemory >> 20) MiB (max-memory)"
            throw Failure(.tooMuchMemory, stage: "read", message)
        }
    }
}

extension PipelineFile {
    /// The parts of a picture's metadata that plan and renditions need.
    var wantedMetadata: WantedMetadata {
        WantedMetadata(words: wantsWords, previews: preview == .allow, developsRaw: raw == .develop)
    }
}
