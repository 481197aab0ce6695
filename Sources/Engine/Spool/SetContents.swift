// What is in the folder of a set.
import Glibc
import Pipeline

/// The files and folders of a set, as paths from its folder. No link is followed, and a few descriptors are enough for
/// any set.
struct SetContents {
    struct Member: Equatable {
        let path: BytePath
        let status: FileStatus
    }

    /// The regular files whose names are not ignored, in natural order.
    private(set) var members: [Member] = []
    /// Folders, each after the one that it is in.
    private(set) var folders: [BytePath] = []
    /// Ignored names, links, pipes and the like.
    private(set) var others: [BytePath] = []
    /// A folder that is deeper than sets may be; it was not looked into.
    private(set) var tooDeep: BytePath?

    init(of root: Directory, ignored: IgnoredNames?) throws(SystemError) {
        var pending = [BytePath([])]
        while let path = pending.popLast() {
            let folder = try root.folder(path)
            for name in try folder.names() {
                let entry = path.appending(BytePath(name))
                if ignored?.contains(name) ?? false {
                    others.append(entry)
                    continue
                }
                guard let status = try folder.status(BytePath(name)) else { continue }
                switch status.kind {
                case .regular: members.append(Member(path: entry, status: status))
                case .directory where entry.components.count >= FolderScan.deepest: tooDeep = entry
                case .directory:
                    folders.append(entry)
                    pending.append(entry)
                case .link, .other: others.append(entry)
                }
            }
        }
        members.sort { $0.path.precedes($1.path) }
    }

    /// The bytes of all members, which can be as many as numbers go.
    var bytes: Int { members.reduce(0) { $0 + min($1.status.bytes, .max - $0) } }

    /// Nothing is in it but folders, and what NFS keeps until it is closed.
    var isCleared: Bool { members.allSatisfy { $0.path.lastComponent.isKeptByNFS } && others.isEmpty && tooDeep == nil }

    /// What to say of a set that is too deep.
    static func depthSentence(_ set: BytePath) -> String {
        "the folder '\(set.printable)' has folders more than \(FolderScan.deepest) levels deep, which are not searched; make it flatter"
    }
}
