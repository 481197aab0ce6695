// How much room a file system has.
import Glibc
package import Pipeline

/// The room of the file system that a folder is on.
package struct DiskSpace: Equatable, Sendable {
    /// Tells file systems apart.
    package let device: UInt64
    /// Bytes that this user may still write.
    package let free: Int
    package let total: Int

    package init(device: UInt64, free: Int, total: Int) { (self.device, self.free, self.total) = (device, free, total) }

    /// Waits for the file system.
    /// - Returns: nil if it cannot be found out, or if it has no size.
    package init?(of folder: BytePath) {
        var found = statvfs()
        guard withPath(folder, { statvfs($0, &found) }) == 0, found.f_blocks > 0,
            let status = try? FileSystem.status(folder)
        else { return nil }
        self.init(
            device: status.identity.device, free: Int(clamping: found.f_bavail) * Int(clamping: found.f_frsize),
            total: Int(clamping: found.f_blocks) * Int(clamping: found.f_frsize))
    }

    /// So little that somebody should make room before everything stops: less than 1 GiB, or than a twentieth of a
    /// disk that is smaller than 20 GiB.
    package var isLow: Bool { free < min(1 << 30, total / 20) }
}
