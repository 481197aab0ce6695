// One inbox at work: where things go now, what is under way, and why it rests.
package import Pipeline
import Synchronization

/// What is made of an inbox' sources, and where it goes. A reload puts another one in its place; jobs keep the one that they began with.
struct MillRoute: Sendable {
    let inbox: LoadedMill.Inbox
    let render: RenderSettings
    let reports: ReportFiles
    /// What is done to an original that stays; with another recipe it is done again.
    let recipe: String

    init(_ inbox: LoadedMill.Inbox, limits: Limits, memory: MemoryBudget, cancellation: Cancellation) {
        self.inbox = inbox
        var render = RenderSettings(
            pipeline: inbox.pipeline, limits: limits, outbox: inbox.outbox, keepsTree: inbox.settings.keepsTree, memory: memory,
            cancellation: cancellation)
        render.isDurable = true
        self.render = render
        reports = ReportFiles(outbox: inbox.outbox, besideRenditions: inbox.settings.reports == .beside)
        let setup = RunSetup(inbox.pipeline, keepsTree: inbox.settings.keepsTree, policy: inbox.settings.collision)
        recipe = Digest.of(json(setup))
    }

    var watchSettings: WatchSettings { inbox.watchSettings(takesSets: inbox.pipeline.file.source == .set) }
}

/// One inbox. For any thread; the lock is never held for longer than a look into memory.
final class InboxPost: Sendable {
    /// The inbox' absolute path, which tells inboxes apart in the ledger.
    let path: BytePath
    /// The same as text, for the queue.
    let key: String

    struct State {
        var route: MillRoute
        var watcher: InboxWatcher?
        var place: WorkPlace?
        /// Holds the place against other processes.
        var lock: OpenFile?
        /// The outbox was a mount when it was last written to.
        var outboxWasMount = false
        var pause: InboxPause?
        /// Milliseconds since 1970.
        var pausedSince = 0
        /// How often in a row it had to pause again soon after it had gone on.
        var relapses = 0
        var resumed: Moment?
        /// It does not go on before this time.
        var restsUntil = Moment.now
        /// The log has heard of the pause.
        var isTold = false
        /// Sources that are under way or wait for another attempt, by their paths: two of one path come one after the other.
        var busy: Set<BytePath> = []
        /// When each job began that has not ended, in milliseconds since 1970; from before the ledger knows it.
        var open: [JobID: Int] = [:]
        /// Jobs that wait, and until when.
        var waiting: [(job: MillJob, until: Moment)] = []
        var done = 0
        var failed = 0
        /// Taken out of the configuration; what was begun is finished.
        var isLeaving = false
    }

    let state: Mutex<State>
    /// Held by who settles it or looks whether it can go on, which can wait for a file system that hangs.
    let upkeep = Mutex(())

    init(_ route: MillRoute) {
        path = route.inbox.path
        key = route.inbox.path.percentEncoded
        state = Mutex(State(route: route))
    }

    var route: MillRoute { state.withLock { $0.route } }
    var name: String { route.inbox.settings.name }
    var place: WorkPlace? { state.withLock { $0.place } }
    var pause: InboxPause? { state.withLock { $0.pause } }

    /// Why nothing can be written to the outbox now; nil where it can.
    var outboxPause: InboxPause? {
        let inbox = route.inbox
        if let pause = inbox.outboxPause { return pause }
        let isMount = Directory.isMountPoint(inbox.outbox)
        return state.withLock { state in
            if state.outboxWasMount && !isMount { return InboxPause(unmounted: inbox.outbox, .missingOutbox) }
            state.outboxWasMount = isMount
            return nil
        }
    }

    /// It rests, has no folders yet, or is about to leave.
    var needsCare: Bool { state.withLock { $0.pause != nil || $0.place == nil || $0.isLeaving } }

    /// Where failed sources stand.
    func failedFolder(_ place: WorkPlace) -> FailedFolder { FailedFolder(folder: place.path(.failed), inbox: path) }

    enum Beginning {
        case begun(WorkPlace)
        /// Another of the path is under way.
        case busy
        /// It is paused, has no place yet, or leaves.
        case resting
    }

    /// Marks a job as under way. Nothing begins while there is no place, so that what a recovery finds is not in anybody's hands but those that
    /// are marked.
    func begin(_ relative: BytePath, as id: JobID) -> Beginning {
        state.withLock { state in
            guard state.pause == nil, !state.isLeaving, let place = state.place else { return .resting }
            guard state.busy.insert(relative).inserted else { return .busy }
            state.open[id] = wallClock()
            return .begun(place)
        }
    }

    func isOpen(_ id: JobID) -> Bool { state.withLock { $0.open[id] != nil } }

    func end(_ relative: BytePath, _ id: JobID) {
        state.withLock { state in
            state.busy.remove(relative)
            state.open[id] = nil
        }
    }

    /// The job is over, one way or the other.
    func end(_ job: MillJob, done: Int = 0, failed: Int = 0) {
        end(job.relative, job.id)
        state.withLock { state in
            state.done += done
            state.failed += failed
        }
    }

    /// Tells the inbox what became of what it offered.
    func answer(_ source: ReadySource, _ answer: ClaimAnswer) { state.withLock { $0.watcher }?.answer(source, answer) }

    func wait(_ job: MillJob, until time: Moment) { state.withLock { $0.waiting.append((job, time)) } }

    /// Takes out what has waited long enough; nothing while the inbox is paused.
    func takeDue(at now: Moment) -> [MillJob] {
        state.withLock { state in
            guard state.pause == nil else { return [] }
            let due = state.waiting.filter { $0.until <= now }.map(\.job)
            state.waiting.removeAll { $0.until <= now }
            return due
        }
    }

    /// An inbox that pauses again so soon after it went on has not got over it.
    private static let recovery = Duration.seconds(30)

    /// - Returns: whether it is a new pause, worth a line. Of one that comes again and again, fewer and fewer are.
    func rest(_ pause: InboxPause, since time: Int, at now: Moment = .now) -> Bool {
        state.withLock { state in
            defer { state.pause = pause }
            if let known = state.pause {
                if known.reason != pause.reason { state.isTold = true }
                return known.reason != pause.reason
            }
            state.pausedSince = time
            state.relapses = state.resumed.map { now < $0 + Self.recovery } ?? false ? state.relapses + 1 : 0
            state.restsUntil = now + (state.relapses == 0 ? .zero : min(.seconds(1 << min(state.relapses, 8)), .seconds(6)))
            state.isTold = state.relapses & (state.relapses - 1) == 0
            return state.isTold
        }
    }

    /// - Returns: whether it is worth a line.
    func resume(at now: Moment = .now) -> Bool {
        state.withLock { state in
            state.pause = nil
            state.resumed = now
            return state.isTold
        }
    }
}
