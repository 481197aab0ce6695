// A source's own sidecar goes where the source goes: first out of the inbox, and last out of the job's folder.
import Glibc
import Pipeline
import System

/// Whether an inbox takes sidecars.
package enum SidecarRule: Sendable {
    /// Its pipeline has no parameters.
    case none
    case optional
    case required

    /// Whether there may be any.
    var takes: Bool { self != .none }
}

extension Spool {
    /// The sidecar in a job's folder.
    static let sidecar = BytePath("sidecar")
    /// A copy of one that stays in the inbox.
    static let sidecarCopy = BytePath("sidecar-copy")

    /// Brings a source's sidecar into the job's folder, if there is one. It is moved before its source, so that a crash
    /// leaves both in the inbox, or the sidecar where the next claim of the source finds it.
    func takeSidecar(of job: Job, from folder: Directory, to mine: Directory) throws(SystemError) {
        guard !job.isSet else { return }
        let name = Sidecar.path(of: job.path.lastComponent)
        guard try folder.status(name)?.kind == .regular else { return }
        if job.keepsOriginal {
            try mine.remove(Self.sidecarCopy)
            // One that is too large is refused by its size alone.
            let original = try folder.opening(name)
            guard try original.status().bytes <= Sidecar.largest else {
                return try folder.link(name, to: mine, as: Self.sidecarCopy)
            }
            return try mine.copying(original, as: Self.sidecarCopy)
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
    func moveLeftSidecar(of job: Job, from mine: Directory, below root: Directory) throws(SystemError) {
        guard try mine.status(Self.sidecar) != nil else { return }
        var folder = root
        for name in job.path.components.dropLast() {
            folder = try VersionedName.folder(BytePath(name), in: folder).folder
        }
        var place = job.path.lastComponent
        for number in 2... {
            let version = VersionedName.version(number, of: job.path.lastComponent)
            guard try folder.status(version) != nil else { break }
            if try folder.status(Sidecar.path(of: version)) == nil { place = version }
        }
        try moveSidecar(from: mine, to: folder, beside: place)
        try folder.sync()
    }

    /// Moves a sidecar beside its source, or to a version of that name if it is taken.
    func moveSidecar(from mine: Directory, to folder: Directory, beside source: BytePath) throws(SystemError) {
        guard try mine.status(Self.sidecar) != nil else { return }
        _ = try VersionedName.move(
            Self.sidecar, from: mine, to: folder, as: Sidecar.path(of: source), calls: calls)
    }

    /// Gives back the sidecar of a source that was not taken after all: to the inbox, or, if that has another one by
    /// now, to `done/`.
    func returnSidecar(of id: JobID, from mine: Directory) throws(SystemError) {
        guard try mine.status(Self.sidecar) != nil else { return }
        guard let path = Self.path(of: mine), let folder = try? Directory(inbox).folder(path.directory) else {
            return try recover(Self.sidecar, of: id, from: mine)
        }
        do throws(SystemError) {
            try mine.moveAcrossMounts(
                Self.sidecar, to: folder, as: Sidecar.path(of: path.lastComponent), calls: calls)
        } catch {
            guard error.code == EEXIST else { throw error }
            try recover(Self.sidecar, of: id, from: mine)
        }
    }
}
