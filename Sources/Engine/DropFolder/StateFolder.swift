// The state folder while the drop folder works: it can be moved, deleted or replaced under its feet.
import Glibc
import Pipeline
import Synchronization
import System

/// The state folder as it was at the start, with the ledger in it. For any thread.
final class StateFolder: Sendable {
    let path: BytePath
    // Both stay open: some file systems give a file another inode number once nobody has it open.
    private let folder: Directory
    private let ledger: OpenFile?
    private let state = Mutex(State())

    private struct State {
        var pause: Pause?
        var isLooking = false
    }

    /// - Parameter path: the folder, with an open ledger in it.
    init(_ path: BytePath) throws(SystemError) {
        self.path = path
        folder = try Directory(path)
        ledger = try folder.pinned(LedgerFile.name)
    }

    /// Why nothing may be begun, as of the last look; nil if the folder was as it was.
    var pause: Pause? { state.withLock { $0.pause } }

    /// Looks on a thread of its own, unless the last look is not over: its file system may hang.
    /// - Parameter changed: hears of trouble that has begun, and nil when it has ended.
    func lookInBackground(_ changed: @escaping @Sendable (Pause?) -> Void) {
        let isFree = state.withLock { state in
            defer { state.isLooking = true }
            return !state.isLooking
        }
        guard isFree else { return }
        let isStarted = startThread { [self] in
            let before = pause
            let now = look()
            state.withLock { $0.isLooking = false }
            if (now == nil) != (before == nil) { changed(now) }
        }
        if !isStarted { state.withLock { $0.isLooking = false } }
    }

    /// Looks whether the folder is as it was. Waits for its file system.
    @discardableResult
    func look() -> Pause? {
        let found = trouble
        state.withLock { $0.pause = found }
        return found
    }

    /// An error of the file system is no answer: it shows where the folder is used.
    private var trouble: Pause? {
        let file = path.appending(LedgerFile.name)
        do throws(SystemError) {
            guard let now = try FileSystem.status(path) else {
                return Pause(
                    .missingState,
                    "the state folder '\(path.printable)' is gone, with the ledger; put it back, and the work goes on. A restart without it "
                        + "begins anew: what was queued, and which names belong to which source, is not known then")
            }
            guard try now.identity == folder.identity else {
                return Pause(
                    .missingState,
                    "another folder is at '\(path.printable)' than the state folder with the ledger; put that one back, and the work goes on"
                )
            }
            guard let ledger, try FileSystem.status(file)?.identity != ledger.status().identity else { return nil }
            return Pause(
                .missingState,
                "the ledger '\(file.printable)' was removed or replaced; put it back, and the work goes on, or restart to work with what is there"
            )
        } catch {
            return nil
        }
    }
}
