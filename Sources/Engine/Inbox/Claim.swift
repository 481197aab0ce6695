// Taking a source out of its inbox: one rename decides to whom it belongs.
import Glibc
package import Pipeline

/// A source that is ours: it stands in work/, and its name in the inbox is free again.
package struct ClaimedSource: Sendable, Equatable {
    package let job: JobID
    package let inbox: String
    /// The path from the inbox, which names the source in reports and in done/.
    package let relative: BytePath
    package let isSet: Bool
    /// As it stands in work/.
    package let sighting: Sighting

    package init(job: JobID, inbox: String, relative: BytePath, isSet: Bool, sighting: Sighting) {
        self.job = job
        self.inbox = inbox
        self.relative = relative
        self.isSet = isSet
        self.sighting = sighting
    }
}

/// What came of an attempt to claim.
package enum ClaimOutcome: Sendable {
    case claimed(ClaimedSource)
    /// Somebody removed or renamed it; nothing to be said about.
    case gone
    /// It is not what it was when it became ready.
    case changed
    /// This one cannot be taken: permissions, an immutable file, another file system.
    case blocked(SystemError)
    /// Nothing can be taken from this inbox now: work/ is full, read-only or gone.
    case unavailable(SystemError)

    /// What to tell the inbox.
    package var answer: ClaimAnswer {
        switch self {
        case .claimed: .taken
        case .gone: .gone
        case .changed: .changed
        case .blocked(let error): .blocked(error)
        case .unavailable: .later(.seconds(5))
        }
    }
}

extension WorkPlace {
    /// Takes a source out of its inbox.
    ///
    /// Nothing is synced: what power takes away is the whole rename, and then the source stands in the inbox again, where the next start finds it.
    /// - Parameters:
    ///   - inbox: the path of the inbox.
    ///   - keepsOriginal: the source stays in the inbox, and a copy of it stands in work/.
    ///   - largest: bytes of a file beyond which it is not copied for that.
    ///   - record: writes the job down, before the source is touched. Its errors are passed on, with the source left where it is.
    package func claim(
        _ source: ReadySource, from inbox: BytePath, as job: JobID, keepsOriginal: Bool = false, largest: Int = .max, record: () throws -> Void
    ) throws -> ClaimOutcome {
        let place: (root: Directory, folder: Directory)
        do throws(SystemError) {
            guard let found = try find(source, inbox) else { return .gone }
            guard found.isSame else { return .changed }
            place = (found.root, found.folder)
        } catch {
            return error.isAbsence ? .gone : .blocked(error)
        }
        try record()
        let mine: Directory
        do throws(SystemError) {
            mine = try Directory(work).makingFolder(job.path, mode: 0o700)
        } catch {
            return .unavailable(error)
        }
        writeNote(source.relative, in: mine)
        return keepsOriginal ? copy(source, place.folder, mine, job, largest) : take(source, place.folder, mine, job)
    }

    private func copy(_ source: ReadySource, _ folder: Directory, _ mine: Directory, _ job: JobID, _ largest: Int) -> ClaimOutcome {
        do throws(SystemError) {
            try SourceCopy.copy(source.relative.lastComponent, in: folder, to: mine, as: Self.source, largest: largest)
            guard let now = try folder.sighting(source.relative.lastComponent), isSame(now, source), let copy = try mine.sighting(Self.source) else {
                throw SystemError("copy the source", code: EBUSY)
            }
            let sighting = source.isSet ? source.sighting : copy
            return .claimed(ClaimedSource(job: job, inbox: source.inbox, relative: source.relative, isSet: source.isSet, sighting: sighting))
        } catch {
            try? delete(job)
            if error.isAbsence { return .gone }
            if error.code == EBUSY { return .changed }
            return [ENOSPC, EDQUOT, EROFS, EIO].contains(error.code) ? .unavailable(error) : .blocked(error)
        }
    }

    private func take(_ source: ReadySource, _ folder: Directory, _ mine: Directory, _ job: JobID) -> ClaimOutcome {
        do throws(SystemError) {
            try folder.move(source.relative.lastComponent, to: mine, as: Self.source)
        } catch {
            try? discard(job)
            if error.isAbsence { return .gone }
            return [ENOSPC, EDQUOT, EROFS, EIO].contains(error.code) ? .unavailable(error) : .blocked(error)
        }
        // Between the look and the rename, something else may have come under the name.
        guard let taken = try? mine.sighting(Self.source), isSame(taken, source) else {
            return (try? putBack(job, source.relative, to: folder)) == nil ? .gone : .changed
        }
        let sighting = source.isSet ? source.sighting : taken
        return .claimed(ClaimedSource(job: job, inbox: source.inbox, relative: source.relative, isSet: source.isSet, sighting: sighting))
    }

    /// Puts back what was taken by mistake. A name that is taken meanwhile is left alone.
    private func putBack(_ job: JobID, _ relative: BytePath, to folder: Directory) throws(SystemError) -> BytePath {
        let name = try VersionedName.move(Self.source, from: Directory(self.folder(of: job)), to: folder, as: relative.lastComponent)
        try discard(job)
        return name
    }

    private func find(_ source: ReadySource, _ inbox: BytePath) throws(SystemError) -> (root: Directory, folder: Directory, isSame: Bool)? {
        let root = try Directory(inbox)
        // Another folder stands there by now; its own watcher tells what is in it.
        guard try root.identity == source.root else { return nil }
        let folder = source.relative.directory.bytes.isEmpty ? root : try root.folder(source.relative.directory)
        guard let now = try folder.sighting(source.relative.lastComponent) else { return nil }
        return (root, folder, isSame(now, source))
    }

    /// Of a set, only the folder is known here; its members are looked at when they are opened.
    private func isSame(_ now: Sighting, _ source: ReadySource) -> Bool {
        source.isSet ? now.kind == .directory && now.identity == source.sighting.identity : now.hasSameContent(as: source.sighting)
    }
}
