// The rights that a user lacks in the folders of a mill, so that `watch` could not start, or would pause at once.
import Glibc
package import Pipeline
import System

extension LoadedMill {
    /// The rights that this process's user lacks, a sentence each. Nothing is written, so a full disk, for instance, is
    /// not found. Waits for the file systems of all folders.
    /// - Parameter isMadeByOthers: whether a folder that is missing is made by the service manager at the start.
    package func missingRights(isMadeByOthers: (_ folder: BytePath) -> Bool = { _ in false }) -> [String] {
        var look = RightsLook()
        func ownFolder(_ what: String, _ path: BytePath) {
            if FileSystem.isAbsent(path), isMadeByOthers(path) { return }
            look.folder(what, path, makesAllAbove: true)
        }
        ownFolder("the state folder", state)
        let ledger = LedgerFile.name
        for name in [BytePath("lock"), ledger, BytePath(ledger.bytes + Array("-wal".utf8)), BytePath("identity")] {
            look.existing("the file", state.appending(name))
        }
        for inbox in inboxes {
            // The inbox itself says when it is missing.
            look.existing("the inbox", inbox.path)
            look.folder("the outbox", inbox.outbox, makesAllAbove: false)
            guard let base = inbox.spool.predicted else { continue }
            for shelf in Shelf.allCases {
                let folder = base.appending(BytePath(shelf.rawValue))
                look.existing("the folder", folder)
                look.existing("the folder", folder.appending(BytePath(inbox.settings.name)))
            }
        }
        if let cache { ownFolder("the cache", cache.folder) }
        return look.missing
    }
}

/// Looks at the rights of this process's user.
private struct RightsLook {
    private(set) var missing: [String] = []

    /// A folder, or the nearest one above it, in which it is to be made.
    /// - Parameter makesAllAbove: the folders above are made too; otherwise the one above must be there.
    mutating func folder(_ what: String, _ path: BytePath, makesAllAbove: Bool) {
        guard FileSystem.isAbsent(path) else { return look("\(what) '\(path.printable)'", path) }
        var above = DurableFile.folder(of: path)
        while makesAllAbove, FileSystem.isAbsent(above), above.directory != above {
            above = DurableFile.folder(of: above)
        }
        if FileSystem.isAbsent(above) {
            add(
                "\(what) '\(path.printable)' is missing, and so is the folder above it; make it with mkdir -p, or mount it"
            )
        } else {
            look("'\(above.printable)', where \(what) '\(path.printable)' is to be made", above)
        }
    }

    /// Looks at a path if something is there.
    mutating func existing(_ what: String, _ path: BytePath) {
        if !FileSystem.isAbsent(path) { look("\(what) '\(path.printable)'", path) }
    }

    private mutating func look(_ title: String, _ path: BytePath) {
        let isFolder = (try? FileSystem.status(path))??.kind == .directory
        let rights = [("read", R_OK), ("write to", W_OK)] + (isFolder ? [("search", X_OK)] : [])
        var (lacking, code): ([String], CInt) = ([], 0)
        for (name, bit) in rights where withPath(path, { faccessat(AT_FDCWD, $0, bit, AT_EACCESS) }) != 0 {
            code = errno
            lacking.append(name)
        }
        guard !lacking.isEmpty else { return }
        add(
            "\(ThisUser.title) may not \(lacking.joined(separator: " or ")) \(title): \(SystemError("", code: code).reason)"
        )
    }

    private mutating func add(_ sentence: String) { if !missing.contains(sentence) { missing.append(sentence) } }
}
