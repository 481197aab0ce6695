// Removes what has been in `done/` or `failed/` for long enough, if the mill file says so.
import Pipeline

/// Keeps one of these folders within the bounds that the user has set.
struct ShelfPruning {
    /// The folder of one inbox.
    let folder: BytePath
    let retention: Retention
    /// A source is a folder.
    let takesSets: Bool

    private struct Item {
        let path: BytePath
        /// When it was put there, in nanoseconds since 1970: a rename changes nothing else about a file.
        let since: Int
        let bytes: Int
        let isFolder: Bool
    }

    /// Removes what is too old, and then the oldest until the rest is small enough.
    /// - Parameter now: nanoseconds since 1970.
    /// - Returns: how many sources were removed.
    func run(now: Int) throws(SystemError) -> Int {
        let root = try Directory(folder)
        let items = try items(in: root).sorted { $0.since < $1.since }
        var left = items.reduce(0) { $0 + $1.bytes }
        var removed = 0
        for item in items {
            let isOld = retention.age.map { item.since < now - Int($0.inNanoseconds) } ?? false
            let isTooMuch = retention.size.map { left > $0.value } ?? false
            guard isOld || isTooMuch else { continue }
            let above = try root.folder(item.path.directory)
            // The note goes last: without it, a set would be taken for a folder.
            if item.isFolder {
                try above.removeTree(item.path.lastComponent)
            } else {
                try above.remove(item.path.lastComponent)
            }
            let note = FailureNote.path(beside: item.path.lastComponent)
            if try above.status(note)?.kind == .regular { try above.remove(note) }
            left -= item.bytes
            removed += 1
        }
        return removed
    }

    private func items(in root: Directory) throws(SystemError) -> [Item] {
        var (items, pending) = ([Item](), [BytePath([])])
        while let path = pending.popLast() {
            let folder = try root.folder(path)
            let entries = try entries(of: folder)
            let notes = Set(entries.map { FailureNote.path(beside: $0.name) })
            for (name, status) in entries where !notes.contains(name) {
                let inside = path.appending(name)
                guard status.kind == .directory else {
                    items.append(Item(path: inside, since: status.changed, bytes: status.bytes, isFolder: false))
                    continue
                }
                let below = try self.entries(of: folder.folder(name))
                // A set is the first folder from above that has files in it.
                guard takesSets, below.contains(where: { $0.status.kind == .regular }) else {
                    pending.append(inside)
                    continue
                }
                items.append(
                    Item(path: inside, since: status.changed, bytes: try bytes(in: folder.folder(name)), isFolder: true)
                )
            }
        }
        return items
    }

    private func entries(of folder: Directory) throws(SystemError) -> [(name: BytePath, status: FileStatus)] {
        var entries: [(BytePath, FileStatus)] = []
        for name in try folder.names().map({ BytePath($0) }) {
            guard let status = try folder.status(name), [.regular, .directory].contains(status.kind) else { continue }
            entries.append((name, status))
        }
        return entries
    }

    private func bytes(in root: Directory) throws(SystemError) -> Int {
        var (sum, pending) = (0, [BytePath([])])
        while let path = pending.popLast() {
            for (name, status) in try entries(of: root.folder(path)) {
                if status.kind == .directory { pending.append(path.appending(name)) } else { sum += status.bytes }
            }
        }
        return sum
    }
}
