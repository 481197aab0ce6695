// The start of a drop folder, and of each inbox that is added later.
import Pipeline
import Synchronization
import System

extension DropFolder {
    /// How long the cache is left alone after trouble.
    private static let cachePause = Duration.seconds(60)

    /// The longest wait for an inbox to begin.
    private static let patience = Duration.seconds(1)
    /// How long an inbox keeps the workers of its own when it has no work.
    private static let isolatedPatience = Duration.seconds(5)
    /// Light sources that share their syncs.
    private static let groupLimit = 16

    /// Takes up what an earlier start had begun, warms the workers, and begins to watch. Waits, but for no inbox that
    /// hangs.
    /// - Throws: `Diagnostics` if an asset cannot be decoded, `SystemError` if no worker can be started, `StoreError`.
    package func start() throws {
        try workers.starter.prepare()
        let mill = loaded.withLock { $0 }
        if let sentence = lost.sentence { observer.noted(sentence) }
        let cache = cache(for: mill)
        state.withLock { $0.cache = cache }
        let routes = mill.inboxes.map { ($0, route(for: $0, of: mill, cache: cache)) }
        let failures = recentFailures(mill)
        state.withLock { $0.failures = failures }
        let running = try startLanes(routes.map(\.1))
        try running.hooks.start()
        let added = try routes.compactMap { add($0, try known($0), through: $1, running: running) }
        try reportForgottenInboxes(mill)
        wait(for: added)
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
        let hooks = HookRunner(store, starter: workers.starter) { [self] inbox, event in
            // An inbox that has left keeps its hooks: its jobs end later, and their events may be tried again.
            let present = loaded.withLock { $0.inboxes.first { $0.settings.name == inbox } }
            let hooks = present?.hooks ?? state.withLock { $0.controllers[inbox]?.inbox.hooks ?? $0.formerHooks[inbox] }
            return hooks?[event]
        } tell: { [observer] inbox, news in
            observer.happened(.hook(news), inbox: inbox)
        }
        let shared = InboxController.SharedParts(
            store: store, dispatcher: dispatcher, owner: owner, ids: ids, journal: journal, state: folder,
            lost: lost, hooks: hooks,
            prefix: prefix,
            locks: InboxLocks(), newToken: { [self] in newToken() }, place: { [self] in try place($0) },
            isDraining: { [self] in state.withLock { $0.isDraining } },
            tell: { [self] event, controller in tell(event, controller) },
            workerLost: { [self] in state.withLock { $0.lostWorkers += 1 } })
        let housekeeper = Housekeeper(store: store, state: folder, dispatcher: dispatcher, lanes: lanes) { [observer] in
            observer.noted($0)
        } controllers: { [self] in
            controllers
        } removeIfIdle: { [self] in
            removeIfIdle($0)
        } endIdleWorkers: { [workers] in
            workers.endIsolated(idleFor: Self.isolatedPatience)
        } endRestlessWorkers: { [self] in
            let count = workers.endRestless()
            guard count > 0 else { return }
            state.withLock { $0.lostWorkers += count }
            observer.noted(
                "\(counted(count, "worker")) took memory or processor time though nothing was asked of it, and \(count == 1 ? "was" : "were") ended"
            )
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
    func cache(for mill: LoadedMill) -> SharedCache? {
        guard let wanted = mill.cache else { return nil }
        if let cache = state.withLock({ $0.cache }), cache.folder == wanted.folder { return cache }
        return SharedCache(folder: wanted.folder, bound: wanted.bound ?? SharedCache.usualBound, pause: Self.cachePause)
        { [observer] in
            observer.noted($0)
        }
    }

    func route(for inbox: LoadedMill.Inbox, of mill: LoadedMill, cache: SharedCache?) -> Route {
        let outbox = Outbox(path: inbox.outbox, of: .dropFolder, writer: identity)
        var render = RenderSettings(
            pipeline: inbox.pipeline, limits: inbox.settings.limits(within: mill.limits),
            policy: inbox.settings.policy, outbox: outbox,
            keepsTree: inbox.settings.keepsTree,
            overwrites: inbox.settings.collision == .overwrite, memory: memory, cancellation: cancellation)
        render.isolatedInbox = inbox.settings.isolates ? inbox.settings.name : nil
        render.cache = cache.map { PipelineCache($0, inbox.pipeline, isolatedInbox: render.isolatedInbox) }
        let setup = RunSetup(
            inbox.pipeline, keepsTree: inbox.settings.keepsTree, collision: inbox.settings.collision,
            policy: inbox.settings.policy)
        let allocator = NameAllocator(
            store: store, outbox: inbox.outboxKey, folder: outbox, policy: inbox.settings.collision,
            // An original that is done is no longer in its inbox; its names are still its own.
            isGone: { _ in false })
        return Route(
            render: render, allocator: allocator,
            publisher: Publisher(
                outbox: outbox, names: store, key: inbox.outboxKey, durability: .synced,
                newToken: { [self] in newToken() }),
            reports: inbox.reports, policy: inbox.retryPolicy, duplicates: inbox.settings.duplicates,
            inbox: inbox.settings.name,
            recipe: Digest.of(json(setup)),
            retriesAtOnce: false)
    }

    /// The ledger's knowledge of an inbox when that is added.
    struct KnownInbox {
        let kept: [BytePath: KeptOriginal]
        /// Since when it has been paused by request.
        let pause: Int?
    }

    func known(_ inbox: LoadedMill.Inbox) throws(StoreError) -> KnownInbox {
        let name = inbox.settings.name
        return KnownInbox(kept: try store.kept(inbox: name), pause: try store.recordedPause(of: name))
    }

    /// Adds an inbox, which begins on a thread of its own.
    /// - Returns: what to wait for; nil if its file systems do not answer.
    func add(
        _ inbox: LoadedMill.Inbox, _ known: KnownInbox, through route: Route, running: Running
    ) -> Background<Void>? {
        let controller = InboxController(inbox, through: route, sharing: running.shared)
        controller.state.withLock { state in
            state.requestedPause = known.pause
            state.kept = known.kept
        }
        state.withLock { $0.controllers[controller.name] = controller }
        if let pause = known.pause { controller.tell(.staysPausedByRequest(since: pause)) }
        // Its jobs wait until it has its folders.
        running.dispatcher.set(controller.name, weight: inbox.settings.priority, recipe: route.recipe, isPaused: true)
        if inbox.places == nil { controller.pause(Pause(silent: inbox)) }
        watch(controller)
        let beginning = running.housekeeper.begin(controller)
        return inbox.places == nil ? nil : beginning
    }

    /// Waits until the inboxes have begun, but not for one that takes long.
    func wait(for added: [Background<Void>]) {
        let end = Moment.now + Self.patience
        for inbox in added { _ = inbox.value(until: end) }
    }

    /// Finds out where the folders of an inbox are, unless that is known. Waits for their file systems.
    /// - Returns: false if a reload has given it other folders meanwhile.
    /// - Throws: `SystemError`, or `MillProblems` if they are not apart from others.
    private func place(_ controller: InboxController) throws -> Bool {
        let inbox = controller.inbox
        guard inbox.places == nil else { return true }
        let places = try loaded.withLock { $0 }.look(at: inbox)
        return try reloads.withLock { _ in
            guard let placed = try loaded.withLock({ try $0.place(inbox, at: places) }) else { return false }
            let (mill, cache) = (loaded.withLock { $0 }, state.withLock { $0.cache })
            let route = route(for: placed, of: mill, cache: cache)
            controller.state.withLock { ($0.inbox, $0.route) = (placed, route) }
            return true
        }
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
        let left = counts.current().filter { !known.contains($0.key) && $0.value.open > 0 }
        for (inbox, count) in left.mapValues(\.open).sorted(by: { $0.key < $1.key }) {
            let sentence =
                "\(counted(count, "source")) of the inbox '\(inbox)', which is no longer in the mill file, \(count == 1 ? "is" : "are") "
                + "still in its folder work/; add the inbox again to finish them, or move the files elsewhere"
            observer.happened(.trouble(sentence), inbox: inbox)
        }
        let failed = mill.state.appending(BytePath(Shelf.failed.rawValue))
        let folders = (try? Directory(failed).names()) ?? []
        for name in folders.map({ BytePath($0) }).sorted(by: { $0.precedes($1) }) where !known.contains(name.text) {
            guard let found = try? Directory(failed).folder(name).names(), !found.isEmpty else { continue }
            let sentence =
                "originals that failed are in '\(failed.appending(name).printable)', and the mill file has no inbox of that name; "
                + "move them to the folder of the inbox that they belong to, or drop them again"
            observer.happened(.trouble(sentence), inbox: name.text)
        }
    }

    func watch(_ controller: InboxController) {
        var settings = controller.inbox.watchSettings(takesSets: controller.inbox.pipeline.file.source == .set)
        settings.name = controller.name
        settings.largest = controller.route.render.limits.maximumSourceBytes
        let watcher = InboxWatcher(
            settings, isDone: { controller.isDone($0, $1.version) }, onReady: { controller.offer($0) },
            onNote: { controller.tell(.note($0)) })
        controller.state.withLock { $0.watcher = watcher }
        watcher.start()
    }
}
