// A copy of a source that stays in its inbox: written aside, synced, and put into place by a rename.
import Glibc
import Pipeline
import System

/// Copies a source into a job's folder. A crash at any moment leaves no `source`, or a complete one.
struct Snapshot {
    let job: Job
    /// The inbox.
    let root: Directory
    /// The job's folder.
    let target: Directory
    let ignored: IgnoredNames
    /// Bytes beyond which a file gets a second name instead: it will be refused, and must not fill the disk for that.
    let largest: Int

    /// Its name while it is incomplete.
    static let part = BytePath("source.part")

    /// A set that is too deep or too large gets an empty folder and a mark: it will be refused.
    /// - Throws: EBUSY if the source is not what was observed, or was written to meanwhile.
    func make() throws(SystemError) {
        for name in [Self.part] + SetContents.Excess.allCases.map(\.mark) { try target.removeTree(name) }
        let folder = try root.folder(job.path.directory)
        if job.isSet { try copySet(folder.folder(job.path.lastComponent)) } else { try copyFile(folder) }
        do throws(SystemError) {
            try target.rename(Self.part, to: target, as: Spool.source)
        } catch {
            // On NFS an answer may be lost: then the rename is done, and its repetition finds nothing.
            guard error.isAbsence, try target.status(Spool.source) != nil else { throw error }
        }
        try target.sync()
    }

    private func copyFile(_ folder: Directory) throws(SystemError) {
        guard let found = try folder.status(job.path.lastComponent) else { throw Self.absent }
        guard job.isObserved(found) else { throw Self.changed }
        try copy(
            SetContents.Member(path: job.path.lastComponent, status: found), from: folder, to: target, as: Self.part)
    }

    private func copySet(_ set: Directory) throws(SystemError) {
        let contents = try SetContents(of: set, ignored: ignored)
        let copy = try target.makingFolder(Self.part, mode: 0o700)
        if let excess = contents.excess {
            guard try isAsObserved() else { throw Self.changed }
            _ = try target.making(excess.mark)
            return
        }
        for path in contents.folders {
            _ = try copy.folder(path.directory).makingFolder(path.lastComponent, mode: 0o700)
        }
        for member in contents.members {
            let (from, to) = (try set.folder(member.path.directory), try copy.folder(member.path.directory))
            try self.copy(member, from: from, to: to, as: member.path.lastComponent)
        }
        for path in contents.folders + [BytePath([])] { try copy.folder(path).sync() }
        // The set must be the one that was observed, and must not have changed while it was copied.
        guard try SetContents(of: set, ignored: ignored).members.elementsEqual(contents.members, by: Self.isSameMember),
            try isAsObserved()
        else { throw Self.changed }
    }

    private func isAsObserved() throws(SystemError) -> Bool {
        let look = SourceLook(root: root, ignored: ignored)
        guard case .source(let now, let signs) = try look.look(job.path, isSet: true), job.isObserved(now) else {
            return false
        }
        return try !look.isContinued(set: job.path, signs)
    }

    private static func isSameMember(_ one: SetContents.Member, _ other: SetContents.Member) -> Bool {
        one.path == other.path && one.status.version == other.status.version
    }

    private func copy(_ member: SetContents.Member, from: Directory, to: Directory, as name: BytePath)
        throws(SystemError)
    {
        guard member.status.bytes <= largest else { return try link(member, from: from, to: to, as: name) }
        let original = try from.opening(member.path.lastComponent)
        guard try original.status().version == member.status.version else { throw Self.changed }
        try to.copying(original, as: name, isDurable: true)
    }

    private func link(_ member: SetContents.Member, from: Directory, to: Directory, as name: BytePath)
        throws(SystemError)
    {
        do throws(SystemError) {
            try from.link(member.path.lastComponent, to: to, as: name)
        } catch {
            let sentence = "it has \(member.status.bytes) bytes; the limit is \(largest) (max-source-bytes)"
            throw SystemError("copy '\(member.path.printable)'", code: EFBIG, because: sentence)
        }
        guard try to.status(name)?.identity == member.status.identity else { throw Self.changed }
    }

    private static let absent = SystemError("find the source", code: ENOENT)
    private static let changed = SystemError("copy the source: somebody still writes to it", code: EBUSY)
}

extension Directory {
    /// Copies an open file into this folder, with the time of its last change, from which names with {date} are made.
    /// Half a copy is removed.
    /// - Parameter isDurable: its content is on the disk when this returns.
    /// - Throws: EBUSY if the file was written to meanwhile.
    func copying(_ original: OpenFile, as name: BytePath, isDurable: Bool = false) throws(SystemError) {
        do throws(SystemError) {
            try fillCopy(of: original, as: name, isDurable: isDurable)
        } catch {
            // It would keep a full disk full.
            if error.code != EEXIST { try? remove(name) }
            throw error
        }
    }

    /// Moves something to another folder, as `move` does; a file also if that is on another mount: by a synced copy,
    /// which is hidden until it is complete. A crash leaves the file in its old place, or in both.
    /// - Throws: EEXIST if the new name is taken, EXDEV for a folder on another mount.
    func moveAcrossMounts(
        _ name: BytePath, to folder: Directory, as newName: BytePath, calls: NameCalls = .system
    ) throws(SystemError) {
        do throws(SystemError) {
            return try move(name, to: folder, as: newName, calls: calls)
        } catch {
            guard error.code == EXDEV, try status(name)?.kind == .regular else { throw error }
        }
        // It is not copied in vain.
        guard try folder.status(newName) == nil else {
            throw SystemError("move '\(name.printable)' to '\(newName.printable)'", code: EEXIST)
        }
        let hidden = BytePath(".imagemill-\(DurableFile.newToken)")
        let original = try opening(name)
        try folder.copying(original, as: hidden, isDurable: true)
        folder.takeRights(of: original, hidden)
        do throws(SystemError) {
            try folder.move(hidden, to: folder, as: newName, calls: calls)
        } catch {
            try? folder.remove(hidden)
            throw error
        }
        try folder.sync()
        try remove(name)
    }

    /// Gives a copy that takes its original's place the owner, the group and the permissions of that, as far as this
    /// process may.
    func takeRights(of original: OpenFile, _ name: BytePath) {
        var status = stat()
        guard fstat(original.descriptor, &status) == 0, let copy = try? opening(name) else { return }
        let isTheirs = fchown(copy.descriptor, status.st_uid, status.st_gid) == 0
        // A copy that stays this process's own must stay legible to it.
        _ = fchmod(copy.descriptor, status.st_mode & 0o777 | (isTheirs ? 0 : 0o600))
    }

    private func fillCopy(of original: OpenFile, as name: BytePath, isDurable: Bool) throws(SystemError) {
        var before = stat()
        guard fstat(original.descriptor, &before) == 0 else { throw SystemError("examine the source") }
        guard FileStatus(before).kind == .regular else {
            throw SystemError("read the source: it is no file", code: EINVAL)
        }
        let copy = try making(name)
        try copy.fill(from: original)
        guard try original.status().version == FileStatus(before).version,
            try copy.status().bytes == FileStatus(before).bytes
        else {
            throw SystemError("copy the source: somebody still writes to it", code: EBUSY)
        }
        let times = [before.st_atim, before.st_mtim]
        guard futimens(copy.descriptor, times) == 0 else { throw SystemError("copy the source") }
        guard !isDurable || fsync(copy.descriptor) == 0 else {
            throw SystemError("write a copy of the source to the disk")
        }
    }
}

extension Job {
    /// Whether a file or set is the one that was observed, and as it was. Numbers of devices change with every start of
    /// the machine.
    /// - Parameter status: of a set, with the digest of its members, as `SourceLook` gives it.
    func isObserved(_ status: FileStatus) -> Bool {
        status.kind == (isSet ? .directory : .regular) && status.identity.inode == observed.identity.inode
            && status.stamp == observed.stamp
    }
}
