// One source while it is worked on: what is known of it so far.
import Pipeline

/// The run was cancelled while a job was under way.
struct Cancelled: Error {}

/// Gives a source the names of its renditions, and remembers that they are its own.
protocol NameGiver {
    /// - Parameter candidates: the names of all renditions at a version, 1 and up.
    /// - Throws: `Failure`.
    func names(for source: SourceFile, _ candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName]) throws -> [RenditionName]
}

/// What is known of a source while it is worked on.
struct SourceWork {
    let source: SourceFile
    var report: SourceReport
    var opened: OpenedInput?
    /// The names, once they are given.
    var names: [RenditionName]?
    /// What the cache has of the source; nil where there is no cache.
    var cached: CachedJob?

    init(_ source: SourceFile, pipeline: PipelineFile) {
        self.source = source
        report = SourceReport(status: .failed, pipeline: pipeline.name, source: source.relative)
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

    mutating func add(_ warnings: [Warning]) {
        for warning in warnings where !report.warnings.contains(warning) { report.warnings.append(warning) }
    }
}

extension WorkerLoss {
    /// What it means for the source that was under way.
    /// - Parameter attempt: its number, from 1.
    func failure(attempt: Int) throws(Cancelled) -> Failure {
        switch self {
        case .cancelled: throw Cancelled()
        case .timedOut: return Failure(.timedOut, stage: "render", "rendering took longer than its deadline and was stopped")
        case .confused(let what): return Failure(.workerCrashed, stage: "render", "the worker answered nonsense: \(what)")
        case .died(let how, let words):
            let times = attempt == 1 ? "once" : "\(attempt) times"
            return Failure(.workerCrashed, stage: "render", "the worker process \(how), \(times) in a row", detail: words.isEmpty ? nil : words)
        }
    }
}

/// Milliseconds from one lap to the next.
struct Stopwatch {
    private var last = ContinuousClock.now

    mutating func lap() -> Int {
        let now = ContinuousClock.now
        defer { last = now }
        return milliseconds(in: now - last)
    }
}
