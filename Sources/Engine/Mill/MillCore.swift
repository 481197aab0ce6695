// What lanes, inboxes and the keeper of a drop folder share.
import Glibc
package import Pipeline
import Synchronization

/// For any thread.
final class MillCore: Sendable {
    let queue = WorkQueue()
    let names = JobNames()
    let ledger: any JobLedger
    private let journal: Journal
    private let observer: any MillObserver
    let workers: WorkerStarter
    let cancellation = Cancellation()
    let memory: MemoryBudget
    let laneCount: Int
    /// Begins the names of all staged files of this state folder, so that the next start knows those that a crash has left.
    let statePrefix: String
    /// Begins those of this process.
    let ownPrefix: String

    struct State {
        var posts: [String: InboxPost] = [:]
        /// The paths of all inboxes of the mill file.
        var inboxes: Set<BytePath> = []
        var isDraining = false
        var lanes: [Int: RunningJob] = [:]
        var lostWorkers = 0
        var failures: [MillStatus.RecentFailure] = []
        var tokens = 0
    }

    let state = Mutex(State())
    private static let recentFailures = 20

    init(_ loaded: LoadedMill, _ ledger: any JobLedger, workers: WorkerStarter, observer: any MillObserver) throws {
        self.ledger = ledger
        journal = try Journal(path: loaded.state.appending(BytePath("journal.jsonl")))
        self.observer = observer
        self.workers = workers
        memory = MemoryBudget(bytes: loaded.limits.maximumMemory)
        laneCount =
            switch loaded.file.workers {
            case .auto: Machine.cores
            case .count(let count): count
            }
        statePrefix = "watch-\(Digest.of(loaded.state.percentEncoded).prefix(12))-"
        ownPrefix = "\(statePrefix)\(String(UInt64.random(in: .min ... .max), radix: 36))-"
    }

    var endings: MillEndings { MillEndings(self) }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    func post(_ key: String) -> InboxPost? { state.withLock { $0.posts[key] } }

    /// An inbox that is there, and stays even if it was about to leave.
    func postThatStays(_ key: String) -> InboxPost? {
        state.withLock { state in
            state.posts[key]?.state.withLock { $0.isLeaving = false }
            return state.posts[key]
        }
    }

    /// Lets go of an inbox that leaves, once all that it has begun is over.
    func removeIfOver(_ post: InboxPost) {
        state.withLock { state in
            guard post.state.withLock({ $0.isLeaving && $0.open.isEmpty }), state.posts[post.key] === post else { return }
            state.posts[post.key] = nil
            queue.removeInbox(post.key)
        }
    }

    var posts: [InboxPost] { state.withLock { $0.posts.values.sorted { $0.path.precedes($1.path) } } }

    func newToken() -> String {
        let number = state.withLock { state in
            state.tokens += 1
            return state.tokens
        }
        return "\(ownPrefix)\(number)"
    }

    // MARK: - What lanes do

    /// Records that attempts begin.
    /// - Returns: their numbers; nil where it cannot be recorded, and the jobs wait.
    func begin(_ jobs: [MillJob]) -> [JobID: Int]? {
        guard !jobs.isEmpty else { return nil }
        do {
            let numbers = try ledger.begin(jobs.map(\.id))
            try FaultPoint.pass(.afterAttemptRecord)
            return numbers
        } catch let error as LedgerError where error.kind == .outOfStep {
            return beginEach(jobs)
        } catch {
            for job in jobs { endings.rest(job, InboxPause((error as? LedgerError)?.pauseReason ?? .ioError, "\(error)")) }
            return nil
        }
    }

    /// Finds the job that the ledger has no row for, or another one than it should: that is left to the next start, which takes up what it finds.
    private func beginEach(_ jobs: [MillJob]) -> [JobID: Int]? {
        var numbers: [JobID: Int] = [:]
        for job in jobs {
            do throws(LedgerError) {
                numbers.merge(try ledger.begin([job.id])) { first, _ in first }
            } catch {
                guard error.kind == .outOfStep else {
                    endings.rest(job, InboxPause(error.pauseReason, error.description))
                    continue
                }
                job.post.end(job)
                tell(.trouble("'\(job.relative.printable)' stays in work/ until the next start: \(error)"), job.post)
            }
        }
        return numbers.isEmpty ? nil : numbers
    }

    /// Stopped through no fault of the source; the next start goes on with it.
    func giveBack(_ job: MillJob) { try? ledger.giveBack([job.id]) }

    /// Nothing is taken from the inbox until the reason is gone.
    func rest(_ post: InboxPost, _ pause: InboxPause) {
        queue.pause(post.key)
        if post.rest(pause, since: wallClock()) { tell(.paused(pause), post) }
    }

    func resume(_ post: InboxPost) {
        let isWorthALine = post.resume()
        queue.resume(post.key)
        if isWorthALine { tell(.resumed, post) }
    }

    // MARK: - What others hear

    func tell(_ event: MillEvent, _ post: InboxPost) {
        if case .failed(_, let path, let failure, let attempts) = event { note(failure, path, attempts, post) }
        observer.happened(event, inbox: post.name)
    }

    private func note(_ failure: Failure, _ path: BytePath, _ attempts: Int, _ post: InboxPost) {
        let entry = MillStatus.RecentFailure(inbox: post.path, path: path, failure: failure, attempts: attempts, time: timestamp())
        state.withLock { $0.failures = Array(([entry] + $0.failures).prefix(Self.recentFailures)) }
    }

    /// Adds a line to the journal. It is no promise: where it cannot be written, the work goes on.
    func log(_ report: SourceReport) { try? journal.add(report) }

    /// What a lane is at, for the status.
    func note(lane: Int, _ active: ActiveJob?, stage: String = "") {
        state.withLock { state in
            state.lanes[lane] = active.map {
                RunningJob(job: $0.job.id, inbox: $0.job.post.path, path: $0.job.relative, stage: stage, attempt: $0.attempt, since: .now)
            }
        }
    }

    func noteLoss() { state.withLock { $0.lostWorkers += 1 } }
}

/// What a lane is at.
package struct RunningJob: Sendable {
    package let job: JobID
    package let inbox: BytePath
    package let path: BytePath
    package let stage: String
    package let attempt: Int
    package let since: Moment
}

extension LoadedMill {
    /// How much one source may cost, and all workers together.
    package var limits: Limits { file.limits(memory: Machine.memory / 2) }
}
