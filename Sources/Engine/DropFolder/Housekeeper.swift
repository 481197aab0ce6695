// The turns of a drop folder: when inboxes are looked at, leases extended and records tidied up.
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

    var lastTurn: Moment { state.note { $0.lastTurn } }

    func start() {
        runOnNewThread { [self] in keepHouse() }
        runOnNewThread { [self] in keepLeases() }
        runOnNewThread { [self] in tidyUp() }
    }

    /// Waits until the thread has ended.
    func stop() {
        state.change { $0.isStopping = true }
        state.wait { $0.hasEnded ? () : nil }
    }

    private func keepHouse() {
        var nextRound = Moment.now
        while !state.note({ $0.isStopping }) {
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
    private func tidyUp() {
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
            tidyUp(controllers(), names: names)
            // On a thread of its own: the folder of one of them may hang.
            _ = startThread { Leftovers.removeAll() }
            clinux_return_freed_memory(Self.keptMemory)
        }
    }

    /// Each on a thread of its own, because it looks into the outbox and the spool. If the last look still hangs, this
    /// one waits for another turn.
    /// - Parameter names: recorded names in their outboxes.
    func tidyUp(_ controllers: [InboxController], names: [OwnedName]) {
        // Several inboxes may share an outbox, whose names are for the first one that has time.
        let open = Monitor(Dictionary(grouping: names, by: \.outbox))
        for controller in controllers {
            tidyUp(controller) { open.change { $0.removeValue(forKey: controller.inbox.outboxKey) ?? [] } }
        }
    }

    /// - Parameter takeNames: returns the names in the controller's outbox that are still to be checked, once.
    private func tidyUp(_ controller: InboxController, takeNames: @escaping @Sendable () -> [OwnedName]) {
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
