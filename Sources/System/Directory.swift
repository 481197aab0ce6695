// An open directory: names are looked up in it and nowhere else, whatever happens to the path that led there.
import CLinux
import Glibc
package import Pipeline

/// An open directory. It keeps no file system busy for longer than it lives.
package struct Directory: Sendable {
    package let file: OpenFile

    /// Opens a directory by its path. Links are followed, since the user named it.
    package init(_ path: BytePath) throws(SystemError) {
        let descriptor = withPath(path) { clinux_openat(AT_FDCWD, $0, Self.flags, 0) }
        guard descriptor >= 0 else { throw SystemError("open the folder '\(path.printable)'") }
        file = OpenFile(owning: descriptor)
    }

    init(owning descriptor: CInt) { file = OpenFile(owning: descriptor) }

    static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK

    /// The path of a name in it, for messages about what changes names: the directory's own, as the system knows it.
    /// An error is kept.
    func shown(_ name: BytePath) -> String {
        let kept = errno
        defer { errno = kept }
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = "/proc/self/fd/\(file.descriptor)".withCString { link in
            buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { readlink(link, $0, bytes.count) } ?? 0
            }
        }
        return BytePath(Array(buffer.prefix(max(0, count)))).appending(name).printable
    }

    package var identity: FileIdentity {
        get throws(SystemError) {
            try file.status().identity
        }
    }

    /// Whether something is mounted at a path, so that what is seen there hides the folder below.
    package static func isMountPoint(_ path: BytePath) -> Bool {
        guard let folder = try? Directory(path), let above = try? Directory(path.appending(BytePath(".."))) else {
            return false
        }
        return !folder.isOnMount(of: above)
    }

    /// Whether two folders are on one mount.
    package func isOnMount(of other: Directory) -> Bool {
        clinux_mount(file.descriptor) == clinux_mount(other.file.descriptor)
    }

    /// A folder below, through any number of folders; no link is followed on the way.
    package func folder(_ path: BytePath) throws(SystemError) -> Directory {
        var directory = self
        for name in path.components {
            guard name != Array("..".utf8) else {
                throw SystemError("open the folder '\(path.printable)'", code: EINVAL)
            }
            let descriptor = withPath(BytePath(name)) {
                clinux_openat(directory.file.descriptor, $0, Self.flags | O_NOFOLLOW, 0)
            }
            guard descriptor >= 0 else { throw SystemError("open the folder '\(path.printable)'") }
            directory = Directory(owning: descriptor)
        }
        return directory
    }

    /// The folder below, which is made if it is missing.
    package func makingFolder(_ name: BytePath, mode: UInt32 = 0o777) throws(SystemError) -> Directory {
        let result = withPath(name) { mkdirat(file.descriptor, $0, mode) }
        guard result == 0 || errno == EEXIST else { throw SystemError("make the folder '\(shown(name))'") }
        return try folder(name)
    }

    /// The status of what is under a name; nil if there is nothing.
    package func status(_ name: BytePath, followLinks: Bool = false) throws(SystemError) -> FileStatus? {
        var status = stat()
        if withPath(name, { fstatat(file.descriptor, $0, &status, followLinks ? 0 : AT_SYMLINK_NOFOLLOW) }) == 0 {
            return FileStatus(status)
        }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw SystemError("examine '\(name.printable)'")
    }

    /// Opens a file for reading without waiting. ELOOP if it is a link, unless links are followed.
    package func opening(_ name: BytePath, followLinks: Bool = false) throws(SystemError) -> OpenFile {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (followLinks ? 0 : O_NOFOLLOW)
        let descriptor = withPath(name) { clinux_openat(file.descriptor, $0, flags, 0) }
        guard descriptor >= 0 else { throw SystemError("open '\(name.printable)'") }
        return OpenFile(owning: descriptor)
    }

    /// Keeps a file, whatever becomes of its name, without opening it for reading: its locks are not lost when this is
    /// closed, as those of a process are with any other descriptor. Links are followed. Nil if there is none.
    package func pinned(_ name: BytePath) throws(SystemError) -> OpenFile? {
        let descriptor = withPath(name) { clinux_pin(file.descriptor, $0) }
        guard descriptor >= 0 else {
            let error = SystemError("look at '\(shown(name))'")
            if error.isAbsence { return nil }
            throw error
        }
        return OpenFile(owning: descriptor)
    }

    /// Makes a file; fails if the name is taken.
    package func making(_ name: BytePath, mode: UInt32 = 0o600) throws(SystemError) -> OpenFile {
        let descriptor = withPath(name) {
            clinux_openat(file.descriptor, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        }
        guard descriptor >= 0 else { throw SystemError("make '\(shown(name))'") }
        return OpenFile(owning: descriptor)
    }

    /// The folder below, if it could be made just now; nil if something has the name already.
    package func makingNewFolder(_ name: BytePath, mode: UInt32 = 0o777) throws(SystemError) -> Directory? {
        try make(name, mode: mode) ? try folder(name) : nil
    }

    /// Renames something into another folder, over what has the new name.
    package func rename(_ name: BytePath, to folder: Directory, as newName: BytePath) throws(SystemError) {
        try rename(name, to: folder, as: newName, calls: .system)
    }

    package func rename(_ name: BytePath, to folder: Directory, as newName: BytePath, calls: NameCalls)
        throws(SystemError)
    {
        let (from, to) = (file.descriptor, folder.file.descriptor)
        guard withPath(name, { old in withPath(newName) { new in calls.rename(from, old, to, new) } }) == 0 else {
            throw trouble(moving: name, to: folder, as: newName)
        }
    }

    /// Gives two names what the other one has, at once.
    /// - Returns: false if the file system cannot do that.
    package func exchange(_ name: BytePath, with folder: Directory, _ otherName: BytePath, calls: NameCalls = .system)
        throws(SystemError) -> Bool
    {
        let (from, to) = (file.descriptor, folder.file.descriptor)
        if withPath(name, { one in withPath(otherName) { other in calls.exchange(from, one, to, other) } }) == 0 {
            return true
        }
        if [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) { return false }
        throw trouble(moving: name, to: folder, as: otherName)
    }

    /// Moves something to another folder. Never replaces anything: EEXIST if the new name is taken.
    ///
    /// The old name must be in a folder in which nobody else removes it: if it is gone after the new one was made, this
    /// call has done that.
    package func move(_ name: BytePath, to folder: Directory, as newName: BytePath) throws(SystemError) {
        try move(name, to: folder, as: newName, calls: .system)
    }

    package func move(_ name: BytePath, to folder: Directory, as newName: BytePath, calls: NameCalls)
        throws(SystemError)
    {
        let (from, to) = (file.descriptor, folder.file.descriptor)
        let result = withPath(name) { old in withPath(newName) { new in calls.renameNoReplace(from, old, to, new) } }
        if result == 0 { return }
        if errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP {
            return try moveByLink(name, to: folder, as: newName, calls: calls)
        }
        throw trouble(moving: name, to: folder, as: newName)
    }

    /// For file systems that know no "do not replace": a link fails if the name is taken. NFS is one, and repeats calls
    /// whose answer was lost.
    private func moveByLink(_ name: BytePath, to folder: Directory, as newName: BytePath, calls: NameCalls)
        throws(SystemError)
    {
        let (from, to) = (file.descriptor, folder.file.descriptor)
        let before = try status(name)
        if before?.kind == .directory { return try moveFolder(name, before, to: folder, as: newName, calls: calls) }
        if withPath(name, { old in withPath(newName) { new in calls.link(from, old, to, new) } }) != 0 {
            let error = trouble(moving: name, to: folder, as: newName)
            // A link that an earlier call has made, or this one before its answer was lost.
            guard error.code == EEXIST, let before, try folder.status(newName)?.identity == before.identity else {
                throw error
            }
        }
        // ENOENT: it was done, and the answer was lost.
        guard withPath(name, { calls.unlink(from, $0) }) == 0 || errno == ENOENT else {
            throw trouble(moving: name, to: folder, as: newName)
        }
    }

    /// Folders cannot be linked; a rename replaces none but an empty one.
    private func moveFolder(
        _ name: BytePath, _ before: FileStatus?, to folder: Directory, as newName: BytePath, calls: NameCalls
    ) throws(SystemError) {
        guard try folder.status(newName) == nil else {
            throw trouble(moving: name, to: folder, as: newName, code: EEXIST)
        }
        do throws(SystemError) {
            try rename(name, to: folder, as: newName, calls: calls)
        } catch {
            guard error.code == ENOENT, let before, try folder.status(newName)?.identity == before.identity else {
                throw error
            }
        }
    }

    private func trouble(
        moving name: BytePath, to folder: Directory, as newName: BytePath, code: CInt = errno
    ) -> SystemError {
        SystemError("move '\(shown(name))' to '\(folder.shown(newName))'", code: code)
    }

    /// Gives a file a second name; fails if that is taken.
    package func link(_ name: BytePath, to folder: Directory, as newName: BytePath) throws(SystemError) {
        let result = withPath(name) { old in
            withPath(newName) { new in linkat(file.descriptor, old, folder.file.descriptor, new, 0) }
        }
        guard result == 0 else { throw SystemError("link '\(shown(name))'") }
    }

    /// Removes a file, or an empty folder; what is gone already is fine.
    package func remove(_ name: BytePath, isFolder: Bool = false) throws(SystemError) {
        let result = withPath(name) { unlinkat(file.descriptor, $0, isFolder ? AT_REMOVEDIR : 0) }
        guard result == 0 || errno == ENOENT else { throw SystemError("remove '\(shown(name))'") }
    }

    /// The names in the directory, in no order. For folders that are known to be small; others are streamed.
    package func names(atMost limit: Int = .max) throws(SystemError) -> [[UInt8]] {
        let stream = try DirectoryStream(self)
        var names: [[UInt8]] = []
        while names.count < limit, let name = try stream.next() { names.append(name) }
        return names
    }

    /// Makes everything on its file system survive a loss of power.
    /// - Parameter title: the directory's, for a message.
    package func syncFileSystem(_ title: String) throws(SystemError) {
        guard clinux_sync_file_system(file.descriptor) == 0 else { throw SystemError("write \(title) to the disk") }
    }

    /// Makes what happened to names in this directory survive a loss of power.
    /// - Parameter title: the directory's, for a message.
    package func sync(_ title: String = "a folder") throws(SystemError) { try sync(title, calls: .system) }

    package func sync(_ title: String, calls: NameCalls) throws(SystemError) {
        // EINVAL: a file system that has no such thing, as some network file systems, has nothing to lose by it either.
        guard calls.sync(file.descriptor) == 0 || errno == EINVAL else {
            throw SystemError("write \(title) to the disk")
        }
    }
}

extension BytePath {
    /// A name that NFS gives a file that was removed while it was open: `.nfs` and 24 hexadecimal digits. It goes away
    /// when the file is closed.
    package var isKeptByNFS: Bool {
        bytes.count == 28 && bytes.starts(with: ".nfs".utf8)
            && bytes.dropFirst(4).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
