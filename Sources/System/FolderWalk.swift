// A walk through everything below a folder, one folder at a time: a tree may be deeper than the stack, and than the limit
// of open files.
package import Pipeline

/// A name that a walk has found in a folder.
package struct FolderEntry<Context> {
    /// The open folder that it is in.
    package let folder: Directory
    /// Its path from where the walk began.
    package let path: BytePath
    /// The folders above it, below the one where the walk began.
    package let depth: Int
    /// The status of the entry itself: no link is followed.
    package let status: FileStatus
    /// The value that came with the folder.
    package let context: Context

    package var name: BytePath { path.lastComponent }
}

/// The next step of a walk, after an entry.
package enum WalkStep<Context> {
    /// Into the entry if it is a folder, with a value for what is in it.
    case into(Context)
    case past
    case end
}

extension Directory {
    /// Folders that are listed at once. Deeper ones are opened by their paths, when those above them are done.
    private static let mostOpen = 8

    /// Visits all entries below, each folder at once when it is found.
    /// - Parameters:
    ///   - context: the value for the folder's own entries.
    ///   - trouble: takes the path of an entry that could not be examined, visited or listed, and why. The walk goes on
    ///     without it, unless this throws.
    /// - Returns: false if a visit has ended the walk.
    @discardableResult
    package func walk<Context>(
        _ context: Context,
        trouble: (BytePath, SystemError) throws(SystemError) -> Void = { _, error throws(SystemError) in throw error },
        _ visit: (FolderEntry<Context>) throws(SystemError) -> WalkStep<Context>
    ) throws(SystemError) -> Bool {
        var open: [(path: BytePath, folder: Directory, names: DirectoryStream, depth: Int, context: Context)] = []
        var pending: [(path: BytePath, depth: Int, context: Context)] = []
        open.append((BytePath([]), self, try DirectoryStream(self), 0, context))
        while true {
            guard let (path, folder, names, depth, context) = open.last else {
                guard let next = pending.popLast() else { return true }
                do throws(SystemError) {
                    let folder = try self.folder(next.path)
                    open.append((next.path, folder, try DirectoryStream(folder), next.depth, next.context))
                } catch {
                    try trouble(next.path, error)
                }
                continue
            }
            let name: [UInt8]
            do throws(SystemError) {
                guard let next = try names.next() else {
                    open.removeLast()
                    continue
                }
                name = next
            } catch {
                open.removeLast()
                try trouble(path, error)
                continue
            }
            let entry = path.appending(BytePath(name))
            do throws(SystemError) {
                guard let status = try folder.status(BytePath(name)) else { continue }
                let found = FolderEntry(folder: folder, path: entry, depth: depth, status: status, context: context)
                switch try visit(found) {
                case .into(let context) where status.kind == .directory:
                    guard open.count < Self.mostOpen else {
                        pending.append((entry, depth + 1, context))
                        continue
                    }
                    let inner = try folder.folder(BytePath(name))
                    open.append((entry, inner, try DirectoryStream(inner), depth + 1, context))
                case .into, .past: break
                case .end: return false
                }
            } catch {
                try trouble(entry, error)
            }
        }
    }

    /// The sizes of all files below it together.
    package func bytesBelow() throws(SystemError) -> Int {
        var sum = 0
        try walk(()) { entry in
            if entry.status.kind == .regular { sum += min(entry.status.bytes, .max - sum) }
            return .into(())
        }
        return sum
    }
}
