// A file inside of another one, such as a member of a tar.
import CLinux
import Glibc
package import Pipeline

/// A range of bytes of an open file, which is read as a file of its own.
package struct FilePart: Sendable {
    package let file: OpenFile
    /// The path of the range within the file, which gives it a name.
    package let path: BytePath
    package let offset: Int
    package let bytes: Int

    package init(file: OpenFile, path: BytePath, offset: Int, bytes: Int) {
        self.file = file
        self.path = path
        self.offset = offset
        self.bytes = bytes
    }

    /// As a file: its own size, everything else that of the file around it.
    package func status() throws(SystemError) -> FileStatus {
        let around = try file.status()
        return FileStatus(
            kind: around.kind, links: around.links, identity: around.identity, bytes: bytes, modified: around.modified,
            changed: around.changed,
            owner: around.owner, mode: around.mode)
    }

    /// A private copy in memory, since workers get whole files. Its time is that of the file around it.
    /// - Throws: `SystemError`; `Failure` if the file was written to meanwhile.
    package func copied() throws -> (file: OpenFile, status: FileStatus) {
        let before = try file.status()
        let copy = OpenFile(owning: clinux_memory_file("imagemill-source"))
        guard copy.descriptor >= 0 else { throw SystemError("make a file in memory") }
        var done = 0
        while done < bytes {
            let chunk = try file.bytes(at: offset + done, count: min(1 << 20, bytes - done))
            guard !chunk.isEmpty else { throw SystemError("read '\(path.printable)' in its archive", code: EIO) }
            try copy.append(chunk, for: path)
            done += chunk.count
        }
        guard try file.status().version == before.version else {
            throw Failure(
                .changedWhileRead, stage: "read", "somebody wrote to the archive of this file while it was read")
        }
        let (seconds, rest) = before.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(tv_sec: seconds, tv_nsec: rest)
        guard futimens(copy.descriptor, [time, time]) == 0 else {
            throw SystemError("set the time of a file in memory")
        }
        // Nobody writes through this one.
        let readable = try copy.reopened()
        return (readable, try readable.status())
    }
}
