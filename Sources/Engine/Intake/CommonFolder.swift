// The folder at which the relative paths of several roots begin.
package import Pipeline
import System

/// The deepest folder that all roots are in: `photos` for `photos/a` and `photos/b/1.jpg`. It keeps sources of several
/// roots apart.
package struct CommonFolder: Sendable {
    private let path: BytePath

    /// - Returns: nil if there are no roots, or if one cannot be found.
    package init?(of roots: [BytePath]) {
        var common: [[UInt8]]?
        for root in roots.map(\.withoutTrailingSlashes) {
            let isFolder = (try? FileSystem.status(root))??.kind == .directory
            let folder = isFolder ? root : root.directory.bytes.isEmpty ? BytePath(".") : root.directory
            // A root that is missing is a failure of its own.
            guard let parts = FileSystem.absolute(folder)?.components else { continue }
            common = common.map { old in zip(old, parts).prefix { $0 == $1 }.map(\.0) } ?? parts
        }
        guard let common else { return nil }
        path = BytePath([UInt8(ascii: "/")] + Array(common.joined(separator: [UInt8(ascii: "/")])))
    }

    /// The path of an absolute folder from here; empty for the folder itself, nil if it is not in here.
    func relative(_ folder: BytePath) -> BytePath? {
        if folder == path { return BytePath([]) }
        return folder.isAtOrBelow(path) ? folder.relative(below: path) : nil
    }
}
