// Tells trouble with a folder from trouble with a picture.
import Glibc
package import Pipeline

/// Tries whether anything at all can be written into a folder, and read.
package enum WriteProbe {
    /// Enough that a full disk shows.
    private static let probedBytes = 256 << 10

    /// Writes a temporary file, syncs it, reads it back from the disk, lists the folder and lets it go. A folder that is missing is not
    /// made: a share that is not mounted must not be filled beneath its mount.
    /// - Returns: why the folder cannot take anything now, with its path; nil if it can.
    package static func trouble(in folder: BytePath) -> SystemError? {
        do throws(SystemError) {
            let directory = try Directory(folder)
            let staged = try StagedFile(
                in: directory, destination: folder.appending(BytePath("probe")), token: DurableFile.newToken)
            staged.removeName()
            try staged.file.append([UInt8](repeating: 0, count: probedBytes), for: folder)
            try staged.sync()
            // The copy of it in memory says nothing about the disk.
            posix_fadvise(staged.file.descriptor, 0, 0, POSIX_FADV_DONTNEED)
            try staged.file.readThrough()
            _ = try DirectoryStream(directory).next()
            return nil
        } catch {
            return SystemError("write into '\(folder.printable)'", code: error.code)
        }
    }

    /// Whether the disk of a folder has no room for what is probed, or its quota.
    package static func isFull(_ folder: BytePath) -> Bool {
        [ENOSPC, EDQUOT].contains(trouble(in: folder)?.code ?? 0)
    }
}
