// Sources in `failed/` go back to their inbox: what `imagemill retry` does.
import Glibc
package import Pipeline

/// The folder with an inbox's failed sources. No link is followed in it, nor in the inbox.
package struct FailedFolder: Sendable {
    private let folder: BytePath
    private let inbox: BytePath

    package init(folder: BytePath, inbox: BytePath) { (self.folder, self.inbox) = (folder, inbox) }

    /// A failed source, with what the folder says of it and of its note.
    package struct Entry: Equatable, Sendable {
        /// From the folder.
        package let path: BytePath
        /// Nil for a set, which is a folder.
        package let bytes: Int?
        /// The file beside it with the reason; nil if there is none.
        package let note: FileStatus?
    }

    /// The contents of the folder. Sub-folders that cannot be read are passed over.
    package struct Contents: Sendable {
        /// The failed sources, as paths from the folder, sorted.
        package fileprivate(set) var sources: [BytePath] = []
        /// Notes whose source somebody has moved away.
        fileprivate(set) var orphans: [BytePath] = []
        /// Why something was passed over, a sentence for each.
        package fileprivate(set) var troubles: [SystemError] = []
        fileprivate var files: [BytePath: FileStatus] = [:]

        /// The failed sources, sorted by their paths.
        package var entries: [Entry] {
            sources.map {
                Entry(path: $0, bytes: files[$0]?.bytes, note: files[FailureNote.path(beside: $0)])
            }
        }
    }

    /// - Throws: `SystemError` if the folder itself cannot be opened.
    package func contents() throws(SystemError) -> Contents {
        let root = try Directory(folder)
        var contents = Contents()
        var found: [BytePath] = []
        var pending = [BytePath([])]
        while let path = pending.popLast() {
            do throws(SystemError) {
                let folder = try root.folder(path)
                for name in try folder.names().map({ BytePath($0) }) {
                    let status = try folder.status(name)
                    switch status?.kind {
                    // A set is a folder with a note of its own.
                    case .directory:
                        if try hasNote(name, in: folder) {
                            found.append(path.appending(name))
                        } else {
                            pending.append(path.appending(name))
                        }
                    case .regular:
                        found.append(path.appending(name))
                        contents.files[path.appending(name)] = status
                    case .link, .other, nil: break
                    }
                }
            } catch {
                if error.isAbsence { continue }
                contents.troubles.append(
                    SystemError("look into '\(folder.appending(path).printable)'", code: error.code))
            }
        }
        let all = Set(found)
        let notes = Set(found.map { FailureNote.path(beside: $0) }).intersection(found)
        // A note whose source somebody has moved away is no source. One that is called like a note has its own.
        func isOrphan(_ path: BytePath) -> Bool {
            FailureNote.isNoteName(path) && !all.contains(FailureNote.path(beside: path))
        }
        for path in found.filter({ !notes.contains($0) }).sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            if isOrphan(path) { contents.orphans.append(path) } else { contents.sources.append(path) }
        }
        return contents
    }

    // MARK: - Tidying up

    /// Removes notes whose source is gone: a `retry` that was killed has left them, or somebody who has taken the source
    /// away. Sources may fail meanwhile.
    /// - Returns: why something could not be looked into or removed, a sentence for each.
    /// - Throws: `SystemError` if the folder itself cannot be opened.
    func removeOrphanedNotes() throws(SystemError) -> [SystemError] {
        let root = try Directory(folder)
        let contents = try contents()
        var troubles = contents.troubles
        for path in contents.orphans {
            do throws(SystemError) {
                let above = try root.folder(path.directory)
                guard FailureNote.source(ofNote: path.lastComponent, in: above) != nil else { continue }
                try removeOrphan(path.lastComponent, in: above)
            } catch {
                if error.isAbsence { continue }
                troubles.append(SystemError("remove '\(folder.appending(path).printable)'", code: error.code))
            }
        }
        return troubles
    }

    /// Removes a note unless its source is there by now. It is moved aside first, so that it is not the note of a source
    /// that fails just now; under a name of a note, so that the next look removes what a crash leaves.
    private func removeOrphan(_ note: BytePath, in folder: Directory) throws(SystemError) {
        let aside = BytePath(".imagemill-\(DurableFile.newToken)\(FailureNote.suffix)")
        try folder.rename(note, to: folder, as: aside)
        if try folder.status(FailureNote.source(note: note)) != nil {
            do throws(SystemError) {
                return try folder.move(aside, to: folder, as: note)
            } catch {
                // It has got another one meanwhile.
                guard error.code == EEXIST else { throw error }
            }
        }
        try folder.remove(aside)
    }

    /// The path from the folder of something in it.
    /// - Parameter name: absolute, or from the folder.
    /// - Returns: nil if it is not there.
    package func path(of name: BytePath) -> BytePath? {
        var path = name
        if name.bytes.first == UInt8(ascii: "/") {
            guard let real = FileSystem.absolute(folder), name.isAtOrBelow(real),
                name.bytes.count > real.bytes.count + 1
            else { return nil }
            path = BytePath(Array(name.bytes[(real.bytes.count + 1)...]))
        }
        guard path.staysBelow, let above = try? Directory(folder).folder(path.directory) else { return nil }
        return (try? above.status(path.lastComponent)).flatMap { $0 } == nil ? nil : path
    }

    /// Moves a source back to where it came from in the inbox, and removes its note. If the original is still there,
    /// since the inbox keeps them, the copy in `failed/` is removed instead.
    /// - Parameters:
    ///   - source: its path from the folder.
    ///   - kept: the originals that stay in the inbox, by their paths.
    ///   - forget: has an original that stays done again; called before its copy is removed.
    /// - Returns: its path from the inbox.
    /// - Throws: `SystemError`, with `EEXIST` if another file is there by now; or what `forget` throws.
    @discardableResult
    package func giveBack(
        _ source: BytePath, kept: [BytePath: KeptOriginal] = [:], forget: (BytePath) throws -> Void = { _ in }
    ) throws -> BytePath {
        guard source.staysBelow else { throw SystemError("retry '\(source.printable)'", code: EINVAL) }
        let (above, name) = (try Directory(folder).folder(source.directory), source.lastComponent)
        let status = try above.status(name)
        let isSet = status?.kind == .directory ? try hasNote(name, in: above) : false
        guard let status, status.kind == .regular || isSet else {
            throw SystemError("retry '\(source.printable)'", code: ENOENT)
        }
        // A second failure of one name is in `failed/` under another.
        let path = FailureNote.source(ofNoteBeside: name, in: above) ?? source
        if try isCopy(status, at: source, of: path, kept) {
            try forget(path)
            try above.removeTree(name)
        } else {
            do throws(SystemError) {
                try move(name, from: above, to: path)
            } catch {
                let isTaken = error.code == EEXIST
                throw SystemError(
                    "move '\(source.printable)' back to '\(inbox.appending(path).printable)'", code: error.code,
                    because: isTaken ? "another file has that name by now; rename one of the two" : nil)
            }
        }
        try above.remove(FailureNote.path(beside: name))
        return path
    }

    private func hasNote(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        try folder.status(FailureNote.path(beside: name))?.kind == .regular
    }

    /// Whether the original is still in the inbox. What is in `failed/` may be an original itself: it failed when the
    /// inbox did not keep them, or another file has its name by now.
    private func isCopy(
        _ failed: FileStatus, at source: BytePath, of path: BytePath, _ kept: [BytePath: KeptOriginal]
    ) throws(SystemError) -> Bool {
        guard let known = kept[path], known.code != nil else { return false }
        do throws(SystemError) {
            let original = try Directory(inbox).folder(path.directory).status(path.lastComponent)
            guard let original, original.kind == failed.kind else { return false }
            guard failed.kind == .directory else {
                return failed.bytes == original.bytes && failed.modified == original.modified
            }
            return try isInInbox(Directory(folder).folder(source), path)
        } catch {
            if error.isAbsence { return false }
            throw error
        }
    }

    /// Whether every file of a set is in the inbox too. A copy's folders have the time at which they were copied, its
    /// files those of the originals.
    private func isInInbox(_ copy: Directory, _ path: BytePath) throws(SystemError) -> Bool {
        let contents = try SetContents(of: copy, ignored: nil)
        guard contents.others.isEmpty, contents.excess == nil else { return false }
        let original = try Directory(inbox).folder(path)
        for member in contents.members {
            let status = try original.folder(member.path.directory).status(member.path.lastComponent)
            guard let status, status.kind == .regular, status.bytes == member.status.bytes,
                status.modified == member.status.modified
            else {
                return false
            }
        }
        return true
    }

    /// An inbox that is missing may be a mount, and is not made.
    private func move(_ name: BytePath, from: Directory, to path: BytePath) throws(SystemError) {
        var new = try Directory(inbox)
        for name in path.components.dropLast() { new = try new.makingFolder(BytePath(name)) }
        try from.moveAcrossMounts(name, to: new, as: path.lastComponent)
        try new.sync()
    }
}
