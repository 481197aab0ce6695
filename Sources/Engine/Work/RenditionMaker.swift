// From an open source to its renditions, complete and checked, before they have their names: probe, plan, name, render.
import Glibc
import Messages
package import Pipeline
package import System

/// Makes renditions, one source after the other, with a worker that it borrows. Everything in here waits, so it belongs
/// to one thread.
package final class RenditionMaker {
    package let worker: WorkerLoan
    /// Planners of pipelines whose sources may all be in the cache, so that no worker is needed.
    private var cachePlanners: [ObjectIdentifier: CachePlanner] = [:]
    /// Makes the names of staged files distinct.
    private let token: String
    private var staged = 0
    /// Hears when the thread begins to wait for a file system, and when it has done with that.
    var noteActivity: (Dispatcher.Activity) -> Void = { _ in }

    private struct CachePlanner {
        let planner: Planner
        /// Keeps the identity from being used again.
        let pipeline: LoadedPipeline
    }

    /// Pipelines that were replaced by a reload are let go some time.
    private static let mostPlanners = 64

    /// - Parameter token: distinct for all makers that write into an outbox at one time.
    package init(_ workers: WorkerPool, cancellation: Cancellation, token: String = DurableFile.newToken) {
        worker = WorkerLoan(workers, cancellation: cancellation)
        self.token = token
    }

    /// Does something that waits for a file system.
    func onFiles<Value, Trouble: Error>(_ work: () throws(Trouble) -> Value) throws(Trouble) -> Value {
        noteActivity(.files)
        defer { noteActivity(.worker) }
        return try work()
    }

    /// The pipeline as a worker for sources of these formats knows it. What the worker says of its assets is kept for
    /// the cache.
    private func prepared(_ settings: RenderSettings, _ formats: [SourceFormat]) throws -> WorkerSlot.Known {
        let known = try worker.prepared(settings, formats)
        if let cache = settings.cache, cachePlanners[settings.pipeline.identity] == nil {
            keep(known.planner, for: settings.pipeline)
            cache.remember(known.assets)
        }
        return known
    }

    /// Plans what the cache has, without a worker; nil if there is no cache, or it does not know the assets.
    func cachePlanner(_ settings: RenderSettings) -> Planner? {
        if let known = cachePlanners[settings.pipeline.identity] { return known.planner }
        guard let planner = settings.cache?.planner(limits: settings.limits) else { return nil }
        keep(planner, for: settings.pipeline)
        return planner
    }

    private func keep(_ planner: Planner, for pipeline: LoadedPipeline) {
        if cachePlanners.count >= Self.mostPlanners { cachePlanners = [:] }
        cachePlanners[pipeline.identity] = CachePlanner(planner: planner, pipeline: pipeline)
    }

    /// Plans one source without writing anything. Unless it is a dry run, what stages must see is measured.
    /// - Throws: `Failure` if the source cannot be planned.
    package func plan(
        _ source: SourceFile, _ settings: RenderSettings
    ) throws -> (plan: SourcePlan, names: [RenditionName]) {
        let opened = try OpenedInput(source, limits: settings.limits)
        let known = try prepared(settings, opened.formats)
        let (input, texts, measurements) = try readably(opened) {
            let input = try probe(opened, of: source, settings: settings, alone: false)
            let texts = try self.texts(on: input, of: source, opened: opened, settings: settings)
            return (
                input, texts,
                try self.measurements(
                    of: input, texts, opened: opened, known: known, settings: settings, alone: false
                ).0
            )
        }
        let plan = try planned { () throws(PlanFailure) in
            try input.plan(by: input.planner(known.planner, saying: texts), measurements: measurements.byPath)
        }
        let naming = try self.naming(for: input, of: source, opened: opened, settings: settings)
        return (plan, try planned { () throws(PlanFailure) in try plan.names(for: naming, version: 1) })
    }

    /// Makes all renditions of a source.
    /// - Parameters:
    ///   - alone: no other source is worked on meanwhile: the whole budget of memory is taken. For a source whose
    ///     worker the system has killed.
    ///   - choose: gives the names; called once, when the plan is known.
    ///   - beforeRendering: called with the pixels of the source, and the time that they may take, when only the
    ///     rendering is left.
    /// - Returns: the renditions, complete, beside the places where they belong; none in a dry run.
    /// - Throws: `Failure` for what is wrong with the source, `WorkerLoss` if the attempt has cost the worker,
    ///   `Cancelled`, and what `prepare` throws. A worker that was lost, or has lied, is replaced already.
    func make(
        _ work: inout SourceWork, opened: OpenedInput, settings: RenderSettings, alone: Bool = false,
        names choose: NameChoice,
        beforeRendering: (_ pixels: Int, _ time: TimeBound) -> Void = { _, _ in }
    ) throws -> [StagedFile] {
        try readably(opened) {
            try made(
                &work, opened: opened, settings: settings, alone: alone, names: choose, beforeRendering: beforeRendering
            )
        }
    }

    private func made(
        _ work: inout SourceWork, opened: OpenedInput, settings: RenderSettings, alone: Bool, names choose: NameChoice,
        beforeRendering: (_ pixels: Int, _ time: TimeBound) -> Void
    ) throws -> [StagedFile] {
        if settings.cancellation.isRaised { throw Cancelled() }
        var clock = Stopwatch()
        if let cached = try cachedOutputs(&work, opened: opened, settings: settings, names: choose) { return cached }
        let known = try prepared(settings, opened.formats)
        try FaultPoint.passOutput(.afterWorkerStart)
        worker.slot.begin(work.source.identity)
        let input = try probe(opened, of: work.source, settings: settings, alone: alone)
        work.report.source.describe(input, opened)
        let texts = try texts(
            on: input, of: work.source, opened: opened, settings: settings, hash: work.report.source.sha256)
        let (measurements, measuring) = try measurements(
            of: input, texts, opened: opened, known: known, settings: settings, alone: alone)
        let planner = input.planner(known.planner, saying: texts)
        let plan = try planned { () throws(PlanFailure) in
            try input.plan(by: planner, measurements: measurements.byPath)
        }
        work.report.warnings = opened.warnings(work.source.name) + plan.warnings
        try checkMemory(plan.memory, settings.limits)
        work.report.predictedMemory = max(plan.memory, measuring)
        let names = try names(for: plan, of: input, &work, opened: opened, settings: settings, by: choose)
        work.report.renditions = zip(plan.renditions, names).map(Self.entry)
        if settings.isDryRun { return [] }

        beforeRendering(plan.source.size.area * max(1, plan.source.frames), plan.time)
        let message = RenderMessage(
            pipeline: known.number, source: input.message, measurements: measurements, texts: texts,
            thumbnail: thumbnail(of: work.source, opened: opened, settings: settings))
        let outputs = try render(
            plan, message: message, planner: planner, input: input, names: names, opened: opened, alone: alone,
            clock: &clock, for: &work, settings: settings)
        work.report.milliseconds.render += clock.lap()
        return outputs
    }

    // MARK: - Looking at the source

    private func probe(
        _ opened: OpenedInput, of source: SourceFile, settings: RenderSettings, alone: Bool
    ) throws -> ProbedInput {
        switch opened {
        case .picture(let picture):
            // A set has no metadata of its own that a text could say.
            let words = settings.pipeline.file.texts.contains(where: \.needsMetadata)
            return .picture(try probe(picture, words: words, settings: settings, alone: alone), source.name)
        case .set(let set):
            var members: [MemberFacts] = []
            var failed = FailedMembers()
            for (index, source) in set.sources.enumerated() {
                let member = try onFiles { () throws(Failure) in try set.open(index) }
                do {
                    let facts = try memberNamed(source) { try probe(member, settings: settings, alone: alone) }
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
    private func readably<Value>(_ opened: OpenedInput, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let failure as Failure where failure.code == .corrupt || failure.code == .setMemberFailed {
            let missing = Set(opened.formats).filter(\.mayBeMissing).first { (try? worker.canRead($0)) == false }
            throw missing.map {
                Failure(.unsupportedFormat, stage: failure.stage, $0.missingDecoder, detail: failure.detail)
            } ?? failure
        }
    }

    private func probe(
        _ opened: OpenedSource, words: Bool = false, settings: RenderSettings, alone: Bool
    ) throws -> SourceFacts {
        do {
            let facts = try settings.memory.holding(alone ? settings.memory.total : 0) {
                try worker.slot.facts(of: opened, page: settings.pipeline.file.page, words: words, settings.limits)
            }
            try opened.checkStructure(facts, settings.limits)
            return facts
        } catch let failure as Failure {
            throw opened.refined(failure)
        }
    }

    /// What stages must see before the plan is known, measured on the whole picture. Its memory is given back
    /// meanwhile: a source that waits for its names must not hold any.
    /// - Returns: also the bytes that the worker was expected to need for it at most.
    private func measurements(
        of input: ProbedInput, _ texts: TextValues?, opened: OpenedInput, known: WorkerSlot.Known,
        settings: RenderSettings, alone: Bool
    ) throws -> ([StageMeasurement], memory: Int) {
        guard known.planner.needsMeasurement, !settings.isDryRun else { return ([], 0) }
        let bound = try planned { () throws(PlanFailure) in
            try input.plan(by: input.planner(known.planner, saying: texts))
        }
        try checkMemory(bound.memory, settings.limits)
        let message = RenderMessage(pipeline: known.number, source: input.message, texts: texts)
        let memory = ReservedMemory(bound.memory, of: settings.memory, alone: alone)
        return try settings.memory.holding(memory.reserved) {
            (
                try worker.slot.measurements(message, known.planner, of: opened, within: bound.time, memory: memory),
                bound.memory
            )
        }
    }

    private func checkMemory(_ memory: Int, _ limits: Limits) throws(Failure) {
        guard memory <= limits.maximumMemory else {
            let message =
                "rendering would need up to \(memory >> 20) MiB; the budget is \(limits.maximumMemory >> 20) MiB (max-memory)"
            throw Failure(.tooMuchMemory, stage: "read", message)
        }
    }

    // MARK: - Names

    /// The names, asked for once however often the source is attempted.
    func names(
        for plan: SourcePlan, of input: ProbedInput, _ work: inout SourceWork, opened: OpenedInput,
        settings: RenderSettings,
        by choose: NameChoice
    ) throws -> [RenditionName] {
        if let names = work.names { return names }
        let facts = try naming(
            for: input, of: work.source, opened: opened, settings: settings, hash: work.report.source.sha256)
        work.report.source.sha256 = work.report.source.sha256 ?? facts.hash
        let names = try choose { version throws(PlanFailure) in try plan.names(for: facts, version: version) }
        work.names = names
        work.report.warnings += names.filter(\.isShortened).map {
            Warning(.nameShortened, "the output name was longer than 255 bytes; it is now '\($0.path.printable)'")
        }
        return names
    }

    /// - Parameter hash: the source's digest, if it is known already.
    private func naming(
        for input: ProbedInput, of source: SourceFile, opened: OpenedInput, settings: RenderSettings,
        hash: String? = nil
    ) throws -> NamingFacts {
        NamingFacts(
            source: source.name,
            hash: settings.pipeline.file.needsHash ? try hash ?? opened.sha256() : nil,
            date: input.captureDate ?? opened.modificationDate, keepsTree: settings.keepsTree,
            thumbnailDigest: thumbnail(of: source, opened: opened, settings: settings)?.digest)
    }

    /// The values of the fields in texts; nil if the pipeline has no texts.
    /// - Parameter hash: the source's digest, if it is known already.
    func texts(
        on input: ProbedInput, of source: SourceFile, opened: OpenedInput, settings: RenderSettings,
        hash: String? = nil
    ) throws -> TextValues? {
        if settings.pipeline.file.texts.isEmpty { return nil }
        return input.texts(
            try naming(for: input, of: source, opened: opened, settings: settings, hash: hash))
    }

    func thumbnail(of source: SourceFile, opened: OpenedInput, settings: RenderSettings) -> ThumbnailFacts? {
        settings.pipeline.file.makesThumbnails ? ThumbnailFacts(source, opened) : nil
    }

    static func entry(_ plan: RenditionPlan, _ name: RenditionName) -> SourceReport.RenditionEntry {
        SourceReport.RenditionEntry(
            name: plan.rendition.name, scale: plan.scale, path: name.path, format: plan.format, size: plan.output.size,
            frames: plan.output.frames)
    }

    // MARK: - Rendering

    private func render(
        _ plan: SourcePlan, message: RenderMessage, planner: Planner, input: ProbedInput, names: [RenditionName],
        opened: OpenedInput, alone: Bool, clock: inout Stopwatch, for work: inout SourceWork, settings: RenderSettings
    ) throws -> [StagedFile] {
        let outputs = try stage(names, settings)
        let cached = try filled(outputs, plan, from: &work.cached)
        let wanted = outputs.indices.filter { cached[$0] == nil }
        var message = message
        message.omitted = Set(outputs.indices).subtracting(wanted)
        func render() throws -> RenderResult {
            try rendered(
                message, planner: planner, to: wanted.map { outputs[$0] }, following: plan, from: opened, alone: alone,
                budget: settings.memory, clock: &clock, milliseconds: &work.report.milliseconds)
        }
        var result = try wanted.isEmpty ? nil : render()
        try FaultPoint.passOutput(.afterDecode)
        try onFiles { () throws(Failure) in try checkUnchanged(opened) }
        if result?.warnings.contains(where: \.isOfDamage) ?? false {
            // A decoder takes a read that fails for damage, so what counts is decoded after it could be read.
            try onFiles { () throws(Failure) in try opened.confirmDamage() }
            if settings.pipeline.file.tolerance != .nothing {
                try prepareAgain(wanted.map { outputs[$0] }, opened, planner)
                result = try render()
                try onFiles { () throws(Failure) in try checkUnchanged(opened) }
            }
        }
        note(cached, &work)
        for (index, said) in zip(wanted, result?.renditions ?? []) {
            work.report.renditions[index].bytes = try onFiles {
                try checked(outputs[index], against: plan.renditions[index], said: said, settings.limits)
            }
            (work.report.renditions[index].size, work.report.renditions[index].frames) = (said.size, said.frames)
        }
        work.add(result?.warnings ?? [])
        work.report.peakMemory = result?.peakMemory
        if let result {
            onFiles { keep(result, wanted: wanted, outputs: outputs, plan: plan, input: input, for: &work) }
        }
        try FaultPoint.passOutput(.afterTargetWrite)
        return outputs
    }

    /// Renders; once more if the worker found the disk full and there is room again, since others write to it too.
    ///
    /// Memory is reserved while the worker works, and not while this thread waits for files: those of one inbox may
    /// hang, and others wait for the memory.
    private func rendered(
        _ message: RenderMessage, planner: Planner, to outputs: [StagedFile], following plan: SourcePlan,
        from opened: OpenedInput, alone: Bool, budget: MemoryBudget, clock: inout Stopwatch,
        milliseconds: inout SourceReport.Times
    ) throws -> RenderResult {
        let memory = ReservedMemory(plan.memory, of: budget, alone: alone)
        func render() throws -> RenderResult {
            try budget.holding(memory.reserved) {
                milliseconds.wait += clock.lap()
                defer { milliseconds.render += clock.lap() }
                return try worker.slot.render(
                    message, planner, of: opened, to: outputs.map(\.file), within: plan.time, memory: memory)
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
                try prepareAgain(outputs, opened, planner)
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
            _ = try worker.slot.facts(of: picture, page: planner.pipeline.page, planner.limits)
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
                try settings.outbox.stage(names) {
                    staged += 1
                    return "\(token)-\(staged)"
                }
            }
        } catch {
            throw error.asOutputFailure
        }
    }
}

func planned<Value>(_ work: () throws(PlanFailure) -> Value) throws(Failure) -> Value {
    do throws(PlanFailure) {
        return try work()
    } catch {
        throw error.failure
    }
}

extension FailureCode {
    /// What a worker says when an output does not take what it writes.
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
