// The version of a file or a set: what is compared to tell whether it has changed.

/// The identity of a file or folder, on this machine, while it exists.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The size and the time by which content is known again wherever it lies: a copy has them too, and so has a restored
/// backup.
package struct FileStamp: Hashable, Sendable {
    /// For a set, or a folder that is a rendition: of all its files together.
    package let bytes: Int
    /// In nanoseconds since 1970, and only ever compared for being the same. For a set or a folder: a digest of its files.
    package let modified: Int

    package init(bytes: Int, modified: Int) {
        self.bytes = bytes
        self.modified = modified
    }
}

/// One state of one file or set.
package struct FileVersion: Hashable, Sendable {
    package let identity: FileIdentity
    package let stamp: FileStamp

    package init(device: UInt64, inode: UInt64, bytes: Int, modified: Int) {
        identity = FileIdentity(device: device, inode: inode)
        stamp = FileStamp(bytes: bytes, modified: modified)
    }
}
