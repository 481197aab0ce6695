// Taking a source out of its inbox: one rename decides whose it is.
import Glibc
package import Pipeline
package import System

/// The outcome of an attempt to claim a source.
package enum ClaimOutcome: Equatable, Sendable {
    /// It is in the spool, complete. Also if an earlier attempt has brought it there.
    case claimed
    /// Somebody removed or renamed it; there is nothing to be said about it.
    case gone
    /// It is not what was observed.
    case changed
    /// This one cannot be taken: permissions, an immutable file, a set on another file system or one that is too deep.
    case blocked(SystemError)
    /// The inbox is on another file system than the spool.
    case unreachable(SystemError)
    /// Nothing can be taken from this inbox now: it is missing, or the spool is full, read-only or gone.
    case unavailable(SystemError)
}

extension Spool {
    /// Brings a source into the spool: by a rename, or by a synced copy if the original stays (`keepsOriginal`). A file
    /// on a mount below the inbox is copied and then removed.
    ///
    /// A rename is not synced: a loss of power takes all of it back, and then the source is in the inbox, where
    /// recovery looks for it.
    /// - Parameters:
    ///   - inbox: the present path of the inbox.
    ///   - companions: what comes along; the names that it ignores are passed over in sets.
    ///   - settle: how long that must not have changed.
    ///   - largest: bytes beyond which a file is not copied, since it will be refused.
    package func claim(
        _ job: Job, from inbox: BytePath, _ companions: CompanionRule, settle: Duration, largest: Int
    ) -> ClaimOutcome {
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
            guard isClaim(found, of: job), try isQuiet(job, in: root, companions.ignored) else {
                return earlierClaim(of: job, else: .changed)
            }
            let snapshot = { mine in
                Snapshot(job: job, root: root, target: mine, ignored: companions.ignored, largest: largest)
            }
            let bringAlong = { (mine: Directory) throws(SystemError) in
                try self.takeCompanions(of: job, from: folder, to: mine, companions, settle: settle)
            }
            return claim(job, from: folder, snapshot: snapshot, bringAlong: bringAlong)
        } catch {
            return error.isAbsence ? earlierClaim(of: job, else: .gone) : .blocked(error)
        }
    }

    private func claim(
        _ job: Job, from folder: Directory, snapshot: (_ target: Directory) -> Snapshot,
        bringAlong: (_ target: Directory) throws(SystemError) -> Void
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
                        if try isCopied(source, job, in: mine) { return finishCopy(of: job, from: folder) }
                        if job.keepsOriginal || isClaim(source, of: job) { return .claimed }
                        // It was taken by mistake, and could not be put back then.
                        try putBack(job, from: mine, to: folder)
                        return .changed
                    }
                    // Half a copy that a version before this one has left.
                    try removeCopy(in: mine)
                }
                // An earlier attempt may have been made under another policy.
                for name in [Self.origin, Self.copyOf, Self.copied] { try mine.remove(name) }
            }
            writeOrigin(of: job, in: mine)
        } catch {
            return .unavailable(error)
        }
        do throws(SystemError) {
            try bringAlong(mine)
        } catch {
            try? discard(job.id)
            return error.code == EBUSY ? .changed : failure(error)
        }
        let snapshot = snapshot(mine)
        return job.keepsOriginal ? make(snapshot) ?? claimed() : take(snapshot, from: folder)
    }

    /// - Returns: nil if the copy is in its place.
    private func make(_ snapshot: Snapshot) -> ClaimOutcome? {
        do throws(SystemError) {
            try snapshot.make()
        } catch {
            try? discard(snapshot.job.id)
            if error.isAbsence { return .gone }
            return error.code == EBUSY ? .changed : failure(error)
        }
        return nil
    }

    /// Takes a source out of its folder. The job's folder was made for this job alone, so a plain rename replaces
    /// nothing.
    /// - Parameter snapshot: the copy to make if no rename can reach the source.
    private func take(_ snapshot: Snapshot, from folder: Directory) -> ClaimOutcome {
        let (job, mine) = (snapshot.job, snapshot.target)
        do throws(SystemError) {
            try folder.rename(job.path.lastComponent, to: mine, as: Self.source, calls: calls)
        } catch {
            // On NFS an answer may be lost: then the rename is done, and its repetition finds nothing.
            guard let taken = try? mine.status(Self.source), isClaim(taken, of: job) else {
                let isReached = mine.isOnMount(of: snapshot.root)
                if error.code == EXDEV, isReached, !job.isSet { return takeByCopy(snapshot, from: folder) }
                try? discard(job.id)
                if error.code == EXDEV && !isReached { return .unreachable(error) }
                return error.isAbsence ? .gone : failure(error)
            }
        }
        // Between the look and the rename, something else may have come under the name.
        do throws(SystemError) {
            if let taken = try mine.status(Self.source), isClaim(taken, of: job) { return claimed() }
            try putBack(job, from: mine, to: folder)
            return .changed
        } catch {
            // It is tried again before anything else is taken.
            return .unavailable(error)
        }
    }

    // MARK: - From a mount below the inbox

    /// Takes a file that no rename can reach: by a synced copy, after which the original is removed.
    private func takeByCopy(_ snapshot: Snapshot, from folder: Directory) -> ClaimOutcome {
        let (job, mine) = (snapshot.job, snapshot.target)
        guard faccessat(folder.file.descriptor, ".", W_OK, 0) == 0 else {
            let error = SystemError("remove '\(job.path.printable)' from its folder")
            try? discard(job.id)
            return .blocked(error)
        }
        // If the file system has no links, the numbers of the devices have to do.
        _ = withPath(job.path) { target in withPath(Self.copied) { symlinkat(target, mine.file.descriptor, $0) } }
        if let outcome = make(snapshot) { return outcome }
        if let original = try? folder.opening(job.path.lastComponent) { mine.takeRights(of: original, Self.source) }
        return finishCopy(of: job, from: folder)
    }

    private func finishCopy(of job: Job, from folder: Directory) -> ClaimOutcome {
        do throws(SystemError) {
            if try removeOriginal(of: job, from: folder) { return claimed() }
            try discardCopy(of: job)
            return .changed
        } catch {
            // It may be hidden, so that only the copy will be found. It is removed before the job leaves the spool.
            guard isAbsent({ () throws(SystemError) in try folder.status(Self.aside(of: job)) }) else {
                return claimed()
            }
            try? discardCopy(of: job)
            return .blocked(error)
        }
    }

    /// Removes the original of a source that was copied. It is renamed aside first, so that nobody can put something
    /// else in the place of what is compared and removed.
    /// - Returns: false if something else has its name by now; that is left there.
    private func removeOriginal(of job: Job, from folder: Directory) throws(SystemError) -> Bool {
        let (name, aside) = (job.path.lastComponent, Self.aside(of: job))
        // An earlier claim may have come no further.
        if try folder.status(aside) == nil {
            do throws(SystemError) {
                try folder.rename(name, to: folder, as: aside, calls: calls)
            } catch {
                // If the answer of a file server is lost, it is renamed in spite of that.
                guard error.isAbsence, try folder.status(aside) != nil else { throw error }
            }
        }
        do throws(SystemError) {
            return try removeAside(of: job, from: folder)
        } catch {
            _ = try VersionedName(wish: name, calls: calls).move(aside, from: folder, to: folder)
            throw error
        }
    }

    /// - Returns: false if it is something else, which has got its own name back.
    private func removeAside(of job: Job, from folder: Directory) throws(SystemError) -> Bool {
        let aside = Self.aside(of: job)
        guard let original = try folder.status(aside), job.isObserved(original) else {
            _ = try VersionedName(wish: job.path.lastComponent, calls: calls).move(aside, from: folder, to: folder)
            return false
        }
        try folder.remove(aside)
        // If a loss of power brings it back, it is a new drop.
        try? folder.sync()
        return true
    }

    /// Removes the original of a source that was copied, if a crash came before that.
    func removeLeftOriginal(of job: Job, from inbox: BytePath) throws(SystemError) {
        let folder = try Directory(inbox).folder(job.path.directory)
        let named = try folder.status(job.path.lastComponent)
        let hidden = try folder.status(Self.aside(of: job))
        if named.map(job.isObserved) ?? false || hidden != nil {
            _ = try removeOriginal(of: job, from: folder)
        }
    }

    /// Removes the original of a source that was copied, if a claim has hidden it and could not remove it.
    func removeHiddenOriginal(of job: Job) throws(SystemError) {
        do throws(SystemError) {
            let folder = try Directory(inbox).folder(job.path.directory)
            if try folder.status(Self.aside(of: job)) != nil { _ = try removeAside(of: job, from: folder) }
        } catch {
            guard error.isAbsence else { throw error }
        }
    }

    /// The name of an original that is about to be removed, which the watcher passes over.
    private static func aside(of job: Job) -> BytePath { BytePath(".imagemill-\(job.id.text)") }

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

    /// Puts back a source that was taken by mistake. A name that is taken meanwhile is left alone.
    private func putBack(_ job: Job, from mine: Directory, to folder: Directory) throws(SystemError) {
        let name = try VersionedName(wish: job.path.lastComponent, calls: calls).move(
            Self.source, from: mine, to: folder)
        try moveCompanions(of: job, from: mine, to: folder, beside: name)
        try discard(job.id)
    }

    /// A set is compared by its folder alone here; its members are compared when they are opened.
    func isClaim(_ now: FileStatus, of job: Job) -> Bool {
        job.isSet ? now.kind == .directory && now.identity.inode == job.observed.identity.inode : job.isObserved(now)
    }

    /// Returns false for a set that was written to while it waited to be taken: whoever does it still needs its path.
    private func isQuiet(_ job: Job, in root: Directory, _ ignored: IgnoredNames) throws(SystemError) -> Bool {
        guard job.isSet, !job.keepsOriginal else { return true }
        guard case .source(let now, _) = try SourceLook(root: root, ignored: ignored).look(job.path, isSet: true)
        else { return false }
        return job.isObserved(now)
    }

    /// Whether the source in a job's folder may be a copy of an original on a mount below the inbox.
    func isCopied(_ source: FileStatus, _ job: Job, in folder: Directory) throws(SystemError) -> Bool {
        if isFromElsewhere(source, job) { return true }
        guard !job.keepsOriginal, hasContent(source, of: job) else { return false }
        return try folder.status(Self.copied) != nil
    }

    /// Whether a file may be a copy of an original on another file system. Device numbers can also change when the
    /// machine restarts.
    func isFromElsewhere(_ source: FileStatus, _ job: Job) -> Bool {
        !job.keepsOriginal && hasContent(source, of: job) && source.identity.device != job.observed.identity.device
    }

    /// A file is as large and as old as a job's original.
    func hasContent(_ source: FileStatus, of job: Job) -> Bool {
        !job.isSet && source.kind == .regular && source.stamp == job.observed.stamp
    }

    /// Whether a job's folder holds its source. A copy has to be as large and as old as its original was.
    func isComplete(_ job: Job, in folder: Directory) throws(SystemError) -> Bool {
        guard let source = try folder.status(Self.source) else { return false }
        guard job.keepsOriginal else { return true }
        guard job.isSet else { return hasContent(source, of: job) }
        guard source.kind == .directory else { return false }
        if try SetContents.Excess.marked(in: folder) != nil { return true }
        let contents = try SetContents(of: folder.folder(Self.source), ignored: nil)
        return !contents.members.isEmpty && contents.bytes == job.observed.stamp.bytes
    }

    private func writeOrigin(of job: Job, in folder: Directory) {
        let name = job.keepsOriginal ? Self.copyOf : Self.origin
        // If the file system has no links, the store has to do.
        _ = withPath(job.path) { target in withPath(name) { symlinkat(target, folder.file.descriptor, $0) } }
    }
}
