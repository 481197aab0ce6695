// The removal of what an inbox no longer needs: leftovers, old originals, notes without a source, and records of
// originals that are gone.
import Pipeline
import Synchronization
import System

extension InboxController {
    /// Removes what earlier starts have left in folders of the outbox, once in each. A start that takes a job up does so
    /// too, but the outbox may have refused that, and the job is done by now.
    func sweep(_ folders: Set<BytePath>, _ swept: inout Set<BytePath>) {
        let outbox = Outbox(path: inbox.outbox, of: .dropFolder)
        for folder in folders.subtracting(swept)
        where outbox.removeLeftovers(in: folder, prefix: shared.prefix, present: shared.owner) {
            if swept.count >= Self.mostSwept { swept = [] }
            swept.insert(folder)
        }
    }

    private static let mostSwept = 100_000

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
