// Removes what has been in `done/` or `failed/` for long enough, if the mill file says so.
import Pipeline
import System

/// Keeps one of these folders within the bounds that the user has set. What is in it is compared with what is recorded
/// of it, a few hundred items at a time.
struct ShelfPruning {
    /// The folder of one inbox.
    let folder: BytePath
    let retention: Retention
    /// A source is a folder.
    let takesSets: Bool
    let record: any ShelfRecord

    private static let itemsAtOnce = 500

    /// The outcome of one round.
    struct Outcome: Equatable {
        /// Sources that were removed.
        var removed = 0
        /// The first thing that could not be looked at or removed, and why; nil if everything could. It stays, and the
        /// others go all the same.
        var trouble: SystemError?

        fileprivate mutating func passOver(_ error: SystemError, _ attempt: String) {
            // Somebody has removed it meanwhile.
            guard !error.isAbsence else { return }
            trouble = trouble ?? SystemError(attempt, code: error.code)
        }
    }

    /// Removes what is too old, and then the oldest until the rest is small enough.
    /// - Throws: `SystemError` if the folder itself cannot be opened, or `StoreError`.
    func run() throws -> Outcome {
        let root = try Directory(folder)
        let now = try record.recordedNow()
        var outcome = Outcome()
        try forgetMissing(in: root, &outcome)
        try recordNew(in: root, now: now, &outcome)
        var left = retention.size == nil ? 0 : try record.bytes()
        var last: (item: ShelvedItem, since: Int)?
        while true {
            // An original that cannot be removed counts as gone if there is too much: no other one goes in its place.
            let doomed = try record.oldest(after: last, limit: Self.itemsAtOnce).prefix { item, since in
                let isOld = retention.age.map { since < now - Int($0.inNanoseconds / 1_000_000) } ?? false
                let isTooMuch = retention.size.map { left > $0.value } ?? false
                if isOld || isTooMuch { left -= item.bytes }
                return isOld || isTooMuch
            }
            guard !doomed.isEmpty else { return outcome }
            last = doomed.last
            try record.remove(remove(doomed.map(\.item), from: root, &outcome))
            try keepAges(of: Array(doomed), in: root)
        }
    }

    // MARK: - The record

    /// Forgets items that are no longer there, or that are part of a set now.
    private func forgetMissing(in root: Directory, _ outcome: inout Outcome) throws {
        var place: BytePath?
        while case let paths = try record.paths(after: place, limit: Self.itemsAtOnce), !paths.isEmpty {
            var missing: [BytePath] = []
            for path in paths {
                do throws(SystemError) {
                    let isThere =
                        switch try FileLocation.below(root, path).status()?.kind {
                        case .regular: !takesSets || path.directory.bytes.isEmpty
                        case .directory: takesSets
                        case .link, .other, nil: false
                        }
                    if !isThere { missing.append(path) }
                } catch {
                    outcome.passOver(error, "look at '\(path.printable)'")
                }
            }
            try record.remove(missing)
            place = paths.last
        }
    }

    private func recordNew(in root: Directory, now: Int, _ outcome: inout Outcome) throws {
        var found: [(path: BytePath, status: FileStatus)] = []
        var failure: (any Error)?
        try root.walk(()) { path, error in
            outcome.passOver(error, "look at '\(path.printable)'")
        } _: { entry in
            do throws(SystemError) {
                guard try !FailureNote.isNote(entry.name, in: entry.folder),
                    try !isSidecar(entry.name, in: entry.folder), try !isOfJPEG(entry.name, in: entry.folder)
                else { return .past }
                switch entry.status.kind {
                case .directory where try !isSet(entry.folder.folder(entry.name)): return .into(())
                case .regular, .directory: found.append((entry.path, entry.status))
                case .link, .other: break
                }
            } catch {
                outcome.passOver(error, "look at '\(entry.path.printable)'")
            }
            guard found.count == Self.itemsAtOnce else { return .past }
            do { try add(found, in: root, now: now, &outcome) } catch { failure = error }
            found = []
            return failure == nil ? .past : .end
        }
        if let failure { throw failure }
        try add(found, in: root, now: now, &outcome)
    }

    /// A sidecar goes with the picture beside it.
    private func isSidecar(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        guard let picture = Sidecar.picture(of: name) else { return false }
        return try folder.status(picture)?.kind == .regular
    }

    /// So many nanoseconds apart, two files of one name came together. Cameras begin their numbers anew.
    private static let together = 60_000_000_000

    /// A raw file goes with the JPEG that came with it, unless it has failed for itself.
    private func isOfJPEG(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        guard !takesSets, PhotoFile(name) == .raw, let raw = try folder.status(name) else { return false }
        let cameTogether = try folder.files(of: PhotoFile.others(of: name)).contains {
            ($0.status.changed &- raw.changed).magnitude < Self.together
        }
        guard cameTogether else { return false }
        return try folder.status(FailureNote.path(beside: name)) == nil
    }

    /// The raw files that go with a JPEG.
    private func raws(of name: BytePath, in folder: Directory) throws(SystemError) -> [FileInFolder] {
        guard !takesSets, PhotoFile(name) == .jpeg else { return [] }
        var raws: [FileInFolder] = []
        for file in try folder.files(of: PhotoFile.others(of: name)) where try isOfJPEG(file.name, in: folder) {
            raws.append(file)
        }
        return raws
    }

    /// A set is the first folder from above that has files in it.
    private func isSet(_ folder: Directory) throws(SystemError) -> Bool {
        guard takesSets else { return false }
        let names = try DirectoryStream(folder)
        while let name = try names.next() { if try folder.status(BytePath(name))?.kind == .regular { return true } }
        return false
    }

    private func add(
        _ found: [(path: BytePath, status: FileStatus)], in root: Directory, now: Int, _ outcome: inout Outcome
    ) throws {
        let known = try record.changes(of: found.map(\.path))
        var new: [ShelvedItem] = []
        for (path, status) in found where known[path] != status.changed {
            do throws(SystemError) {
                let bytes =
                    status.kind == .directory
                    ? try root.folder(path).bytesBelow()
                    : try raws(of: path.lastComponent, in: root.folder(path.directory)).reduce(status.bytes) {
                        $0 + $1.status.bytes
                    }
                new.append(ShelvedItem(path: path, changed: status.changed, bytes: bytes))
            } catch {
                outcome.passOver(error, "look into '\(path.printable)'")
            }
        }
        try record.add(new, since: now)
    }

    // MARK: - Removing

    /// - Returns: the items that are gone.
    private func remove(_ items: [ShelvedItem], from root: Directory, _ outcome: inout Outcome) -> [BytePath] {
        var gone: [BytePath] = []
        for item in items {
            do throws(SystemError) {
                if try remove(item, from: root) { outcome.removed += 1 }
                gone.append(item.path)
            } catch {
                outcome.passOver(error, "remove '\(item.path.printable)'")
            }
        }
        return gone
    }

    /// An attempt at removing an item changes it, and must not make it younger than the others.
    private func keepAges(of items: [(item: ShelvedItem, since: Int)], in root: Directory) throws {
        let recorded = try record.changes(of: items.map(\.item.path))
        for (item, since) in items where recorded[item.path] == item.changed {
            guard let now = try? FileLocation.below(root, item.path).status(), now.changed != item.changed else {
                continue
            }
            try record.add([ShelvedItem(path: item.path, changed: now.changed, bytes: item.bytes)], since: since)
        }
    }

    /// - Returns: false if it is gone, or another one has come in its place.
    private func remove(_ item: ShelvedItem, from root: Directory) throws(SystemError) -> Bool {
        let name = item.path.lastComponent
        guard let status = try FileLocation.below(root, item.path).status(), status.changed == item.changed else {
            return false
        }
        let above = try root.folder(item.path.directory)
        let raws = try raws(of: name, in: above)
        // Renamed first, so that what is compared and removed cannot be replaced in between. What a crash leaves under
        // this name is a new item.
        let aside = BytePath(".imagemill-\(DurableFile.newToken).old")
        try above.rename(name, to: above, as: aside)
        guard let renamed = try above.status(aside) else { return false }
        guard renamed.identity == status.identity, renamed.stamp == status.stamp else {
            _ = try VersionedName(wish: name).move(aside, from: above, to: above)
            return false
        }
        do throws(SystemError) {
            // The note goes last: without it, a set would be taken for a folder.
            if status.kind == .directory { try above.removeTree(aside) } else { try above.remove(aside) }
        } catch {
            _ = try? VersionedName(wish: name).move(aside, from: above, to: above)
            throw error
        }
        if status.kind == .regular, let sidecar = Sidecar.path(of: name), try above.status(sidecar)?.kind == .regular {
            try above.remove(sidecar)
        }
        for raw in raws { try above.remove(raw.name) }
        let note = FailureNote.path(beside: name)
        if try above.status(note)?.kind == .regular { try above.remove(note) }
        return true
    }
}
