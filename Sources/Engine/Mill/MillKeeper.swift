// Looks after the inboxes: makes their folders, brings back what waits, ends pauses when the reason is gone, and tidies up.
import Glibc
import Pipeline
import Synchronization

/// The keeper of a drop folder, with a thread of its own. An inbox that needs care gets it on another thread, so that a file system that
/// hangs keeps nobody else waiting.
final class MillKeeper: Sendable {
    private let core: MillCore
    /// The state folder.
    private let folder: BytePath
    private let state = Monitor(State())

    private struct State {
        var isStopping = false
        var hasEnded = false
        var lastTurn = Moment.now
    }

    private static let turn = Duration.milliseconds(250)
    private static let rounds = Duration.seconds(2)
    private static let prunes = Duration.seconds(600)
    /// Rows of ended jobs that are kept.
    private static let keptRows = 100_000

    init(_ core: MillCore, state: BytePath) {
        self.core = core
        folder = state
    }

    var lastTurn: Moment { state.change { $0.lastTurn } }

    func start() { runOnNewThread { [self] in keep() } }

    /// Waits until the thread has ended.
    func stop() {
        state.change { $0.isStopping = true }
        state.wait { $0.hasEnded ? () : nil }
    }

    private func keep() {
        var (nextRound, nextPrune) = (Moment.now, Moment.now + Self.prunes)
        while !state.change({ $0.isStopping }) {
            let now = Moment.now
            for post in core.posts { for job in post.takeDue(at: now) { core.queue.add(job, to: post.key) } }
            if now >= nextRound {
                for post in core.posts where post.needsCare { care(for: post) }
                nextRound = .now + Self.rounds
            }
            if now >= nextPrune {
                _ = try? core.ledger.prune(keeping: Self.keptRows)
                nextPrune = .now + Self.prunes
            }
            state.change { $0.lastTurn = .now }
            usleep(useconds_t(Self.turn.inNanoseconds / 1000))
        }
        state.change { $0.hasEnded = true }
    }

    // MARK: - One inbox

    private func care(for post: InboxPost) {
        runOnNewThread { [self] in
            // Where the last look still hangs, this one is not needed.
            _ = post.upkeep.withLockIfAvailable { _ in look(at: post) }
        }
    }

    /// Makes an inbox' folders where it is there, and takes up what stands in them.
    func settle(_ post: InboxPost) { post.upkeep.withLock { _ in _ = makeFolders(post) } }

    private func look(at post: InboxPost) {
        let (place, pause, watching, until) = post.state.withLock { ($0.place, $0.pause, $0.watcher?.status, $0.restsUntil) }
        let (isPaused, isThere) = (pause != nil, watching?.pause == nil)
        // Its folders may have gone with a share that another one has replaced, or with somebody who tidied up.
        if let place, isPaused, isThere { try? place.make() }
        let canGoOn = !isPaused || .now >= until && trouble(post, place) == nil
        // Without its folders it does not go on.
        let hasFolders = canGoOn && (place != nil || !isThere || makeFolders(post))
        if isPaused && hasFolders { core.resume(post) }
        core.removeIfOver(post)
    }

    /// - Returns: false where that failed, and the inbox rests.
    private func makeFolders(_ post: InboxPost) -> Bool {
        let inbox = post.route.inbox
        guard (try? FileSystem.status(post.path))??.kind == .directory else { return true }
        // It may be the same place as before.
        post.state.withLock { $0.lock = nil }
        do {
            let place = try inbox.base.make(for: inbox.settings.name)
            // A folder that is held open keeps its file system from being unmounted.
            let lock = place.base == inbox.base.candidates[0] || place.base.isAtOrBelow(post.path) ? nil : try place.lock()
            let others = core.state.withLock { $0.inboxes }.subtracting([post.path])
            try MillRecovery(core, post, place, others: others).run()
            post.state.withLock { ($0.place, $0.lock) = (place, lock) }
            return true
        } catch {
            core.rest(post, pause(for: error))
            return false
        }
    }

    private func pause(for error: any Error) -> InboxPause {
        switch error {
        case let error as SystemError: InboxPause(error, missing: .missingInbox)
        case let error as LedgerError: InboxPause(error.pauseReason, error.description)
        default: InboxPause(.ioError, "\(error)")
        }
    }

    /// Why an inbox still cannot go on.
    private func trouble(_ post: InboxPost, _ place: WorkPlace?) -> PauseReason? {
        if let pause = post.outboxPause { return pause.reason }
        if let reason = OutboxProbe.trouble(post.route.inbox.outbox) ?? OutboxProbe.trouble(folder) { return reason }
        // What is in the way of its folders shows when they are made.
        guard let place else { return nil }
        return [place.work, place.path(.done), place.path(.failed)].lazy.compactMap(OutboxProbe.trouble).first
    }
}
