// The names of files that are no sources: unfinished uploads, and what systems and editors leave behind.
package import Pipeline

/// Why a name is never a source.
package enum IgnoredName: Equatable, Sendable {
    /// A file that is still being written, under a temporary name. A set with such a name in it is not complete.
    case unfinished
    /// A file or folder that some program left behind. It says nothing about the files beside it; but a set in which
    /// one changes is not quiet, since some programs upload under such names.
    case leftover

    /// The kind of a name; nil for the name of a source.
    package init?(_ name: [UInt8]) {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        if isUnfinished(name, text) {
            self = .unfinished
        } else if isLeftover(text) {
            self = .leftover
        } else {
            return nil
        }
    }
}

/// Whether a file or folder of this name is never a source.
package func isIgnored(_ name: [UInt8]) -> Bool { IgnoredName(name) != nil }

/// The names that one inbox ignores: the usual ones, changed by the patterns in the mill file.
package struct IgnoredNames: Sendable {
    private let patterns: [NamePattern]

    package init(_ patterns: [NamePattern] = []) { self.patterns = patterns }

    /// Why a name is ignored; nil for the name of a source. The last pattern that matches decides, and the usual list
    /// if none does.
    package func kind(of name: [UInt8]) -> IgnoredName? {
        // Our own folder and temporary files are never sources, whatever the patterns say.
        if name.starts(with: ".imagemill".utf8) { return .leftover }
        if let last = patterns.last(where: { $0.matches(name) }) {
            return last.isException ? nil : IgnoredName(name) ?? .leftover
        }
        return IgnoredName(name)
    }

    package func contains(_ name: [UInt8]) -> Bool { kind(of: name) != nil }
}

/// - Parameter text: the name in lower case.
private func isUnfinished(_ name: [UInt8], _ text: String) -> Bool {
    if isTemporaryNameOfRsync(name) { return true }
    // macOS keeps attributes of `a.part` in `._a.part`, and that file is complete.
    if text.hasPrefix("._") { return false }
    let endings = [
        ".part", ".partial", ".filepart", ".tmp", ".temp", ".crdownload", ".download", ".!ut", ".!sync", ".opdownload",
        ".swp", ".rsync",
    ]
    // `.~tmp~` and `.rsync-partial` are folders of rsync; the others belong to GIO, Syncthing, Pure-FTPd, and ProFTPD
    // or lftp.
    let beginnings = [".goutputstream-", ".~tmp~", ".rsync-partial", ".pureftpd-upload."]
    if endings.contains(where: text.hasSuffix) || beginnings.contains(where: text.hasPrefix) { return true }
    return text.hasPrefix(".in.") && text.hasSuffix(".")
}

/// `.NAME.XXXXXX`, with six letters or digits, as rsync and others that use mkstemp write.
private func isTemporaryNameOfRsync(_ name: [UInt8]) -> Bool {
    let dot = UInt8(ascii: ".")
    guard name.count > 8, name[0] == dot, name[name.count - 7] == dot else { return false }
    let isRandom = name.suffix(6).allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
    // `._a.folder` holds attributes of `a.folder`, but `._a.jpg.XyZ123` is an upload of `_a.jpg`.
    return isRandom && (name[1] != UInt8(ascii: "_") || name.dropLast(7).dropFirst(2).contains(dot))
}

/// - Parameter text: the name in lower case.
private func isLeftover(_ text: String) -> Bool {
    let names = [
        "thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "@eadir", "#recycle", "$recycle.bin",
        "__macosx", "lost+found",
    ]
    return text.hasPrefix(".") || text.hasPrefix("~$") || text.hasSuffix("~") || names.contains(text)
}
