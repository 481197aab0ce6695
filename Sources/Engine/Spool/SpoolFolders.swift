// The folders of a spool: BASE/work/NAME, BASE/done/NAME and BASE/failed/NAME.
import Glibc
import Pipeline
import System

/// A folder of the spool that the user may look into, or the one of the jobs.
package enum Shelf: String, CaseIterable, Sendable { case work, done, failed }

/// The folders of one inbox below one base. They are opened anew for each step: a file system that is not in use can be
/// unmounted.
struct SpoolFolders: Hashable, Sendable {
    let base: BytePath
    /// The inbox's name.
    let name: BytePath
    /// The base is in a folder in which others may make things: it has to be the service's own, and no link.
    let isShared: Bool

    /// The file that holds the lock, in the folder of the jobs.
    static let lock = BytePath("lock")

    func path(_ shelf: Shelf) -> BytePath { base.appending(BytePath(shelf.rawValue)).appending(name) }

    func open(_ shelf: Shelf) throws(SystemError) -> Directory {
        try openBase().folder(BytePath(shelf.rawValue)).folder(name)
    }

    /// The folder of a job; nil if it has none.
    func job(_ id: JobID) throws(SystemError) -> Directory? {
        let work = try open(.work)
        return try work.status(id.path) == nil ? nil : try work.folder(id.path)
    }

    /// Makes the folders that are missing. Only the service itself can look into work/, and only it can rename what is
    /// in the base.
    func make() throws(SystemError) {
        if isShared {
            _ = try parent().makingFolder(base.lastComponent, mode: 0o755)
        } else {
            try FileSystem.makeDirectories(base)
        }
        let folder = try openBase()
        _ = try folder.makingFolder(BytePath(Shelf.work.rawValue), mode: 0o700).makingFolder(name, mode: 0o700)
        for shelf in [Shelf.done, .failed] {
            _ = try folder.makingFolder(BytePath(shelf.rawValue), mode: 0o755).makingFolder(name)
        }
    }

    private func parent() throws(SystemError) -> Directory { try Directory(DurableFile.folder(of: base)) }

    private func openBase() throws(SystemError) -> Directory {
        guard isShared else { return try Directory(base) }
        if let refusal = try refusal() { throw refusal }
        let folder = try parent().folder(base.lastComponent)
        guard try folder.file.status().owner == geteuid() else { throw othersBase }
        return folder
    }

    /// Why the base cannot be trusted: who owns it, or may put another one in its place, could exchange sources while
    /// they are worked on.
    /// - Returns: nil if it can be, or is not there yet.
    func refusal() throws(SystemError) -> SystemError? {
        guard isShared else { return nil }
        let parent = try parent()
        if let folder = try parent.status(base.lastComponent) {
            guard folder.kind == .directory, folder.owner == geteuid() else { return othersBase }
        }
        var above = stat()
        guard fstat(parent.file.descriptor, &above) == 0 else {
            throw SystemError("examine '\(base.directory.printable)'")
        }
        let groupMay = above.st_mode & 0o020 != 0 && above.st_gid != getegid()
        if (groupMay || above.st_mode & 0o002 != 0) && above.st_mode & S_ISVTX == 0 {
            let folder = DurableFile.folder(of: base).printable
            return SystemError(
                "keep sources in '\(base.printable)'", code: EPERM,
                because:
                    "others may put another folder in its place; set the sticky bit of the folder above it: chmod +t '\(folder)'"
            )
        }
        return nil
    }

    private var othersBase: SystemError {
        SystemError(
            "keep sources in '\(base.printable)'", code: EPERM,
            because: "it is a link, or belongs to somebody else; remove it")
    }
}
