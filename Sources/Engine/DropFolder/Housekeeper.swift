// Looks after the inboxes: makes their folders, ends pauses when the reason is gone, extends leases, and removes old
// records.
import CLinux
import Glibc
import Pipeline
import Synchronization
import System

/// The housekeeper of a drop folder, with a thread of its own. An inbox that needs something gets it on another thread,
/// so that a file system that hangs keeps no other inbox waiting.
final class Housekeeper: Sendable {
    private let controllers: @Sendable () -> [InboxController]
    private let removeIfIdle: @Sendable (InboxController) -> Void
    private let endIdleWorkers: @Sendable () -> Void
    private let endRestlessWorkers: @Sendable () -> Void
    private let store: any Ledger
    private let folder: StateFolder
    private let dispatcher: Dispatcher
    private let lanes: LaneStatus
    /// Hears, in a sentence, what concerns all inboxes.
    private let note: @Sendable (String) -> Void
    private let state = Monitor(State())

    private struct State {
        var isStopping = false
        var hasEnded = false
        var lastTurn = Moment.now
    }

    private static let turn = Duration.milliseconds(250)
    private static let rounds = Duration.seconds(2)
    private static let records = Duration.seconds(60)
    private static let betweenPruning = Duration.seconds(300)
    /// Ended jobs that are kept.
    private static let keptJobs = 100_000
    /// Bytes that the allocator may keep of what was freed.
    private static let keptMemory = 1 << 20
    /// Names and originals that are looked at in one round.
    private static let checkedAtOnce = 2_000

    init(
        store: any Ledger, state folder: StateFolder, dispatcher: Dispatcher, lanes: LaneStatus,
        note: @escaping @Sendable (String) -> Void,
        controllers: @escaping @Sendable () -> [InboxController],
        removeIfIdle: @escaping @Sendable (InboxController) -> Void, endIdleWorkers: @escaping @Sendable () -> Void,
        endRestlessWorkers: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.folder = folder
        self.dispatcher = dispatcher
        self.lanes = lanes
        self.note = note
        self.controllers = controllers
        self.removeIfIdle = removeIfIdle
        self.endIdleWorkers = endIdleWorkers
        self.endRestlessWorkers = endRestlessWorkers
    }

    var lastTurn: Moment { state.change { $0.lastTurn } }

    func start() {
        runOnNewThread { [self] in keepHouse() }
        runOnNewThread { [self] in keepLeases() }
        runOnNewThread { [self] in keepRecords() }
    }

    /// Waits until the thread has ended.
    func stop() {
        state.change { $0.isStopping = true }
        state.wait { $0.hasEnded ? () : nil }
    }

    private func keepHouse() {
        var nextRound = Moment.now
        while !state.change({ $0.isStopping }) {
            dispatcher.startLanes()
            endIdleWorkers()
            if .now >= nextRound {
                endRestlessWorkers()
                let waits = dispatcher.fileWaits
                folder.lookInBackground { [note, controllers] trouble in
                    note(trouble?.message ?? "the state folder is back")
                    if let trouble { for controller in controllers() { controller.pause(trouble) } }
                }
                for controller in controllers() {
                    // Also those that were added since.
                    if let pause = folder.pause { controller.pause(pause) }
                    controller.probe(waiting: waits[controller.name])
                    if let pause = controller.silence(waiting: waits[controller.name]) { controller.pause(pause) }
                    if controller.needsMaintenance { maintain(controller) }
                }
                nextRound = .now + Self.rounds
            }
            state.change { $0.lastTurn = .now }
            usleep(useconds_t(Self.turn.inNanoseconds / 1000))
        }
        state.change { $0.hasEnded = true }
    }

    // MARK: - Records

    /// On a thread of its own: nothing that hangs may let leases run out.
    private func keepLeases() {
        while pauseBetweenTurns() { _ = try? store.extend(lanes.leases, by: Dispatcher.lease) }
    }

    /// - Returns: false if the housekeeper stops.
    private func pauseBetweenTurns() -> Bool {
        let end = Moment.now + Self.records
        return state.look { $0.isStopping ? .ready(false) : .now >= end ? .ready(true) : .wait(until: end) }
    }

    /// On a thread of its own, which waits for the ledger only.
    private func keepRecords() {
        var place: OwnedName?
        var clocks = ClockWatch()
        while pauseBetweenTurns() {
            if let jump = clocks.jump() { note(ClockWatch.sentence(jump)) }
            try? store.recordTime()
            let end = Moment.now + Self.records
            // In small transactions: lanes wait for the store meanwhile.
            while let removed = try? store.prune(keeping: Self.keptJobs), removed > 0, .now < end {}
            let names = (try? store.ownedNames(after: place, limit: Self.checkedAtOnce)) ?? []
            place = names.last
            keepRecords(of: controllers(), names: names)
            // On a thread of its own: the folder of one of them may hang.
            _ = startThread { Leftovers.removeAll() }
            clinux_return_freed_memory(Self.keptMemory)
        }
    }

    /// Each on a thread of its own, because it looks into the outbox and the spool. If the last look still hangs, this
    /// one waits for another turn.
    /// - Parameter names: recorded names in their outboxes.
    func keepRecords(of controllers: [InboxController], names: [OwnedName]) {
        // Several inboxes may share an outbox, whose names are for the first one that has time.
        let open = Monitor(Dictionary(grouping: names, by: \.outbox))
        for controller in controllers {
            keepRecords(of: controller) { open.change { $0.removeValue(forKey: controller.inbox.outboxKey) ?? [] } }
        }
    }

    /// - Parameter takeNames: returns the names in the controller's outbox that are still to be checked, once.
    private func keepRecords(of controller: InboxController, takeNames: @escaping @Sendable () -> [OwnedName]) {
        _ = startThread { [self] in
            _ = controller.records.withLockIfAvailable { records in
                let isSilent = controller.silence(waiting: dispatcher.fileWaits[controller.name]) != nil
                if !isSilent {
                    let names = takeNames()
                    controller.sweep(Set(names.map(\.name.directory)), &records.swept)
                    releaseNames(names, of: controller)
                }
                controller.forgetMissingOriginals(limit: Self.checkedAtOnce)
                guard records.nextPruning <= .now else { return }
                let start = Moment.now
                controller.removeOrphanedNotes()
                controller.pruneShelves(store)
                // A folder with very much in it is looked at less often.
                records.nextPruning =
                    .now + max(Self.betweenPruning, .milliseconds(start.milliseconds(until: .now) * 50))
            }
        }
    }

    /// Frees names whose rendition is gone and whose source has nothing under way.
    private func releaseNames(_ names: [OwnedName], of controller: InboxController) {
        guard !names.isEmpty, controller.outboxPause == nil, let idle = try? store.idle(names) else { return }
        let outbox = Outbox(path: controller.inbox.outbox, of: .dropFolder)
        let gone = idle.names.filter { name in
            isAbsent { () throws(SystemError) in try outbox.status(name.name) }
        }
        guard !gone.isEmpty else { return }
        // A job that has begun since may have put something there.
        try? store.release(gone, unlessJobsAfter: idle.latest)
    }

    // MARK: - One inbox

    private func maintain(_ controller: InboxController) {
        // If the system gives no thread at the moment, the next turn tries again.
        _ = startThread { [self] in
            // If the last look still hangs, this one is not needed.
            _ = controller.maintenance.withLockIfAvailable { _ in look(at: controller) }
        }
    }

    /// Makes an inbox's folders if it is there, and takes up the jobs in them, on a thread of its own.
    func begin(_ controller: InboxController) -> Background<Void> {
        Background { controller.maintenance.withLock { _ in _ = controller.makeFolders() } }
    }

    private func look(at controller: InboxController) {
        let (spool, isPaused, isDue, watching) = controller.state.withLock {
            ($0.spool, $0.pause.pause != nil, $0.pause.isDue(at: .now), $0.watcher?.status)
        }
        let isThere = watching?.pause == nil
        // To make folders below a missing state folder would make a second one, without the ledger.
        if let pause = folder.look() { return controller.pause(pause) }
        // Its folders may have gone with a share that another one has replaced, or with somebody who tidied up.
        if let spool, isPaused, isThere { try? spool.makeFolders() }
        let isSilent = controller.silence(waiting: dispatcher.fileWaits[controller.name]) != nil
        let trouble = isPaused && isDue && !isSilent ? trouble(controller) : nil
        // The reason may have changed: a folder may be there again, but without the right to write to it.
        if let trouble { controller.pause(trouble) }
        let canGoOn = !isPaused || isDue && !isSilent && trouble == nil
        // Without its folders it does not go on.
        let hasFolders = canGoOn && (spool != nil || !isThere || controller.makeFolders())
        if hasFolders && (try? controller.recordDeferred()) != nil && isPaused { controller.resume() }
        removeIfIdle(controller)
    }

    /// Why an inbox still cannot go on.
    private func trouble(_ controller: InboxController) -> Pause? {
        controller.outboxPause ?? controller.trouble(outbox: controller.inbox.outbox)
    }
}

extension InboxController {
    // MARK: - Whether it answers

    /// Asks something of its file systems, on a thread of its own, unless the last look is not over. The outbox alone is
    /// opened, which costs nothing, so that trouble with it shows before a source comes; if a lane waits for files, all
    /// folders are tried.
    /// - Parameter waiting: since when a lane has waited.
    func probe(waiting: Moment?) {
        let (inbox, spool) = state.withLock { ($0.inbox, $0.spool) }
        guard state.withLock({ $0.answers.begin(with: inbox.outbox, at: .now) }) else { return }
        let isThorough = waiting.map { .now > $0 + AnswerState.suspicion } ?? false
        let written = [inbox.outbox, shared.state.path] + (spool.map { spool in Shelf.allCases.map(spool.path) } ?? [])
        let isStarted = startThread { [self] in
            if isThorough {
                for folder in written {
                    state.withLock { $0.answers.goOn(to: folder, at: .now) }
                    // Only the answer counts here. Trouble with the folder shows when it is used.
                    _ = WriteProbe.trouble(in: folder)
                }
                state.withLock { $0.answers.goOn(to: inbox.path, at: .now) }
                _ = try? Directory(inbox.path).file.status()
            } else if let trouble = outboxPause, state.withLock({ $0.spool != nil && $0.isOpen }) {
                pause(trouble)
            }
            state.withLock { $0.answers.end(at: .now) }
        }
        if !isStarted { state.withLock { $0.answers.end(at: .now) } }
    }

    /// The pause while one of its file systems does not answer; nil if all do, as far as is known.
    func silence(waiting: Moment?) -> Pause? {
        state.withLock { state in
            if let silence = state.watcher?.silence {
                state.lastSilence = .now
                return silence.pause
            }
            return state.answers.silent(waiting: waiting, at: .now).map { Pause(silent: $0) }
        }
    }

    // MARK: - Its folders

    /// Removes what earlier starts have left in folders of the outbox, once in each. A start that takes a job up does so
    /// too, but the outbox may have refused that, and the job is done by now.
    fileprivate func sweep(_ folders: Set<BytePath>, _ swept: inout Set<BytePath>) {
        let outbox = Outbox(path: inbox.outbox, of: .dropFolder)
        for folder in folders.subtracting(swept)
        where outbox.removeLeftovers(in: folder, prefix: shared.prefix, present: shared.owner) {
            if swept.count >= Self.mostSwept { swept = [] }
            swept.insert(folder)
        }
    }

    private static let mostSwept = 100_000

    /// - Returns: false if that failed, and the inbox is paused.
    func makeFolders() -> Bool {
        if let missing = shared.state.look() {
            pause(missing)
            return false
        }
        do {
            guard try shared.place(self) else { return false }
        } catch {
            pause(reason(for: error))
            return false
        }
        let inbox = inbox
        makeOutboxOnce()
        guard (try? FileSystem.status(inbox.path))??.kind == .directory else { return true }
        do {
            shared.dispatcher.pause(name)
            // The lock of the same folders may be its own.
            state.withLock { $0.spool = nil }
            // First, so that nothing is made where another one works. The mount is busy anyway: the lock of the spool, or
            // the state folder, is on it too.
            let lock = try shared.locks.lock(inbox.path)
            let spool = try Spool(inbox.spool, inbox: inbox.path, name: name)
            for folder in lock?.strangers ?? [] {
                tell(
                    .trouble(
                        "another user's process has locked '\(folder.printable)'; the work goes on, but a second imagemill watch on the inbox may not be refused"
                    ))
            }
            try InboxRecovery(self, spool).run()
            // A reload may have moved the inbox meanwhile; its folders are made anew then.
            let isCurrent = state.withLock { state in
                guard state.inbox.path == inbox.path else { return false }
                state.spool = spool
                state.lock = lock
                return true
            }
            guard isCurrent else { return false }
            tell(.spool(done: spool.path(.done), failed: spool.path(.failed)))
            if let sentence = shared.lost.sentence(outbox: inbox.outbox) { tell(.trouble(sentence)) }
            if state.withLock({ $0.isOpen }) { shared.dispatcher.resume(name) }
            return true
        } catch {
            pause(reason(for: error))
            return false
        }
    }

    /// Makes the outbox if it is missing at the start; what vanishes later may be a mount.
    private func makeOutboxOnce() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try inbox.makeOutbox()
        } catch {
            pause(Pause(error, missing: .missingOutbox))
        }
    }

    private func reason(for error: any Error) -> Pause {
        switch error {
        case let error as MillProblems: Pause(.inUse, error.refusals.joined(separator: "; "))
        case let error as SystemError: Pause(error, missing: .missingInbox)
        case let error as StoreError: Pause(error.pauseReason, error.description)
        default: Pause(.ioError, "\(error)")
        }
    }

    /// Removes what has been in `done/` and `failed/` for as long as it may be.
    func pruneShelves(_ store: any OriginalStore) {
        let (spool, inbox) = state.withLock { ($0.spool, $0.inbox) }
        guard let spool else { return }
        for (shelf, retention) in [(Shelf.done, inbox.settings.keepDone), (.failed, inbox.settings.keepFailed)] {
            guard let retention else { continue }
            let pruning = ShelfPruning(
                folder: spool.path(shelf), retention: retention, takesSets: inbox.pipeline.file.source == .set,
                record: store.shelf(shelf.rawValue, of: name))
            let trouble: (any Error)?
            do {
                let outcome = try pruning.run()
                if outcome.removed > 0 { tell(.pruned(outcome.removed, from: spool.path(shelf))) }
                trouble = outcome.trouble
            } catch {
                trouble = error
            }
            sayOnce(
                trouble.map { "cannot remove all that is old in '\(spool.path(shelf).printable)': \($0)" },
                about: .pruning(shelf))
        }
    }

    /// Removes notes in `failed/` whose sources are gone.
    func removeOrphanedNotes() {
        guard let failed = spool?.failed else { return }
        let troubles: [SystemError]
        do throws(SystemError) {
            troubles = try failed.removeOrphanedNotes()
        } catch {
            troubles = [error]
        }
        let others = troubles.count > 1 ? "; so it is with \(counted(troubles.count - 1, "other"))" : ""
        sayOnce(troubles.first.map { "\($0)\(others)" }, about: .removingNotes)
    }

    /// Says what is in the way of tidying up, unless that was said already.
    /// - Parameter trouble: nil if nothing is, so that it is said again when it comes back.
    private func sayOnce(_ trouble: String?, about subject: Tidying) {
        let isNew = state.withLock { state in
            defer { state.troubles[subject] = trouble }
            return state.troubles[subject] != trouble
        }
        if isNew, let trouble { tell(.trouble(trouble)) }
    }

    /// Forgets originals that were kept and are no longer in the inbox.
    func forgetMissingOriginals(limit: Int) {
        let (kept, isThere, path) = state.withLock {
            ($0.kept, $0.watcher?.status.pause == nil && $0.pause.pause == nil, $0.inbox.path)
        }
        guard isThere, !kept.isEmpty, let root = try? Directory(path) else { return }
        // Any few of them, so that all have their turn with time.
        let gone = kept.keys.shuffled().prefix(limit).filter { path in
            isAbsent { () throws(SystemError) in try FileLocation.below(root, path).status() }
        }
        guard !gone.isEmpty, (try? shared.store.forgetKept(inbox: name, paths: gone)) != nil else { return }
        state.withLock { state in for path in gone { state.kept[path] = nil } }
    }
}
