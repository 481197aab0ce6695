// STATE/identity: how a drop folder knows its files in outboxes, whatever becomes of its ledger.
import Glibc
import Pipeline

/// The identity of a drop folder: random, and the same for as long as its state folder is kept.
enum DropFolderIdentity {
    /// Reads the identity; makes one at the first start, when the ledger is there.
    /// - Throws: `SystemError` also if the file holds none: with another identity, all renditions that are there would
    ///   be somebody else's.
    static func read(from state: BytePath) throws(SystemError) -> (identity: String, isNew: Bool) {
        let path = state.appending(BytePath("identity"))
        guard try FileSystem.status(path) != nil else { return (try make(path), isNew: true) }
        let text = String(decoding: try OpenFile.contents(path, limit: 64), as: UTF8.self)
        guard let end = text.firstIndex(of: "\n"), UInt64(text[..<end], radix: 36) != nil else {
            throw SystemError(
                "use '\(path.printable)'", code: EINVAL,
                because:
                    "it holds no identity; put it back from a backup, or remove it: then this is a new drop folder, "
                    + "which replaces no rendition that is there")
        }
        return (String(text[..<end]), isNew: false)
    }

    private static func make(_ path: BytePath) throws(SystemError) -> String {
        let identity = String(UInt64.random(in: .min ... .max), radix: 36)
        let folder = try Directory(path.directory)
        let staged = try StagedFile(in: folder, destination: path, token: DurableFile.newToken)
        try staged.file.append(Array("\(identity)\n".utf8), for: path)
        try staged.sync()
        try staged.publish()
        try folder.sync()
        return identity
    }
}
