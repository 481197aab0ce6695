// One inbox at work: its configuration, the jobs under way, and its pause.
import Glibc
import Messages
import Pipeline
import Synchronization
import System

/// An inbox of the drop folder. For any thread; its lock is never held for longer than a look into memory.
final class InboxController: Sendable {
    /// Its name in the mill file, which tells inboxes apart.
    let name: String
    let shared: SharedParts

    struct State {
        var inbox: LoadedMill.Inbox
        var route: Route
        var watcher: InboxWatcher?
        var spool: Spool?
        /// Keeps other drop folders from this inbox, whatever their state folders are.
        var lock: InboxLocks.Lock?
        var answers = AnswerState()
        /// When the watcher was last known to wait for the file system of the inbox.
        var lastSilence: Moment?
        /// The outbox was a mount when it was last written to.
        var outboxWasMount = false
        /// Its folders were made, or tried to be, since it was added.
        var hasBegun = false
        var pause = PauseState()
        /// Since when a person has paused it, in milliseconds since 1970; nil if nobody has.
        var requestedPause: Int?
        /// The troubles with tidying up, as they were logged.
        var troubles: [Tidying: String] = [:]
        /// Updates that the store could not take.
        var deferred: [JobUpdate] = []
        /// Originals that stay in the inbox and need nothing more.
        var kept: [BytePath: KeptOriginal] = [:]
        /// When each source was offered that is not in the spool yet, in the store's time.
        var offered: [BytePath: Int] = [:]
        /// Sources that are complete and not taken while it is paused.
        var held: [BytePath: HeldOffer] = [:]
        /// The jobs that are in the spool.
        var inSpool: [JobID: SpooledJob] = [:]
        /// Why some of them wait for another attempt.
        var postponed: [JobID: DropFolderStatus.Postponed] = [:]
        /// Taken out of the configuration; what was begun is finished.
        var isLeaving = false

        /// Nothing keeps it from taking sources.
        var isOpen: Bool { pause.pause == nil && requestedPause == nil }
    }

    /// A source that is offered again and again until it is taken. In the store's time.
    struct HeldOffer {
        let first: Int
        var last: Int
        /// Milliseconds after which it is no longer in the inbox if it was not offered again.
        static let longest = 10_000
    }

    /// The regular work in the folders of originals.
    enum Tidying: Hashable {
        case pruning(Shelf)
        case removingNotes
    }

    /// A job that is in the spool.
    struct SpooledJob {
        /// The spool folders that hold its source. A reload may have changed the path of the inbox since.
        let folders: SpoolFolders
        /// How often the source could not be moved, though everything can be written to.
        var obstacles = 0
        /// An earlier start had it, and may have added its line to the journal.
        var isOfEarlierStart = false
        /// Its line is in the journal.
        var isInJournal = false

        init(in folders: SpoolFolders) { self.folders = folders }
    }

    let state: Mutex<State>
    /// Held by whoever makes its folders or finds out whether it can go on, which can wait for a file system that
    /// hangs.
    let maintenance = Mutex(())
    /// Held by whoever removes what is old.
    let records = Mutex(Records())

    struct Records {
        /// When to look at the shelves again.
        var nextPruning = Moment.now
        /// Folders in the outbox in which nothing of an earlier start is left.
        var swept: Set<BytePath> = []
    }

    /// The parts that the controllers of one drop folder share, and do not change.
    struct SharedParts: Sendable {
        let store: any Ledger
        let dispatcher: Dispatcher
        let owner: String
        let ids: JobNames
        let journal: Journal
        let state: StateFolder
        let lost: LostRecords
        let hooks: HookRunner
        /// Begins the names of all staged files of this state folder, so that the next start knows those that a crash
        /// has left.
        let prefix: String
        let locks: InboxLocks
        let newToken: @Sendable () -> String
        /// Finds out where its folders are, if that is not known.
        /// - Returns: false if a reload has given it other folders meanwhile.
        let place: @Sendable (InboxController) throws -> Bool
        let isDraining: @Sendable () -> Bool
        let tell: @Sendable (DropFolderEvent, InboxController) -> Void
        let workerLost: @Sendable () -> Void
    }

    init(_ inbox: LoadedMill.Inbox, through route: Route, sharing shared: SharedParts) {
        name = inbox.settings.name
        self.shared = shared
        state = Mutex(State(inbox: inbox, route: route))
    }

    var inbox: LoadedMill.Inbox { state.withLock { $0.inbox } }
    var path: BytePath { inbox.path }
    var spool: Spool? { state.withLock { $0.spool } }
    var currentPause: Pause? {
        state.withLock { $0.pause.pause ?? ($0.requestedPause == nil ? nil : .byRequest) }
    }

    /// The spool, which knows where the job's source is.
    /// - Throws: what keeps it from being found out: the inbox is to pause then.
    func spool(of job: Job) throws(SystemError) -> Spool {
        let (spool, spooled, inbox) = state.withLock { ($0.spool, $0.inSpool[job.id], $0.inbox) }
        guard let spool else {
            throw SystemError("find '\(job.path.printable)': the inbox has no folders", code: ENOENT)
        }
        if let spooled {
            spool.note(job.id, isIn: spooled.folders)
            return spool
        }
        // Another inbox had it until this one was given its path.
        let former: [BytePath]
        do throws(StoreError) {
            former = try shared.store.formerPaths(inbox: name)
        } catch {
            throw SystemError("find out where '\(job.path.printable)' is: \(error)", code: EIO)
        }
        _ = try spool.place(of: job, inbox: inbox.path, former: former.map { inbox.spool.moved(to: $0) })
        state.withLock { $0.inSpool[job.id] = SpooledJob(in: spool.folders(of: job.id)) }
        return spool
    }

    func tell(_ event: DropFolderEvent) { shared.tell(event, self) }

    // MARK: - Offers

    /// Adds what intake considers complete to the queue. On the watcher's thread.
    func offer(_ offers: [Offer]) {
        let now = shared.store.now
        let (originals, canTake) = state.withLock { state in
            let canTake = !state.isLeaving && state.spool != nil && state.isOpen
            if canTake {
                for offer in offers {
                    let first = state.held.removeValue(forKey: offer.path)?.first
                    if state.offered[offer.path] == nil { state.offered[offer.path] = first ?? now }
                }
            } else {
                for offer in offers { state.held[offer.path, default: HeldOffer(first: now, last: now)].last = now }
            }
            return (state.inbox.settings.originals, canTake)
        }
        // Offered again by itself when the inbox goes on.
        guard canTake, !shared.isDraining() else { return answer(offers, .later(.seconds(2))) }
        let jobs = offers.map {
            NewJob(
                id: shared.ids.next(), inbox: name, path: $0.path, isSet: $0.isSet, observed: $0.status.version,
                originals: originals)
        }
        do {
            let outcomes = try shared.store.offer(jobs)
            try FaultPoint.pass(.afterClaimRecord)
            // Another one of the same path is under way; this one is to be the last.
            answer(zip(offers, outcomes).filter { $0.1 == .busy }.map(\.0), .later(.milliseconds(200)))
            shared.dispatcher.added(outcomes.count { $0 == .added }, to: name)
        } catch {
            pause(Pause((error as? StoreError)?.pauseReason ?? .ioError, "\(error)"))
            answer(offers, .later(.seconds(2)))
        }
    }

    private func answer(_ offers: [Offer], _ answer: OfferAnswer) {
        guard !offers.isEmpty else { return }
        let watcher = state.withLock { state in
            for offer in offers { state.offered[offer.path] = nil }
            return state.watcher
        }
        for offer in offers { watcher?.answer(path: offer.path, observed: offer.status.version, answer) }
    }

    func answer(_ job: Job, _ answer: OfferAnswer) {
        let watcher = state.withLock { state in
            state.offered[job.path] = nil
            return state.watcher
        }
        watcher?.answer(path: job.path, observed: job.observed, answer)
    }

    /// A file that stays in the inbox was processed, and neither it nor the pipeline has changed since.
    func isDone(_ path: BytePath, _ observed: FileVersion) -> Bool {
        state.withLock { state in
            guard state.inbox.settings.originals == .keep else { return false }
            return state.kept[path]?.covers(observed, recipe: state.route.recipe) ?? false
        }
    }

    /// Remembers a file that stays in the inbox, before its job ends: an offer that comes later must find it under way
    /// or done.
    func remember(_ job: Job, code: FailureCode?) {
        guard job.keepsOriginal else { return }
        state.withLock { $0.kept[job.path] = KeptOriginal(observed: job.observed, recipe: job.recipe, code: code) }
    }

    // MARK: - Status

    /// - Parameter counts: what the store counts of its jobs.
    func status(_ counts: JobCounts) -> DropFolderStatus.Inbox {
        let now = shared.store.now
        return state.withLock { state in
            let watching = state.watcher?.status ?? InboxStatus()
            state.held = state.held.filter { now - $0.value.last < HeldOffer.longest }
            let held = watching.counts.ready == 0 ? nil : state.held.values.map(\.first).min()
            let known = [state.offered.values.min(), held].compactMap { $0 }.map { max(0, now - $0) }
            let trouble = watching.pause ?? state.pause.pause
            let troubledSince = watching.pause == nil ? state.pause.since : watching.pausedSince
            return DropFolderStatus.Inbox(
                name: name, path: state.inbox.path, outbox: state.inbox.outbox,
                pipeline: state.inbox.pipeline.file.name, watching: watching,
                folders: state.spool.map { ($0.path(.work), $0.path(.done), $0.path(.failed)) },
                pause: trouble ?? (state.requestedPause == nil ? nil : .byRequest),
                pausedSince: trouble == nil ? state.requestedPause ?? 0 : troubledSince,
                requestedPause: state.requestedPause,
                isLeaving: state.isLeaving, begun: counts.begun, waiting: counts.waiting,
                postponed: state.postponed.values.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) },
                done: counts.done, failed: counts.failed, age: (known + [counts.age].compactMap { $0 }).max())
        }
    }
}
