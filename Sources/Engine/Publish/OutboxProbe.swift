// Tells trouble with an outbox from trouble with a picture.
import Glibc
package import Pipeline

/// Tries whether anything at all can be written into an outbox.
package enum OutboxProbe {
    /// Enough that a full disk shows.
    private static let probedBytes = 256 << 10

    /// Writes a file that nobody sees, to the disk.
    /// - Returns: why the outbox cannot take anything now; nil if it can. An outbox that is missing is not made: a share that is not mounted must
    ///   not be filled beneath its mount.
    package static func trouble(_ outbox: BytePath) -> PauseReason? {
        do throws(SystemError) {
            let staged = try StagedFile(in: Directory(outbox), destination: outbox.appending(BytePath("probe")), token: DurableFile.newToken)
            try staged.file.append([UInt8](repeating: 0, count: probedBytes), for: outbox)
            try staged.sync()
            return nil
        } catch {
            return PauseReason(error, missing: .missingOutbox)
        }
    }
}
