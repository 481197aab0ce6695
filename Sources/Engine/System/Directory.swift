// An open directory: names are looked up in it and nowhere else, whatever happens to the path that led there.
import CLinux
import Glibc
package import Pipeline

/// Which file or folder, on this machine, while it exists.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// An open directory. It keeps no file system busy for longer than it lives.
package struct Directory: Sendable {
    package let file: OpenFile

    /// Opens a directory by its path. Links are followed, since the user named it.
    package init(_ path: BytePath) throws(SystemError) {
        let descriptor = withPath(path) { clinux_openat(AT_FDCWD, $0, Self.flags, 0) }
        guard descriptor >= 0 else { throw SystemError("open the folder '\(path.printable)'") }
        file = OpenFile(owning: descriptor)
    }

    private init(owning descriptor: CInt) { file = OpenFile(owning: descriptor) }

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK

    package var identity: FileIdentity {
        get throws(SystemError) {
            let status = try file.status()
            return FileIdentity(device: status.device, inode: status.inode)
        }
    }

    /// Whether something is mounted at a path, so that what is seen there is not what stands beneath.
    package static func isMountPoint(_ path: BytePath) -> Bool {
        guard let folder = try? Directory(path), let above = try? Directory(path.appending(BytePath(".."))) else { return false }
        return clinux_mount(folder.file.descriptor) != clinux_mount(above.file.descriptor)
    }

    /// A folder below, through any number of folders; no link is followed on the way.
    package func folder(_ path: BytePath) throws(SystemError) -> Directory {
        var directory = self
        for name in path.components {
            guard name != Array("..".utf8) else { throw SystemError("open the folder '\(path.printable)'", code: EINVAL) }
            let descriptor = withPath(BytePath(name)) { clinux_openat(directory.file.descriptor, $0, Self.flags | O_NOFOLLOW, 0) }
            guard descriptor >= 0 else { throw SystemError("open the folder '\(path.printable)'") }
            directory = Directory(owning: descriptor)
        }
        return directory
    }

    /// The folder below, which is made where it is missing.
    package func makingFolder(_ name: BytePath, mode: UInt32 = 0o777) throws(SystemError) -> Directory {
        let result = withPath(name) { mkdirat(file.descriptor, $0, mode) }
        guard result == 0 || errno == EEXIST else { throw SystemError("make the folder '\(name.printable)'") }
        return try folder(name)
    }

    /// What stands under a name, without following a link; nil where nothing does.
    package func sighting(_ name: BytePath) throws(SystemError) -> Sighting? {
        var status = stat()
        if withPath(name, { fstatat(file.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 { return Sighting(status) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw SystemError("examine '\(name.printable)'")
    }

    /// Opens a file for reading. Neither waits nor follows a link: ELOOP where there is one.
    package func opening(_ name: BytePath) throws(SystemError) -> OpenFile {
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
        let descriptor = withPath(name) { clinux_openat(file.descriptor, $0, flags, 0) }
        guard descriptor >= 0 else { throw SystemError("open '\(name.printable)'") }
        return OpenFile(owning: descriptor)
    }

    /// Makes a file; fails where something stands there.
    package func making(_ name: BytePath, mode: UInt32 = 0o600) throws(SystemError) -> OpenFile {
        let descriptor = withPath(name) { clinux_openat(file.descriptor, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else { throw SystemError("make '\(name.printable)'") }
        return OpenFile(owning: descriptor)
    }

    /// Moves something to another folder. Never replaces anything: EEXIST where the new name is taken.
    package func move(_ name: BytePath, to folder: Directory, as newName: BytePath) throws(SystemError) {
        let (from, to) = (file.descriptor, folder.file.descriptor)
        let result = withPath(name) { old in withPath(newName) { new in clinux_rename_no_replace(from, old, to, new) } }
        if result == 0 { return }
        if errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP {
            return try moveWithoutPromise(name, to: folder, as: newName)
        }
        throw SystemError("move '\(name.printable)'")
    }

    /// For file systems that know no "do not replace": a link fails where the name is taken. Folders cannot be linked, but are not replaced either
    /// unless they are empty.
    private func moveWithoutPromise(_ name: BytePath, to folder: Directory, as newName: BytePath) throws(SystemError) {
        let (from, to) = (file.descriptor, folder.file.descriptor)
        if withPath(name, { old in withPath(newName) { new in linkat(from, old, to, new, 0) } }) == 0 {
            guard withPath(name, { unlinkat(from, $0, 0) }) == 0 else {
                // The file must not stand in two places.
                let error = SystemError("move '\(name.printable)'")
                _ = withPath(newName) { unlinkat(to, $0, 0) }
                throw error
            }
            return
        }
        if errno == EEXIST || errno == ENOENT || errno == EXDEV { throw SystemError("move '\(name.printable)'") }
        guard try folder.sighting(newName) == nil else { throw SystemError("move '\(name.printable)'", code: EEXIST) }
        guard withPath(name, { old in withPath(newName) { new in renameat(from, old, to, new) } }) == 0 else {
            throw SystemError("move '\(name.printable)'")
        }
    }

    /// Gives a file a second name; fails where something stands there.
    package func link(_ name: BytePath, to folder: Directory, as newName: BytePath) throws(SystemError) {
        let result = withPath(name) { old in withPath(newName) { new in linkat(file.descriptor, old, folder.file.descriptor, new, 0) } }
        guard result == 0 else { throw SystemError("link '\(name.printable)'") }
    }

    /// Removes a file, or an empty folder; what is gone already is fine.
    package func remove(_ name: BytePath, isFolder: Bool = false) throws(SystemError) {
        let result = withPath(name) { unlinkat(file.descriptor, $0, isFolder ? AT_REMOVEDIR : 0) }
        guard result == 0 || errno == ENOENT else { throw SystemError("remove '\(name.printable)'") }
    }

    /// Removes a folder with all that is in it. No link is followed.
    package func removeTree(_ name: BytePath) throws(SystemError) {
        guard let sighting = try sighting(name) else { return }
        guard sighting.kind == .directory else { return try remove(name) }
        let inner = try folder(name)
        for entry in try inner.names() { try inner.removeTree(BytePath(entry)) }
        try remove(name, isFolder: true)
    }

    /// The names in the directory, in no order. For folders that are known to be small; others are streamed.
    package func names() throws(SystemError) -> [[UInt8]] {
        let stream = try DirectoryStream(self)
        var names: [[UInt8]] = []
        while let name = try stream.next() { names.append(name) }
        return names
    }

    /// Makes what happened to names in this directory survive a loss of power.
    package func sync() throws(SystemError) {
        // A file system that has no such thing has nothing to lose by it either.
        guard fsync(file.descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw SystemError("write a folder to disk") }
    }
}

/// Reads the names of a directory one by one.
///
/// Used by one thread at a time.
package final class DirectoryStream {
    private let handle: OpaquePointer

    package init(_ directory: Directory) throws(SystemError) {
        // A position of its own: descriptors that are copies of each other share theirs.
        let descriptor = clinux_openat(directory.file.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError("list a folder") }
        guard let handle = fdopendir(descriptor) else {
            close(descriptor)
            throw SystemError("list a folder")
        }
        self.handle = handle
    }

    deinit { closedir(handle) }

    /// The next name but `.` and `..`; nil at the end.
    package func next() throws(SystemError) -> [UInt8]? {
        while true {
            errno = 0
            guard let entry = readdir(handle) else {
                if errno != 0 { throw SystemError("list a folder") }
                return nil
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    UnsafeBufferPointer(start: text, count: strnlen(text, 256)).map { UInt8(bitPattern: $0) }
                }
            }
            if name != [UInt8(ascii: ".")] && name != Array("..".utf8) { return name }
        }
    }
}

extension BytePath {
    /// The names between the slashes.
    package var components: [[UInt8]] {
        bytes.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    /// Whether this path is another one, or something below it.
    package func isAtOrBelow(_ other: BytePath) -> Bool {
        if other.bytes.isEmpty || bytes == other.bytes { return true }
        let ending = other.bytes.last == UInt8(ascii: "/")
        return bytes.starts(with: other.bytes) && (ending || bytes[other.bytes.count] == UInt8(ascii: "/"))
    }
}
