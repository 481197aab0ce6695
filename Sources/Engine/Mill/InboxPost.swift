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
        var pause: InboxPause?
        /// Milliseconds since 1970.
        var pausedSince = 0
        /// Sources that are under way or wait for another attempt, by their paths: two of one path come one after the other.
        var busy: Set<BytePath> = []
        /// When each job was claimed that has not ended, in milliseconds since 1970.
        var open: [JobID: Int] = [:]
        /// Jobs that wait, and until when.
        var waiting: [(job: MillJob, until: Moment)] = []
        var done = 0
        var failed = 0
        /// Taken out of the configuration; what was begun is finished.
        var isLeaving = false
    }

    let state: Mutex<State>

    init(_ route: MillRoute) {
        path = route.inbox.path
        key = route.inbox.path.percentEncoded
        state = Mutex(State(route: route))
    }

    var route: MillRoute { state.withLock { $0.route } }
    var name: String { route.inbox.settings.name }
    var place: WorkPlace? { state.withLock { $0.place } }
    var pause: InboxPause? { state.withLock { $0.pause } }

    /// Where failed sources stand.
    func failedFolder(_ place: WorkPlace) -> FailedFolder { FailedFolder(folder: place.path(.failed), inbox: path) }

    /// Marks a path as under way.
    /// - Returns: false where it is already.
    func begin(_ relative: BytePath) -> Bool { state.withLock { $0.busy.insert(relative).inserted } }

    func end(_ relative: BytePath) { state.withLock { _ = $0.busy.remove(relative) } }

    /// The job is over, one way or the other.
    func end(_ job: MillJob, done: Int = 0, failed: Int = 0) {
        state.withLock { state in
            state.busy.remove(job.relative)
            state.open[job.id] = nil
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

    /// - Returns: whether it is a new pause, worth a line.
    func rest(_ pause: InboxPause, since time: Int) -> Bool {
        state.withLock { state in
            defer { state.pause = pause }
            if state.pause == nil { state.pausedSince = time }
            return state.pause?.reason != pause.reason
        }
    }

    func resume() { state.withLock { $0.pause = nil } }
}
