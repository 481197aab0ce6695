// Opening a claimed source so that nobody can change what the worker reads.
import CLinux
import Glibc
package import Pipeline

/// A claimed source, or a member of a claimed set, open for a worker.
package struct PrivateSource: Sendable {
    /// What the worker reads.
    package let file: OpenFile
    /// The path of what the worker reads: the source itself, or a copy of it.
    package let path: BytePath
    package let isCopy: Bool
}

extension WorkPlace {
    /// Opens a claimed source, or a member of a claimed set.
    ///
    /// A file that somebody may still write to is copied first: one with several names, one that is open for writing, and one of which the
    /// system does not say. The copy shares its blocks with the source where the file system can. The source itself stays as it is.
    /// - Throws: EBUSY where the file was written to while it was copied; it should go back to its inbox.
    package func open(_ job: JobID, member: BytePath? = nil) throws(SystemError) -> PrivateSource {
        let folder = try Directory(self.folder(of: job))
        let relative = member.map { Self.source.appending($0) } ?? Self.source
        let above = relative.directory.bytes.isEmpty ? folder : try folder.folder(relative.directory)
        let original = try above.opening(relative.lastComponent)
        var status = stat()
        guard fstat(original.descriptor, &status) == 0 else { throw SystemError("examine the source") }
        let sighting = Sighting(status)
        guard sighting.kind == .regular else { throw SystemError("read the source: it is no file", code: EINVAL) }
        if sighting.links == 1 && clinux_nobody_writes(original.descriptor) == 1 {
            return PrivateSource(file: original, path: self.folder(of: job).appending(relative), isCopy: false)
        }
        let copy = try copy(original, sighting, into: folder.makingFolder(Self.copies, mode: 0o700))
        let path = self.folder(of: job).appending(Self.copies).appending(copy.name)
        return PrivateSource(file: copy.file, path: path, isCopy: true)
    }

    private func copy(_ original: OpenFile, _ before: Sighting, into folder: Directory) throws(SystemError) -> (file: OpenFile, name: BytePath) {
        // Inodes are distinct within a job; a copy from an attempt before is replaced.
        let name = BytePath(String(before.identity.inode))
        try folder.remove(name)
        do throws(SystemError) {
            try SourceCopy.copy(original, to: folder, as: name)
        } catch {
            // Half a copy would keep a full disk full.
            try? folder.remove(name)
            throw error
        }
        return (try folder.opening(name), name)
    }
}
