// The jobs of an earlier start, as the next start finds them.
import Glibc
package import Pipeline
package import System

/// A job that has a folder in work/.
package struct SpoolEntry: Equatable, Sendable {
    package let id: JobID
    /// The path from the inbox, as it was noted beside the source; nil if the note is missing.
    package let path: BytePath?
    /// nil if the job has no source: it was not claimed yet, or has left. For a set, with the digest of its members.
    package let source: FileStatus?
    /// The source is a copy of one that stays in the inbox: `discard` may remove it.
    package let isCopy: Bool

    package var isSet: Bool { source?.kind == .directory }
}

extension Spool {
    /// Where the source of a job is. Looks for the job's folder also below other candidates and other names: the inbox
    /// may have had another one.
    /// - Parameter former: where spools of this inbox may be besides, because it had another path.
    /// - Throws: what keeps it from being found out, such as an inbox that is missing.
    package func place(of job: Job, inbox: BytePath, former: [SpoolLocation] = []) throws(SystemError) -> SourcePlace {
        let (found, trouble) = try find(job.id, [location] + former)
        if let found {
            note(job.id, isIn: found)
            if let folder = try found.job(job.id), try isComplete(job, in: folder) {
                if let source = try folder.status(Self.source), try isCopied(source, job, in: folder) {
                    try? removeLeftOriginal(of: job, from: inbox)
                }
                return .spool
            }
        }
        // The original of a copy that has gone to `failed/` is still in the inbox.
        if job.keepsOriginal, job.progress.state == .rejected, try isPutAway(job) { return .nowhere }
        let root = try Directory(inbox)
        do throws(SystemError) {
            if let found = try root.folder(job.path.directory).status(job.path.lastComponent), isClaim(found, of: job) {
                return .inbox
            }
        } catch {
            guard error.isAbsence else { throw error }
        }
        // It may be if nothing could be found out. What was only offered is not in a spool.
        if let trouble, job.progress.state != .offered { throw trouble }
        return .nowhere
    }

    /// - Returns: also what kept a place from being looked into that is not this spool's own.
    private func find(
        _ id: JobID, _ locations: [SpoolLocation]
    ) throws(SystemError) -> (SpoolFolders?, trouble: SystemError?) {
        if try own.job(id) != nil { return (own, nil) }
        var trouble: SystemError?
        for location in locations {
            for candidate in location.candidates.indices {
                do throws(SystemError) {
                    for name in try names(at: candidate, of: location) ?? [] {
                        let folders = location.folders(at: candidate, name: BytePath(name))
                        if try holds(id, folders) { return (folders, nil) }
                    }
                } catch {
                    trouble = trouble ?? error
                }
            }
        }
        return (nil, trouble)
    }

    /// Ignores files and links beside the folders of the inboxes.
    private func holds(_ id: JobID, _ folders: SpoolFolders) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try folders.job(id) != nil
        } catch {
            if error.isAbsence || error.code == ENOTDIR || error.code == ELOOP { return false }
            throw error
        }
    }

    /// The names of the inboxes that have folders at a candidate; nil if there are none, or the candidate cannot be
    /// trusted.
    private func names(at candidate: Int, of location: SpoolLocation) throws(SystemError) -> [[UInt8]]? {
        let folders = location.folders(at: candidate, name: BytePath([]))
        do throws(SystemError) {
            return try folders.open(.work).names()
        } catch {
            if error.isAbsence || error.code == EPERM { return nil }
            throw error
        }
    }

    /// The jobs that have folders in work/ under this inbox's name, the oldest first. What is not ours there is passed
    /// over.
    package func entries(ignored: IgnoredNames) throws(SystemError) -> [SpoolEntry] {
        let work = try own.open(.work)
        var entries: [SpoolEntry] = []
        for name in try work.names() {
            guard let id = JobID(name) else { continue }
            let folder = try work.folder(BytePath(name))
            let isCopy = Self.link(Self.copyOf, in: folder) != nil
            entries.append(
                SpoolEntry(id: id, path: Self.path(of: folder), source: try source(in: folder, ignored), isCopy: isCopy)
            )
        }
        return entries.sorted { $0.id < $1.id }
    }

    private func source(in folder: Directory, _ ignored: IgnoredNames) throws(SystemError) -> FileStatus? {
        guard let source = try folder.status(Self.source), source.kind == .directory else {
            return try folder.status(Self.source)
        }
        do throws(SystemError) {
            let contents = try SetContents(of: folder.folder(Self.source), ignored: ignored)
            guard contents.excess == nil,
                case .source(let set, _) = try SourceLook(root: folder, ignored: ignored).look(Self.source, isSet: true)
            else { return source }
            return set
        } catch {
            // A part of it that may not be read is its own trouble, which shows when it is opened.
            if error.mayPass { throw error }
            return source
        }
    }

    /// The path of a job's source from the inbox, as it was noted in the job's folder; nil if it was not.
    static func path(of folder: Directory) -> BytePath? {
        (link(origin, in: folder) ?? link(copyOf, in: folder)).flatMap { $0.staysBelow ? $0 : nil }
    }

    /// Where a link points to; nil if there is none.
    private static func link(_ name: BytePath, in folder: Directory) -> BytePath? {
        var target = [CChar](repeating: 0, count: 4096)
        let size = withPath(name) { readlinkat(folder.file.descriptor, $0, &target, target.count) }
        return size > 0 ? BytePath(target[..<size].map { UInt8(bitPattern: $0) }) : nil
    }

    /// Gives a job's folder another name, for an entry whose job has ended: it is a new job.
    package func rename(_ old: JobID, to new: JobID) throws(SystemError) {
        let work = try folders(of: old).open(.work)
        try work.move(old.path, to: work, as: new.path)
    }

    /// Moves what is left of a set to `done/` if members that were opened are gone: it was rendered, and its members were
    /// being deleted. Without the ledger it would be rendered again, and be published without them.
    /// - Returns: false if it is no such set.
    package func putAwayRest(of id: JobID) throws(SystemError) -> Bool {
        let work = try folders(of: id).open(.work)
        let folder = try work.folder(id.path)
        guard try folder.status(Self.source)?.kind == .directory,
            let opened = try OpenedMembers.read(from: folder)?.files
        else { return false }
        let set = try folder.folder(Self.source)
        let isThere = { (member: BytePath) throws(SystemError) -> Bool in
            do throws(SystemError) {
                return try set.status(member) != nil
            } catch {
                guard error.isAbsence else { throw error }
                return false
            }
        }
        var isWhole = true
        for member in opened.keys where isWhole { isWhole = try isThere(member) }
        if isWhole { return false }
        try recover(Self.source, of: id, from: folder)
        try discard(id, in: folder, of: work)
        return true
    }

    /// Writes the note of a source that is in `failed/` without one, because a crash came in between.
    /// - Parameters:
    ///   - token: distinct for every file that is written at one time.
    ///   - note: makes the note from the source's path.
    /// - Returns: the path from `failed/NAME`; nil if there is no such source.
    package func completeNote(
        of job: Job, token: String = DurableFile.newToken, note: (BytePath) -> FailureNote
    ) throws(SystemError) -> BytePath? {
        for (folder, name) in try putAway(job)
        where try folder.status(FailureNote.path(beside: name)) == nil {
            let path = job.path.directory.appending(name)
            try note(folders(of: job.id).path(.failed).appending(path)).write(beside: name, in: folder, token: token)
            return path
        }
        return nil
    }

    /// Whether the source of a job has reached `failed/`. An earlier job of the same source may have left a copy there
    /// too, which its note tells apart; one without a note was moved just before the program ended.
    private func isPutAway(_ job: Job) throws(SystemError) -> Bool {
        for (folder, name) in try putAway(job) {
            let note = FailureNote.path(beside: name)
            if try folder.status(note) == nil || FailureNote.job(ofNote: note, in: folder) == job.id.text {
                return true
            }
        }
        return false
    }

    /// The entries of `failed/` that may be a job's source, as folders and names.
    private func putAway(_ job: Job) throws(SystemError) -> [(folder: Directory, name: BytePath)] {
        guard let folder = try? folders(of: job.id).open(.failed).folder(job.path.directory) else { return [] }
        return try placed(job, in: folder).map { (folder, $0) }
    }

    /// The names in a folder that may be a job's source.
    func placed(_ job: Job, in folder: Directory) throws(SystemError) -> [BytePath] {
        var found: [BytePath] = []
        let names = try DirectoryStream(folder)
        while let name = try names.next().map({ BytePath($0) }) {
            guard VersionedName.isVersion(name, of: job.path.lastComponent), let status = try folder.status(name),
                isPutAway(status, job)
            else { continue }
            found.append(name)
        }
        return found
    }

    /// Whether something in `failed/` is a job's source; a copy has an inode of its own, and a copied set a time of its
    /// own.
    private func isPutAway(_ found: FileStatus, _ job: Job) -> Bool {
        guard job.keepsOriginal || isFromElsewhere(found, job) else {
            return found.identity.inode == job.observed.identity.inode
        }
        return job.isSet ? found.kind == .directory : hasContent(found, of: job)
    }
}
