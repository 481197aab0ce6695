// Temporary files whose removal failed, and is tried again.
package import Pipeline
import Synchronization

/// Names that a folder did not let go of: an outbox may refuse every change for a while. They are removed once it no
/// longer does. What an ended program has left is found by the next start.
package enum Leftovers {
    private struct Name {
        let name: BytePath
        let folder: Directory
        var attempts = 0
    }

    /// Each keeps a folder open.
    private static let limit = 100
    /// About an hour of turns. Then its folder is let go, so that it can be unmounted.
    private static let mostAttempts = 60
    private static let names = Mutex<[Name]>([])

    /// Removes a file, now or as soon as that is possible.
    package static func remove(_ name: BytePath, in folder: Directory) { remove(Name(name: name, folder: folder)) }

    /// Retries the removals that failed. May hang with a file system; a call meanwhile retries what came since.
    package static func removeAll() {
        let found = names.withLock { names in
            defer { names = [] }
            return names
        }
        for name in found { remove(name) }
    }

    private static func remove(_ name: Name) {
        do throws(SystemError) {
            try name.folder.remove(name.name)
        } catch {
            guard !error.isAbsence, name.attempts < mostAttempts else { return }
            var name = name
            name.attempts += 1
            names.withLock { if $0.count < limit { $0.append(name) } }
        }
    }
}
