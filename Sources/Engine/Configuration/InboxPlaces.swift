// Where the folders of an inbox really are, whatever names and links lead there.
import Pipeline
import System

/// The places of an inbox and of its outbox. A look at them waits for their file systems.
package struct InboxPlaces: Sendable {
    let inbox: FolderPlace
    let outbox: FolderPlace
    /// The outbox's key in the record of names: its path from the mill file if it is below that folder, so that a
    /// project can be moved as a whole; otherwise the absolute path. Links are resolved.
    let outboxKey: BytePath

    init(inbox: BytePath, outbox: BytePath, millFile: String) throws(SystemError) {
        let mounts = MountTable.current
        self.inbox = try .looking(inbox, mounts)
        self.outbox = try .looking(outbox, mounts)
        outboxKey = Self.key(of: outbox, millFile: millFile)
    }

    private static func key(of outbox: BytePath, millFile: String) -> BytePath {
        let outbox = outbox.withoutTrailingSlashes
        // The outbox itself may not have been made yet.
        let real =
            FileSystem.absolute(outbox) ?? FileSystem.absolute(outbox.directory)?.appending(outbox.lastComponent)
            ?? outbox
        let folder = FileSystem.absolute(DurableFile.folder(of: BytePath(millFile)))
        guard let folder, real.isAtOrBelow(folder), real != folder else { return real }
        return BytePath(Array(real.bytes[folder.bytes.count...].drop { $0 == UInt8(ascii: "/") }))
    }
}
