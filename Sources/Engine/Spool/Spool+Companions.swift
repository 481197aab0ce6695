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
        for file in found { try take(file.name, from: folder, to: others, as: file.name) }
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
        try take(name, from: folder, to: mine, as: Self.sidecar)
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

    private func take(
        _ name: BytePath, from folder: Directory, to mine: Directory, as own: BytePath
    ) throws(SystemError) {
        // One of an earlier claim was dropped again since.
        try mine.remove(own)
        do throws(SystemError) {
            try folder.moveAcrossMounts(name, to: mine, as: own, calls: calls)
        } catch {
            // On NFS an answer may be lost: then it has moved. Or somebody has removed it.
            guard error.isAbsence else { throw error }
        }
    }

    // MARK: - Leaving

    /// The names in a folder that what belongs to a job's source will have beside it.
    func companions(
        of job: Job, in mine: Directory
    ) throws(SystemError) -> (_ source: BytePath) -> [BytePath] {
        let hasSidecar = try mine.status(Self.sidecar(of: job)) != nil
        let others = try others(in: mine)?.names().map { BytePath($0) } ?? []
        return { source in
            (hasSidecar ? [Sidecar.path(of: source)].compactMap(\.self) : [])
                + others.map { PhotoFile.name($0, beside: source) }
        }
    }

    private func others(in mine: Directory) throws(SystemError) -> Directory? {
        try mine.status(Self.others)?.kind == .directory ? mine.folder(Self.others) : nil
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
        for name in try others.names().map({ BytePath($0) }) {
            let wish = VersionedName(wish: PhotoFile.name(name, beside: source), calls: calls)
            _ = try wish.move(name, from: others, to: folder)
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

    /// Puts away what belongs to a source that was rendered and is gone from the job's folder.
    /// - Parameter isDeleted: the source was.
    func putAwayCompanions(of job: Job, from mine: Directory, isDeleted: Bool) throws(SystemError) {
        if isDeleted { try mine.remove(Self.sidecar) }
        try mine.remove(Self.sidecarCopy)
        try moveLeft(of: job, from: mine, below: folders(of: job.id).open(.done))
    }

    /// Puts away what a stop of the program has left of a job that is through.
    /// - Parameter isDone: its source was rendered; otherwise it is in `failed/`.
    func putAwayCompanions(of job: Job, isDone: Bool) throws(SystemError) {
        let folders = folders(of: job.id)
        guard let mine = try folders.job(job.id) else { return }
        if isDone {
            try putAwayCompanions(of: job, from: mine, isDeleted: job.originals == .delete)
        } else {
            try moveLeft(of: job, from: mine, below: folders.open(.failed))
        }
    }

    /// Gives back what belongs to a source that was not taken after all: to the inbox, or, if that has others of these
    /// names by now, to `done/`.
    func returnCompanions(of id: JobID, from mine: Directory) throws(SystemError) {
        let path = Self.path(of: mine)
        if try mine.status(Self.sidecar) != nil {
            let name = path.flatMap { Sidecar.path(of: $0.lastComponent) }
            try giveBack(Self.sidecar, of: id, from: mine, to: path?.directory, as: name)
        }
        guard let others = try others(in: mine) else { return }
        for name in try others.names().map({ BytePath($0) }) {
            try giveBack(name, of: id, from: others, to: path?.directory, as: name)
        }
    }

    private func giveBack(
        _ own: BytePath, of id: JobID, from mine: Directory, to place: BytePath?, as name: BytePath?
    ) throws(SystemError) {
        guard let place, let name else { return try recover(own, of: id, from: mine) }
        do throws(SystemError) {
            try mine.moveAcrossMounts(own, to: Directory(inbox).folder(place), as: name, calls: calls)
        } catch {
            // Its folder is gone, or has another one.
            guard error.code == EEXIST || error.isAbsence else { throw error }
            try recover(own, of: id, from: mine)
        }
    }
}
