// Failed sources go back to their inboxes: `imagemill retry`.
import Glibc
import Pipeline
import Synchronization
import System

/// Moves failed sources back, each inbox on a thread of its own, so that one that hangs keeps no other waiting.
package struct Retry {
    private let controllers: [InboxController]
    private let tell: @Sendable (Count) -> Void
    private let patience: Duration

    /// How far it has come.
    package struct Count: Codable, Equatable, Sendable {
        /// Sources that are to be moved, as far as they are known.
        package var wanted = 0
        package var moved = 0
        package var refused = 0

        package init() {}
    }

    private struct Progress {
        var count = Count()
        var moved: [BytePath] = []
        var problems: [String] = []
        /// The names that are in some folder failed/.
        var found: Set<BytePath> = []
        /// The inboxes that are not through.
        var waiting: Set<String>
        /// Why nothing can be moved back in these inboxes.
        var closed: [String: String] = [:]
        /// When a source was last found, moved or refused.
        var lastSign = Moment.now
    }

    /// - Parameters:
    ///   - patience: how long inboxes that show no progress are waited for.
    ///   - tell: hears how far it has come, after each source.
    init(
        _ controllers: [InboxController], patience: Duration = .seconds(10), tell: @escaping @Sendable (Count) -> Void
    ) {
        (self.controllers, self.patience, self.tell) = (controllers, patience, tell)
    }

    /// - Parameter names: absolute, or from the folder `failed/` of any inbox, with the inbox's name before it or
    ///   without; nil for all that there are.
    func run(_ names: [BytePath]?) -> (moved: [BytePath], problems: [String]) {
        let progress = Monitor(Progress(waiting: Set(controllers.map(\.name))))
        for controller in controllers {
            runOnNewThread { [self] in
                run(names, in: controller, progress)
                progress.change { _ = $0.waiting.remove(controller.name) }
            }
        }
        let end = progress.look { progress -> Monitor<Progress>.Look<Progress> in
            let end = progress.lastSign + patience
            return progress.waiting.isEmpty || .now >= end ? .ready(progress) : .wait(until: end)
        }
        let unknown = (names ?? []).filter { !end.found.contains($0) }.map {
            "there is no '\($0.printable)' in any folder failed/"
        }
        // Names that were found cannot be in another inbox.
        guard names == nil || !unknown.isEmpty else { return (end.moved, end.problems) }
        let closed = end.closed.sorted { $0.key < $1.key }.map {
            "what the inbox '\($0.key)' has in failed/ stays: \($0.value)"
        }
        let silent = end.waiting.sorted().map {
            "the inbox '\($0)' does not answer; what it has in failed/ may move when it does"
        }
        return (end.moved, unknown + end.problems + closed + silent)
    }

    private func run(_ names: [BytePath]?, in controller: InboxController, _ progress: Monitor<Progress>) {
        guard let folder = controller.spool?.failed else {
            let reason = controller.currentPause?.message ?? "it is not ready yet"
            return progress.change { $0.closed[controller.name] = reason }
        }
        let wanted = Self.wanted(names, in: folder, of: controller, progress)
        progress.change { $0.count.wanted += wanted.count }
        for source in wanted {
            do {
                let kept = controller.state.withLock { $0.kept }
                let path = try folder.giveBack(source, kept: kept) { try controller.forgetKept($0) }
                progress.change { progress in
                    progress.moved.append(controller.path.appending(path))
                    progress.count.moved += 1
                }
                controller.state.withLock { $0.watcher }?.hasten(path)
            } catch {
                progress.change { progress in
                    progress.problems.append("\(error)")
                    progress.count.refused += 1
                }
            }
            let count = progress.change { progress in
                progress.lastSign = .now
                return progress.count
            }
            tell(count)
        }
        controller.state.withLock { $0.watcher }?.rescan()
    }

    private static func wanted(
        _ names: [BytePath]?, in folder: FailedFolder, of controller: InboxController, _ progress: Monitor<Progress>
    ) -> [BytePath] {
        guard let names else {
            do throws(SystemError) {
                let contents = try folder.contents { progress.note { $0.lastSign = .now } }
                progress.change { $0.problems += contents.troubles.map(\.description) }
                return contents.sources
            } catch {
                progress.change { $0.problems.append("\(error)") }
                return []
            }
        }
        var (wanted, known): ([BytePath], Set<BytePath>) = ([], [])
        for name in names {
            let path = folder.path(of: name) ?? rest(of: name, after: controller.name).flatMap(folder.path)
            guard let path else { continue }
            progress.change { _ = $0.found.insert(name) }
            // A shell completes names and patterns with those of notes too.
            let source = folder.source(ofNote: path) ?? path
            if known.insert(source).inserted { wanted.append(source) }
        }
        return wanted
    }

    /// `a.jpg` for `family/a.jpg` in the inbox `family`; nil for a name that does not begin so.
    private static func rest(of name: BytePath, after inbox: String) -> BytePath? {
        let beginning = BytePath(inbox)
        return name != beginning && name.isAtOrBelow(beginning) ? name.relative(below: beginning) : nil
    }
}

extension InboxController {
    /// An original that stays in the inbox is to be done again.
    func forgetKept(_ path: BytePath) throws {
        try shared.store.forgetKept(inbox: name, paths: [path])
        state.withLock { $0.kept[path] = nil }
    }
}
