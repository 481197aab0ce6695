// What one look at a name finds, small enough to be kept for a hundred thousand files.
package import Glibc

/// What stood under a name at one moment. Two that are equal mean that nothing has happened in between, as far as the system tells.
package struct Sighting: Hashable, Sendable {
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

    package init(kind: Kind = .regular, links: UInt32 = 1, identity: FileIdentity, bytes: Int, modified: Int, changed: Int) {
        self.kind = kind
        self.links = links
        self.identity = identity
        self.bytes = bytes
        self.modified = modified
        self.changed = changed
    }

    package init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        links = UInt32(clamping: status.st_nlink)
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        bytes = Int(status.st_size)
        modified = fileTime(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        changed = fileTime(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
    }

    /// Whether it is still the same file, or set, with the same content. A rename, a link or new permissions do not count.
    package func hasSameContent(as other: Sighting) -> Bool {
        identity == other.identity && kind == other.kind && bytes == other.bytes && modified == other.modified
            && (kind != .directory || changed == other.changed)
    }
}
