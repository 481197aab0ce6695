// The files that belong to a source go where it goes: first out of the inbox, and last out of the job's folder. They are
// its own sidecar, and the other file of its photo, raw or JPEG.
import Glibc
import Pipeline
import System

extension Spool {
    /// The sidecar in a job's folder.
    static let sidecar = BytePath("sidecar")
    /// A copy of one that stays in the inbox.
    static let sidecarCopy = BytePath("sidecar-copy")
    /// A folder in a job's folder with the other files of its photo, under the names that they had.
    static let others = BytePath("others")

    /// The one that goes where the source in the job's folder goes, which may be a copy itself.
    static func sidecar(of job: Job) -> BytePath { job.keepsOriginal ? sidecarCopy : sidecar }

    /// Bytes of one that is copied. A sidecar that is read is much smaller.
    private static let largestCopy = 16 << 20

    /// Brings what belongs to a source into the job's folder. It is moved before the source, so that a crash leaves all
    /// in the inbox, or what belongs to it where the next claim of the source finds it.
    /// - Parameter settle: how long it must not have changed.
    /// - Throws: EBUSY if it has.
    func takeCompanions(
        of job: Job, from folder: Directory, to mine: Directory, _ rule: CompanionRule, settle: Duration
    ) throws(SystemError) {
        guard !job.isSet else { return }
        if rule.sidecars.takes { try takeSidecar(of: job, from: folder, to: mine, settle: settle) }
        // They stay where their picture stays, and an empty file is no photo.
        guard !job.keepsOriginal, job.observed.stamp.bytes > 0 else { return }
        let found = try rule.others(of: job.path.lastComponent, in: folder)
        guard !found.isEmpty else { return }
        for file in found { try Self.checkSettled(file.name, file.status, settle) }
        let others = try mine.makingFolder(Self.others, mode: 0o700)
        for file in found {
            // One of an earlier claim is there, if a crash came and its name was dropped again.
            var (own, number) = (file.name, 1)
            while try others.status(own) != nil {
                number += 1
                own = VersionedName.version(number, of: file.name)
            }
            try take(file.name, file.status, from: folder, to: others, as: own)
        }
    }

    private func takeSidecar(
        of job: Job, from folder: Directory, to mine: Directory, settle: Duration
    ) throws(SystemError) {
        guard let name = Sidecar.path(of: job.path.lastComponent) else { return }
        try mine.remove(Self.sidecarCopy)
        guard let found = try folder.status(name), found.kind != .directory else { return }
        try Self.checkSettled(name, found, settle)
        if job.keepsOriginal, found.kind != .regular {
            // It is refused for being none.
            _ = withPath(name) { target in withPath(Self.sidecarCopy) { symlinkat(target, mine.file.descriptor, $0) } }
            return
        }
        if job.keepsOriginal {
            let original = try folder.opening(name)
            // If the source fails, it goes to `failed/` with the copy.
            guard found.bytes > Self.largestCopy else { return try mine.copying(original, as: Self.sidecarCopy) }
            // It is refused by its size alone.
            let copy = try mine.making(Self.sidecarCopy)
            guard ftruncate(copy.descriptor, off_t(found.bytes)) == 0 else {
                throw SystemError("copy '\(name.printable)'")
            }
            return
        }
        // One of an earlier claim was dropped again since.
        try mine.remove(Self.sidecar)
        try take(name, found, from: folder, to: mine, as: Self.sidecar)
    }

    /// It may have come, or come anew, since its picture was looked at.
    private static func checkSettled(
        _ name: BytePath, _ found: FileStatus, _ settle: Duration
    ) throws(SystemError) {
        // A clock that goes wrong must not hold it up for ever.
        let age = Duration.nanoseconds(nanosecondsSince1970() &- found.changed)
        guard age >= settle || age < .zero else {
            throw SystemError("take '\(name.printable)': it has changed a moment ago", code: EBUSY)
        }
    }

    /// Takes a file out of its folder by a plain rename: the target is this job's alone, so it replaces nothing.
    private func take(
        _ name: BytePath, _ found: FileStatus, from folder: Directory, to mine: Directory, as own: BytePath
    ) throws(SystemError) {
        do throws(SystemError) {
            return try folder.rename(name, to: mine, as: own, calls: calls)
        } catch {
            // On NFS an answer may be lost: then it has moved. Or somebody has removed it.
            if error.isAbsence { return }
            guard error.code == EXDEV, found.kind == .regular else { throw error }
        }
        // As for the source, it is known before anything is copied.
        guard faccessat(folder.file.descriptor, ".", W_OK, 0) == 0 else {
            // Another code would pause the whole inbox.
            let because = errno == EROFS ? "its file system is read-only" : nil
            throw SystemError("remove '\(name.printable)' from its folder", code: EACCES, because: because)
        }
        let hidden = BytePath(".imagemill-\(DurableFile.newToken)")
        let original = try folder.opening(name)
        try mine.copying(original, as: hidden, isDurable: true)
        mine.takeRights(of: original, hidden)
        // Renamed aside first, so that the file that is compared is the one that is removed.
        let aside = BytePath(".imagemill-\(DurableFile.newToken)")
        do throws(SystemError) {
            try mine.sync()
            try folder.rename(name, to: folder, as: aside, calls: calls)
        } catch {
            try? mine.remove(hidden)
            throw error
        }
        guard let now = try folder.status(aside), now.version == found.version else {
            _ = try VersionedName(wish: name, calls: calls).move(aside, from: folder, to: folder)
            try? mine.remove(hidden)
            throw SystemError("take '\(name.printable)': it has changed a moment ago", code: EBUSY)
        }
        try mine.rename(hidden, to: mine, as: own)
        // From here on the copy stays, whatever is said of the original.
        try folder.remove(aside)
    }

    // MARK: - Leaving

    /// The names in a folder that what belongs to a job's source will have beside it.
    func companions(
        of job: Job, in mine: Directory
    ) throws(SystemError) -> (_ source: BytePath) -> [BytePath] {
        let hasSidecar = try mine.status(Self.sidecar(of: job)) != nil
        let others = try others(in: mine)?.names ?? []
        return { source in
            // Too long a name is another one in the end.
            (hasSidecar ? [Sidecar.path(of: source)].compactMap(\.self) : [])
                + others.compactMap { PhotoFile.name($0, beside: source) }
        }
    }

    /// The folder with the other files, if there is one, and their names in it.
    private func others(in mine: Directory) throws(SystemError) -> (folder: Directory, names: [BytePath])? {
        guard try mine.status(Self.others)?.kind == .directory else { return nil }
        let folder = try mine.folder(Self.others)
        // Half a copy, after a crash, goes with the job's folder.
        let names = try folder.names().filter { !$0.starts(with: ".imagemill-".utf8) }
        return (folder, names.map { BytePath($0) })
    }

    /// Moves what belongs to a source beside it, or to versions of the names if they are taken.
    func moveCompanions(
        of job: Job, from mine: Directory, to folder: Directory, beside source: BytePath
    ) throws(SystemError) {
        try moveSidecar(Self.sidecar(of: job), from: mine, to: folder, beside: source)
        try moveOthers(from: mine, to: folder, beside: source)
    }

    private func moveSidecar(
        _ own: BytePath, from mine: Directory, to folder: Directory, beside source: BytePath
    ) throws(SystemError) {
        guard let status = try mine.status(own) else { return }
        // One that was not copied is refused for what it is, and stays in the inbox.
        guard own != Self.sidecarCopy || status.kind == .regular && status.bytes <= Self.largestCopy else { return }
        // A version of a name can be too long to have one.
        let name = Sidecar.path(of: source) ?? BytePath("sidecar-\(DurableFile.newToken).yaml")
        _ = try VersionedName(wish: name, calls: calls).move(own, from: mine, to: folder)
    }

    private func moveOthers(
        from mine: Directory, to folder: Directory, beside source: BytePath
    ) throws(SystemError) {
        guard let others = try others(in: mine) else { return }
        for name in others.names {
            let wish = VersionedName(wish: PhotoFile.name(name, beside: source) ?? name, calls: calls)
            _ = try wish.move(name, from: others.folder, to: folder)
        }
    }

    /// Moves what an earlier attempt has left of a source that has its place below a folder already.
    func moveLeft(of job: Job, from mine: Directory, below root: Directory) throws(SystemError) {
        let (sidecar, others) = (try mine.status(Self.sidecar(of: job)), try others(in: mine))
        guard sidecar != nil || others != nil else { return }
        let folder = try place(of: job, below: root, syncs: true).folder
        let picture = try placed(job, in: folder).last ?? job.path.lastComponent
        try moveCompanions(of: job, from: mine, to: folder, beside: picture)
        try folder.sync()
    }

    /// Puts away the files that belonged to a source that was deleted. The other files of its photo go to `done/`, since
    /// they were not rendered.
    func putAwayCompanions(ofDeleted job: Job, from mine: Directory) throws(SystemError) {
        try mine.remove(Self.sidecar)
        guard try others(in: mine) != nil else { return }
        let folder = try place(of: job, below: folders(of: job.id).open(.done), syncs: true).folder
        try moveOthers(from: mine, to: folder, beside: job.path.lastComponent)
        try folder.sync()
    }

    /// Puts away what a stop of the program, or an error, has left of a job whose source is through.
    /// - Parameter isDone: its source was rendered; otherwise it is in `failed/`.
    func putAwayCompanions(of job: Job, isDone: Bool) throws(SystemError) {
        let folders = folders(of: job.id)
        guard let mine = try folders.job(job.id) else { return }
        let shelf = try folders.open(isDone ? .done : .failed)
        if isDone {
            try mine.remove(Self.sidecarCopy)
            // One that was damaged, or that had changed, has gone to `done/` in spite of the policy.
            if job.originals == .delete, try !isPlaced(job, below: shelf) {
                return try putAwayCompanions(ofDeleted: job, from: mine)
            }
        }
        try moveLeft(of: job, from: mine, below: shelf)
    }

    private func isPlaced(_ job: Job, below root: Directory) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try !placed(job, in: root.folder(job.path.directory)).isEmpty
        } catch {
            guard error.isAbsence else { throw error }
            return false
        }
    }

    /// Gives back what belongs to a source that was not taken after all: to the inbox, or, if that has others of these
    /// names by now, to `done/`.
    func returnCompanions(of id: JobID, from mine: Directory) throws(SystemError) {
        if try mine.status(Self.sidecar) != nil {
            let path = Self.path(of: mine)
            let name = path.flatMap { Sidecar.path(of: $0.lastComponent) }
            if try !isReturned(Self.sidecar, from: mine, to: path?.directory, as: name) {
                try recover(Self.sidecar, of: id, from: mine)
            }
        }
        guard let others = try others(in: mine) else { return }
        let path = Self.path(of: mine)
        for name in others.names where try !isReturned(name, from: others.folder, to: path?.directory, as: name) {
            _ = try VersionedName(wish: name, calls: calls).move(
                name, from: others.folder, to: folders(of: id).open(.done))
        }
    }

    /// - Returns: false if there is no place in the inbox for it any more.
    private func isReturned(
        _ own: BytePath, from mine: Directory, to place: BytePath?, as name: BytePath?
    ) throws(SystemError) -> Bool {
        guard let place, let name else { return false }
        do throws(SystemError) {
            try mine.moveAcrossMounts(own, to: Directory(inbox).folder(place), as: name, calls: calls)
            return true
        } catch {
            // Its folder is gone, or has another one.
            guard error.code == EEXIST || error.isAbsence else { throw error }
            return false
        }
    }
}
