// Failed sources go back to their inboxes: `imagemill retry`.
import Glibc
import Pipeline
import Synchronization

struct Retry {
    private let controllers: [InboxController]

    init(_ controllers: [InboxController]) { self.controllers = controllers }

    /// - Parameter names: absolute, or from the folder `failed/` of any inbox, with the inbox's name before it or
    ///   without; nil for all that there are.
    func run(_ names: [BytePath]?) -> (moved: [BytePath], problems: [String]) {
        var moved: [BytePath] = []
        var problems: [String] = []
        for (controller, folder, source) in wanted(names, &problems) {
            do {
                let kept = controller.state.withLock { $0.kept }
                moved.append(
                    controller.path.appending(try folder.giveBack(source, kept: kept) { try controller.forgetKept($0) })
                )
            } catch {
                problems.append("\(error)")
            }
        }
        for controller in controllers { controller.state.withLock { $0.watcher }?.rescan() }
        return (moved, problems)
    }

    private func wanted(_ names: [BytePath]?, _ problems: inout [String]) -> [(InboxController, FailedFolder, BytePath)]
    {
        let folders = controllers.compactMap { controller in
            controller.spool.map { (controller, $0.failed) }
        }
        guard let names else {
            return folders.flatMap { controller, folder in
                ((try? folder.sources()) ?? []).map { (controller, folder, $0) }
            }
        }
        return names.flatMap { name -> [(InboxController, FailedFolder, BytePath)] in
            let found = folders.compactMap { controller, folder in
                (folder.path(of: name) ?? Self.rest(of: name, after: controller.name).flatMap(folder.path)).map {
                    (controller, folder, $0)
                }
            }
            if found.isEmpty { problems.append("there is no '\(name.printable)' in any folder failed/") }
            return found
        }
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
