// One source while it is worked on: what is known of it so far.
import Pipeline
import System

/// The run was cancelled while a job was under way.
package struct Cancelled: Error {}

/// Gives a source its names.
/// - Parameter candidates: the names of all renditions at a version, 1 and up.
/// - Throws: `Failure`, `StoreError`.
typealias NameChoice = (_ candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName]) throws ->
    [RenditionName]

/// The facts about a source while it is worked on.
struct SourceWork {
    private(set) var source: SourceFile
    var report: SourceReport
    private(set) var opened: OpenedInput?
    /// The names, once they are given.
    var names: [RenditionName]?
    /// The documents beside the renditions; nil before these are planned.
    var documents: PlannedDocuments?
    /// The source's renditions in the cache; nil if there is no cache.
    var cached: CachedJob?
    /// The values of parameters that it was looked up with.
    var cachedFor: [ParameterSetting]?
    /// It was opened in this attempt. Otherwise an earlier one has rendered it.
    private(set) var wasTaken = false
    /// The first warning of damage, whatever the policy makes of it.
    var damage: Warning?
    /// The sidecars as they were read, and the assets that values in them or in metadata have chosen.
    private var sidecars: [OpenedSidecar] = []
    private var chosenAssets: [Fingerprint.File]? = []
    /// The source as it was read, for the next run.
    private(set) var sourceFingerprint: Fingerprint?

    /// A job that is not open yet.
    init(_ job: Job, _ route: Route) {
        source = SourceFile(location: .path(job.path), identity: job.path, relative: job.path)
        // The result of an earlier attempt is reported as it was, whoever settles it.
        if let known = job.report.flatMap({ SourceReport(document: $0) }) {
            report = known
            return
        }
        report = SourceReport(status: .failed, pipeline: route.render.pipeline.file.name, source: job.path)
        report.source.bytes = job.observed.stamp.bytes
        report.inbox = route.inbox
        report.attempt = max(1, job.progress.attempts)
    }

    /// A source of no job, which is done once.
    init(_ source: SourceFile, pipeline: String) {
        self.source = source
        report = SourceReport(status: .failed, pipeline: pipeline, source: source.relative)
    }

    /// Goes on with the source as it can be opened.
    mutating func take(_ source: SourceFile) {
        self.source = source
        report.source = SourceReport.Source(path: source.relative)
        wasTaken = true
    }

    /// Notes what the source itself says of the pipeline's parameters.
    mutating func note(_ task: SourceTask) {
        let pipeline = task.settings.pipeline
        report.parameters = pipeline.file.settings.isEmpty ? nil : pipeline.file.settings
        (sidecars, chosenAssets) = (task.sidecars, pipeline.chosenAssets)
    }

    /// Lets go of everything that is open.
    mutating func close() {
        if var fingerprint = opened?.fingerprint, let chosenAssets, !sidecars.contains(where: \.isFresh) {
            fingerprint.files += sidecars.map(\.file) + chosenAssets
            sourceFingerprint = fingerprint
        }
        opened = nil
        cached = nil
    }

    /// Reports what will be made under which names.
    mutating func reportNames(_ names: [RenditionName], of plan: SourcePlan) {
        report.renditions = zip(plan.renditions, names).map { rendition, name in
            SourceReport.RenditionEntry(
                name: rendition.rendition.name, scale: rendition.scale, path: name.path, format: rendition.format,
                size: rendition.output.size, frames: rendition.output.frames)
        }
        let titles = documents?.titles ?? []
        report.documents = zip(titles, names.dropFirst(plan.renditions.count)).map { title, name in
            SourceReport.DocumentEntry(name: title, path: name.path)
        }
    }

    /// Other names, because somebody else has taken one of the first.
    mutating func rename(_ names: [RenditionName]) {
        self.names = names
        for (index, name) in zip(report.renditions.indices, names) { report.renditions[index].path = name.path }
        let others = names.dropFirst(report.renditions.count)
        for (index, name) in zip(report.documents.indices, others) { report.documents[index].path = name.path }
    }

    /// Writes the documents, which name the renditions, anew.
    /// - Parameter files: theirs alone.
    mutating func writeDocuments(to files: [StagedFile]) throws(SystemError) {
        guard let documents, !files.isEmpty else { return }
        for (index, (file, content)) in zip(files, documents.contents(named: names ?? [])).enumerated() {
            let text = Array((json(content, pretty: true) + "\n").utf8)
            try file.file.empty()
            try file.file.append(text, for: file.destination)
            report.documents[index].bytes = text.count
        }
    }

    mutating func open(_ limits: Limits) throws(Failure) -> OpenedInput {
        let opened = try OpenedInput(source, limits: limits)
        self.opened = opened
        report.source.bytes = opened.bytes
        return opened
    }

    /// The failure that an error means for the source.
    func failure(from error: any Error) -> Failure {
        let failure = error as? Failure ?? Failure(.internal, stage: "read", "an unexpected error", detail: "\(error)")
        return opened?.refined(failure) ?? failure
    }

    /// Begins a list of warnings: those of an attempt before are no longer so.
    /// - Throws: as `add`.
    mutating func begin(_ found: [Warning], of task: SourceTask, stage: String) throws(Failure) {
        (damage, report.warnings) = (nil, [])
        try add(found, of: task, stage: stage)
    }

    /// Adds the warnings that the policy lets through.
    /// - Throws: `Failure` with the first one that costs the source.
    mutating func add(_ found: [Warning], of task: SourceTask, stage: String) throws(Failure) {
        damage = damage ?? found.first(where: \.isOfDamage)
        add(try task.settings.policy.judged(found, stage: stage))
    }

    mutating func add(_ warnings: [Warning]) {
        if warnings.isEmpty { return }
        var known = Set(report.warnings)
        for warning in warnings where known.insert(warning).inserted { report.warnings.append(warning) }
    }
}

extension WorkerLoss {
    /// It was about memory or threads, which a worker may have more of if nothing else is worked on.
    var mayEndOtherwiseAlone: Bool {
        switch self {
        case .killed, .starved, .outgrown: true
        case .died, .timedOut, .silenced, .stopped, .cancelled, .confused: false
        }
    }

    /// The failure of the source that was under way.
    /// - Parameters:
    ///   - attempt: its number, from 1.
    ///   - predicted: the bytes that it needs at most; 0 if that is not known yet.
    ///   - memory: the bytes that the machine has.
    func failure(attempt: Int, predicted: Int, memory: Int = Machine.memory) throws(Cancelled) -> Failure {
        switch self {
        case .cancelled: throw Cancelled()
        case .timedOut(let overrun): return Failure(.timedOut, stage: "render", "the work on it \(overrun)")
        case .silenced:
            return Failure(.timedOut, stage: "render", "a file system that the work on it needs does not answer")
        case .stopped:
            let message = "its worker process was stopped by a signal (SIGSTOP) again and again; find out by whom"
            return Failure(.workerCrashed, stage: "render", message)
        case .killed where predicted > memory:
            let message =
                "the system killed the worker process; rendering needs up to \(predicted >> 20) MiB, and there are \(memory >> 20) MiB at all"
            return Failure(.tooMuchMemory, stage: "render", message)
        case .killed:
            let message =
                "the system killed the worker process, most likely because memory ran out; give the machine or the service more memory, or "
                + "lower max-pixels"
            return Failure(.outOfMemory, stage: "render", message)
        case .starved: return Failure(.workerCrashed, stage: "render", "its worker process could not start a thread")
        case .outgrown(let bytes):
            let message =
                "its worker took more than \(bytes >> 20) MiB of memory, far more than a picture of the size in its header needs, and was stopped"
            return Failure(.tooMuchMemory, stage: "decode", message)
        case .confused(let what):
            return Failure(.workerCrashed, stage: "render", "the worker answered nonsense: \(what)")
        case .died(let how, let words):
            let times = attempt == 1 ? "once" : "\(attempt) times"
            return Failure(
                .workerCrashed, stage: "render", "the worker process \(how), \(times) in a row",
                detail: words.isEmpty ? nil : words)
        }
    }
}

/// Milliseconds from one lap to the next.
struct Stopwatch {
    private var last = SuspendingClock.now

    mutating func lap() -> Int {
        let now = SuspendingClock.now
        defer { last = now }
        return milliseconds(in: now - last)
    }
}
