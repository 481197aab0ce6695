// STATE/identity: how a drop folder knows its files in outboxes, whatever becomes of its ledger. The ledger has it too.
import Glibc
import Pipeline
import System

/// The identity of a drop folder: random, and the same for as long as its state folder is kept.
enum DropFolderIdentity {
    /// Reads the identity. If the file is gone, it is that in the ledger, and one is made at the first start.
    /// - Throws: `StoreError`, and `SystemError` also if the file holds none: with another identity, all renditions that
    ///   are there would be somebody else's.
    static func read(from state: BytePath, ledger: any InboxStore) throws -> (identity: String, isNew: Bool) {
        let path = state.appending(BytePath("identity"))
        let recorded = try ledger.identity()
        let written = try read(path, isRecorded: recorded != nil)
        let identity = written ?? recorded ?? String(UInt64.random(in: .min ... .max), radix: 36)
        if written == nil { try write(identity, path) }
        if identity != recorded { try ledger.record(identity: identity) }
        return (identity, isNew: written == nil && recorded == nil)
    }

    private static func read(_ path: BytePath, isRecorded: Bool) throws(SystemError) -> String? {
        guard try FileSystem.status(path) != nil else { return nil }
        let text = String(decoding: try OpenFile.contents(path, limit: 64), as: UTF8.self)
        guard let end = text.firstIndex(of: "\n"), UInt64(text[..<end], radix: 36) != nil else {
            throw SystemError(
                "use '\(path.printable)'", code: EINVAL,
                because:
                    "it holds no identity; "
                    + (isRecorded
                        ? "remove it: the ledger has it too"
                        : "put it back from a backup, or remove it: then this is a new drop folder, which replaces no rendition "
                            + "that is there"))
        }
        return String(text[..<end])
    }

    private static func write(_ identity: String, _ path: BytePath) throws(SystemError) {
        let folder = try Directory(path.directory)
        let staged = try StagedFile(in: folder, destination: path, token: DurableFile.newToken)
        try staged.file.append(Array("\(identity)\n".utf8), for: path)
        try staged.sync()
        try staged.publish()
        try folder.sync()
    }
}
