// From a plan to files that are complete and checked, before they have their names.
import Messages
import Pipeline
import System

/// A source that is planned, and what the worker is asked for.
struct Rendering {
    let task: SourceTask
    let input: ProbedInput
    let planner: Planner
    let plan: SourcePlan
    var message: RenderMessage
}

extension RenditionMaker {
    func render(
        _ rendering: Rendering, _ names: [RenditionName], clock: inout Stopwatch, for work: inout SourceWork
    ) throws -> [StagedFile] {
        let (plan, opened, settings) = (rendering.plan, rendering.task.opened, rendering.task.settings)
        let outputs = try stage(names, settings)
        let cached = try filled(outputs, plan, from: &work.cached)
        let wanted = outputs.indices.filter { cached[$0] == nil }
        var rendering = rendering
        rendering.message.omitted = Set(outputs.indices).subtracting(wanted)
        func render() throws -> RenderResult {
            try rendered(
                rendering, to: wanted.map { outputs[$0] }, clock: &clock, milliseconds: &work.report.milliseconds)
        }
        var result = try wanted.isEmpty ? nil : render()
        try FaultPoint.passOutput(.afterDecode)
        try onFiles { () throws(Failure) in try checkUnchanged(opened) }
        if result?.warnings.contains(where: \.isOfDamage) ?? false {
            // A decoder takes a read that fails for damage, so what counts is decoded after it could be read.
            try onFiles { () throws(Failure) in try opened.confirmDamage() }
            if settings.pipeline.file.tolerance != .nothing {
                try prepareAgain(wanted.map { outputs[$0] }, opened, rendering.planner)
                result = try render()
                try onFiles { () throws(Failure) in try checkUnchanged(opened) }
            }
        }
        try note(cached, &work, rendering.task)
        for (index, said) in zip(wanted, result?.renditions ?? []) {
            work.report.renditions[index].bytes = try onFiles {
                try checked(outputs[index], against: plan.renditions[index], said: said, settings.limits)
            }
            let isSaid = result?.warnings.contains { $0.code == .targetMissed } ?? false
            if !isSaid, let most = plan.renditions[index].rendition.save.target?.mostBytes,
                work.report.renditions[index].bytes ?? 0 > most
            {
                worker.replace()
                throw OutputCheck.rejected(plan.renditions[index], "the worker has not kept to 'max-bytes'")
            }
            work.report.renditions[index].note(said)
        }
        try work.add(result?.warnings ?? [], of: rendering.task, stage: "render")
        work.report.peakMemory = result?.peakMemory
        if let result {
            onFiles { keep(result, of: rendering, wanted: wanted, outputs: outputs, for: &work) }
        }
        try FaultPoint.passOutput(.afterTargetWrite)
        return outputs
    }

    /// Renders; once more if the worker found the disk full and there is room again, since others write to it too.
    ///
    /// Memory is reserved while the worker works, and not while this thread waits for files: those of one inbox may
    /// hang, and others wait for the memory.
    private func rendered(
        _ rendering: Rendering, to outputs: [StagedFile], clock: inout Stopwatch,
        milliseconds: inout SourceReport.Times
    ) throws -> RenderResult {
        let (task, plan, planner) = (rendering.task, rendering.plan, rendering.planner)
        let budget = task.settings.memory
        let memory = ReservedMemory(plan.memory, of: budget, alone: task.isAlone)
        func render() throws -> RenderResult {
            try budget.holding(memory.reserved) {
                milliseconds.wait += clock.lap()
                defer { milliseconds.render += clock.lap() }
                return try worker.slot.render(
                    rendering.message, by: plan, of: task.opened, to: outputs.map(\.file), memory: memory)
            }
        }
        // A worker is not believed what it says of the disk; whether there is room is found out here.
        let trouble = { [self] in
            onFiles {
                outputs.firstFound { $0.troubleGrowing(to: planner.limits.maximumOutputBytes) }?.asOutputFailure
            }
        }
        do {
            do {
                return try render()
            } catch is NoRoom where trouble() == nil {
                try prepareAgain(outputs, task.opened, planner)
                return try render()
            }
        } catch let noRoom as NoRoom {
            let failure = Failure(
                .diskFull, stage: "save", "'\(noRoom.rendition)' cannot be written", detail: noRoom.detail)
            throw trouble() ?? failure
        } catch let failure as Failure where failure.code.maybeForWantOfRoom {
            throw trouble() ?? failure
        }
    }

    /// Makes a second rendering possible: the outputs are empty, and the worker, which has let go of the source, has it.
    private func prepareAgain(_ outputs: [StagedFile], _ opened: OpenedInput, _ planner: Planner) throws {
        try emptied(outputs)
        if case .picture(let picture) = opened {
            _ = try worker.slot.facts(
                of: picture, page: planner.pipeline.page, wanted: planner.pipeline.wantedMetadata, planner.limits)
        }
    }

    /// Fills outputs with what is in the cache.
    /// - Returns: for each output what is in it now; nil if it is empty.
    func filled(
        _ outputs: [StagedFile], _ plan: SourcePlan, from cached: inout CachedJob?
    ) throws(Failure) -> [CachedRendition?] {
        do throws(SystemError) {
            return try onFiles { () throws(SystemError) in try cached?.fill(outputs, plan) } ?? outputs.map { _ in nil }
        } catch {
            throw error.asOutputFailure
        }
    }

    private func emptied(_ outputs: [StagedFile]) throws(Failure) {
        do throws(SystemError) {
            for output in outputs { try output.file.empty() }
        } catch {
            throw error.asOutputFailure
        }
    }

    /// Reads back what the worker wrote, once it cannot write any more.
    /// - Returns: its bytes.
    private func checked(
        _ output: StagedFile, against plan: RenditionPlan, said: RenderedSize, _ limits: Limits
    ) throws -> Int {
        do throws(Failure) {
            guard try sealed(output) else {
                throw OutputCheck.rejected(plan, "the worker still has it open for writing")
            }
            return try OutputCheck.check(output.file, against: plan, said: said.size, atMost: limits.maximumOutputBytes)
        } catch {
            // It lied.
            if error.code == .outputRejected { worker.replace() }
            throw error
        }
    }

    private func sealed(_ output: StagedFile) throws(Failure) -> Bool {
        do throws(SystemError) {
            return try output.seal()
        } catch {
            throw error.asOutputFailure
        }
    }

    func checkUnchanged(_ opened: OpenedInput) throws(Failure) {
        guard opened.isUnchanged else { throw OpenedSource.changed }
    }

    func stage(_ names: [RenditionName], _ settings: RenderSettings) throws(Failure) -> [StagedFile] {
        do throws(SystemError) {
            return try onFiles { () throws(SystemError) in
                try settings.outbox.stage(names.map { $0.staged(settings) }) {
                    staged += 1
                    return "\(token)-\(staged)"
                }
            }
        } catch {
            throw error.asOutputFailure
        }
    }
}

extension RenditionName {
    /// The name of the staged file: a folder that is named by what is not rendered yet is not made.
    fileprivate func staged(_ settings: RenderSettings) -> RenditionName {
        guard settings.pipeline.file.namesByContents, path.directory.bytes.contains(UInt8(ascii: "?")) else {
            return self
        }
        return RenditionName(path: path.lastComponent)
    }
}

extension FailureCode {
    /// The failures that a worker reports when an output does not take what it writes.
    fileprivate var maybeForWantOfRoom: Bool { self == .encodingFailed || self == .internal }
}

extension FaultPoint {
    /// As `pass`, where what breaks is the output.
    static func passOutput(_ point: FaultPoint) throws(Failure) {
        do throws(SystemError) {
            try pass(point)
        } catch {
            throw error.asOutputFailure
        }
    }
}
