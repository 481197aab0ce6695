// Sources in `failed/` go back to their inbox: what `imagemill retry` does.
import Glibc
package import Pipeline
package import System

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

    /// All failed sources. Sub-folders that cannot be read are passed over.
    package struct Contents: Sendable {
        /// As paths from the folder, sorted.
        package fileprivate(set) var sources: [BytePath] = []
        /// Why something was passed over, a sentence for each.
        package fileprivate(set) var troubles: [SystemError] = []
    }

    /// - Parameter progress: called for each source that is found.
    /// - Throws: `SystemError` if the folder itself cannot be opened.
    package func contents(progress: () -> Void = {}) throws(SystemError) -> Contents {
        var contents = Contents()
        contents.troubles = try walk { found in
            guard case .source = found.kind else { return }
            contents.sources.append(found.path)
            progress()
        }
        contents.sources.sort { $0.isBefore($1) }
        return contents
    }

    /// The number of failed sources, and the first of them by their paths. However many there are, only those are kept
    /// in memory.
    /// - Throws: `SystemError` if the folder itself cannot be opened.
    package func first(_ most: Int) throws(SystemError) -> (count: Int, entries: [Entry]) {
        var (count, kept) = (0, Heap<Last>())
        _ = try walk { found in
            guard case .source(let bytes) = found.kind else { return }
            count += 1
            if kept.count >= most {
                guard let last = kept.first, found.path.isBefore(last.entry.path) else { return }
                _ = kept.takeFirst()
            }
            let note = try? found.folder.status(FailureNote.path(beside: found.path.lastComponent))
            kept.add(Last(entry: Entry(path: found.path, bytes: bytes, note: note?.kind == .regular ? note : nil)))
        }
        var entries: [Entry] = []
        while let last = kept.takeFirst() { entries.append(last.entry) }
        return (count, entries.reversed())
    }

    /// An entry in a queue that gives the one with the last path first.
    private struct Last: Comparable {
        let entry: Entry
        static func < (left: Last, right: Last) -> Bool { right.entry.path.isBefore(left.entry.path) }
    }

    // MARK: - Walking

    private struct Found {
        enum Kind {
            /// A file of so many bytes, or a set.
            case source(bytes: Int?)
            /// A note whose source somebody has moved away.
            case orphan
            case folder
        }

        let kind: Kind
        /// From the folder.
        let path: BytePath
        /// The folder that it is in.
        let folder: Directory
    }

    /// Looks at everything in the folder, and keeps only the paths of its sub-folders in memory. Those that cannot be
    /// read are passed over.
    /// - Returns: why something was passed over, a sentence for each.
    /// - Throws: `SystemError` if the folder itself cannot be opened.
    private func walk(_ visit: (Found) -> Void) throws(SystemError) -> [SystemError] {
        var troubles: [SystemError] = []
        try Directory(folder).walk(()) { path, error in
            guard !error.isAbsence else { return }
            troubles.append(SystemError("look into '\(folder.appending(path).printable)'", code: error.code))
        } _: { entry throws(SystemError) in
            guard let kind = try kind(of: entry) else { return .past }
            visit(Found(kind: kind, path: entry.path, folder: entry.folder))
            if case .folder = kind { return .into(()) }
            return .past
        }
        return troubles
    }

    /// - Returns: nil for the note of a source that is there, and for what is no file.
    private func kind(of entry: FolderEntry<Void>) throws(SystemError) -> Found.Kind? {
        let (name, folder, status) = (entry.name, entry.folder, entry.status)
        // A crash came while this one was pruned.
        if name.bytes.starts(with: ".imagemill-".utf8), name.bytes.suffix(4).elementsEqual(".old".utf8) { return nil }
        switch status.kind {
        // A set is a folder with a note of its own.
        case .directory: return try hasNote(name, in: folder) ? .source(bytes: nil) : .folder
        case .regular:
            guard FailureNote.isNoteName(name) else {
                if try isSidecar(name, in: folder) { return nil }
                return try isOther(name, in: folder) ? nil : .source(bytes: status.bytes)
            }
            if try FailureNote.isNote(name, in: folder) { return nil }
            // A source that is called like a note has its own.
            return try hasNote(name, in: folder) ? .source(bytes: status.bytes) : .orphan
        case .link, .other: return nil
        }
    }

    // MARK: - Tidying up

    /// Removes notes whose source is gone: a `retry` that was killed has left them, or somebody who has taken the source
    /// away. Sources may fail meanwhile.
    /// - Returns: why something could not be looked into or removed, a sentence for each.
    /// - Throws: `SystemError` if the folder itself cannot be opened.
    func removeOrphanedNotes() throws(SystemError) -> [SystemError] {
        var troubles: [SystemError] = []
        let passedOver = try walk { found in
            guard case .orphan = found.kind else { return }
            do throws(SystemError) {
                guard FailureNote.source(ofNote: found.path.lastComponent, in: found.folder) != nil else { return }
                try removeOrphan(found.path.lastComponent, in: found.folder)
            } catch {
                if error.isAbsence { return }
                troubles.append(SystemError("remove '\(folder.appending(found.path).printable)'", code: error.code))
            }
        }
        return passedOver + troubles
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
            let isFolder = status?.kind == .directory
            throw SystemError(
                "retry '\(source.printable)'", code: isFolder ? EISDIR : ENOENT,
                because: isFolder ? "it is a folder; name what is in it" : nil)
        }
        // A second failure of one name is in `failed/` under another.
        let path = FailureNote.source(ofNoteBeside: name, in: above) ?? source
        if try isCopy(status, at: source, of: path, kept) {
            try forget(path)
            // Removed before the picture: a crash in between must not leave a sidecar alone.
            if let sidecar = Sidecar.path(of: name), try above.status(sidecar)?.kind == .regular {
                try above.remove(sidecar)
            }
            try above.removeTree(name)
        } else {
            // Whoever watches sees the picture with its sidecar.
            if let sidecar = Sidecar.path(of: name), let back = Sidecar.path(of: path),
                try above.status(sidecar) != nil, try isSidecar(sidecar, in: above),
                // Somebody may have dropped a better one for this picture already.
                try !isInInbox(path), try !isInInbox(back)
            {
                try giveBack(sidecar, in: source.directory, above, to: back)
            }
            let others = try others(of: name, above, beside: path)
            // They would be left behind, and mean nothing alone.
            for other in others where try isInInbox(other.back) {
                throw refusal(of: other.name, in: source.directory, to: other.back, EEXIST)
            }
            try giveBack(name, in: source.directory, above, to: path)
            for other in others { try giveBack(other.name, in: source.directory, above, to: other.back) }
        }
        try above.remove(FailureNote.path(beside: name))
        return path
    }

    /// The other files of a source's photo, and their paths in the inbox.
    private func others(
        of source: BytePath, _ above: Directory, beside path: BytePath
    ) throws(SystemError) -> [(name: BytePath, back: BytePath)] {
        var others: [(name: BytePath, back: BytePath)] = []
        for file in try above.files(of: PhotoFile.others(of: source)) where try isOther(file.name, in: above) {
            let name = PhotoFile.name(file.name, beside: path.lastComponent) ?? file.name
            others.append((file.name, path.directory.appending(name)))
        }
        return others
    }

    private func giveBack(
        _ name: BytePath, in folder: BytePath, _ above: Directory, to path: BytePath
    ) throws(SystemError) {
        do throws(SystemError) {
            try move(name, from: above, to: path)
        } catch {
            throw refusal(of: name, in: folder, to: path, error.code)
        }
    }

    private func refusal(of name: BytePath, in folder: BytePath, to path: BytePath, _ code: Int32) -> SystemError {
        let (from, to) = (folder.appending(name).printable, inbox.appending(path).printable)
        return SystemError(
            "move '\(from)' back to '\(to)'", code: code,
            because: code == EEXIST ? "another file has that name by now; rename one of the two" : nil)
    }

    private func isInInbox(_ path: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try Directory(inbox).folder(path.directory).status(path.lastComponent) != nil
        } catch {
            guard error.isAbsence else { throw error }
            return false
        }
    }

    /// The source that a note is about, if it is beside the note; nil for everything else.
    func source(ofNote path: BytePath) -> BytePath? {
        guard let above = try? Directory(folder).folder(path.directory),
            (try? FailureNote.isNote(path.lastComponent, in: above)) ?? false
        else { return nil }
        return FailureNote.source(note: path)
    }

    /// Whether a file belongs to a failed picture beside it.
    private func isSidecar(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        guard let picture = Sidecar.picture(of: name) else { return false }
        // One whose picture has gone back without it is no source either.
        if isNamedLikeAPicture(picture, allowed: Set(SourceFormat.onRequest)) { return true }
        guard try folder.status(picture)?.kind == .regular else { return false }
        return try hasNote(picture, in: folder)
    }

    /// Returns true if a file is the other one of a failed picture's photo.
    private func isOther(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        guard PhotoFile(name) != nil, try !hasNote(name, in: folder) else { return false }
        for picture in PhotoFile.others(of: name) where try hasNote(picture, in: folder) { return true }
        return false
    }

    private func hasNote(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        try folder.status(FailureNote.path(beside: name))?.kind == .regular
    }

    /// Whether the original is still in the inbox. What is in `failed/` may be an original itself: it failed when the
    /// inbox did not keep them, or another file has its name by now. A ledger that was lost does not know, so that the
    /// bytes are compared then.
    private func isCopy(
        _ failed: FileStatus, at source: BytePath, of path: BytePath, _ kept: [BytePath: KeptOriginal]
    ) throws(SystemError) -> Bool {
        let isKnown = kept[path]?.code != nil
        do throws(SystemError) {
            let original = try Directory(inbox).folder(path.directory).status(path.lastComponent)
            guard let original, original.kind == failed.kind else { return false }
            let (copies, originals) = (try Directory(folder), try Directory(inbox))
            guard failed.kind == .directory else {
                guard failed.stamp == original.stamp else { return false }
                // The sidecar of one that is kept may have been put right in the inbox.
                if isKnown { return true }
                guard try Self.hasSameBytes(source, in: copies, path, in: originals) else { return false }
                return try Self.hasNoOtherSidecar(source, in: copies, path, in: originals)
            }
            return try isInInbox(copies.folder(source), path, isKnown: isKnown)
        } catch {
            if error.isAbsence { return false }
            throw error
        }
    }

    /// Returns true if a failed picture has no sidecar, or the same one as the picture in the inbox.
    private static func hasNoOtherSidecar(
        _ source: BytePath, in copies: Directory, _ path: BytePath, in originals: Directory
    ) throws(SystemError) -> Bool {
        guard let sidecar = Sidecar.path(of: source),
            try copies.folder(sidecar.directory).status(sidecar.lastComponent)?.kind == .regular
        else { return true }
        guard let original = Sidecar.path(of: path) else { return false }
        return try hasSameBytes(sidecar, in: copies, original, in: originals)
    }

    /// Whether every file of a set is in the inbox too. A copy's folders have the time at which they were copied, its
    /// files those of the originals.
    private func isInInbox(_ copy: Directory, _ path: BytePath, isKnown: Bool) throws(SystemError) -> Bool {
        let contents = try SetContents(of: copy, ignored: nil)
        guard contents.others.isEmpty, contents.excess == nil else { return false }
        let original = try Directory(inbox).folder(path)
        for member in contents.members {
            let status = try original.folder(member.path.directory).status(member.path.lastComponent)
            guard let status, status.kind == .regular, status.stamp == member.status.stamp else { return false }
        }
        if isKnown { return true }
        for member in contents.members {
            guard try Self.hasSameBytes(member.path, in: copy, member.path, in: original) else { return false }
        }
        return true
    }

    /// Returns true if two files have the same bytes.
    private static func hasSameBytes(
        _ one: BytePath, in folder: Directory, _ other: BytePath, in another: Directory
    ) throws(SystemError) -> Bool {
        func digest(_ path: BytePath, _ folder: Directory) throws(SystemError) -> String {
            try Digest.of(folder.folder(path.directory).opening(path.lastComponent))
        }
        return try digest(one, folder) == digest(other, another)
    }

    /// An inbox that is missing may be a mount, and is not made.
    private func move(_ name: BytePath, from: Directory, to path: BytePath) throws(SystemError) {
        var new = try Directory(inbox)
        for name in path.components.dropLast() { new = try new.makingFolder(BytePath(name)) }
        try from.moveAcrossMounts(name, to: new, as: path.lastComponent)
        try new.sync()
    }
}

extension BytePath {
    fileprivate func isBefore(_ other: BytePath) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }
}
