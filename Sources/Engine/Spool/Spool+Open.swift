// Opening a claimed source so that nobody can change what the worker reads.
import Glibc
package import Pipeline
import System

/// Somebody still writes to the source: it should go back to its inbox.
package struct StillWritten: Error, Equatable {}

extension Spool {
    /// The source as the worker reads it: files below open folders, in which no link is followed; a set with its
    /// members in natural order.
    ///
    /// A file that somebody may still write to is copied first: one with several names, one that is open for writing,
    /// and one of which the system does not say. Files in a set that are recognisably no pictures are passed over. The
    /// source itself stays as it is. What was opened is remembered, so that `settle` deletes nothing else.
    ///
    /// The result must be let go before the job is settled, put back, or goes to `failed/`.
    /// - Throws: `StillWritten`, or `Failure` if it cannot be read, is too large, or is a set without pictures.
    /// - Parameter sidecars: whether they are read.
    package func open(
        _ job: Job, ignored: IgnoredNames, limits: Limits, sidecars: SidecarRule = .none
    ) throws -> SourceFile {
        var source: SourceFile
        do {
            guard let folder = try folders(of: job.id).job(job.id) else {
                throw SystemError("find the source in the spool", code: ENOENT)
            }
            let isSet = try folder.status(Self.source)?.kind == .directory
            source =
                isSet
                ? try openSet(of: job, in: folder, ignoring: ignored, limits: limits, takesSidecar: sidecars.takes)
                : try openPicture(of: job, in: folder, limits: limits)
            if sidecars.takes { try find(sidecars, &source, of: job, in: folder) }
        } catch let error as SystemError {
            if error.code == EBUSY { throw StillWritten() }
            throw error.asSourceFailure
        }
        do throws(SystemError) {
            try FaultPoint.pass(.afterSnapshot)
        } catch {
            throw error.asOutputFailure
        }
        return source
    }

    /// Says where the sidecars of a source are: its own in the job's folder, and those of its folders in the inbox.
    private func find(
        _ rule: SidecarRule, _ source: inout SourceFile, of job: Job, in folder: Directory
    ) throws {
        let name = Self.sidecar(of: job)
        source.sidecar = .below(folder, name)
        source.depth = job.path.directory.depth
        do throws(SystemError) {
            source.home = .below(try Directory(inbox), job.path)
        } catch {
            // The source can wait until the inbox is back.
            throw Failure(.ioError, stage: "read", "the inbox, whose folders may have sidecars: \(error)")
        }
        guard !job.isSet else { return }
        let found = try folder.status(name)
        guard let found, found.bytes > 0 || rule == .optional else {
            if rule == .optional { return }
            guard let expected = Sidecar.path(of: job.path.lastComponent) else {
                throw Failure(
                    .badParameters, stage: "read", "the name is too long for a sidecar, which the inbox requires")
            }
            throw Failure(
                .badParameters, stage: "read",
                "expected the sidecar '\(expected.printable)' ('sidecar: required'), found \(found == nil ? "none" : "an empty one")"
            )
        }
        if let file = try? folder.opening(name), file.hasWriter == true { throw StillWritten() }
    }

    private func openPicture(of job: Job, in folder: Directory, limits: Limits) throws -> SourceFile {
        // Whoever dropped it may have had it open still, or a crash came before it was compared with what was observed.
        if !job.keepsOriginal, let source = try folder.status(Self.source), source.kind == .regular,
            !job.isObserved(source), try !isCopied(source, job, in: folder)
        {
            throw StillWritten()
        }
        let opened = try readable(Self.source, name: job.path.lastComponent, in: folder, limits)
        noteOpened([BytePath([]): opened.status.version], of: job.id)
        return SourceFile(
            location: .below(folder, opened.path), identity: inbox.appending(job.path), relative: job.path)
    }

    private func openSet(
        of job: Job, in folder: Directory, ignoring ignored: IgnoredNames, limits: Limits, takesSidecar: Bool
    ) throws -> SourceFile {
        if let excess = try SetContents.Excess.marked(in: folder) { throw excess.failure(of: job.path) }
        let contents = try SetContents(of: folder.folder(Self.source), ignored: ignored)
        try contents.checkExcess(job.path)
        // A set that was moved is still the folder of whoever dropped it: what came since it was observed may be
        // incomplete, and a member may be on its way under a name of its own.
        let look = SourceLook(root: folder, ignored: ignored)
        if !job.keepsOriginal, case .source(let now, let signs) = try look.look(Self.source, isSet: true) {
            guard job.isObserved(now), try !look.isContinued(set: Self.source, signs) else { throw StillWritten() }
        }
        let root = try folder.folder(Self.source)
        let pictures = contents.members.filter { !Self.isPassedOver($0, in: root) }
        guard !pictures.isEmpty else {
            throw Failure(.empty, stage: "read", "expected a folder with pictures, found none in it")
        }
        var files: [BytePath: FileVersion] = [:]
        var members: [SourceFile] = []
        for member in pictures {
            let relative = job.path.appending(member.path)
            let path = Self.source.appending(member.path)
            let opened = try Self.naming(member.path) {
                try readable(path, name: member.path.lastComponent, in: folder, limits)
            }
            files[member.path] = opened.status.version
            members.append(
                SourceFile(
                    location: .below(folder, opened.path), identity: inbox.appending(relative), relative: relative))
        }
        // It was read, and goes with the members.
        if takesSidecar, let own = try root.status(Sidecar.ofFolder), own.kind == .regular {
            files[Sidecar.ofFolder] = own.version
        }
        noteOpened(files, of: job.id)
        // If it cannot be written, the set is not deleted.
        if !job.keepsOriginal { try? OpenedMembers(files).write(to: folder) }
        return SourceFile(
            location: .below(folder, Self.source), identity: inbox.appending(job.path), relative: job.path,
            members: members)
    }

    /// Whether a file of a set is no member: a sidecar, a video, a text, a format on request, which sets do not read.
    /// It goes where the set goes, but `settle` does not delete it.
    private static func isPassedOver(_ member: SetContents.Member, in root: Directory) -> Bool {
        guard let folder = try? root.folder(member.path.directory) else { return false }
        return noPicture(member.path, in: folder, allowed: [], followLinks: false) != nil
    }

    /// Says which member it is that failed.
    private static func naming<Value>(_ member: BytePath, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as Failure {
            throw error.ofMember(member.lastComponent.printable)
        }
    }

    /// Where a file can be read, from the job's folder, and its status.
    private func readable(
        _ path: BytePath, name: BytePath, in folder: Directory, _ limits: Limits
    ) throws -> (path: BytePath, status: FileStatus) {
        let (original, status): (OpenFile, FileStatus)
        do {
            (original, status) = try FileLocation.below(folder, path).open()
        } catch is NotARegularFile {
            throw Failure(
                .notARegularFile, stage: "read", "expected a file, found a folder, a link, a pipe, a socket or a device"
            )
        }
        // Before anything is copied.
        guard status.bytes <= limits.maximumSourceBytes else {
            let message =
                "the file has \(status.bytes) bytes; the limit is \(limits.maximumSourceBytes) (max-source-bytes)"
            throw Failure(.tooManyBytes, stage: "read", message)
        }
        if status.links == 1 && original.hasWriter == false { return (path, status) }
        // Inodes are distinct within a job; a copy from an attempt before is replaced.
        let copies = try folder.makingFolder(Self.copies, mode: 0o700)
        let inode = BytePath(String(status.identity.inode))
        try copies.removeTree(inode)
        try copies.makingFolder(inode, mode: 0o700).copying(original, as: name)
        return (Self.copies.appending(inode).appending(name), status)
    }
}
