// A worker in the hands of one thread: borrowed when there is a question, made ready for it, and given back.
import Messages
package import Pipeline
package import System

/// Borrows one worker at a time. Everything in here waits, so it belongs to one thread.
package final class WorkerLoan {
    private let workers: WorkerPool
    private let cancellation: Cancellation
    private var borrowed: WorkerSlot?
    private var lastBorrowed: ObjectIdentifier?
    /// The next that is borrowed gets a new process.
    private var wantsNew = false
    /// Whether a file system that the current source needs does not answer. Then the wait for the worker ends.
    var isSilent: () -> Bool = { false } {
        didSet { borrowed?.isSilent = isSilent }
    }

    package init(_ workers: WorkerPool, cancellation: Cancellation) {
        self.workers = workers
        self.cancellation = cancellation
    }

    deinit { giveBack() }

    /// The worker that was prepared.
    var slot: WorkerSlot { borrowed ?? slot(WorkerKind()) }

    /// A worker for work of a kind.
    private func slot(_ kind: WorkerKind) -> WorkerSlot {
        if let borrowed, borrowed.kind.isOfFamily(kind) || borrowed.hasNoProcess { return borrowed }
        giveBack()
        let slot = workers.lend(kind, cancellation, last: lastBorrowed)
        if wantsNew { slot.replaceWorker() }
        wantsNew = false
        slot.isSilent = isSilent
        borrowed = slot
        lastBorrowed = ObjectIdentifier(slot)
        return slot
    }

    /// Leaves the worker to others until there is a question again.
    package func giveBack() {
        if let borrowed {
            borrowed.isSilent = { false }
            workers.takeBack(borrowed)
        }
        borrowed = nil
    }

    /// The worker that gave the last answer has met no other source before: what it says of a source is not another
    /// one's doing.
    var isFresh: Bool { borrowed?.isFresh ?? true }

    /// Has the next source done by a new worker.
    func replace() { if let borrowed { borrowed.replaceWorker() } else { wantsNew = true } }

    /// A new worker will be wanted again soon.
    func keepSpare() { workers.keepSpare() }

    /// Sees to it that a worker knows the pipeline, and that the formats on request can be read. No source is involved,
    /// so it is not a worker of one inbox alone.
    /// - Throws: `Diagnostics` if an asset cannot be decoded, `MillProblems` if a format cannot be read, `SystemError`
    ///   if no worker can be started.
    package func prepare(_ settings: RenderSettings) throws {
        for format in settings.limits.allowed.sorted(by: { $0.rawValue < $1.rawValue })
        where !workers.isReadable(format) {
            guard try canRead(format, by: settings.pipeline.workerKind(for: [format])) else {
                throw MillProblems(mistakes: [], refusals: [format.missingDecoder])
            }
            workers.noteReadable(format)
        }
        var shared = settings
        shared.isolatedInbox = nil
        try prepare(shared, for: settings.likelyFormats.filter { !$0.isOnRequest })
    }

    /// The same for several pipelines.
    package func prepare(_ all: [RenderSettings]) throws {
        // A worker with more modules does the work of one with fewer, so those that need most come first.
        let modules = { (settings: RenderSettings) in settings.pipeline.workerKind(for: []).modules.count }
        for settings in all.sorted(by: { modules($0) > modules($1) }) { try prepare(settings) }
    }

    /// Sees to it that a worker for sources of these formats knows the pipeline.
    func prepare(_ settings: RenderSettings, for formats: [SourceFormat]) throws {
        do {
            _ = try prepared(settings, formats)
        } catch let loss as WorkerLoss where loss != .cancelled {
            // The system may have killed it for what others needed.
            replace()
            do {
                _ = try prepared(settings, formats)
            } catch WorkerLoss.starved {
                throw SystemError.noThread
            }
        }
    }

    /// - Returns: the pipeline as a worker for sources of these formats knows it.
    func prepared(_ settings: RenderSettings, _ formats: [SourceFormat]) throws -> WorkerSlot.Known {
        let kind = settings.workerKind(for: formats)
        return try slot(kind).prepare(settings.pipeline, limits: settings.limits, kind: kind)
    }

    /// Has a worker try a tiny picture of a format.
    /// - Returns: whether this system can read the format.
    /// - Throws: `SystemError` if no worker can be started, `Failure`, `WorkerLoss`.
    package func canRead(_ format: SourceFormat) throws -> Bool {
        var kind = borrowed?.kind ?? WorkerKind()
        (kind.format, kind.modules) =
            format.isOnRequest ? (format, []) : (nil, Set([format.declaration.module].compactMap(\.self)))
        return try canRead(format, by: kind)
    }

    private func canRead(_ format: SourceFormat, by kind: WorkerKind) throws -> Bool {
        try slot(kind).canRead(format, kind)
    }
}
