// An output folder, and where a run keeps what it remembers of it.
package import Pipeline
import System

/// An output folder of `imagemill run`.
package struct OutboxLocation: Sendable {
    /// The folder for what is known of an output folder, if the user names no other.
    package static let stateName = BytePath(".imagemill")

    /// As the user named it.
    package let path: BytePath
    /// Absolute and without links, also if it does not exist yet.
    package let realPath: BytePath
    /// The folder of the record, the lock and the report. It serves one output folder.
    package let state: BytePath

    /// - Parameter state: nil for `.imagemill` in the output folder.
    package init(_ path: BytePath, state: BytePath? = nil) {
        self.path = path
        realPath = Self.realPath(path)
        self.state = state ?? path.appending(Self.stateName)
    }

    package var record: BytePath { state.appending(OutboxRecord.fileName) }
    package var lock: BytePath { state.appending(BytePath("lock")) }
    package var report: BytePath { state.appending(BytePath("report.json")) }

    /// The identity of a source: its path from the output folder, so that a project can be moved or copied as a whole.
    /// - Parameter path: the source's absolute path, without links above it.
    package func identity(of path: BytePath) -> BytePath { path.relative(to: realPath) }

    /// Whether nothing is at the place of a source any more. A source that cannot be examined is not gone.
    package func isGone(_ identity: BytePath) -> Bool {
        do throws(SystemError) {
            return try FileSystem.status(realPath.appending(identity), followLinks: false) == nil
        } catch {
            return false
        }
    }

    private static func realPath(_ path: BytePath) -> BytePath {
        if let real = FileSystem.absolute(path) { return real }
        let path = path.withoutTrailingSlashes
        let folder = path.directory
        if folder == path { return path }
        return realPath(folder.bytes.isEmpty ? BytePath(".") : folder).appending(path.lastComponent)
    }
}
