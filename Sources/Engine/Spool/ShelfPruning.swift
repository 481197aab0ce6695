// Removes what has been in `done/` or `failed/` for long enough, if the mill file says so.
import Pipeline

/// Keeps one of these folders within the bounds that the user has set. What is in it is compared with what is recorded
/// of it, a few hundred items at a time.
struct ShelfPruning {
    /// The folder of one inbox.
    let folder: BytePath
    let retention: Retention
    /// A source is a folder.
    let takesSets: Bool
    let record: ShelfRecord

    private static let itemsAtOnce = 500

    /// Removes what is too old, and then the oldest until the rest is small enough.
    /// - Returns: how many sources were removed.
    /// - Throws: `SystemError` or `StoreError`.
    func run() throws -> Int {
        let root = try Directory(folder)
        let now = try record.recordedNow()
        try forgetMissing(in: root)
        try recordNew(in: root, now: now)
        var (left, removed) = (retention.size == nil ? 0 : try record.bytes(), 0)
        while true {
            let doomed = try record.oldest(limit: Self.itemsAtOnce).prefix { item, since in
                let isOld = retention.age.map { since < now - Int($0.inNanoseconds / 1_000_000) } ?? false
                let isTooMuch = retention.size.map { left > $0.value } ?? false
                if isOld || isTooMuch { left -= item.bytes }
                return isOld || isTooMuch
            }
            guard !doomed.isEmpty else { return removed }
            for (item, _) in doomed where try remove(item, from: root) { removed += 1 }
            try record.remove(doomed.map(\.item.path))
        }
    }

    // MARK: - The record

    /// Forgets items that are no longer there, or that are part of a set now.
    private func forgetMissing(in root: Directory) throws {
        var place: BytePath?
        while case let paths = try record.paths(after: place, limit: Self.itemsAtOnce), !paths.isEmpty {
            try record.remove(
                paths.filter { path in
                    switch try FileLocation.below(root, path).status()?.kind {
                    case .regular: takesSets && !path.directory.bytes.isEmpty
                    case .directory: !takesSets
                    case .link, .other, nil: true
                    }
                })
            place = paths.last
        }
    }

    private func recordNew(in root: Directory, now: Int) throws {
        var pending = [BytePath([])]
        while let path = pending.popLast() {
            let folder = try root.folder(path)
            let names = try DirectoryStream(folder)
            var found: [(path: BytePath, status: FileStatus)] = []
            while let name = try names.next().map({ BytePath($0) }) {
                guard try !FailureNote.isNote(name, in: folder), let status = try folder.status(name) else { continue }
                switch status.kind {
                case .regular: found.append((path.appending(name), status))
                case .directory where try isSet(folder.folder(name)): found.append((path.appending(name), status))
                case .directory: pending.append(path.appending(name))
                case .link, .other: break
                }
                if found.count == Self.itemsAtOnce {
                    try add(found, in: root, now: now)
                    found = []
                }
            }
            try add(found, in: root, now: now)
        }
    }

    /// A set is the first folder from above that has files in it.
    private func isSet(_ folder: Directory) throws(SystemError) -> Bool {
        guard takesSets else { return false }
        let names = try DirectoryStream(folder)
        while let name = try names.next() { if try folder.status(BytePath(name))?.kind == .regular { return true } }
        return false
    }

    private func add(_ found: [(path: BytePath, status: FileStatus)], in root: Directory, now: Int) throws {
        let known = try record.changes(of: found.map(\.path))
        let new = found.filter { known[$0.path] != $0.status.changed }
        try record.add(
            new.map { path, status in
                let bytes = status.kind == .directory ? try bytes(in: root.folder(path)) : status.bytes
                return ShelfRecord.Item(path: path, changed: status.changed, bytes: bytes)
            }, since: now)
    }

    private func bytes(in root: Directory) throws(SystemError) -> Int {
        var (sum, pending) = (0, [BytePath([])])
        while let path = pending.popLast() {
            let folder = try root.folder(path)
            let names = try DirectoryStream(folder)
            while let name = try names.next().map({ BytePath($0) }) {
                guard let status = try folder.status(name) else { continue }
                if status.kind == .directory { pending.append(path.appending(name)) }
                if status.kind == .regular { sum += status.bytes }
            }
        }
        return sum
    }

    // MARK: - Removing

    /// - Returns: false if it is gone, or another one has come in its place.
    private func remove(_ item: ShelfRecord.Item, from root: Directory) throws(SystemError) -> Bool {
        let name = item.path.lastComponent
        guard let status = try FileLocation.below(root, item.path).status(), status.changed == item.changed else {
            return false
        }
        let above = try root.folder(item.path.directory)
        // The note goes last: without it, a set would be taken for a folder.
        if status.kind == .directory { try above.removeTree(name) } else { try above.remove(name) }
        let note = FailureNote.path(beside: name)
        if try above.status(note)?.kind == .regular { try above.remove(note) }
        return true
    }
}
