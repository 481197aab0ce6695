// The drop folder: inboxes, lanes and a housekeeper, from the start to the last job.
import Glibc
package import Pipeline
import Synchronization

/// A drop folder at work. For any thread; calls that say so wait.
package final class DropFolder: Sendable {
    private let store: SQLiteJobStore
    private let policies: RetryPolicies
    private let journal: Journal
    private let observer: any DropFolderObserver
    private let workers: WorkerPool
    private let cancellation = Cancellation()
    private let memory: MemoryBudget
    private let workerCount: Int
    /// Random for this start: leases and staged files are in its name.
    private let owner: String
    /// Tells its files in outboxes from those of other drop folders.
    private let identity: String
    /// Begins the names of all staged files of this drop folder.
    private let prefix: String
    private let lanes = LaneStatus()
    private let ids = JobNames()
    private let lock: StateLock
    private let loaded: Mutex<LoadedMill>
    private let state = Mutex(State())
    /// Made by `start`, once.
    private let running = Mutex<Running?>(nil)
    /// Held by a reload, of which there is one at a time.
    private let reloads = Mutex(())

    private struct Running {
        let dispatcher: Dispatcher
        let housekeeper: Housekeeper
        let shared: InboxController.SharedParts
        let hooks: HookRunner
    }

    private struct State {
        var controllers: [String: InboxController] = [:]
        var isDraining = false
        var lostWorkers = 0
        var failures: [DropFolderStatus.RecentFailure] = []
        var tokens = 0
        /// Shared by all inboxes.
        var cache: SharedCache?
    }

    /// How long the cache is left alone after trouble.
    private static let cachePause = Duration.seconds(60)

    private static let recentFailures = 20
    /// How long an inbox keeps the workers of its own when it has no work.
    private static let isolatedPatience = Duration.seconds(5)
    /// Light sources that share their syncs.
    private static let groupLimit = 16

    /// Takes hold of the state folder and opens what is in it.
    /// - Throws: `StateInUse`, `StoreError`, `SystemError`.
    package init(_ loaded: LoadedMill, workers: WorkerPool, observer: any DropFolderObserver) throws {
        lock = try StateLock(state: loaded.state)
        let policies = RetryPolicies(loaded)
        self.policies = policies
        store = try SQLiteJobStore(
            state: loaded.state, policy: { policies[$0] }, inboxes: loaded.namesByPath,
            outboxes: Dictionary(loaded.inboxes.map { ($0.outbox, $0.outboxKey) }) { first, _ in first })
        journal = try Journal(path: loaded.state.appending(BytePath("journal.jsonl")))
        self.observer = observer
        self.workers = workers
        memory = MemoryBudget(bytes: loaded.limits.maximumMemory)
        workerCount =
            switch loaded.file.workers {
            case .auto: Machine.cores
            case .count(let count): count
            }
        identity = try DropFolderIdentity.read(from: loaded.state)
        prefix = "watch-\(identity)-"
        owner = "\(prefix)\(String(UInt64.random(in: .min ... .max), radix: 36))-"
        self.loaded = Mutex(loaded)
    }

    package var stateFolder: BytePath { loaded.withLock { $0.state } }

    // MARK: - Start

    /// Takes up what an earlier start had begun, warms the workers, and begins to watch. Waits.
    /// - Throws: `Diagnostics` if an asset cannot be decoded, `SystemError` if no worker can be started, `StoreError`.
    package func start() throws {
        try workers.prepareToStart()
        let mill = loaded.withLock { $0 }
        let cache = cache(for: mill)
        state.withLock { $0.cache = cache }
        let routes = mill.inboxes.map { ($0, route(for: $0, of: mill, cache: cache)) }
        let failures = recentFailures(mill)
        state.withLock { $0.failures = failures }
        let running = try startLanes(routes.map(\.1))
        try running.hooks.start()
        for (inbox, route) in routes { try add(inbox, through: route, running: running) }
        try reportForgottenInboxes(mill)
        running.housekeeper.start()
    }

    /// Starts the lanes, and waits until a worker knows every pipeline.
    private func startLanes(_ routes: [Route]) throws -> Running {
        let prepared = Monitor<[Result<Void, any Error>]>([])
        let count = workerCount
        workers.limitIdle(to: count)
        let dispatcher = Dispatcher(store, owner: owner, workers: count, groupLimit: groupLimit(routes)) {
            [self] inbox, error in
            state.withLock { $0.controllers[inbox] }?.pause(Pause(error.pauseReason, error.description))
        } startLane: { [self] dispatcher, lane in
            runOnNewThread { [self] in
                let maker = RenditionMaker(workers, cancellation: cancellation, token: newToken())
                if lane <= count {
                    let result = Result { try maker.worker.prepare(routes.map(\.render)) }
                    maker.worker.giveBack()
                    prepared.change { $0.append(result) }
                }
                JobRunner(dispatcher, store, lane: lane, maker: maker, status: lanes) { [self] name in
                    state.withLock { $0.controllers[name] }
                }.run()
            }
        }
        dispatcher.startLanes()
        // One is enough to begin with; the others try again when they have something to do.
        let result = prepared.wait { results in
            results.first { if case .success = $0 { true } else { false } }
                ?? (results.count == count ? results[0] : nil)
        }
        do {
            try result.get()
        } catch {
            dispatcher.close()
            throw error
        }
        let hooks = HookRunner(store) { [self] inbox, event in
            loaded.withLock { $0.inboxes.first { $0.settings.name == inbox }?.hooks[event] }
        } tell: { [observer] inbox, news in
            observer.happened(.hook(news), inbox: inbox)
        }
        let shared = InboxController.SharedParts(
            store: store, dispatcher: dispatcher, owner: owner, ids: ids, journal: journal, state: stateFolder,
            hooks: hooks,
            prefix: prefix,
            locks: InboxLocks(), newToken: { [self] in newToken() },
            isDraining: { [self] in state.withLock { $0.isDraining } },
            tell: { [self] event, controller in tell(event, controller) },
            workerLost: { [self] in state.withLock { $0.lostWorkers += 1 } })
        let housekeeper = Housekeeper(store: store, dispatcher: dispatcher, lanes: lanes) { [observer] in
            observer.noted($0)
        } controllers: { [self] in
            controllers
        } removeIfIdle: { [self] in
            removeIfIdle($0)
        } endIdleWorkers: { [workers] in
            workers.endIsolated(idleFor: Self.isolatedPatience)
        }
        let running = Running(dispatcher: dispatcher, housekeeper: housekeeper, shared: shared, hooks: hooks)
        self.running.withLock { $0 = running }
        return running
    }

    /// A group holds every source and every rendition open until it is published.
    private func groupLimit(_ routes: [Route]) -> Int {
        let files =
            routes.map { route in route.render.pipeline.file.renditions.reduce(2) { $0 + $1.scales.count } }.max() ?? 2
        return max(1, min(Self.groupLimit, Machine.descriptorLimit / 2 / max(1, files * (workerCount + routes.count))))
    }

    /// The cache that a mill file wants; the one that is at work if its folder stays.
    private func cache(for mill: LoadedMill) -> SharedCache? {
        guard let wanted = mill.cache else { return nil }
        if let cache = state.withLock({ $0.cache }), cache.folder == wanted.folder { return cache }
        return SharedCache(folder: wanted.folder, bound: wanted.bound ?? SharedCache.usualBound, pause: Self.cachePause)
        { [observer] in
            observer.noted($0)
        }
    }

    private func route(for inbox: LoadedMill.Inbox, of mill: LoadedMill, cache: SharedCache?) -> Route {
        let outbox = Outbox(path: inbox.outbox, of: .dropFolder, writer: identity)
        var render = RenderSettings(
            pipeline: inbox.pipeline, limits: inbox.settings.limits(within: mill.limits), outbox: outbox,
            keepsTree: inbox.settings.keepsTree,
            overwrites: inbox.settings.collision == .overwrite, memory: memory, cancellation: cancellation)
        render.isolatedInbox = inbox.settings.isolates ? inbox.settings.name : nil
        render.cache = cache.map { PipelineCache($0, inbox.pipeline, isolatedInbox: render.isolatedInbox) }
        let setup = RunSetup(inbox.pipeline, keepsTree: inbox.settings.keepsTree, policy: inbox.settings.collision)
        let allocator = NameAllocator(
            store: store, outbox: inbox.outboxKey, folder: outbox, policy: inbox.settings.collision,
            // An original that is done is no longer in its inbox; its names are still its own.
            isGone: { _ in false })
        return Route(
            render: render, allocator: allocator,
            publisher: Publisher(
                outbox: outbox, names: store, key: inbox.outboxKey, durability: .synced,
                newToken: { [self] in newToken() }),
            reports: inbox.reports, policy: inbox.retryPolicy, inbox: inbox.settings.name,
            recipe: Digest.of(json(setup)),
            retriesAtOnce: false)
    }

    private func add(_ inbox: LoadedMill.Inbox, through route: Route, running: Running) throws {
        let controller = InboxController(inbox, through: route, sharing: running.shared)
        let (totals, kept) = (try store.totals(inbox: controller.name), try store.kept(inbox: controller.name))
        controller.state.withLock { state in
            state.totals = totals
            state.kept = kept
        }
        state.withLock { $0.controllers[controller.name] = controller }
        // Its jobs wait until it has its folders.
        running.dispatcher.set(controller.name, weight: inbox.settings.priority, recipe: route.recipe, isPaused: true)
        do {
            try inbox.makeOutbox()
        } catch {
            controller.pause(Pause(error, missing: .missingOutbox))
        }
        running.housekeeper.makeFolders(controller)
        watch(controller)
    }

    private func recentFailures(_ mill: LoadedMill) -> [DropFolderStatus.RecentFailure] {
        let paths = Dictionary(mill.inboxes.map { ($0.settings.name, $0.path) }) { first, _ in first }
        return ((try? store.recentFailures(limit: Self.recentFailures)) ?? []).compactMap { job in
            job.progress.failure.map {
                DropFolderStatus.RecentFailure(
                    inbox: paths[job.inbox] ?? BytePath(job.inbox), path: job.path, failure: $0,
                    attempts: job.progress.attempts,
                    time: timestamp(milliseconds: job.changed))
            }
        }
    }

    /// An inbox that was taken out of the mill file while the program did not run has left its jobs behind.
    private func reportForgottenInboxes(_ mill: LoadedMill) throws {
        let known = Set(mill.inboxes.map(\.settings.name))
        for inbox in try store.inboxesWithOpenJobs() where !known.contains(inbox) {
            let count = try store.openCount(inbox: inbox).count
            let sentence =
                "\(counted(count, "source")) of the inbox '\(inbox)', which is no longer in the mill file, \(count == 1 ? "is" : "are") "
                + "still in its folder work/; add the inbox again to finish them, or move the files elsewhere"
            observer.happened(.trouble(sentence), inbox: inbox)
        }
    }

    private func watch(_ controller: InboxController) {
        var settings = controller.inbox.watchSettings(takesSets: controller.inbox.pipeline.file.source == .set)
        settings.name = controller.name
        let watcher = InboxWatcher(
            settings, isDone: { controller.isDone($0, ObservedFile($1)) }, onReady: { controller.offer($0) },
            onNote: { controller.tell(.note($0)) })
        controller.state.withLock { $0.watcher = watcher }
        watcher.start()
    }

    private var controllers: [InboxController] { state.withLock { $0.controllers.values.sorted { $0.name < $1.name } } }

    private func newToken() -> String {
        let number = state.withLock { state in
            state.tokens += 1
            return state.tokens
        }
        return "\(owner)\(number)"
    }

    // MARK: - Reload and retry

    /// Puts another configuration to work; what runs goes on with the one that it began with. Waits.
    /// - Parameter load: reads the configuration; called when no other reload is under way, so that the newest text
    ///   wins.
    /// - Returns: sentences about what takes effect at the next start only.
    /// - Throws: what `load` throws, `MillProblems` or `Diagnostics` if it is refused, and everything stays as it is.
    package func reload(_ load: () throws -> LoadedMill) throws -> (mill: LoadedMill, notes: [String]) {
        try reloads.withLock { _ in
            let new = try load()
            let old = loaded.withLock { $0 }
            guard new.state == old.state else {
                throw MillProblems(
                    mistakes: [],
                    refusals: [
                        "'state' cannot change while the program runs; restart it to move to '\(new.state.printable)'"
                    ])
            }
            let cache = cache(for: new)
            let routes = new.inboxes.map { ($0, route(for: $0, of: new, cache: cache)) }
            let worker = WorkerLoan(workers, cancellation: cancellation)
            try worker.prepare(routes.map(\.1.render))
            worker.giveBack()
            try apply(new, routes)
            memory.set(total: new.limits.maximumMemory)
            state.withLock { $0.cache = cache }
            cache?.set(bound: new.cache?.bound ?? SharedCache.usualBound)
            var notes: [String] = []
            if new.file.workers != old.file.workers { notes.append("'workers' takes effect at the next start") }
            return (new, notes)
        }
    }

    private func apply(_ new: LoadedMill, _ routes: [(LoadedMill.Inbox, Route)]) throws {
        guard let running = running.withLock({ $0 }) else { return }
        try store.record(inboxes: new.namesByPath)
        policies.set(new)
        loaded.withLock { $0 = new }
        for controller in controllers where !routes.contains(where: { $0.0.settings.name == controller.name }) {
            leave(controller)
        }
        for (inbox, route) in routes {
            if let controller = controllerThatStays(inbox) {
                change(controller, to: inbox, through: route, running: running)
            } else {
                try add(inbox, through: route, running: running)
            }
        }
    }

    /// An inbox that is there and keeps its path; it stays even if it was about to leave.
    private func controllerThatStays(_ inbox: LoadedMill.Inbox) -> InboxController? {
        state.withLock { state in
            let controller = state.controllers[inbox.settings.name]
            controller?.state.withLock { $0.isLeaving = false }
            return controller
        }
    }

    private func leave(_ controller: InboxController) {
        controller.state.withLock { state in
            state.isLeaving = true
            state.watcher?.stop()
        }
    }

    private func change(
        _ controller: InboxController, to inbox: LoadedMill.Inbox, through route: Route, running: Running
    ) {
        let watcher = controller.state.withLock { state in
            if state.inbox.path != inbox.path {
                state.spool = nil
                // It would be in the way of a lock on the folder above.
                state.lock = nil
            }
            if state.inbox.outbox != inbox.outbox { state.outboxWasMount = false }
            state.inbox = inbox
            state.route = route
            return state.watcher
        }
        running.dispatcher.set(controller.name, weight: inbox.settings.priority, recipe: route.recipe)
        watcher?.stop()
        watch(controller)
    }

    /// Lets go of an inbox that leaves, once all that it has begun is over.
    private func removeIfIdle(_ controller: InboxController) {
        let dispatcher = running.withLock { $0 }?.dispatcher
        guard controller.state.withLock({ $0.isLeaving }) else { return }
        // If the store has no jobs of this name, an inbox of another name has taken the waiting ones over.
        let wasRenamed = (try? store.openCount(inbox: controller.name).count) == 0
        // Under one lock with the controller, so that an inbox that is added again meanwhile keeps its turns.
        state.withLock { state in
            let isIdle = controller.state.withLock { state in
                state.isLeaving && state.deferred.isEmpty
                    && state.open.keys.allSatisfy { wasRenamed && state.waiting.contains($0) }
            }
            guard isIdle, state.controllers[controller.name] === controller,
                dispatcher?.removeIfIdle(controller.name) != false
            else { return }
            state.controllers[controller.name] = nil
        }
    }

    /// Moves failed sources back to their inboxes. Waits.
    /// - Parameter names: absolute, or from the folder `failed/` of any inbox; nil for all that there are.
    /// - Returns: what was moved, and a sentence for each that was not.
    package func retry(_ names: [BytePath]?) -> (moved: [BytePath], problems: [String]) {
        Retry(controllers).run(names)
    }

    // MARK: - What others hear

    private func tell(_ event: DropFolderEvent, _ controller: InboxController) {
        if case .failed(_, let path, let failure, let attempts) = event {
            let entry = DropFolderStatus.RecentFailure(
                inbox: controller.path, path: path, failure: failure, attempts: attempts, time: timestamp())
            state.withLock { $0.failures = Array(([entry] + $0.failures).prefix(Self.recentFailures)) }
        }
        switch event {
        case .paused(let pause), .note(.paused(let pause)):
            let (hooks, name, id) = (controller.shared.hooks, controller.name, newToken())
            // What has paused may be the file system of the ledger. If there is not even a thread, a hook could not run
            // either.
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
        return state.withLock { state in
            DropFolderStatus(
                inboxes: controllers.map(\.status), running: running, failures: state.failures,
                isDraining: state.isDraining, workers: workerCount,
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
    }
}

/// How often the sources of each inbox are attempted. For any thread.
private final class RetryPolicies: Sendable {
    private let policies: Mutex<[String: RetryPolicy]>

    init(_ mill: LoadedMill) { policies = Mutex(Self.policies(of: mill)) }

    /// The retry policy of an inbox that is no longer in the mill file: one attempt.
    subscript(inbox: String) -> RetryPolicy { policies.withLock { $0[inbox] ?? RetryPolicy(attempts: 1) } }

    func set(_ mill: LoadedMill) { policies.withLock { $0 = Self.policies(of: mill) } }

    private static func policies(of mill: LoadedMill) -> [String: RetryPolicy] {
        Dictionary(mill.inboxes.map { ($0.settings.name, $0.retryPolicy) }) { first, _ in first }
    }
}

extension LoadedMill.Inbox {
    fileprivate var retryPolicy: RetryPolicy { RetryPolicy(attempts: settings.attempts) }
}

extension LoadedMill {
    /// The inboxes' names by their paths.
    fileprivate var namesByPath: [BytePath: String] {
        Dictionary(inboxes.map { ($0.path, $0.settings.name) }) { first, _ in first }
    }

    /// How much one source may cost, and all workers together.
    package var limits: Limits { file.limits(memory: Machine.memory / 2) }
}
