// What a store remembers of a source to know it again.

/// What tells one state of a source from another: kept in the store, and compared only for being the same.
package struct ObservedFile: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let bytes: Int
    /// Nanoseconds since 1970; for a set, a digest of all its members.
    package let modified: Int

    package init(device: UInt64, inode: UInt64, bytes: Int, modified: Int) {
        self.device = device
        self.inode = inode
        self.bytes = bytes
        self.modified = modified
    }

    package init(_ status: FileStatus) {
        let modified = status.kind == .directory ? status.changed : status.modified
        self.init(device: status.identity.device, inode: status.identity.inode, bytes: status.bytes, modified: modified)
    }
}
