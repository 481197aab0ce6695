// Where the claimed sources of one inbox stand: work/ while they are worked on, done/ and failed/ afterwards. All moves are renames.
import CLinux
import Glibc
package import Pipeline

/// A job that stands in work/, as a start finds it.
package struct StandingJob: Sendable, Equatable {
    package let id: JobID
    /// The path from the inbox, as it was noted beside the source; nil where the note is missing.
    package let relative: BytePath?
    /// nil where the job has no source: it was not claimed yet, or is put away already. Nothing is lost with such a job's folder.
    package let source: Sighting?

    package var isSet: Bool { source?.kind == .directory }
}

/// The folders of one inbox: `BASE/work/NAME`, `BASE/done/NAME` and `BASE/failed/NAME`, on one file system with the inbox.
package struct WorkPlace: Sendable {
    package enum Shelf: String, Sendable { case done, failed }

    package let base: BytePath
    /// The inbox' name.
    package let name: BytePath

    /// What a job's folder holds.
    static let source = BytePath("source")
    static let origin = BytePath("origin")
    static let copies = BytePath("private")

    package init(base: BytePath, name: String) {
        self.base = base
        self.name = BytePath(name)
    }

    init(base: BytePath, name: BytePath) {
        self.base = base
        self.name = name
    }

    package func path(_ shelf: Shelf) -> BytePath { base.appending(BytePath(shelf.rawValue)).appending(name) }
    package var work: BytePath { base.appending(BytePath("work")).appending(name) }
    package func folder(of job: JobID) -> BytePath { work.appending(job.path) }
    /// Where a claimed source stands; for a set, the folder.
    package func source(of job: JobID) -> BytePath { folder(of: job).appending(Self.source) }

    /// Makes the folders. What is in work/ is nobody else's business.
    package func make() throws(SystemError) {
        try FileSystem.makeDirectories(base)
        let folder = try Directory(base)
        _ = try folder.makingFolder(BytePath("work"), mode: 0o700).makingFolder(name, mode: 0o700)
        for shelf in [Shelf.done, .failed] { _ = try folder.makingFolder(BytePath(shelf.rawValue)).makingFolder(name) }
    }

    /// Holds the place against other processes until the result is let go.
    /// - Throws: EWOULDBLOCK where another one holds it.
    package func lock() throws(SystemError) -> OpenFile {
        let folder = try Directory(work)
        guard flock(folder.file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw SystemError("use '\(work.printable)': another imagemill works there")
        }
        return folder.file
    }

    /// The jobs that stand in work/, the oldest first. What is not ours there is passed over.
    package func standingJobs() throws(SystemError) -> [StandingJob] {
        guard try FileSystem.status(work) != nil else { return [] }
        let folder = try Directory(work)
        var jobs: [StandingJob] = []
        for name in try folder.names() {
            guard let id = JobID(name) else { continue }
            let inner = try folder.folder(BytePath(name))
            jobs.append(StandingJob(id: id, relative: readNote(in: inner), source: try inner.sighting(Self.source)))
        }
        return jobs.sorted { $0.id < $1.id }
    }

    // MARK: Putting away

    /// Moves a job's source to done/ or failed/, under its relative path or a version of it, and lets go of the job's folder. Never replaces anything.
    /// - Parameter syncs: whether the move must survive a loss of power when this returns. Who moves many can sync the folders afterwards.
    /// - Returns: where it stands now; nil where the job had no source any more.
    @discardableResult
    package func putAway(_ job: JobID, _ relative: BytePath, on shelf: Shelf, syncs: Bool = true) throws(SystemError) -> BytePath? {
        try move(job, relative, below: path(shelf), syncs: syncs) { name in
            switch shelf {
            case .done: nil
            // Its note must not replace a source of that name.
            case .failed: FailureNote.path(beside: name)
            }
        }
    }

    /// Moves a job's source back to the inbox, where it has to settle again: something is wrong with the moment, and not with the source.
    /// - Returns: its path in the inbox, which is a version of the old one where something new stands there.
    @discardableResult
    package func putBack(_ job: JobID, _ relative: BytePath, to inbox: BytePath) throws(SystemError) -> BytePath? {
        try move(job, relative, below: inbox, syncs: true) { _ in nil }
    }

    /// Deletes a job's source with the job's folder.
    package func delete(_ job: JobID) throws(SystemError) {
        let folder = try Directory(work)
        try folder.removeTree(job.path)
        try folder.sync()
    }

    /// Lets go of the folder of a job that has no source. Does nothing where it has one: a source is only ever moved or deleted by name.
    package func discard(_ job: JobID) throws(SystemError) {
        let folder = try Directory(work)
        guard try folder.sighting(job.path) != nil, try folder.folder(job.path).sighting(Self.source) == nil else { return }
        try folder.removeTree(job.path)
    }

    private func move(
        _ job: JobID, _ relative: BytePath, below root: BytePath, syncs: Bool, companion: (BytePath) -> BytePath?
    ) throws(SystemError) -> BytePath? {
        let jobs = try Directory(work)
        guard try jobs.sighting(job.path) != nil else { return nil }
        let from = try jobs.folder(job.path)
        guard try from.sighting(Self.source) != nil else {
            try discard(job)
            return nil
        }
        var (folder, path) = (try Directory(root), BytePath([]))
        for name in relative.components.dropLast() {
            let next = try VersionedName.folder(BytePath(name), in: folder)
            if syncs && next.isNew { try folder.sync() }
            (folder, path) = (next.folder, path.appending(next.name))
        }
        let name = try VersionedName.move(Self.source, from: from, to: folder, as: relative.lastComponent, companion: companion)
        if syncs { try folder.sync() }
        try discard(job)
        return path.appending(name)
    }

    // MARK: The note of the name

    /// Notes the path from the inbox beside the source, for the day on which the ledger is lost. A link holds it: it is made in one step and never followed.
    func writeNote(_ relative: BytePath, in folder: Directory) {
        // Where the file system has no links, the ledger has to do.
        _ = withPath(relative) { target in withPath(Self.origin) { symlinkat(target, folder.file.descriptor, $0) } }
    }

    private func readNote(in folder: Directory) -> BytePath? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let size = buffer.withUnsafeMutableBytes { bytes in
            withPath(Self.origin) {
                readlinkat(folder.file.descriptor, $0, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        return size > 0 ? BytePath(Array(buffer[..<size])) : nil
    }
}
