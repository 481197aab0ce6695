// The spool: where claimed sources live until they are done.
import Glibc
package import Pipeline
import Synchronization
package import System

/// The spool of one inbox: BASE/work/NAME, BASE/done/NAME and BASE/failed/NAME.
///
/// A job has a folder in work/, which holds its `source` once it is claimed. Whoever opens a source closes it before it
/// is settled: NFS keeps a removed file for as long as it is open, and the job's folder with it. For any thread; every
/// call may wait for the file system.
package final class Spool: Sendable {
    let inbox: BytePath
    let location: SpoolLocation
    let own: SpoolFolders
    let calls: NameCalls
    /// Held against other processes for as long as this object lives; nil below `state`, which has a lock of its own.
    private let lock: OpenFile?
    private let state = Mutex(State())

    private struct State {
        /// Where jobs are whose folders are not in `own`: an inbox may have had another name, or another location.
        var elsewhere: [JobID: SpoolFolders] = [:]
        /// The files that were handed out for rendering, as they were, by their paths from the set's folder (empty for
        /// a picture).
        var opened: [JobID: [BytePath: FileVersion]] = [:]
    }

    // The contents of a job's folder.
    static let source = BytePath("source")
    /// A link that holds the path from the inbox, in case the store is lost. It is made in one step and never followed.
    static let origin = BytePath("origin")
    /// The same for a source that stays in the inbox.
    static let copyOf = BytePath("copy-of")
    /// A mark that the source is a copy of a file on a mount below the inbox, which no rename could reach.
    static let copied = BytePath("copied")
    /// Copies of files that somebody may still write to.
    static let copies = BytePath("private")
    /// The remains of a set after its members were deleted: folders, and what NFS keeps.
    static let remains = BytePath("remains")
    /// A member that is about to be removed, out of reach of everybody else.
    static let doomed = BytePath("doomed")

    /// Makes the folders at the first candidate that a rename from the inbox reaches, and locks them unless they are
    /// below `state`.
    ///
    /// An earlier spool of the same inbox must be let go first: it holds the lock.
    /// - Parameter name: the inbox's name.
    /// - Throws: EWOULDBLOCK if another process holds the spool; EPERM if somebody else could put another folder in its
    ///   place; else what kept the last candidate from being used, or trouble that may pass.
    package convenience init(_ location: SpoolLocation, inbox: BytePath, name: String) throws(SystemError) {
        try self.init(location, inbox: inbox, name: name, calls: .system)
    }

    init(_ location: SpoolLocation, inbox: BytePath, name: String, calls: NameCalls) throws(SystemError) {
        (self.inbox, self.location, self.calls) = (inbox, location, calls)
        own = try Self.folders(location, inbox: inbox, name: BytePath(name), calls)
        lock = own.isShared ? try own.open(.work).openingLock(SpoolFolders.lock) : nil
        switch lock?.lock() {
        case .locked, nil: break
        case .taken:
            let reason = "another imagemill watch works there; stop one of the two, or give each an inbox of its own"
            throw SystemError("use '\(own.path(.work).printable)'", code: EWOULDBLOCK, because: reason)
        case .impossible(let code): throw SystemError("lock '\(own.path(.work).printable)'", code: code)
        }
    }

    package var base: BytePath { own.base }
    package func path(_ shelf: Shelf) -> BytePath { own.path(shelf) }
    /// Makes the folders again, if somebody has removed some.
    package func makeFolders() throws(SystemError) { try own.make() }

    package var failed: FailedFolder { FailedFolder(folder: path(.failed), inbox: inbox) }

    private static func folders(
        _ location: SpoolLocation, inbox: BytePath, name: BytePath, _ calls: NameCalls
    ) throws(SystemError) -> SpoolFolders {
        var last = SystemError("use '\(inbox.printable)'", code: EXDEV)
        for candidate in location.candidates.indices where location.mayReach(candidate) {
            let folders = location.folders(at: candidate, name: name)
            // Another candidate would only hide what is wrong with this one.
            if let refusal = try folders.refusal() { throw refusal }
            do throws(SystemError) {
                try folders.make()
                try tryMove(from: Directory(inbox), to: folders.open(.work), calls)
                return folders
            } catch {
                // The folders must not be elsewhere because of something that passes; and the state folder is ours.
                if error.mayPass || candidate == 0 && error.code != EXDEV { throw error }
                last = error
            }
        }
        throw last
    }

    /// Tries whether sources can be moved into the spool, and out of it without replacing anything.
    private static func tryMove(from inbox: Directory, to work: Directory, _ calls: NameCalls) throws(SystemError) {
        let name = BytePath(".imagemill-trial")
        // A crash between the lines below leaves it in one of the two.
        for folder in [inbox, work] { try? folder.remove(name) }
        _ = try inbox.making(name)
        do throws(SystemError) {
            try inbox.move(name, to: work, as: name, calls: calls)
            try work.remove(name)
        } catch {
            let canRename = (try? inbox.rename(name, to: work, as: name, calls: calls)) != nil
            for folder in [inbox, work] { try? folder.remove(name) }
            guard canRename else { throw error }
            throw SystemError(
                "move files in and out of the inbox", code: error.code,
                because: "its file system can neither refuse to replace a file nor make hard links")
        }
    }

    /// The folders in which a job's folder is.
    func folders(of id: JobID) -> SpoolFolders { state.withLock { $0.elsewhere[id] } ?? own }

    func noteOpened(_ files: [BytePath: FileVersion], of id: JobID) { state.withLock { $0.opened[id] = files } }
    func opened(_ id: JobID) -> [BytePath: FileVersion]? { state.withLock { $0.opened[id] } }

    func forget(_ id: JobID) {
        state.withLock { state in
            state.opened[id] = nil
            state.elsewhere[id] = nil
        }
    }

    func note(_ id: JobID, isIn folders: SpoolFolders) {
        state.withLock { $0.elsewhere[id] = folders == own ? nil : folders }
    }

    // MARK: - Letting go

    /// Removes the folder of a job that has no source. Does nothing if it has one, unless that is a copy of an original
    /// in the inbox. What is left in it and may be somebody's is moved to `done/` or beside the inbox's other files first.
    ///
    /// Files that NFS keeps because they are open stay, and the folder with them: call it again later.
    package func discard(_ id: JobID) throws(SystemError) {
        let work = try folders(of: id).open(.work)
        guard try work.status(id.path) != nil else { return forget(id) }
        let job = try work.folder(id.path)
        if try job.status(Self.source) != nil {
            guard try job.status(Self.copyOf) != nil else { return }
            try removeCopy(in: job)
        }
        try discard(id, in: job, of: work)
    }

    func discard(_ id: JobID, in job: Directory, of work: Directory) throws(SystemError) {
        if try job.status(Self.doomed) != nil {
            // A crash came while it was not yet certain that it was rendered.
            try recover(Self.doomed, of: id, from: job)
        }
        if try job.status(Self.remains) != nil, try !SetContents(of: job.folder(Self.remains), ignored: nil).isCleared {
            // Whoever dropped the set has put something into it since.
            try recover(Self.remains, of: id, from: job)
        }
        try returnCompanions(of: id, from: job)
        try work.removeTree(id.path)
        forget(id)
    }

    /// Moves something of which it is not known that it was rendered to `done/`.
    func recover(_ name: BytePath, of id: JobID, from job: Directory) throws(SystemError) {
        _ = try VersionedName(wish: BytePath("recovered-\(id.text)"), calls: calls).move(
            name, from: job, to: folders(of: id).open(.done))
    }

    /// Removes the copy of a source that stays in the inbox. The rename keeps a crash from leaving a part of it as the
    /// source.
    func removeCopy(in job: Directory) throws(SystemError) {
        // NFS may still keep something of an earlier copy.
        let isFree = try job.removeTree(Snapshot.part)
        let name = isFree ? Snapshot.part : BytePath("\(Snapshot.part.text)-\(DurableFile.newToken)")
        try job.rename(Self.source, to: job, as: name)
        try job.removeTree(name)
    }

    /// Removes temporary files (`.imagemill-PREFIX…`) that earlier starts have left beside the notes of these jobs.
    /// - Parameter present: the prefix of this start, whose files stay.
    package func removeLeftovers(of jobs: [Job], prefix: String, present: String) throws(SystemError) {
        let failed = try own.open(.failed)
        for path in Set(jobs.map(\.path.directory)) {
            guard let folder = try? failed.folder(path) else { continue }
            // A file that cannot be removed does no harm.
            try? folder.removeFiles(beginningWith: ".imagemill-\(prefix)", butNot: ".imagemill-\(present)")
        }
    }
}
