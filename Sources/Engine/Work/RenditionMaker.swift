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
    /// The last pipeline with values of a picture, and the one that it was made of. The next one may have the same.
    var pipelineOfPicture: (made: LoadedPipeline, of: LoadedPipeline)?
    /// Makes the names of staged files distinct.
    let token: String
    var staged = 0
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
    func prepared(_ settings: RenderSettings, _ formats: [SourceFormat]) throws -> WorkerSlot.Known {
        let known: WorkerSlot.Known
        do {
            known = try worker.prepared(settings, formats)
        } catch let mistakes as Diagnostics where settings.pipeline.isOfPicture {
            throw LoadedPipeline.badParameters(mistakes, settings.pipeline.file.ofPicture)
        }
        if let cache = settings.cache, cachePlanners[settings.pipeline.identity] == nil {
            if !settings.pipeline.isOfPicture { keep(known.planner, for: settings.pipeline) }
            cache.remember(known.assets)
        }
        return known
    }

    /// Plans what the cache has, without a worker; nil if there is no cache, or it does not know the assets.
    func cachePlanner(_ settings: RenderSettings) -> Planner? {
        if let known = cachePlanners[settings.pipeline.identity] { return known.planner }
        guard let planner = settings.cache?.planner(limits: settings.limits) else { return nil }
        if !settings.pipeline.isOfPicture { keep(planner, for: settings.pipeline) }
        return planner
    }

    private func keep(_ planner: Planner, for pipeline: LoadedPipeline) {
        if cachePlanners.count >= Self.mostPlanners { cachePlanners = [:] }
        cachePlanners[pipeline.identity] = CachePlanner(planner: planner, pipeline: pipeline)
    }

    /// Plans one source without writing anything. Unless it is a dry run, what stages must see is measured.
    /// - Throws: `Failure` if the source cannot be planned.
    package func plan(_ source: SourceFile, _ settings: RenderSettings) throws -> PlannedWork {
        let opened = try OpenedInput(source, limits: settings.limits)
        let (task, known, applied, texts, measurements) = try readably(opened) {
            let task = try resolved(SourceTask(source: source, opened: opened, settings: settings))
            let known = try prepared(task.settings, opened.formats)
            let applied = try self.applied(to: probe(task), known, task)
            let texts = try self.texts(on: applied.input, of: task)
            return (task, known, applied, texts, try self.measurements(of: applied, texts, known, task).0)
        }
        let input = applied.input
        let plan = try planned { () throws(PlanFailure) in
            try input.plan(by: applied.planner(known.planner, saying: texts), measurements: measurements.byPath)
        }
        _ = try settings.policy.judged(opened.warnings(source.name), stage: "plan")
        let warnings = try settings.policy.judged(plan.warnings, stage: "plan")
        let naming = try self.naming(for: input, of: task)
        return PlannedWork(
            plan: plan.with(warnings: warnings),
            names: try planned { () throws(PlanFailure) in try plan.names(for: naming, version: 1) },
            omissions: applied.omissions, parameters: task.settings.pipeline.file.settings)
    }

    /// Makes all renditions of a source.
    /// - Parameters:
    ///   - choose: gives the names; called once, when the plan is known.
    ///   - beforeRendering: called with the pixels of the source, and the time that they may take, when only the
    ///     rendering is left.
    /// - Returns: the renditions, complete, beside the places where they belong; none in a dry run.
    /// - Throws: `Failure` for what is wrong with the source, `WorkerLoss` if the attempt has cost the worker,
    ///   `Cancelled`, and what `prepare` throws. A worker that was lost, or has lied, is replaced already.
    func make(
        _ work: inout SourceWork, _ task: SourceTask, names choose: NameChoice,
        beforeRendering: (_ pixels: Int, _ time: TimeBound) -> Void = { _, _ in }
    ) throws -> [StagedFile] {
        try readably(task.opened) { try made(&work, task, names: choose, beforeRendering: beforeRendering) }
    }

    private func made(
        _ work: inout SourceWork, _ task: SourceTask, names choose: NameChoice,
        beforeRendering: (_ pixels: Int, _ time: TimeBound) -> Void
    ) throws -> [StagedFile] {
        if task.settings.cancellation.isRaised { throw Cancelled() }
        var clock = Stopwatch()
        let task = try resolved(task)
        work.note(task)
        let (opened, settings) = (task.opened, task.settings)
        if let cached = try cachedOutputs(&work, task, names: choose) { return cached }
        let known = try prepared(settings, opened.formats)
        try FaultPoint.passOutput(.afterWorkerStart)
        worker.slot.begin(work.source.identity)
        let probed = try probe(task)
        work.report.source.describe(probed, opened)
        let applied = try self.applied(to: probed, known, task)
        let input = applied.input
        let texts = try texts(on: input, of: task, hash: work.report.source.sha256)
        let (measurements, measuring) = try measurements(of: applied, texts, known, task)
        let planner = applied.planner(known.planner, saying: texts)
        let plan = try planned { () throws(PlanFailure) in
            try input.plan(by: planner, measurements: measurements.byPath)
        }
        try work.begin(opened.warnings(work.source.name) + plan.warnings, of: task, stage: "plan")
        try checkMemory(plan.memory, settings.limits)
        work.report.predictedMemory = max(plan.memory, measuring, applied.memory)
        let subject = PlannedInput(plan: plan, input: input)
        let names = try names(for: subject, &work, task, by: choose)
        work.reportNames(names, of: plan)
        if settings.isDryRun { return [] }

        beforeRendering(plan.source.size.area * max(1, plan.source.frames), plan.time)
        let message = RenderMessage(
            pipeline: known.number, source: input.message, measurements: measurements, texts: texts,
            leftOut: applied.message, thumbnail: task.thumbnail)
        let outputs = try render(
            Rendering(task: task, input: input, planner: planner, plan: plan, message: message),
            Array(names.prefix(plan.renditions.count)),
            clock: &clock, for: &work)
        let finished = try finish(outputs, of: subject, &work, task, by: choose)
        work.report.milliseconds.render += clock.lap()
        return finished
    }

    /// The names of the renditions and of the documents beside them, asked for once however often the source is
    /// attempted. Names by what is in the files are asked for when that is known; until then they have question marks.
    /// - Parameter contents: the SHA-256 of each rendition; nil before they are rendered.
    func names(
        for subject: PlannedInput, contents: [String]? = nil, _ work: inout SourceWork, _ task: SourceTask,
        by choose: NameChoice
    ) throws -> [RenditionName] {
        let (plan, input, pipeline) = (subject.plan, subject.input, task.settings.pipeline.file)
        let facts = try naming(for: input, of: task, hash: work.report.source.sha256)
        work.report.source.sha256 = work.report.source.sha256 ?? facts.hash
        let documents = PlannedDocuments(
            pipeline, plan, try texts(on: input, of: task, hash: work.report.source.sha256))
        work.documents = documents
        func candidates(_ version: Int) throws(PlanFailure) -> [RenditionName] {
            let names = try plan.names(for: facts, contents: contents, version: version)
            return try documents.adding(to: names, for: facts, version: version)
        }
        if pipeline.namesByContents, contents == nil {
            return try planned { () throws(PlanFailure) in try candidates(1) }
        }
        var names = work.names ?? []
        if work.names == nil || contents != nil {
            names = try choose { version throws(PlanFailure) in try candidates(version) }
        }
        work.names = names
        // Each time: warnings of an attempt before are not this one's.
        let shortened = names.filter(\.isShortened).map {
            Warning(.nameShortened, "the output name was longer than 255 bytes; it is now '\($0.path.printable)'")
        }
        try work.add(shortened, of: task, stage: "plan")
        return names
    }

    /// Does what can be done when the renditions are complete: reports their digests if these are wanted, gives them
    /// their names if they are named by them, and writes the documents beside them.
    /// - Returns: the renditions and the documents.
    func finish(
        _ outputs: [StagedFile], of subject: PlannedInput, _ work: inout SourceWork, _ task: SourceTask,
        by choose: NameChoice
    ) throws -> [StagedFile] {
        let (settings, isNamedByContents) = (task.settings, task.settings.pipeline.file.namesByContents)
        do {
            if isNamedByContents || settings.reportsContents {
                for (index, output) in outputs.enumerated() where work.report.renditions[index].sha256 == nil {
                    work.report.renditions[index].sha256 = try onFiles { () throws(SystemError) in
                        try Digest.of(output.file)
                    }
                }
            }
            if isNamedByContents {
                let contents = work.report.renditions.map { $0.sha256 ?? "" }
                let names = try names(for: subject, contents: contents, &work, task, by: choose)
                work.rename(names)
                try onFiles { () throws(SystemError) in try settings.outbox.redirect(outputs, to: names) }
            }
            let documents = try stage(Array((work.names ?? []).dropFirst(outputs.count)), settings)
            try onFiles { () throws(SystemError) in try work.writeDocuments(to: documents) }
            return outputs + documents
        } catch let error as SystemError {
            throw error.asOutputFailure
        }
    }

    /// - Parameter hash: the source's digest, if it is known already.
    private func naming(for input: ProbedInput, of task: SourceTask, hash: String? = nil) throws -> NamingFacts {
        NamingFacts(
            source: task.source.name,
            hash: task.settings.pipeline.file.needsHash ? try hash ?? task.opened.sha256() : nil,
            date: input.captureDate ?? task.opened.modificationDate, keepsTree: task.settings.keepsTree,
            thumbnailDigest: task.thumbnail?.digest)
    }

    /// The values of the fields in texts; nil if the pipeline has no texts.
    /// - Parameter hash: the source's digest, if it is known already.
    func texts(on input: ProbedInput, of task: SourceTask, hash: String? = nil) throws -> TextValues? {
        let pipeline = task.settings.pipeline.file
        if pipeline.texts.isEmpty && pipeline.documents.isEmpty { return nil }
        return input.texts(try naming(for: input, of: task, hash: hash))
    }

}

/// A source with its plan.
struct PlannedInput {
    let plan: SourcePlan
    let input: ProbedInput
}

func planned<Value>(_ work: () throws(PlanFailure) -> Value) throws(Failure) -> Value {
    do throws(PlanFailure) {
        return try work()
    } catch {
        throw error.failure
    }
}

/// The plan for a source, with the names of its renditions.
package struct PlannedWork: Sendable {
    package let plan: SourcePlan
    /// In the order of the plan's renditions.
    package let names: [RenditionName]
    /// The parts of the pipeline that do not apply.
    package let omissions: [Omission]
    /// Its parameters, with the values that they have for the source.
    package let parameters: [ParameterSetting]
}
