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
        var open: [JobID: OpenJob] = [:]
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
    struct OpenJob {
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

    /// What the controllers of one drop folder have in common, and do not change.
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
    private func spool(of job: Job) throws(SystemError) -> Spool {
        let (spool, open, inbox) = state.withLock { ($0.spool, $0.open[job.id], $0.inbox) }
        guard let spool else {
            throw SystemError("find '\(job.path.printable)': the inbox has no folders", code: ENOENT)
        }
        if let open {
            spool.note(job.id, isIn: open.folders)
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
        state.withLock { $0.open[job.id] = OpenJob(in: spool.folders(of: job.id)) }
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
                id: shared.ids.next(), inbox: name, path: $0.path, isSet: $0.isSet, observed: ObservedFile($0.status),
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
        for offer in offers { watcher?.answer(path: offer.path, observed: ObservedFile(offer.status), answer) }
    }

    func answer(_ job: Job, _ answer: OfferAnswer) {
        let watcher = state.withLock { state in
            state.offered[job.path] = nil
            return state.watcher
        }
        watcher?.answer(path: job.path, observed: job.observed, answer)
    }

    /// A file that stays in the inbox was processed, and neither it nor the pipeline has changed since.
    func isDone(_ path: BytePath, _ observed: ObservedFile) -> Bool {
        state.withLock { state in
            guard state.inbox.settings.originals == .keep else { return false }
            return state.kept[path]?.covers(observed, recipe: state.route.recipe) ?? false
        }
    }

    /// Remembers a file that stays in the inbox, before its job ends: an offer that comes later must not find it
    /// neither under way nor done.
    private func remember(_ job: Job, code: FailureCode?) {
        guard job.keepsOriginal else { return }
        state.withLock { $0.kept[job.path] = KeptOriginal(observed: job.observed, recipe: job.recipe, code: code) }
    }

    // MARK: - Pauses

    /// Why nothing can be written to the outbox now; nil if it can.
    var outboxPause: Pause? {
        let inbox = inbox
        if let pause = inbox.outboxPause { return pause }
        let isMount = Directory.isMountPoint(inbox.outbox)
        return state.withLock { state in
            if state.outboxWasMount && !isMount { return Pause(unmounted: inbox.outbox, .missingOutbox) }
            state.outboxWasMount = isMount
            return nil
        }
    }

    /// It is paused, has no folders yet, or is about to leave.
    var needsMaintenance: Bool {
        state.withLock { $0.pause.pause != nil || $0.spool == nil || $0.isLeaving || !$0.deferred.isEmpty }
    }

    func pause(_ pause: Pause) {
        shared.dispatcher.pause(name)
        // A lane that meets the pause of a person begins no other.
        guard pause.reason != .byRequest else { return }
        if state.withLock({ $0.pause.begin(pause, since: wallClock()) }) { tell(.paused(pause)) }
    }

    func resume() {
        let (isWorthALine, requested) = state.withLock { ($0.pause.end(), $0.requestedPause) }
        if requested == nil { shared.dispatcher.resume(name) }
        if isWorthALine { tell(requested.map { .staysPausedByRequest(since: $0) } ?? .resumed) }
    }

    /// Takes no more sources until a person ends that. Running jobs go on.
    /// - Parameter since: in milliseconds since 1970.
    func pauseByRequest(since: Int) {
        let isNew = state.withLock { state in
            defer { state.requestedPause = state.requestedPause ?? since }
            return state.requestedPause == nil
        }
        shared.dispatcher.pause(name)
        if isNew { tell(.pausedByRequest) }
    }

    /// Ends the pause of a person; trouble that is left ends by itself.
    /// - Returns: false if no person had paused it.
    func resumeByRequest() -> Bool {
        let (wasPaused, isOpen) = state.withLock { state in
            defer { state.requestedPause = nil }
            return (state.requestedPause != nil, state.pause.pause == nil && state.spool != nil)
        }
        guard wasPaused else { return false }
        if isOpen { shared.dispatcher.resume(name) }
        tell(.resumedByRequest)
        return true
    }

    /// Makes up for updates that the store could not take. Each job is free for the next lane then.
    func recordDeferred() throws(StoreError) {
        let updates = state.withLock { state in
            defer { state.deferred = [] }
            return state.deferred
        }
        var left = updates[...]
        while let update = left.first {
            do throws(StoreError) {
                // If the source was put away already, that shows when the job is taken again.
                if update.event != .settled { _ = try shared.store.update([update]) }
                _ = try shared.store.update([JobUpdate(update.lease, .interrupted)])
            } catch {
                state.withLock { $0.deferred += left }
                throw error
            }
            left = left.dropFirst()
        }
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
                isLeaving: state.isLeaving, open: counts.begun, waiting: counts.waiting,
                postponed: state.postponed.values.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) },
                done: counts.done, failed: counts.failed, age: (known + [counts.age].compactMap { $0 }).max())
        }
    }
}

// MARK: - JobSite

extension InboxController: JobSite {
    var route: Route { state.withLock { $0.route } }
    var isDraining: Bool { shared.isDraining() }

    func claim(_ job: Job) -> ClaimResult {
        if let pause = currentPause ?? outboxPause { return .obstructed(pause) }
        // It was offered while the end of an earlier job was being recorded.
        if isDone(job.path, job.observed) {
            answer(job, .taken)
            return .refused
        }
        let (spool, inbox, limits) = state.withLock { ($0.spool, $0.inbox, $0.route.render.limits) }
        guard let spool else { return .obstructed(Pause(.missingInbox, "the inbox has no folders yet")) }
        switch spool.claim(job, from: inbox.path, ignored: inbox.ignored, largest: limits.maximumSourceBytes) {
        case .claimed:
            state.withLock { $0.open[job.id] = OpenJob(in: spool.folders(of: job.id)) }
            // If the original stays in the inbox, the answer comes when the job is done.
            if !job.keepsOriginal { answer(job, .taken) }
            return .claimed
        case .gone: answer(job, .gone)
        case .changed: answer(job, .changed)
        case .blocked(let error): answer(job, .blocked(error))
        case .unreachable(let error):
            // The inbox came back on another file system: its folders are made anew.
            state.withLock { $0.spool = nil }
            answer(job, .blocked(error))
        // A bad sector under one source holds up no other.
        case .unavailable(let error) where error.code == EIO && surroundings(route) == nil: answer(job, .blocked(error))
        case .unavailable(let error):
            return .obstructed(shared.state.look() ?? Pause(error, missing: .missingInbox))
        }
        return .refused
    }

    func open(_ job: Job, _ route: Route) throws -> SourceFile {
        let spool: Spool
        do throws(SystemError) {
            spool = try self.spool(of: job)
        } catch {
            throw error.asSourceFailure
        }
        state.withLock { $0.postponed[job.id] = nil }
        return try spool.open(job, ignored: inbox.ignored, limits: route.render.limits)
    }

    func owner(of job: Job) -> BytePath { job.owner }

    func takingTurns(_ job: Job, _ claim: () throws -> Allocation) throws -> Allocation { try claim() }

    func surroundings(_ route: Route) -> Pause? {
        spool == nil
            ? Pause(.missingInbox, "the inbox has no folders yet") : trouble(outbox: route.render.outbox.path)
    }

    func wasSilent(since time: Moment) -> Bool {
        state.withLock { state in
            [state.answers.lastSilence, state.lastSilence].contains { $0.map { $0 > time } ?? false }
        }
    }

    /// Why one of its folders, or the state folder, cannot be written to or read now; nil if all can.
    func trouble(outbox: BytePath) -> Pause? {
        if let trouble = shared.state.look() { return trouble }
        if let error = WriteProbe.trouble(in: outbox) { return Pause(error, missing: .missingOutbox) }
        if let error = WriteProbe.trouble(in: shared.state.path) { return Pause(error, missing: .missingState) }
        // Obstacles to the folders of the spool show when they are made.
        guard let spool else { return nil }
        return Shelf.allCases.firstFound { shelf in
            WriteProbe.trouble(in: spool.path(shelf)).map { Pause($0, missing: .missingInbox) }
        }
    }

    func countObstacle(of job: Job) -> Int {
        state.withLock { state in
            state.open[job.id]?.obstacles += 1
            return state.open[job.id]?.obstacles ?? 1
        }
    }

    func settle(_ job: Job, isDamaged: Bool) throws(SystemError) -> [BytePath] {
        try expectHook(job)
        // Renditions of a damaged source may lack parts of it, so the original is kept.
        let folders = try spool(of: job).settle(job, mayDelete: !isDamaged)
        remember(job, code: nil)
        return folders
    }

    /// Called before the job ends, so that its hook runs even if the program is killed right after.
    private func expectHook(_ job: Job) throws(SystemError) {
        do throws(StoreError) {
            try shared.hooks.expectEnd(of: job.id, inbox: name)
        } catch {
            throw SystemError(
                "record the event for hooks: \(error)", code: error.pauseReason == .noSpace ? ENOSPC : EIO)
        }
    }

    func deadLetter(_ job: Job, _ failure: Failure) throws(SystemError) {
        try expectHook(job)
        let spool = try spool(of: job)
        let (path, pipeline) = (path, inbox.pipeline.absolutePath)
        _ = try spool.deadLetter(job, token: shared.newToken()) { quarantined in
            FailureNote(
                source: job.path, job: job.id.text, inbox: path, quarantined: quarantined, pipeline: pipeline,
                failure: failure, attempts: max(1, job.progress.attempts))
        }
        remember(job, code: failure.code)
    }

    func putBack(_ job: Job) throws(SystemError) {
        _ = try spool(of: job).putBack(job, to: path)
    }

    func `defer`(_ updates: [JobUpdate]) { state.withLock { $0.deferred += updates } }

    func workerLost() { shared.workerLost() }

    func ends(_ job: Job, _ report: SourceReport) {
        let open = state.withLock { $0.open[job.id] }
        guard open?.isInJournal != true else { return }
        // The journal is no promise: if it cannot be written, the work goes on.
        guard (try? shared.journal.add(report, unlessThere: open?.isOfEarlierStart ?? true)) != nil else { return }
        state.withLock { $0.open[job.id]?.isInJournal = true }
        try? FaultPoint.pass(.afterJournalLine)
    }

    func happened(_ news: JobNews, to job: Job, files: Fingerprint?, source: Fingerprint?) {
        switch news {
        case .done(let report):
            ended(job)
            shared.hooks.done(job.id, report: report, inbox: name)
            tell(.done(job.id, report))
        case .failed(let report, let failure, let attempts):
            ended(job)
            shared.hooks.failed(job.id, report: report, failure: failure, inbox: name)
            tell(.failed(job.id, job.path, failure, attempts: attempts))
        case .postponed(let failure, let attempt, let after):
            state.withLock { state in
                guard state.postponed.count < Self.mostPostponed || state.postponed[job.id] != nil else { return }
                state.postponed[job.id] = .init(
                    path: job.path, failure: failure, next: .now + .milliseconds(after))
            }
            tell(.postponed(job.id, job.path, failure, attempt: attempt, after: after))
        case .obstructed, .interrupted: break
        case .returned:
            forget(job.id)
            if job.keepsOriginal { answer(job, .changed) }
            tell(.putBack(job.path))
        case .leaseLost:
            forget(job.id)
            tell(.trouble("'\(job.path.printable)' is worked on by somebody else by now"))
        case .outOfStep:
            forget(job.id)
            tell(.trouble("'\(job.path.printable)' is left as it is: a mistake in Imagemill, please report it"))
        }
    }

    /// Sources that wait and are named in the status.
    private static let mostPostponed = 100

    private func ended(_ job: Job) {
        forget(job.id)
        if job.keepsOriginal { answer(job, .taken) }
    }

    private func forget(_ job: JobID) {
        state.withLock { state in
            state.open[job] = nil
            state.postponed[job] = nil
        }
    }
}
