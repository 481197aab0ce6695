// Temporary files that could not be removed when nobody needed them any longer.
import Pipeline
import Synchronization

/// Names that a folder did not let go of: an outbox may refuse every change for a while. They are removed once it no
/// longer does. What an ended program has left is found by the next start.
enum Leftovers {
    /// Each keeps a folder open.
    private static let limit = 100
    private static let names = Mutex<[(name: BytePath, folder: Directory)]>([])

    /// Removes a file, now or as soon as that is possible.
    static func remove(_ name: BytePath, in folder: Directory) {
        do throws(SystemError) {
            try folder.remove(name)
        } catch {
            guard !error.isAbsence else { return }
            names.withLock { if $0.count < limit { $0.append((name, folder)) } }
        }
    }

    /// Tries again what was in vain. A file system that hangs keeps nobody else waiting who calls this.
    static func removeAll() {
        let found = names.withLock { names in
            defer { names = [] }
            return names
        }
        for (name, folder) in found { remove(name, in: folder) }
    }
}
