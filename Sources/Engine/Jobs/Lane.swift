// One worker process and the thread that serves it: one job at a time, from the open file to the published renditions.
import Glibc
package import Pipeline

/// The run was cancelled while a job was under way.
struct Cancelled: Error {}

/// Serves one worker process. Everything in here waits, so a lane has a thread of its own, and is used on that alone.
package final class Lane {
    private let settings: LaneSettings
    private var worker: WorkerProcess?
    private var planner: Planner?
    /// Plans what the cache has, without a worker; nil where there is no cache, or it does not know the assets.
    private lazy var cachePlanner = settings.cache?.planner(limits: settings.limits)
    /// What the worker still held after its last rendering.
    private var keptBytes = 0
    /// Makes the names of staged files distinct.
    private let token: String
    private var staged = 0

    /// A worker is replaced after so many renderings, or once it keeps so many bytes: that bounds what its libraries may have leaked.
    private static let renderingsPerWorker = 5000
    private static let keptBytesPerWorker = 768 << 20
    /// Headers are small; a decoder that takes longer hangs.
    private static let headerSeconds = 30.0

    package init(_ settings: LaneSettings, index: Int) {
        self.settings = settings
        // The process' number alone is no name: in a container it is always the same, and a killed run may have left a file.
        token = "\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))-\(index)"
    }

    /// Takes sources from the queue until there are none left or the run is cancelled.
    /// - Throws: what `prepare` throws.
    func work(through queue: SourceQueue) throws {
        if cachePlanner == nil { try prepare() }
        while !settings.cancellation.isRaised, let (source, order) = queue.next() {
            guard let finished = process(source, order: order) else { break }
            queue.add(finished)
        }
    }

    /// Starts the worker and gives it the pipeline.
    /// - Returns: the planner for the pipeline with the assets as the worker found them.
    /// - Throws: `Diagnostics` where an asset cannot be decoded, `SystemError` where no worker can be started.
    @discardableResult
    package func prepare() throws -> Planner {
        if let planner, let worker, worker.renderings < Self.renderingsPerWorker, keptBytes < Self.keptBytesPerWorker { return planner }
        keptBytes = 0
        let process = try settings.workers.start()
        let message = settings.pipeline.message(id: 1, limits: settings.limits)
        // Several workers read the assets at one time.
        let files = try settings.pipeline.assets.map { asset throws(SystemError) in try asset.file.reopened() }
        switch try process.ask(.prepare(message), files: files, withinSeconds: 60, cancellation: settings.cancellation) {
        case .assets(let facts) where facts.count == message.assets.count:
            let assets = Dictionary(zip(message.assets.map(\.path), facts)) { first, _ in first }
            let planner = Planner(pipeline: settings.pipeline.file, assets: assets, limits: settings.limits)
            (worker, self.planner) = (process, planner)
            settings.cache?.remember(assets)
            return planner
        case .assetFailed(let index, let failure) where message.assets.indices.contains(index):
            throw settings.pipeline.diagnostics(asset: index, failure)
        case .failed(let failure): throw failure
        case .assets, .facts, .measured, .rendered, .assetFailed, .needsMember: throw WorkerLoss.confused("an answer to another question")
        }
    }

    /// Plans one source without writing anything.
    /// - Throws: `Failure` where the source cannot be planned.
    package func plan(_ source: SourceFile) throws -> (plan: Plan, names: [RenditionName]) {
        let opened = try OpenedInput(source, limits: settings.limits)
        let planner = try prepare()
        let input = try probe(opened, source)
        let plan = try planned { () throws(PlanFailure) in try input.plan(by: planner) }
        let naming = try self.naming(plan, source, opened)
        return (plan, try planned { () throws(PlanFailure) in try plan.names(for: naming, version: 1) })
    }

    /// Processes one source, and says what was done.
    /// - Parameter order: the source's place among all sources, from 0.
    /// - Returns: nil where the run was cancelled before the source was done.
    private func process(_ source: SourceFile, order: Int) -> FinishedSource? {
        var job = Job(report: SourceReport(status: .failed, pipeline: settings.pipeline.file.name, source: source.relative), order: order)
        do {
            try attempt(source, &job)
            job.report.status = settings.isDryRun ? .planned : .done
        } catch is Cancelled {
            finish(job)
            return nil
        } catch {
            let failure = error as? Failure ?? Failure(.internal, stage: "read", "an unexpected error", detail: "\(error)")
            job.report.error = job.opened?.refined(failure) ?? failure
            job.report.renditions = []
        }
        finish(job)
        return FinishedSource(source: source, report: job.report, fingerprint: job.opened?.fingerprint, outputs: job.written)
    }

    /// What is known of a source while it is processed.
    private struct Job {
        var report: SourceReport
        let order: Int
        var opened: OpenedInput?
        /// The source has used its turn at the desk of names.
        var hasAsked = false
        /// The names, once the desk has given them.
        var names: [RenditionName]?
        /// The renditions as they were published.
        var written = Fingerprint([])
        /// What the cache has of the source; nil where there is no cache.
        var cached: CachedJob?
    }

    private func finish(_ job: Job) {
        if let names = job.names { settings.names.release(names) } else if !job.hasAsked { settings.names.pass(order: job.order) }
    }

    /// Works on the source until it is done, has failed, or has cost too many workers.
    private func attempt(_ source: SourceFile, _ job: inout Job) throws {
        let opened = try OpenedInput(source, limits: settings.limits)
        job.opened = opened
        job.report.source.bytes = opened.bytes
        while true {
            do {
                return try work(on: opened, source, &job)
            } catch let loss as WorkerLoss {
                worker = nil
                let failure = try self.failure(from: loss, attempt: job.report.attempt)
                guard failure.code == .workerCrashed, job.report.attempt < settings.attempts else { throw failure }
                job.report.attempt += 1
            }
        }
    }

    private func failure(from loss: WorkerLoss, attempt: Int) throws(Cancelled) -> Failure {
        switch loss {
        case .cancelled: throw Cancelled()
        case .timedOut: return Failure(.timedOut, stage: "render", "rendering took longer than its deadline and was stopped")
        case .confused(let what): return Failure(.workerCrashed, stage: "render", "the worker answered nonsense: \(what)")
        case .died(let how, let words):
            let times = attempt == 1 ? "once" : "\(attempt) times"
            return Failure(.workerCrashed, stage: "render", "the worker process \(how), \(times) in a row", detail: words.isEmpty ? nil : words)
        }
    }

    // MARK: - One attempt

    private func work(on opened: OpenedInput, _ source: SourceFile, _ job: inout Job) throws {
        if settings.cancellation.isRaised { throw Cancelled() }
        var clock = Stopwatch()
        if try publishCached(opened, source, &job, &clock) { return }
        let planner = try prepare()
        let input = try probe(opened, source)
        job.report.source.describe(input, opened)
        let measurements = try measurements(of: input, opened, planner)
        let plan = try planned { () throws(PlanFailure) in try input.plan(by: planner, measurements: measurements.byPath) }
        job.report.warnings = opened.warnings(source.name) + plan.warnings
        try checkMemory(plan.memory)
        let names = try names(for: plan, source, opened, &job)
        job.report.renditions = zip(plan.renditions, names).map(Self.entry)
        if settings.isDryRun { return }

        settings.memory.acquire(plan.memory)
        job.report.milliseconds.wait += clock.lap()
        let message = RenderMessage(
            pipeline: 1, source: input.message, measurements: measurements, thumbnail: thumbnail(source, opened))
        let result = Result { try render(plan, message, input, names, opened, &job, &clock) }
        settings.memory.release(plan.memory)
        try result.get()
        job.report.milliseconds.publish += clock.lap()
    }

    private func probe(_ opened: OpenedInput, _ source: SourceFile) throws -> ProbedInput {
        switch opened {
        case .picture(let picture): return .picture(try probe(picture), source.name)
        case .set(let set):
            let members = try set.sources.indices.map { index in
                let facts = try memberNamed(set.sources[index]) { try probe(set.open(index, limits: settings.limits)) }
                return MemberFacts(name: set.sources[index].path.lastComponent, facts: facts)
            }
            return .set(members)
        }
    }

    /// Says which member it is that failed; a worker's death is no member's fault.
    private func memberNamed(_ member: SourceFile, _ work: () throws -> SourceFacts) throws -> SourceFacts {
        do {
            return try work()
        } catch let failure as Failure where failure.code != .setMemberFailed {
            return try namingMember(member) { () throws(Failure) in throw failure }
        }
    }

    private func probe(_ opened: OpenedSource) throws -> SourceFacts {
        let files = [opened.file]
        switch try ask(.probe(opened.format), files, seconds: Self.headerSeconds) {
        case .facts(let facts) where facts.isPlausible && facts.format == opened.format: return facts
        case .failed(let failure): throw opened.refined(failure)
        case .facts, .assets, .measured, .rendered, .assetFailed, .needsMember: throw WorkerLoss.confused("a header that cannot be")
        }
    }

    /// What stages must see before the plan is known, measured on the whole picture. Its memory is given back meanwhile: a source that waits
    /// for its names must not hold any.
    private func measurements(of input: ProbedInput, _ opened: OpenedInput, _ planner: Planner) throws -> [StageMeasurement] {
        guard planner.needsMeasurement, !settings.isDryRun else { return [] }
        let bound = try planned { () throws(PlanFailure) in try input.plan(by: planner) }
        try checkMemory(bound.memory)
        settings.memory.acquire(bound.memory)
        defer { settings.memory.release(bound.memory) }
        let message = RenderMessage(pipeline: 1, source: input.message)
        switch try ask(.measure(message), seconds: bound.deadline, membersOf: opened) {
        case .measured(let found) where found.allSatisfy(\.measurement.isPlausible): return found
        case .failed(let failure): throw failure
        case .measured, .facts, .assets, .rendered, .assetFailed, .needsMember: throw WorkerLoss.confused("a measurement that cannot be")
        }
    }

    /// Asks the worker, and gives it the members of a set as it wants them.
    private func ask(_ request: Request, _ files: [OpenFile] = [], seconds: Double, membersOf opened: OpenedInput? = nil) throws -> Reply {
        guard let worker else { throw Failure(.internal, stage: "read", "there is no worker") }
        guard case .set(let set)? = opened else {
            return try worker.ask(request, files: files, withinSeconds: seconds, cancellation: settings.cancellation)
        }
        var trouble: Failure?
        let reply = try worker.ask(request, files: files, withinSeconds: seconds, cancellation: settings.cancellation) { index in
            guard (0..<set.count).contains(index) else { return nil }
            do throws(Failure) {
                return try set.open(index, limits: settings.limits).file
            } catch {
                trouble = error
                return nil
            }
        }
        // The worker only knows that it got nothing.
        if let trouble { throw trouble }
        return reply
    }

    private func checkMemory(_ memory: Int) throws(Failure) {
        guard memory <= settings.limits.maximumMemory else {
            let message =
                "rendering would need up to \(memory >> 20) MiB; the budget is \(settings.limits.maximumMemory >> 20) MiB (--max-memory)"
            throw Failure(.tooMuchMemory, stage: "read", message)
        }
    }

    /// The names, asked for once however often the source is attempted.
    private func names(for plan: Plan, _ source: SourceFile, _ opened: OpenedInput, _ job: inout Job) throws -> [RenditionName] {
        if let names = job.names { return names }
        let facts = try naming(plan, source, opened, hash: job.report.source.sha256)
        job.report.source.sha256 = job.report.source.sha256 ?? facts.hash
        job.hasAsked = true
        let names = try settings.names.claim(order: job.order, source: source.identity) { version throws(PlanFailure) in
            try plan.names(for: facts, version: version)
        }
        job.names = names
        job.report.warnings += names.filter(\.isShortened).map {
            Warning(.nameShortened, "the output name was longer than 255 bytes; it is now '\($0.path.printable)'")
        }
        return names
    }

    /// - Parameter hash: the source's digest, where it is known already.
    private func naming(_ plan: Plan, _ source: SourceFile, _ opened: OpenedInput, hash: String? = nil) throws -> NamingFacts {
        NamingFacts(
            source: source.name, hash: settings.pipeline.file.needsHash ? try hash ?? opened.sha256(limits: settings.limits) : nil,
            date: plan.source.captureDate ?? opened.modificationDate, keepsTree: settings.keepsTree,
            thumbnailDigest: thumbnail(source, opened)?.digest)
    }

    private func thumbnail(_ source: SourceFile, _ opened: OpenedInput) -> ThumbnailFacts? {
        settings.pipeline.file.makesThumbnails ? ThumbnailFacts(source, opened) : nil
    }

    private static func entry(_ plan: RenditionPlan, _ name: RenditionName) -> SourceReport.RenditionEntry {
        SourceReport.RenditionEntry(name: plan.rendition.name, scale: plan.scale, path: name.path, format: plan.format, size: plan.output.size)
    }

    private func render(
        _ plan: Plan, _ message: RenderMessage, _ input: ProbedInput, _ names: [RenditionName], _ opened: OpenedInput, _ job: inout Job,
        _ clock: inout Stopwatch
    ) throws {
        let outputs = try stage(names)
        let cached = job.cached?.fill(outputs, plan) ?? outputs.map { _ in nil }
        let wanted = outputs.indices.filter { cached[$0] == nil }
        var message = message
        message.omitted = Set(outputs.indices).subtracting(wanted)
        let result = try wanted.isEmpty ? nil : rendered(message, wanted.map { outputs[$0].file }, plan, opened)
        job.report.milliseconds.render += clock.lap()
        try checkUnchanged(opened)
        note(cached, &job)
        for (index, said) in zip(wanted, result?.renditions ?? []) {
            job.report.renditions[index].bytes = try OutputCheck.check(outputs[index].file, against: plan.renditions[index], said: said)
            job.report.renditions[index].size = said.size
        }
        add(result?.warnings ?? [], &job)
        job.report.peakMemory = result?.peakMemory
        keptBytes = result?.keptMemory ?? keptBytes
        try publish(outputs)
        job.written = try written(outputs, names)
        if let result { keep(result, wanted, outputs, input, &job) }
    }

    private func rendered(_ message: RenderMessage, _ files: [OpenFile], _ plan: Plan, _ opened: OpenedInput) throws -> RenderResult {
        switch try ask(.render(message), files, seconds: plan.deadline, membersOf: opened) {
        case .rendered(let result) where result.renditions.count == files.count: return result
        case .rendered(let result): throw WorkerLoss.confused("\(result.renditions.count) renditions")
        case .failed(let failure): throw failure
        case .assets, .facts, .measured, .assetFailed, .needsMember: throw WorkerLoss.confused("an answer to another question")
        }
    }

    private func checkUnchanged(_ opened: OpenedInput) throws(Failure) {
        guard opened.isUnchanged else {
            throw Failure(.changedWhileRead, stage: "read", "the source was written to while it was read; nothing was published")
        }
    }

    private func add(_ warnings: [Warning], _ job: inout Job) {
        for warning in warnings where !job.report.warnings.contains(warning) { job.report.warnings.append(warning) }
    }

    // MARK: - The cache

    /// Publishes what the cache has, where it has every rendition; no worker is asked.
    /// - Returns: false where something must be made.
    private func publishCached(
        _ opened: OpenedInput, _ source: SourceFile, _ job: inout Job, _ clock: inout Stopwatch
    ) throws -> Bool {
        guard let cache = settings.cache, !settings.isDryRun else { return false }
        if job.cached == nil {
            let digest = try opened.sha256(limits: settings.limits)
            job.report.source.sha256 = digest
            let own = [("thumbnail", thumbnail(source, opened).map { json($0) } ?? "")]
            job.cached = CachedJob(cache, source: digest, pixelsPerPoint: source.name.pixelsPerPoint, own: own, formats: opened.formats)
        }
        guard var cached = job.cached, let facts = cached.factsIfComplete, let planner = planner ?? cachePlanner else { return false }
        let input = facts.input(source.name)
        let plan = try planned { () throws(PlanFailure) in try input.plan(by: planner) }
        // What was a bound of the plan is known of what is there.
        let known = plan.with(sizes: cached.sizes)
        job.report.source.describe(input, opened)
        job.report.warnings = opened.warnings(source.name) + plan.warnings
        let names = try names(for: known, source, opened, &job)
        job.report.renditions = zip(known.renditions, names).map(Self.entry)
        let outputs = try stage(names)
        let filled = cached.fill(outputs, plan)
        job.cached = cached
        guard !filled.contains(where: { $0 == nil }) else { return false }
        try checkUnchanged(opened)
        note(filled, &job)
        try publish(outputs)
        job.written = try written(outputs, names)
        job.report.milliseconds.publish += clock.lap()
        return true
    }

    /// Reports renditions that came from the cache.
    private func note(_ cached: [CachedRendition?], _ job: inout Job) {
        for (index, rendition) in cached.enumerated() {
            guard let rendition else { continue }
            job.report.renditions[index].bytes = rendition.entry.bytes
            job.report.renditions[index].size = rendition.facts.size.size
            job.report.renditions[index].sha256 = rendition.entry.digest
            job.report.renditions[index].cached = true
            add(rendition.facts.warnings, &job)
        }
    }

    /// Keeps what was made.
    private func keep(_ result: RenderResult, _ wanted: [Int], _ outputs: [StagedFile], _ input: ProbedInput, _ job: inout Job) {
        guard let cached = job.cached else { return }
        for (index, said) in zip(wanted, result.renditions) {
            let digest = Digest.of(outputs[index].file)
            job.report.renditions[index].sha256 = digest
            cached.keep(index, outputs[index].file, digest: digest, CachedFacts(input, size: said, warnings: result.warnings))
        }
    }

    // MARK: - Publishing

    private func stage(_ names: [RenditionName]) throws(Failure) -> [StagedFile] {
        do throws(SystemError) {
            var files: [StagedFile] = []
            for name in names {
                staged += 1
                // What file managers show is for their user's eyes only, as the specification has it.
                let mode: mode_t = name.isThumbnail ? 0o600 : 0o666
                files.append(try StagedFile(for: settings.outbox.appending(name.path), token: "\(token)-\(staged)", mode: mode))
            }
            return files
        } catch {
            throw error.asOutputFailure
        }
    }

    /// What the next run compares the renditions with.
    private func written(_ outputs: [StagedFile], _ names: [RenditionName]) throws(Failure) -> Fingerprint {
        do throws(SystemError) {
            var files: [Fingerprint.File] = []
            for (output, name) in zip(outputs, names) { files.append(Fingerprint.File(name: name.path, try output.file.status())) }
            return Fingerprint(files)
        } catch {
            throw error.asOutputFailure
        }
    }

    /// All renditions of a source or none: everything that can fail is done before the first rename.
    private func publish(_ outputs: [StagedFile]) throws(Failure) {
        do throws(SystemError) {
            for output in outputs { try output.makeReady() }
            for output in outputs { try output.publish() }
        } catch {
            throw error.asOutputFailure
        }
    }
}

private func planned<Value>(_ work: () throws(PlanFailure) -> Value) throws(Failure) -> Value {
    do throws(PlanFailure) {
        return try work()
    } catch {
        throw error.failure
    }
}

/// Milliseconds from one lap to the next.
private struct Stopwatch {
    private var last = ContinuousClock.now

    mutating func lap() -> Int {
        let now = ContinuousClock.now
        defer { last = now }
        return milliseconds(in: now - last)
    }
}
