// Sources in `failed/` go back to their inbox: what `imagemill retry` does.
import Glibc
package import Pipeline

/// The folder with an inbox' failed sources.
package struct FailedFolder: Sendable {
    private let folder: BytePath
    private let inbox: BytePath

    package init(folder: BytePath, inbox: BytePath) { (self.folder, self.inbox) = (folder, inbox) }

    /// The failed sources, as paths from the folder, sorted.
    package func sources() throws(SystemError) -> [BytePath] {
        var found: [BytePath] = []
        try collect(BytePath([]), into: &found)
        let all = Set(found)
        let notes = Set(found.map { FailureNote.path(beside: $0) }).intersection(all)
        return found.filter { !notes.contains($0) }.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    private func collect(_ place: BytePath, into found: inout [BytePath]) throws(SystemError) {
        for name in try FileSystem.names(in: folder.appending(place)) {
            let path = place.appending(BytePath(name))
            switch try FileSystem.status(folder.appending(path), followLinks: false)?.kind {
            // A set is a folder with a note of its own.
            case .directory where try hasNote(path): found.append(path)
            case .directory: try collect(path, into: &found)
            case .regular: found.append(path)
            case .link, .other, nil: break
            }
        }
    }

    private func hasNote(_ path: BytePath) throws(SystemError) -> Bool {
        try FileSystem.status(FailureNote.path(beside: folder.appending(path)), followLinks: false)?.kind == .regular
    }

    /// Moves a source back to where it came from in the inbox, and removes its note.
    /// - Parameter source: its path from the folder.
    /// - Returns: its path from the inbox.
    /// - Throws: `SystemError`; with `EEXIST` where another file stands there by now.
    @discardableResult
    package func giveBack(_ source: BytePath) throws(SystemError) -> BytePath {
        guard source.staysBelow else { throw SystemError("retry '\(source.printable)'", code: EINVAL) }
        let old = folder.appending(source)
        let kind = try FileSystem.status(old, followLinks: false)?.kind
        let isSet = kind == .directory ? try hasNote(source) : false
        guard kind == .regular || isSet else { throw SystemError("retry '\(source.printable)'", code: ENOENT) }
        // A second failure of one name stands in `failed/` under another.
        let path = FailureNote.source(ofNoteBeside: old) ?? source
        do throws(SystemError) {
            try move(source, to: path)
        } catch {
            throw SystemError("move '\(source.printable)' back to '\(inbox.appending(path).printable)'", code: error.code)
        }
        FileSystem.remove(FailureNote.path(beside: old))
        return path
    }

    /// An inbox that is missing may be a mount, and is not made; no link is followed in it.
    private func move(_ source: BytePath, to path: BytePath) throws(SystemError) {
        var new = try Directory(inbox)
        for name in path.components.dropLast() { new = try new.makingFolder(BytePath(name)) }
        try Directory(folder).folder(source.directory).move(source.lastComponent, to: new, as: path.lastComponent)
        try new.sync()
    }
}
