// Taking a source out of its inbox: one rename decides whose it is.
import Glibc
package import Pipeline

/// What came of an attempt to claim a source.
package enum ClaimOutcome: Equatable, Sendable {
    /// It is in the spool, complete. Also if an earlier attempt has brought it there.
    case claimed
    /// Somebody removed or renamed it; there is nothing to be said about it.
    case gone
    /// It is not what was observed.
    case changed
    /// This one cannot be taken: permissions, an immutable file, another file system, a set that is too deep.
    case blocked(SystemError)
    /// Nothing can be taken from this inbox now: it is missing, or the spool is full, read-only or gone.
    case unavailable(SystemError)
}

extension Spool {
    /// Brings a source into the spool: by a rename, or by a synced copy if the original stays (`keepsOriginal`).
    ///
    /// A rename is not synced: a loss of power takes all of it back, and then the source is in the inbox, where
    /// recovery looks for it.
    /// - Parameters:
    ///   - inbox: the present path of the inbox.
    ///   - ignored: the names that are passed over in sets.
    ///   - largest: bytes beyond which a file is not copied, since it will be refused.
    package func claim(_ job: Job, from inbox: BytePath, ignored: IgnoredNames, largest: Int) -> ClaimOutcome {
        let root: Directory
        do throws(SystemError) {
            root = try Directory(inbox)
        } catch {
            return .unavailable(error)
        }
        do throws(SystemError) {
            let folder = try root.folder(job.path.directory)
            guard let found = try folder.status(job.path.lastComponent) else {
                return earlierClaim(of: job, else: .gone)
            }
            guard isSame(found, job) else { return earlierClaim(of: job, else: .changed) }
            return claim(job, from: folder, root: root, ignoring: ignored, largest: largest)
        } catch {
            return error.isAbsence ? earlierClaim(of: job, else: .gone) : .blocked(error)
        }
    }

    private func claim(
        _ job: Job, from folder: Directory, root: Directory, ignoring ignored: IgnoredNames, largest: Int
    ) -> ClaimOutcome {
        let mine: Directory
        do throws(SystemError) {
            let work = try own.open(.work)
            if let new = try work.makingNewFolder(job.id.path, mode: 0o700) {
                mine = new
            } else {
                mine = try work.folder(job.id.path)
                if let source = try mine.status(Self.source) {
                    if try isComplete(job, in: mine) {
                        if job.keepsOriginal || isSame(source, job) { return .claimed }
                        // It was taken by mistake, and could not be put back then.
                        try putBack(job, from: mine, to: folder)
                        return .changed
                    }
                    // Half a copy that a version before this one has left.
                    try removeCopy(in: mine)
                }
            }
            try writeOrigin(of: job, in: mine)
        } catch {
            return .unavailable(error)
        }
        return job.keepsOriginal
            ? copy(job, from: root, to: mine, ignoring: ignored, largest: largest) : take(job, from: folder, to: mine)
    }

    private func copy(
        _ job: Job, from root: Directory, to mine: Directory, ignoring ignored: IgnoredNames, largest: Int
    ) -> ClaimOutcome {
        do throws(SystemError) {
            try Snapshot(job: job, root: root, target: mine, ignored: ignored, largest: largest).make()
        } catch {
            try? discard(job.id)
            if error.isAbsence { return .gone }
            return error.code == EBUSY ? .changed : failure(error)
        }
        return claimed()
    }

    /// The job's folder was made for this job alone, so a plain rename replaces nothing.
    private func take(_ job: Job, from folder: Directory, to mine: Directory) -> ClaimOutcome {
        do throws(SystemError) {
            try folder.rename(job.path.lastComponent, to: mine, as: Self.source, calls: calls)
        } catch {
            // On NFS an answer may be lost: then the rename is done, and its repetition finds nothing.
            guard let taken = try? mine.status(Self.source), isSame(taken, job) else {
                try? discard(job.id)
                return error.isAbsence ? .gone : failure(error)
            }
        }
        // Between the look and the rename, something else may have come under the name.
        do throws(SystemError) {
            if let taken = try mine.status(Self.source), isSame(taken, job) { return claimed() }
            try putBack(job, from: mine, to: folder)
            return .changed
        } catch {
            // It is tried again before anything else is taken.
            return .unavailable(error)
        }
    }

    private func claimed() -> ClaimOutcome {
        do throws(SystemError) {
            try FaultPoint.pass(.afterClaimRename)
            return .claimed
        } catch {
            return .unavailable(error)
        }
    }

    private func failure(_ error: SystemError) -> ClaimOutcome {
        [ENOSPC, EDQUOT, EROFS, EIO].contains(error.code) ? .unavailable(error) : .blocked(error)
    }

    /// A rename that an earlier attempt has done, or whose answer was lost, has emptied the name in the inbox.
    private func earlierClaim(of job: Job, else outcome: ClaimOutcome) -> ClaimOutcome {
        guard let mine = try? folders(of: job.id).job(job.id) else { return outcome }
        if (try? isComplete(job, in: mine)) == true { return .claimed }
        try? discard(job.id)
        return outcome
    }

    /// What was taken by mistake. A name that is taken meanwhile is left alone.
    private func putBack(_ job: Job, from mine: Directory, to folder: Directory) throws(SystemError) {
        _ = try VersionedName.move(Self.source, from: mine, to: folder, as: job.path.lastComponent, calls: calls)
        try discard(job.id)
    }

    /// A set is compared by its folder alone here; its members are compared when they are opened.
    func isSame(_ now: FileStatus, _ job: Job) -> Bool {
        job.isSet ? now.kind == .directory && now.identity.inode == job.observed.inode : job.isObserved(now)
    }

    /// Whether a job's folder holds its source. A copy has to be as large and as old as its original was.
    func isComplete(_ job: Job, in folder: Directory) throws(SystemError) -> Bool {
        guard let source = try folder.status(Self.source) else { return false }
        guard job.keepsOriginal else { return true }
        guard job.isSet else {
            return source.kind == .regular && source.bytes == job.observed.bytes
                && source.modified == job.observed.modified
        }
        guard source.kind == .directory else { return false }
        let contents = try SetContents(of: folder.folder(Self.source), ignored: nil)
        return !contents.members.isEmpty && contents.bytes == job.observed.bytes
    }

    private func writeOrigin(of job: Job, in folder: Directory) throws(SystemError) {
        let (name, other) = job.keepsOriginal ? (Self.copyOf, Self.origin) : (Self.origin, Self.copyOf)
        // An earlier attempt may have been made under another policy.
        try folder.remove(other)
        // If the file system has no links, the store has to do.
        _ = withPath(job.path) { target in withPath(name) { symlinkat(target, folder.file.descriptor, $0) } }
    }
}
