// Is it the picture, or is it the world? Looks whether anything at all can be written into an outbox.
import Glibc
package import Pipeline

package enum OutboxProbe {
    /// Enough that a full disk shows.
    private static let probedBytes = 256 << 10

    /// Writes a file that nobody sees, to the disk.
    /// - Returns: why the outbox cannot take anything now; nil where it can. It is not made where it is missing: a share that is not mounted
    ///   must not be filled beneath its mount.
    package static func trouble(_ outbox: BytePath) -> PauseReason? {
        do throws(SystemError) {
            guard try FileSystem.status(outbox)?.kind == .directory else { return .missingOutbox }
            let staged = try StagedFile(for: outbox.appending(BytePath("probe")), token: DurableFile.newToken, makesFolders: false)
            try staged.file.append([UInt8](repeating: 0, count: probedBytes), for: outbox)
            return fsync(staged.file.descriptor) == 0 ? nil : PauseReason(SystemError("write"), missing: .missingOutbox)
        } catch {
            return PauseReason(error, missing: .missingOutbox)
        }
    }
}
