// How sources leave the spool.
import Glibc
package import Pipeline
package import System

extension Spool {
    /// Lets a source leave the spool after success, as its job says: to `done/`, deleted, or, if its original stays in
    /// the inbox, the copy removed.
    ///
    /// Only what was rendered is deleted: files that were opened and are still what they were. What is left of a set
    /// goes to `done/`, and so does a whole set of which it is not known what was opened.
    /// - Parameter mayDelete: if it may not, an original that was to be deleted goes to `done/`.
    /// - Returns: the folders to sync for this to survive a loss of power.
    package func settle(_ job: Job, mayDelete: Bool = true) throws(SystemError) -> [BytePath] {
        try FaultPoint.pass(.beforeSourceCommit)
        let synced = try leave(job, mayDelete)
        try FaultPoint.pass(.afterSourceCommit)
        return synced
    }

    private func leave(_ job: Job, _ mayDelete: Bool) throws(SystemError) -> [BytePath] {
        let folders = folders(of: job.id)
        let work = try folders.open(.work)
        guard try work.status(job.id.path) != nil else { return [] }
        let folder = try work.folder(job.id.path)
        let synced = [folders.path(.work)]
        guard let source = try folder.status(Self.source) else {
            try putAwayCompanions(of: job, isDone: true)
            try discard(job.id, in: folder, of: work)
            return synced
        }
        if try isCopied(source, job, in: folder) { try removeHiddenOriginal(of: job) }
        if job.keepsOriginal {
            try removeCopy(in: folder)
        } else if job.originals != .delete || !mayDelete {
            return try moveToDone(job, from: folder) + synced
        } else if source.kind == .directory {
            guard try removeMembers(of: job, in: folder), try removeFolders(in: folder) else {
                return try moveToDone(job, from: folder) + synced
            }
        } else {
            let isOriginal = try job.isObserved(source) ? true : isCopied(source, job, in: folder)
            let isRendered = opened(job.id)?[BytePath([])].map { $0 == source.version } ?? isOriginal
            guard isRendered else { return try moveToDone(job, from: folder) + synced }
            try folder.remove(Self.source)
            try FaultPoint.pass(.betweenSourceAndSidecar)
            try putAwayCompanions(ofDeleted: job, from: folder)
        }
        try discard(job.id, in: folder, of: work)
        return synced
    }

    private func moveToDone(_ job: Job, from folder: Directory) throws(SystemError) -> [BytePath] {
        let shelf = folders(of: job.id)
        let moved = try move(job, from: folder, below: shelf.open(.done), syncs: false)
        return moved.path.directory.components.reduce(into: [shelf.path(.done)]) {
            $0.append($0[$0.count - 1].appending(BytePath($1)))
        }
    }

    // MARK: - Deleting a set

    /// Removes the members that were rendered.
    /// - Returns: false if it is not known which ones were.
    private func removeMembers(of job: Job, in folder: Directory) throws(SystemError) -> Bool {
        var opened = opened(job.id)
        if opened == nil { opened = try OpenedMembers.read(from: folder)?.files }
        guard let opened else { return false }
        if let doomed = try folder.status(Self.doomed) {
            // An earlier attempt got no further.
            if opened.values.contains(doomed.version) {
                try folder.remove(Self.doomed)
            } else {
                try recover(Self.doomed, of: job.id, from: folder)
            }
        }
        let set = try folder.folder(Self.source)
        for (member, version) in opened { try remove(member, version, of: set, job: folder) }
        // The mark that the set is complete has done its work.
        if let mark = try set.status(BytePath(SourceLook.doneMark)), mark.kind == .regular, mark.bytes == 0 {
            try set.remove(BytePath(SourceLook.doneMark))
        }
        return true
    }

    /// Removes the folders of a set that are empty, and the set with them.
    /// - Returns: false if something is left that is not ours to delete.
    private func removeFolders(in job: Directory) throws(SystemError) -> Bool {
        let set = try job.folder(Self.source)
        for path in try SetContents(of: set, ignored: nil).folders.reversed() {
            do throws(SystemError) {
                try set.folder(path.directory).remove(path.lastComponent, isFolder: true)
            } catch {
                guard [ENOTEMPTY, EEXIST, EBUSY].contains(error.code) || error.isAbsence else { throw error }
            }
        }
        do throws(SystemError) {
            try job.remove(Self.source, isFolder: true)
            return true
        } catch {
            guard [ENOTEMPTY, EEXIST, EBUSY].contains(error.code) else { throw error }
        }
        // NFS removes by itself the files that it keeps for open descriptors.
        guard try SetContents(of: set, ignored: nil).isCleared, try job.status(Self.remains) == nil else {
            return false
        }
        try job.rename(Self.source, to: job, as: Self.remains)
        return true
    }

    /// Removes a member if it is what was rendered. Whoever dropped the set may still exchange files in it, but not in
    /// the job's folder.
    private func remove(_ member: BytePath, _ rendered: FileVersion, of set: Directory, job: Directory)
        throws(SystemError)
    {
        let above: Directory
        do throws(SystemError) {
            above = try set.folder(member.directory)
            guard let now = try above.status(member.lastComponent), now.version == rendered else { return }
        } catch {
            if error.isAbsence { return }
            throw error
        }
        do throws(SystemError) {
            try above.rename(member.lastComponent, to: job, as: Self.doomed)
        } catch {
            // If the answer of a file server is lost, it is moved in spite of that.
            guard error.isAbsence else { throw error }
        }
        guard let doomed = try job.status(Self.doomed) else { return }
        if doomed.version == rendered { return try job.remove(Self.doomed) }
        _ = try VersionedName(wish: member.lastComponent).move(Self.doomed, from: job, to: above)
    }

    // MARK: - To failed/

    /// Moves a source that has failed for good to `failed/`, under its path or a version of it, with its note beside
    /// it. Both are on the disk when this returns.
    /// - Parameters:
    ///   - token: distinct for every file that is written at one time.
    ///   - note: makes the note from the source's new path.
    /// - Returns: the path from `failed/NAME`; nil if the job had no source any more.
    package func deadLetter(
        _ job: Job, token: String = DurableFile.newToken, note: (BytePath) -> FailureNote
    ) throws(SystemError) -> BytePath? {
        try FaultPoint.pass(.beforeSourceCommit)
        let folders = folders(of: job.id)
        // The note must not replace a source of that name.
        let moved = try moveOut(job, to: folders.open(.failed)) { name in
            // Nor must it come beside the sidecar of another one.
            [FailureNote.path(beside: name), Sidecar.path(of: name)].compactMap(\.self)
        }
        guard let moved else {
            // An earlier attempt may have failed between the move and the note.
            return try completeNote(of: job, token: token, note: note)
        }
        try FaultPoint.pass(.afterSourceCommit)
        let note = note(folders.path(.failed).appending(moved.path))
        try note.write(beside: moved.path.lastComponent, in: moved.folder, token: token)
        return moved.path
    }

    // MARK: - Back to the inbox

    /// Returns a source to the inbox, where it has to settle again: something is wrong with the moment, and not with
    /// the source.
    /// - Returns: its path from the inbox, which is a version of the old one if something new has that; nil if the
    ///   original is there anyway, or the job had no source any more.
    @discardableResult
    package func putBack(_ job: Job, to inbox: BytePath) throws(SystemError) -> BytePath? {
        if job.keepsOriginal {
            try discardCopy(of: job)
            return nil
        }
        return try moveOut(job, to: Directory(inbox))?.path
    }

    func discardCopy(of job: Job) throws(SystemError) {
        let work = try folders(of: job.id).open(.work)
        guard try work.status(job.id.path) != nil else { return }
        let folder = try work.folder(job.id.path)
        if try folder.status(Self.source) != nil { try removeCopy(in: folder) }
        try discard(job.id, in: folder, of: work)
        try work.sync()
    }

    // MARK: - Moving

    private func moveOut(
        _ job: Job, to root: Directory, companions: @escaping (BytePath) -> [BytePath] = { _ in [] }
    ) throws(SystemError) -> (folder: Directory, path: BytePath)? {
        let work = try folders(of: job.id).open(.work)
        guard try work.status(job.id.path) != nil else { return nil }
        let folder = try work.folder(job.id.path)
        guard let source = try folder.status(Self.source) else {
            try moveLeft(of: job, from: folder, below: root)
            try discard(job.id, in: folder, of: work)
            return nil
        }
        if try isCopied(source, job, in: folder) { try removeHiddenOriginal(of: job) }
        return try move(job, from: folder, below: root, syncs: true, companions: companions)
    }

    /// Moves a job's source to its path below a folder, or to a version of it, and removes the job's folder. Never
    /// replaces anything.
    private func move(
        _ job: Job, from: Directory, below root: Directory, syncs: Bool,
        companions: @escaping (BytePath) -> [BytePath] = { _ in [] }
    ) throws(SystemError) -> (folder: Directory, path: BytePath) {
        let (folder, path) = try place(of: job, below: root, syncs: syncs)
        let own = try self.companions(of: job, in: from)
        let wish = VersionedName(wish: job.path.lastComponent, calls: calls) { companions($0) + own($0) }
        let name = try wish.move(Self.source, from: from, to: folder)
        try FaultPoint.pass(.betweenSourceAndSidecar)
        try moveCompanions(of: job, from: from, to: folder, beside: name)
        if syncs { try folder.sync() }
        try discard(job.id, in: from, of: folders(of: job.id).open(.work))
        return (folder, path.appending(name))
    }

    /// The folder of a job's source below another one, made if it is missing.
    func place(
        of job: Job, below root: Directory, syncs: Bool
    ) throws(SystemError) -> (folder: Directory, path: BytePath) {
        var (folder, path) = (root, BytePath([]))
        for name in job.path.components.dropLast() {
            let next = try VersionedName.folder(BytePath(name), in: folder)
            if syncs && next.isNew { try folder.sync() }
            (folder, path) = (next.folder, path.appending(next.name))
        }
        return (folder, path)
    }
}
