// A walk through everything below a folder, with the paths of folders in memory that are still to be listed: a tree may be
// deeper than the stack, and than the limit of open files.
package import Pipeline

/// A name that a walk has found in a folder.
package struct FolderEntry {
    /// The open folder that it is in.
    package let folder: Directory
    /// Its path from where the walk began.
    package let path: BytePath
    /// The status of the entry itself: no link is followed.
    package let status: FileStatus

    package var name: BytePath { path.lastComponent }
}

/// How a walk goes on after an entry.
package enum WalkStep {
    /// Into the entry, if it is a folder.
    case into
    case past
    case end
}

extension Directory {
    /// Visits all entries below, in no order but that a folder comes before what is in it.
    /// - Parameter trouble: takes the path of a folder in which listing or a visit has failed, and why. The rest of that
    ///   folder is passed over, unless this throws.
    /// - Returns: false if a visit has ended the walk.
    @discardableResult
    package func walk(
        trouble: (BytePath, SystemError) throws(SystemError) -> Void = { _, error throws(SystemError) in throw error },
        _ visit: (FolderEntry) throws(SystemError) -> WalkStep
    ) throws(SystemError) -> Bool {
        var pending = [BytePath([])]
        while let path = pending.popLast() {
            do throws(SystemError) {
                let folder = try path.bytes.isEmpty ? self : folder(path)
                let names = try DirectoryStream(folder)
                while let name = try names.next().map({ BytePath($0) }) {
                    guard let status = try folder.status(name) else { continue }
                    let entry = FolderEntry(folder: folder, path: path.appending(name), status: status)
                    switch try visit(entry) {
                    case .into: if status.kind == .directory { pending.append(entry.path) }
                    case .past: break
                    case .end: return false
                    }
                }
            } catch {
                try trouble(path, error)
            }
        }
        return true
    }

    /// The sizes of all files below it together.
    package func bytesBelow() throws(SystemError) -> Int {
        var sum = 0
        try walk { entry in
            if entry.status.kind == .regular { sum += min(entry.status.bytes, .max - sum) }
            return .into
        }
        return sum
    }
}
