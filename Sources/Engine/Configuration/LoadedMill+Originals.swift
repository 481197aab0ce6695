// Finds the originals of finished sources, for pages that are made of a journal.
package import Pipeline
import System

extension LoadedMill.Inbox {
    /// Versions of a name that are looked at: `photo.jpg`, `photo~2.jpg`, …
    private static let mostVersions = 9

    /// The file of a finished source's original: in `done/` or `failed/`, or in the inbox if it stays there.
    /// Waits for their file systems.
    /// - Parameters:
    ///   - path: the source's path from the inbox.
    ///   - bytes: its size, by which versions of one name are told apart; nil if it was refused before that was known.
    /// - Returns: nil if it is not there any more.
    package func original(of path: BytePath, bytes: Int?, on shelf: Shelf) -> BytePath? {
        guard path.staysBelow else { return nil }
        let name = BytePath(settings.name)
        let shelves = spool.candidates.indices.map { spool.folders(at: $0, name: name).path(shelf) }
        for folder in shelves.map({ $0.appending(path.directory) }) {
            for number in 1...Self.mostVersions {
                let file = folder.appending(VersionedName.version(number, of: path.lastComponent))
                guard let status = try? FileSystem.status(file, followLinks: false) else { break }
                if status.kind == .regular && status.bytes == bytes ?? status.bytes { return file }
            }
        }
        let kept = self.path.appending(path)
        guard let status = try? FileSystem.status(kept, followLinks: false) else { return nil }
        return status.kind == .regular && status.bytes == bytes ?? status.bytes ? kept : nil
    }
}
