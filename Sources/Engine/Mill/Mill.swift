// The drop folder: inboxes, lanes and a keeper, from the start to the last job.
import Glibc
package import Pipeline
import Synchronization

/// A drop folder at work. For any thread; calls that say so wait.
package final class Mill: Sendable {
    private let core: MillCore
    private let lock: StateLock
    private let loaded: Mutex<LoadedMill>
    /// Lanes that have not ended.
    private let lanes = Monitor(0)
    private let keeper: MillKeeper
    /// Held by a reload, of which there is one at a time.
    private let reloads = Mutex(())

    /// Takes hold of the state folder and opens what is in it.
    /// - Throws: `StateInUse`, `LedgerError`, `SystemError`.
    package init(_ loaded: LoadedMill, workers: WorkerStarter, observer: any MillObserver) throws {
        lock = try StateLock(state: loaded.state)
        core = try MillCore(loaded, SQLiteLedger(state: loaded.state), workers: workers, observer: observer)
        keeper = MillKeeper(core, state: loaded.state)
        self.loaded = Mutex(loaded)
    }

    package var state: BytePath { loaded.withLock { $0.state } }

    // MARK: - Start

    /// Takes up what an earlier start had begun, warms the workers, and begins to watch. Waits.
    /// - Throws: `Diagnostics` where an asset cannot be decoded, `SystemError` where no worker can be started, `LedgerError`.
    package func start() throws {
        let routes = loaded.withLock { loaded in loaded.inboxes.map { route($0, loaded) } }
        try startLanes(routes)
        let failures = recentFailures()
        core.state.withLock { state in
            state.failures = failures
            state.inboxes = Set(routes.map(\.inbox.path))
        }
        for route in routes { try add(route) }
        keeper.start()
    }

    private func route(_ inbox: LoadedMill.Inbox, _ loaded: LoadedMill) -> MillRoute {
        MillRoute(inbox, limits: loaded.limits, memory: core.memory, cancellation: core.cancellation)
    }

    /// Starts the lanes, and waits until a worker knows every pipeline.
    private func startLanes(_ routes: [MillRoute]) throws {
        let prepared = Monitor<[Result<Void, any Error>]>([])
        lanes.change { $0 = core.laneCount }
        for index in 0..<core.laneCount {
            runOnNewThread { [core, lanes] in
                let lane = MillLane(core, index: index)
                let result = Result { try lane.prepare(routes) }
                prepared.change { $0.append(result) }
                lane.run()
                lanes.change { $0 -= 1 }
            }
        }
        // One is enough to begin with; the others try again when they have something to do.
        let result = prepared.wait { results in
            results.first { if case .success = $0 { true } else { false } } ?? (results.count == core.laneCount ? results[0] : nil)
        }
        do {
            try result.get()
        } catch {
            core.queue.close()
            throw error
        }
    }

    private func add(_ route: MillRoute) throws {
        let post = InboxPost(route)
        let totals = try core.ledger.totals(inbox: post.path)
        post.state.withLock { ($0.done, $0.failed) = (totals.done, totals.failed) }
        core.state.withLock { $0.posts[post.key] = post }
        core.queue.setInbox(post.key, priority: route.inbox.settings.priority)
        do {
            try route.inbox.makeOutbox()
        } catch {
            core.rest(post, InboxPause(error, missing: .missingOutbox))
        }
        keeper.settle(post)
        watch(post)
    }

    private func recentFailures() -> [MillStatus.RecentFailure] {
        let jobs = (try? core.ledger.recentFailures(limit: 20)) ?? []
        return jobs.compactMap { job in
            job.failure.map {
                MillStatus.RecentFailure(
                    inbox: job.inbox, path: job.path, failure: $0, attempts: job.attempts, time: timestamp(milliseconds: job.changed))
            }
        }
    }

    private func watch(_ post: InboxPost) {
        let route = post.route
        var settings = route.watchSettings
        settings.name = post.key
        let watcher = InboxWatcher(
            settings, isDone: isDone(post, route), onReady: { [core] in core.queue.add($0) },
            onNote: { [core] in core.tell(.note($0), post) })
        post.state.withLock { $0.watcher = watcher }
        watcher.start()
    }

    /// Whether a file that stays in its inbox needs nothing more.
    private func isDone(_ post: InboxPost, _ route: MillRoute) -> @Sendable (BytePath, Sighting) -> Bool {
        guard route.inbox.settings.originals == .keep else { return { _, _ in false } }
        return { [core] path, sighting in
            // Where the ledger cannot be read now, nothing is offered: it might be done twice.
            do throws(LedgerError) {
                return try core.ledger.kept(inbox: post.path, path: path)?.covers(ObservedFile(sighting), recipe: route.recipe) ?? false
            } catch {
                return true
            }
        }
    }

    // MARK: - Reload and retry

    /// Puts another configuration to work; what runs goes on with the one that it began with. Waits.
    /// - Returns: sentences about what takes effect at the next start only.
    /// - Throws: `MillProblems` or `Diagnostics` where it is refused, and everything stays as it is.
    package func reload(_ new: LoadedMill) throws -> [String] {
        let old = loaded.withLock { $0 }
        guard new.state == old.state else {
            throw MillProblems(
                mistakes: [], refusals: ["'state' cannot change while the program runs; restart it to move to '\(new.state.printable)'"])
        }
        let routes = new.inboxes.map { route($0, new) }
        let maker = RenditionMaker(core.workers, cancellation: core.cancellation)
        for route in routes { try maker.prepare(route.render) }
        try reloads.withLock { _ in try apply(new, routes) }
        var notes: [String] = []
        if new.file.workers != old.file.workers { notes.append("'workers' takes effect at the next start") }
        if new.limits.maximumMemory != old.limits.maximumMemory { notes.append("'max-memory' takes effect at the next start") }
        return notes
    }

    private func apply(_ new: LoadedMill, _ routes: [MillRoute]) throws {
        loaded.withLock { $0 = new }
        core.state.withLock { $0.inboxes = Set(routes.map(\.inbox.path)) }
        for post in core.posts where !routes.contains(where: { $0.inbox.path == post.path }) { leave(post) }
        for route in routes {
            if let post = core.postThatStays(route.inbox.path.percentEncoded) { change(post, to: route) } else { try add(route) }
        }
    }

    private func leave(_ post: InboxPost) {
        post.state.withLock { state in
            state.isLeaving = true
            state.watcher?.stop()
        }
    }

    private func change(_ post: InboxPost, to route: MillRoute) {
        let watcher = post.state.withLock { state in
            // Its folders have the inbox' name.
            if state.route.inbox.settings.name != route.inbox.settings.name { state.place = nil }
            if state.route.inbox.outbox != route.inbox.outbox { state.outboxWasMount = false }
            state.route = route
            return state.watcher
        }
        core.queue.setInbox(post.key, priority: route.inbox.settings.priority)
        watcher?.stop()
        core.queue.removeOffers(of: post.key)
        watch(post)
    }

    /// Moves failed sources back to their inboxes. Waits.
    /// - Parameter names: absolute, or from the folder `failed/` of any inbox; nil for all that there are.
    /// - Returns: what was moved, and a sentence for each that was not.
    package func retry(_ names: [BytePath]?) -> (moved: [BytePath], problems: [String]) {
        MillRetry(posts: core.posts, ledger: core.ledger).run(names)
    }

    // MARK: - Status and end

    /// The flow is alive: the keeper goes round, and no lane is at one source for longer than any deadline allows.
    package func isAlive(now: Moment = .now) -> Bool {
        now < keeper.lastTurn + .seconds(30) && core.state.withLock { $0.lanes.values.allSatisfy { now < $0.since + .seconds(3600) } }
    }

    package var status: MillStatus {
        let posts = core.posts
        return core.state.withLock { state in
            MillStatus(
                inboxes: posts.map { $0.status(offered: core.queue.oldest(of: $0.key)) },
                running: state.lanes.sorted { $0.key < $1.key }.map(\.value), failures: state.failures,
                isDraining: state.isDraining, workers: core.laneCount, lostWorkers: state.lostWorkers, budget: core.memory.total,
                reserved: core.memory.reserved)
        }
    }

    /// Begins nothing more, and waits until what runs has ended, or was stopped after this time.
    package func drain(within time: Duration) {
        core.state.withLock { $0.isDraining = true }
        core.queue.close()
        let watchers = core.posts.compactMap { post in post.state.withLock { $0.watcher } }
        for watcher in watchers { watcher.stop() }
        runOnNewThread { [core] in
            usleep(useconds_t(clamping: time.inNanoseconds / 1000))
            core.cancellation.raise()
        }
        lanes.wait { $0 == 0 ? () : nil }
        keeper.stop()
    }
}
