// What one look at a file finds, small enough to be kept for a hundred thousand files.
package import Glibc

/// Which file or folder, on this machine, while it exists.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// What the system knows of a file. Two that are equal mean that nothing has happened in between, as far as the system
/// tells.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: UInt8, Sendable { case regular, directory, link, other }

    package let kind: Kind
    package let links: UInt32
    package let identity: FileIdentity
    /// For a set: of all its members together.
    package let bytes: Int
    /// In nanoseconds since 1970; only ever compared for being the same.
    package let modified: Int
    /// When anything about the file was last changed, its name included. For a set: a digest of all its members.
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
        self.identity = identity
        self.bytes = bytes
        self.modified = modified
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

    /// Whether it is still the same file, or set, with the same content. A rename, a link or new permissions do not
    /// count.
    package func hasSameContent(as other: FileStatus) -> Bool {
        identity == other.identity && kind == other.kind && bytes == other.bytes && modified == other.modified
            && (kind != .directory || changed == other.changed)
    }
}

/// A file's time in nanoseconds since 1970. Anybody can give a file any time; from the year 2262 on they wrap around,
/// and still differ from each other.
func fileTime(seconds: Int, nanoseconds: Int) -> Int { seconds &* 1_000_000_000 &+ nanoseconds }
