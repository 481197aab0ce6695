// A source's own sidecar goes where the source goes: first out of the inbox, and last out of the job's folder.
import Glibc
import Pipeline
import System

extension Spool {
    /// The sidecar in a job's folder.
    static let sidecar = BytePath("sidecar")
    /// A copy of one that stays in the inbox.
    static let sidecarCopy = BytePath("sidecar-copy")

    /// The one that goes where the source in the job's folder goes, which may be a copy itself.
    static func sidecar(of job: Job) -> BytePath { job.keepsOriginal ? sidecarCopy : sidecar }

    /// Bytes of one that is copied. A sidecar that is read is much smaller.
    private static let largestCopy = 16 << 20

    /// Brings a source's sidecar into the job's folder, if there is one. It is moved before its source, so that a crash
    /// leaves both in the inbox, or the sidecar where the next claim of the source finds it.
    /// - Parameter settle: how long it must not have changed.
    /// - Throws: EBUSY if it has.
    func takeSidecar(
        of job: Job, from folder: Directory, to mine: Directory, settle: Duration
    ) throws(SystemError) {
        guard !job.isSet, let name = Sidecar.path(of: job.path.lastComponent) else { return }
        try mine.remove(Self.sidecarCopy)
        guard let found = try folder.status(name), found.kind != .directory else { return }
        // It came, or came anew, since its picture was looked at. A clock that goes wrong must not hold it up for ever.
        let age = Duration.nanoseconds(nanosecondsSince1970() &- found.changed)
        guard age >= settle || age < .zero else {
            throw SystemError("take '\(name.printable)': it has changed a moment ago", code: EBUSY)
        }
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
        do throws(SystemError) {
            try folder.moveAcrossMounts(name, to: mine, as: Self.sidecar, calls: calls)
        } catch {
            // On NFS an answer may be lost: then it has moved. Or somebody has removed it.
            guard error.isAbsence else { throw error }
        }
    }

    /// Moves what an earlier attempt has left of a source that has its place below a folder already.
    /// - Parameter own: its name in the job's folder.
    func moveLeft(
        _ own: BytePath = Spool.sidecar, of job: Job, from mine: Directory, below root: Directory
    ) throws(SystemError) {
        guard try mine.status(own) != nil else { return }
        var folder = root
        for name in job.path.components.dropLast() {
            folder = try VersionedName.folder(BytePath(name), in: folder).folder
        }
        let picture = try placed(job, in: folder).last ?? job.path.lastComponent
        try move(own, from: mine, to: folder, beside: picture)
        try folder.sync()
    }

    /// Puts away what a stop of the program has left of a job that is through.
    /// - Parameter isDone: its source was rendered; otherwise it is in `failed/`.
    func putAwaySidecar(of job: Job, isDone: Bool) throws(SystemError) {
        let folders = folders(of: job.id)
        guard let mine = try folders.job(job.id) else { return }
        if isDone, job.originals == .delete {
            try mine.remove(Self.sidecar)
        } else {
            try moveLeft(
                isDone ? Self.sidecar : Self.sidecar(of: job), of: job, from: mine,
                below: folders.open(isDone ? .done : .failed))
        }
    }

    /// Moves a sidecar beside its source, or to a version of that name if it is taken.
    func move(
        _ own: BytePath, from mine: Directory, to folder: Directory, beside source: BytePath
    ) throws(SystemError) {
        guard let status = try mine.status(own) else { return }
        // One that was not copied is refused for what it is, and stays in the inbox.
        guard own != Self.sidecarCopy || status.kind == .regular && status.bytes <= Self.largestCopy else { return }
        // A version of a name can be too long to have one.
        let name = Sidecar.path(of: source) ?? BytePath("sidecar-\(DurableFile.newToken).yaml")
        _ = try VersionedName(wish: name, calls: calls).move(own, from: mine, to: folder)
    }

    /// Gives back the sidecar of a source that was not taken after all: to the inbox, or, if that has another one by
    /// now, to `done/`.
    func returnSidecar(of id: JobID, from mine: Directory) throws(SystemError) {
        guard try mine.status(Self.sidecar) != nil else { return }
        guard let path = Self.path(of: mine), let name = Sidecar.path(of: path.lastComponent) else {
            return try recover(Self.sidecar, of: id, from: mine)
        }
        do throws(SystemError) {
            try mine.moveAcrossMounts(
                Self.sidecar, to: Directory(inbox).folder(path.directory), as: name, calls: calls)
        } catch {
            // Its folder is gone, or has another one.
            guard error.code == EEXIST || error.isAbsence else { throw error }
            try recover(Self.sidecar, of: id, from: mine)
        }
    }
}
