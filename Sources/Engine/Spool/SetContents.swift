// The contents of a set's folder.
import Glibc
import Pipeline
import System

/// The files and folders of a set, as paths from its folder. No link is followed, a few descriptors are enough for any
/// set, and what is more than a set may have is left out.
struct SetContents {
    /// Why a folder is no set: a part of it was not looked into.
    enum Excess: String, CaseIterable {
        /// It has folders that are deeper than those of sets may be.
        case depth
        case count

        /// The file in a job's folder that says so of an original that was not copied.
        var mark: BytePath { BytePath("excess-\(rawValue)") }

        /// The mark in a job's folder; nil if its original was copied or moved.
        static func marked(in job: Directory) throws(SystemError) -> Excess? {
            for excess in allCases where try job.status(excess.mark) != nil { return excess }
            return nil
        }

        /// - Parameter set: the path of its folder.
        func failure(of set: BytePath) -> Failure {
            switch self {
            case .depth:
                let sentence =
                    "the folder '\(set.printable)' has folders more than \(FolderScan.deepest) levels deep, which are not searched; make it flatter"
                return Failure(.isADirectory, stage: "read", sentence)
            case .count: return OpenedSet.tooManyMembers
            }
        }
    }

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
    /// Nil if everything was looked at.
    private(set) var excess: Excess?

    /// - Parameter most: how many members it may have, and how many folders and other names.
    init(of root: Directory, ignored: IgnoredNames?, most: Int = OpenedSet.most) throws(SystemError) {
        var (members, folders, others, excess) = ([Member](), [BytePath](), [BytePath](), Excess?.none)
        let isWhole = try root.walk(()) { entry in
            var next = WalkStep<Void>.past
            switch entry.status.kind {
            case _ where ignored?.contains(entry.name.bytes) ?? false: others.append(entry.path)
            case .regular: members.append(Member(path: entry.path, status: entry.status))
            case .directory where entry.depth + 1 >= FolderScan.deepest: excess = .depth
            case .directory:
                folders.append(entry.path)
                next = .into(())
            case .link, .other: others.append(entry.path)
            }
            return members.count <= most && folders.count + others.count <= most ? next : .end
        }
        self.members = members.sorted { $0.path.precedes($1.path) }
        (self.folders, self.others, self.excess) = (folders, others, isWhole ? excess : .count)
    }

    /// The bytes of all members, which can be as many as numbers go.
    var bytes: Int { members.reduce(0) { $0 + min($1.status.bytes, .max - $0) } }

    /// Nothing is in it but folders, and what NFS keeps until it is closed.
    var isCleared: Bool { members.allSatisfy { $0.path.lastComponent.isKeptByNFS } && others.isEmpty && excess == nil }

    /// - Parameter set: the path of its folder.
    func checkExcess(_ set: BytePath) throws(Failure) {
        if let excess { throw excess.failure(of: set) }
    }
}
