// The folders that a walk keeps open.
import Pipeline
import System

/// The folders that stay open after the walk, and from which sources are opened later. Their number is limited, since
/// each takes a descriptor.
struct Anchors {
    struct Anchor {
        let directory: Directory
        /// The root's path from there; empty if it is the root itself.
        let path: BytePath
    }

    private static let most = 64
    private var open = 0
    /// Folders above roots, by their absolute paths.
    private var parents: [BytePath: Directory] = [:]

    /// The root itself, or the folder above it if there are many roots: `photos/*/` names many folders of one parent.
    /// nil if there are too many of both.
    mutating func anchor(of root: Directory, at absolute: BytePath) -> Anchor? {
        if open < Self.most {
            open += 1
            return Anchor(directory: root, path: BytePath([]))
        }
        let (above, name) = (absolute.directory, absolute.lastComponent)
        if parents[above] == nil && parents.count < Self.most { parents[above] = try? Directory(above) }
        // The path may lead to another folder by now.
        guard let parent = parents[above], let inner = try? parent.folder(name), let identity = try? root.identity,
            (try? inner.identity) == identity
        else { return nil }
        return Anchor(directory: parent, path: name)
    }
}
