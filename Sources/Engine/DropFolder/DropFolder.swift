// The drop folder: inboxes, lanes and a housekeeper, from the start to the last job.
import Glibc
import Messages
package import Pipeline
import Synchronization
package import System

/// A drop folder at work. For any thread; calls that say so wait.
package final class DropFolder: Sendable {
    let store: any Ledger
    let counts: CountedJobs
    let policies: RetryPolicies
    let journal: Journal
    let observer: any DropFolderObserver
    let workers: WorkerPool
    let cancellation = Cancellation()
    let memory: MemoryBudget
    let workerCount: Int
    /// Random for this start: leases and staged files are in its name.
    let owner: String
    /// Tells its files in outboxes from those of other drop folders.
    let identity: String
    /// Begins the names of all staged files of this drop folder.
    let prefix: String
    let lanes = LaneStatus()
    let ids = JobNames()
    private let lock: StateLock
    let folder: StateFolder
    let lost: LostRecords
    let loaded: Mutex<LoadedMill>
    let state = Mutex(State())
    /// Made by `start`, once.
    let running = Mutex<Running?>(nil)
    /// Held by whoever changes inboxes: a reload, of which there is one at a time, and an inbox whose file systems have
    /// answered at last.
    let reloads = Mutex(())

    struct Running {
        let dispatcher: Dispatcher
        let housekeeper: Housekeeper
        let shared: InboxController.SharedParts
        let hooks: HookRunner
    }

    struct State {
        var controllers: [String: InboxController] = [:]
        var isDraining = false
        var lostWorkers = 0
        var failures: [DropFolderStatus.RecentFailure] = []
        /// The hooks of inboxes that have left since the start.
        var formerHooks: [String: [HookEvent: Hook]] = [:]
        var tokens = 0
        /// Shared by all inboxes.
        var cache: SharedCache?
    }

    static let recentFailures = 20

    /// Takes hold of the state folder and opens what is in it.
    /// - Parameter trace: hears of each change of a job, on any thread.
    /// - Throws: `StateInUse`, `StoreError`, `SystemError`.
    package init(
        _ loaded: LoadedMill, workers: WorkerPool, observer: any DropFolderObserver,
        trace: (@Sendable (JobChange) -> Void)? = nil
    ) throws {
        lock = try StateLock(state: loaded.state)
        let policies = RetryPolicies(loaded)
        self.policies = policies
        store = try SQLiteLedger(
            state: loaded.state, policy: { policies[$0] }, inboxes: loaded.namesByPath, trace: trace)
        journal = try Journal(path: loaded.state.appending(BytePath("journal.jsonl")))
        self.observer = observer
        self.workers = workers
        memory = MemoryBudget(bytes: loaded.limits.maximumMemory)
        workerCount =
            switch loaded.file.workers {
            case .auto: Machine.cores
            case .count(let count): count
            }
        let (identity, isNew) = try DropFolderIdentity.read(from: loaded.state, ledger: store)
        self.identity = identity
        folder = try StateFolder(loaded.state)
        lost = LostRecords(
            state: loaded.state, identity: identity, hasNewIdentity: isNew, hasNewLedger: store.isNew)
        prefix = "watch-\(identity)-"
        owner = "\(prefix)\(String(UInt64.random(in: .min ... .max), radix: 36))-"
        // This process holds the lock of the state folder, so no other holder of jobs is alive.
        try store.endLeases(ofOthersThan: owner)
        counts = try CountedJobs(store)
        self.loaded = Mutex(loaded)
    }

    package var stateFolder: BytePath { loaded.withLock { $0.state } }

    /// Why no work starts, if the state folder is not where it was.
    package var missingState: Pause? { folder.pause }

    var controllers: [InboxController] { state.withLock { $0.controllers.values.sorted { $0.name < $1.name } } }

    func newToken() -> String {
        let number = state.withLock { state in
            state.tokens += 1
            return state.tokens
        }
        return "\(owner)\(number)"
    }

    // MARK: - Retry

    /// Moves failed sources back to their inboxes. Waits.
    /// - Parameters:
    ///   - names: absolute, or from the folder `failed/` of any inbox; nil for all that there are.
    ///   - tell: hears how far it has come, after each source.
    /// - Returns: what was moved, and a sentence for each that was not.
    package func retry(
        _ names: [BytePath]?, tell: @escaping @Sendable (Retry.Count) -> Void = { _ in }
    ) -> (moved: [BytePath], problems: [String]) {
        Retry(controllers, tell: tell).run(names)
    }

    // MARK: - Pauses

    /// Pauses an inbox until `resume`, also over restarts, or ends that. Waits for the ledger.
    package func pause(_ inbox: String, _ isPaused: Bool) throws(StoreError) -> PauseOutcome {
        guard let controller = state.withLock({ $0.controllers[inbox] }) else { return .noSuchInbox }
        // It is recorded before it is so: a crash in between loses no pause that somebody relies on.
        if isPaused {
            let now = wallClock()
            try store.recordPause(of: inbox, since: now)
            controller.pauseByRequest(since: now)
            return .paused
        }
        try store.endPause(of: inbox)
        return controller.resumeByRequest() ? .resumed : .notPausedByRequest
    }

    /// The numbers of done and failed sources of each inbox in the last week, by hours. Waits for the ledger.
    package func history() throws(StoreError) -> [HistoryHour] { try store.history() }

    /// The configuration in force.
    package var configuration: LoadedMill { loaded.withLock { $0 } }

    // MARK: - Events for others

    func tell(_ event: DropFolderEvent, _ controller: InboxController) {
        if case .failed(_, let path, let failure, let attempts) = event {
            let entry = DropFolderStatus.RecentFailure(
                inbox: controller.path, path: path, failure: failure, attempts: attempts, time: timestamp())
            state.withLock { $0.failures = Array(([entry] + $0.failures).prefix(Self.recentFailures)) }
        }
        switch event {
        case .paused(let pause), .note(.paused(let pause)):
            let (hooks, name, id) = (controller.shared.hooks, controller.name, newToken())
            // The file system that causes the pause may be that of the ledger. If there is not even a thread, a hook
            // could not run either.
            _ = startThread { hooks.paused(pause, inbox: name, id: id) }
        default: break
        }
        observer.happened(event, inbox: controller.name)
    }

    /// The flow is alive: the housekeeper goes round, and no lane is at one picture for longer than any deadline
    /// allows.
    package func isAlive(now: Moment = .now) -> Bool {
        guard let running = running.withLock({ $0 }) else { return true }
        return now < running.housekeeper.lastTurn + .seconds(30) && running.dispatcher.isAlive
    }

    package var status: DropFolderStatus {
        let controllers = controllers
        let paths = Dictionary(controllers.map { ($0.name, $0.path) }) { first, _ in first }
        let running = lanes.running.map { (paths[$0.inbox] ?? BytePath($0.inbox), $0) }
        let hooks = self.running.withLock { $0 }?.hooks
        let (losses, waiting) = (hooks?.losses ?? [], hooks?.waiting ?? [])
        let counts = counts.current()
        return state.withLock { state in
            DropFolderStatus(
                inboxes: controllers.map { $0.status(counts[$0.name] ?? JobCounts()) }, running: running,
                failures: state.failures,
                hookLosses: losses, hooksWaiting: waiting, isDraining: state.isDraining, workers: workerCount,
                lostWorkers: state.lostWorkers, cache: state.cache?.status, budget: memory.total,
                reserved: memory.reserved)
        }
    }

    /// Starts no new job, and waits until those that run have ended, or were stopped after this time.
    package func drain(within time: Duration) {
        state.withLock { $0.isDraining = true }
        for controller in controllers { controller.state.withLock { $0.watcher }?.stop() }
        guard let running = running.withLock({ $0 }) else { return }
        running.dispatcher.close()
        let end = Moment.now + time
        // Without a thread for it, the wait below ends all the same.
        _ = startThread { [cancellation] in
            while case let left = Moment.now.milliseconds(until: end), left > 0 { usleep(useconds_t(left * 1000)) }
            cancellation.raise()
        }
        running.dispatcher.waitUntilClosed(until: .now + time + .seconds(10))
        running.hooks.stop()
        running.housekeeper.stop()
        // If it cannot be, the next start does it.
        try? store.checkpoint()
    }
}
