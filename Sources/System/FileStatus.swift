// The result of one look at a file, small enough to be kept for a hundred thousand files.
package import Glibc

/// The facts that the system has about a file. Two that are equal mean that nothing has happened in between, as far as
/// the system tells.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: UInt8, Sendable { case regular, directory, link, other }

    package let kind: Kind
    package let links: UInt32
    package let version: FileVersion
    /// When anything about the file was last changed, its name included; in nanoseconds since 1970. For a set: as
    /// `modified`.
    package let changed: Int
    /// The owner's number.
    package let owner: UInt32
    /// The permission bits.
    package let mode: UInt32

    package init(
        kind: Kind = .regular, links: UInt32 = 1, identity: FileIdentity, bytes: Int, modified: Int, changed: Int,
        owner: UInt32 = 0, mode: UInt32 = 0
    ) {
        self.kind = kind
        self.links = links
        version = FileVersion(
            device: identity.device, inode: identity.inode, bytes: bytes, modified: modified)
        self.changed = changed
        self.owner = owner
        self.mode = mode
    }

    package init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        self.init(
            kind: kind, links: UInt32(clamping: status.st_nlink),
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
            bytes: Int(status.st_size),
            modified: fileTime(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec),
            changed: fileTime(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec),
            owner: status.st_uid,
            mode: status.st_mode & 0o7777)
    }

    package var identity: FileIdentity { version.identity }
    package var stamp: FileStamp { version.stamp }
    package var bytes: Int { version.stamp.bytes }
    package var modified: Int { version.stamp.modified }
}

/// A file's time in nanoseconds since 1970. Anybody can give a file any time; from the year 2262 on they wrap around,
/// and still differ from each other.
func fileTime(seconds: Int, nanoseconds: Int) -> Int { seconds &* 1_000_000_000 &+ nanoseconds }
