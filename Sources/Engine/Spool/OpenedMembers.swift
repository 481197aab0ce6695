// The members of a set that were handed out for rendering, written beside the set: another start then knows what it may
// delete.
import FoundationEssentials
import Pipeline
import System

/// A list of files as they were when they were opened. It is written without a sync: if it is lost, the set is kept.
struct OpenedMembers: Codable {
    private var members: [Member]

    private struct Member: Codable {
        /// From the set's folder.
        var path: [UInt8]
        var device: UInt64
        var inode: UInt64
        var bytes: Int
        var modified: Int
    }

    private static let name = BytePath("opened")
    private static let mostBytes = 64 << 20

    init(_ files: [BytePath: FileVersion]) {
        members = files.map { path, version in
            Member(
                path: path.bytes, device: version.identity.device, inode: version.identity.inode,
                bytes: version.stamp.bytes, modified: version.stamp.modified)
        }
    }

    /// By their paths from the set's folder.
    var files: [BytePath: FileVersion] {
        let files = members.map {
            (
                BytePath($0.path),
                FileVersion(device: $0.device, inode: $0.inode, bytes: $0.bytes, modified: $0.modified)
            )
        }
        return Dictionary(files) { first, _ in first }.filter { $0.key.staysBelow }
    }

    /// Replaces the list of an earlier attempt.
    /// - Parameter job: the job's folder in work/.
    func write(to job: Directory) throws {
        try job.removeTree(Self.name)
        try job.making(Self.name).append(Array(JSONEncoder().encode(self)), for: Self.name)
    }

    /// - Returns: nil if there is none, or it was cut off by a loss of power.
    static func read(from job: Directory) throws(SystemError) -> OpenedMembers? {
        guard let status = try job.status(name), status.kind == .regular, status.bytes <= mostBytes else { return nil }
        let bytes = try job.opening(name).bytes(at: 0, count: status.bytes)
        return try? JSONDecoder().decode(Self.self, from: Data(bytes))
    }
}
