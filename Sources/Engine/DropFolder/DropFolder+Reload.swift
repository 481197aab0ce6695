// A reload: another configuration is put to work while the drop folder runs.
import Glibc
import Pipeline
import Synchronization
import System

extension DropFolder {
    /// Puts another configuration to work; what runs goes on with the one that it began with. Waits, but for no file
    /// system that hangs.
    /// - Parameter load: reads the configuration, with a deadline; called when no other reload is under way, so that the
    ///   newest text wins.
    /// - Returns: sentences about what takes effect at the next start only.
    /// - Throws: what `load` throws, `MillProblems` or `Diagnostics` if it is refused, and everything stays as it is.
    package func reload(_ load: () throws -> LoadedMill) throws -> (mill: LoadedMill, notes: [String]) {
        try reloads.withLock { _ in
            var new = try load()
            let old = loaded.withLock { $0 }
            guard new.state == old.state else {
                throw MillProblems(
                    mistakes: [],
                    refusals: [
                        "'state' cannot change while the program runs; restart it to move to '\(new.state.printable)'"
                    ])
            }
            try refuseNewNames(in: new)
            try new.takePlaces(of: old)
            let cache = cache(for: new)
            let routes = new.inboxes.map { ($0, route(for: $0, of: new, cache: cache)) }
            let worker = WorkerLoan(workers, cancellation: cancellation)
            try worker.prepare(routes.map(\.1.render))
            worker.giveBack()
            try apply(new, routes)
            memory.set(total: new.limits.maximumMemory)
            state.withLock { $0.cache = cache }
            let bound = new.cache?.bound ?? SharedCache.usualBound
            // Removes what is too much, which may take long.
            runOnNewThread { cache?.set(bound: bound) }
            var notes: [String] = []
            if new.file.workers != old.file.workers { notes.append("'workers' takes effect at the next start") }
            return (new, notes)
        }
    }

    /// Jobs, events and originals are recorded under the inbox's name, which running lanes and hooks use.
    private func refuseNewNames(in new: LoadedMill) throws {
        let names = new.namesByPath
        let refusals = controllers.compactMap { controller -> String? in
            guard let name = names[controller.path], name != controller.name else { return nil }
            return
                "the inbox '\(controller.path.printable)' is '\(controller.name)' and would be '\(name)', and names cannot change while the program runs; give it 'name: \(controller.name)', or restart"
        }
        guard refusals.isEmpty else { throw MillProblems(mistakes: [], refusals: refusals) }
    }

    private func apply(_ new: LoadedMill, _ routes: [(LoadedMill.Inbox, Route)]) throws {
        guard let running = running.withLock({ $0 }) else { return }
        try store.record(inboxes: new.namesByPath, running: Set(controllers.map(\.name)))
        // Those that stay know it. One that is about to leave may be gone when its turn comes.
        let staying = Set(controllers.filter { !$0.state.withLock { $0.isLeaving } }.map(\.name))
        var known: [String: KnownInbox] = [:]
        for (inbox, _) in routes where !staying.contains(inbox.settings.name) {
            known[inbox.settings.name] = try self.known(inbox)
        }
        policies.set(new)
        loaded.withLock { $0 = new }
        for controller in controllers where !routes.contains(where: { $0.0.settings.name == controller.name }) {
            leave(controller)
        }
        var added: [Background<Void>] = []
        for (inbox, route) in routes {
            if let controller = controllerThatStays(inbox) {
                change(controller, to: inbox, through: route, running: running)
            } else if let known = known[inbox.settings.name] {
                add(inbox, known, through: route, running: running).map { added.append($0) }
            }
        }
        wait(for: added)
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
            // Nothing is named before it is known where its outbox is.
            if state.inbox.path != inbox.path || inbox.places == nil { state.spool = nil }
            // It would be in the way of a lock on the folder above.
            if state.inbox.path != inbox.path { state.lock = nil }
            if state.inbox.outbox != inbox.outbox {
                state.outboxWasMount = false
                // Looks at the old outbox say nothing of the new one.
                state.answers = AnswerState()
            }
            state.inbox = inbox
            state.route = route
            return state.watcher
        }
        running.dispatcher.set(controller.name, weight: inbox.settings.priority, recipe: route.recipe)
        watcher?.stop()
        watch(controller)
    }

    /// Lets go of an inbox that leaves, once all that it has begun is over.
    func removeIfIdle(_ controller: InboxController) {
        let dispatcher = running.withLock { $0 }?.dispatcher
        guard controller.state.withLock({ $0.isLeaving }) else { return }
        // Those in its spool that wait may belong to an inbox of another name by now.
        let wasRenamed =
            controller.state.withLock { !$0.inSpool.isEmpty }
            && (try? store.counts()).map { ($0[controller.name]?.begun ?? 0) == 0 } == true
        // Under one lock with the controller, so that an inbox that is added again meanwhile keeps its turns.
        state.withLock { state in
            let isIdle = controller.state.withLock { state in
                state.isLeaving && state.deferred.isEmpty && (wasRenamed || state.inSpool.isEmpty)
            }
            guard isIdle, state.controllers[controller.name] === controller,
                dispatcher?.removeIfIdle(controller.name) != false
            else { return }
            state.controllers[controller.name] = nil
            state.formerHooks[controller.name] = controller.inbox.hooks
        }
    }
}
