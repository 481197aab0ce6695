// Temporary files that could not be removed, or not get their names again, which is tried once more.
import Glibc
package import Pipeline
import Synchronization

/// Names that a folder did not let go of: an outbox may refuse every change for a while. They are removed once it no
/// longer does. What an ended program has left is found by the next start.
package enum Leftovers {
    private struct Name {
        let name: BytePath
        let folder: Directory
        /// The name that it gets again if nothing has that by then; nil if it is to be removed.
        var former: BytePath?
        var attempts = 0
    }

    /// Each keeps a folder open.
    private static let limit = 100
    /// About an hour of turns. Then its folder is let go, so that it can be unmounted.
    private static let mostAttempts = 60
    private static let names = Mutex<[Name]>([])

    /// Removes a file, or a folder with all that is in it, now or as soon as that is possible.
    package static func remove(_ name: BytePath, in folder: Directory) { remove(Name(name: name, folder: folder)) }

    /// Gives a file its former name again, now or as soon as that is possible. It is removed if something else has that
    /// name by then.
    package static func putBack(_ name: BytePath, as former: BytePath, in folder: Directory) {
        remove(Name(name: name, folder: folder, former: former))
    }

    /// Retries what failed. May hang with a file system; a call meanwhile retries what came since.
    package static func removeAll() {
        let found = names.withLock { names in
            defer { names = [] }
            return names
        }
        for name in found { remove(name) }
    }

    private static func remove(_ name: Name) {
        do throws(SystemError) {
            if let former = name.former {
                try giveBack(name.name, as: former, in: name.folder)
            } else {
                try name.folder.removeWhatever(name.name)
            }
        } catch {
            // Some file systems say for a moment that nothing is there.
            let isGone = error.isAbsence && (try? name.folder.status(name.name)) == nil
            guard !isGone, name.attempts < mostAttempts else { return }
            var name = name
            name.attempts += 1
            names.withLock { if $0.count < limit { $0.append(name) } }
        }
    }

    private static func giveBack(_ name: BytePath, as former: BytePath, in folder: Directory) throws(SystemError) {
        do throws(SystemError) {
            try folder.move(name, to: folder, as: former)
        } catch {
            guard error.code == EEXIST else { throw error }
            try folder.removeWhatever(name)
        }
    }
}
