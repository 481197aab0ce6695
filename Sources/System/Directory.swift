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

    private init(owning descriptor: CInt) { file = OpenFile(owning: descriptor) }

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK

    /// The path of a name in it, for messages about what changes names: the directory's own, as the system knows it.
    /// An error is kept.
    private func shown(_ name: BytePath) -> String {
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

    /// What is under a name; nil if there is nothing.
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

    /// Opens a file, which is made if it is missing, and locks it against every other process until the result is let
    /// go. Never waits.
    /// - Throws: EWOULDBLOCK if somebody else has locked it.
    package func locking(_ name: BytePath) throws(SystemError) -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = withPath(name) { clinux_openat(file.descriptor, $0, flags, 0o600) }
        guard descriptor >= 0 else { throw SystemError("open '\(name.printable)'") }
        let locked = OpenFile(owning: descriptor)
        guard clinux_lock_exclusive(descriptor) == 0 else { throw SystemError("lock '\(name.printable)'") }
        return locked
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

    /// Removes a folder with all that is in it. No link is followed, and two descriptors are enough for any depth.
    /// - Returns: false if NFS keeps files in it (`.nfs…`) that are still open somewhere; the folder can be removed
    ///   once they are closed.
    @discardableResult
    package func removeTree(_ name: BytePath) throws(SystemError) -> Bool {
        guard let found = try status(name) else { return true }
        guard found.kind == .directory else { return try removeUnlessBusy(name) }
        var current = try folder(name)
        var levels = [try Level(name, of: current, in: self)]
        while var level = levels.popLast() {
            if level.pending.isEmpty, level.hasMore { try level.goOn(in: current) }
            if let next = level.next() {
                let entry = BytePath(next)
                guard try current.status(entry)?.kind == .directory else {
                    if try !current.removeUnlessBusy(entry) { level.isEmpty = false }
                    levels.append(level)
                    continue
                }
                levels.append(level)
                let parent = current
                current = try parent.folder(entry)
                levels.append(try Level(entry, of: current, in: parent))
            } else {
                current = levels.isEmpty ? self : try current.parent(level.parent)
                let isGone = level.isEmpty ? try current.removeFolderUnlessBusy(level.name) : false
                if levels.isEmpty { return isGone }
                if !isGone { levels[levels.count - 1].isEmpty = false }
            }
        }
        return true
    }

    /// A folder whose content is being removed.
    private struct Level {
        let name: BytePath
        let parent: FileIdentity
        /// Some of the names: a folder may have millions.
        private(set) var pending: [[UInt8]]
        private(set) var hasMore: Bool
        var isEmpty = true

        private static let most = 10_000

        init(_ name: BytePath, of folder: Directory, in parent: Directory) throws(SystemError) {
            self.name = name
            self.parent = try parent.identity
            pending = try folder.names(atMost: Self.most)
            hasMore = pending.count == Self.most
        }

        mutating func next() -> [UInt8]? { pending.popLast() }

        /// Looks for names that are left. Those that cannot be removed would come again and again, so that all are taken
        /// then.
        mutating func goOn(in folder: Directory) throws(SystemError) {
            pending = try folder.names(atMost: isEmpty ? Self.most : .max)
            hasMore = isEmpty && pending.count == Self.most
        }
    }

    /// The folder above. It must be the one through which this one was reached: somebody may have moved this one
    /// elsewhere.
    private func parent(_ expected: FileIdentity) throws(SystemError) -> Directory {
        let descriptor = clinux_openat(file.descriptor, "..", Self.flags | O_NOFOLLOW, 0)
        guard descriptor >= 0 else { throw SystemError("open the folder above") }
        let parent = Directory(owning: descriptor)
        guard try parent.identity == expected else {
            throw SystemError("remove a folder that was moved meanwhile", code: ESTALE)
        }
        return parent
    }

    /// - Returns: false for a file that NFS keeps because it is open.
    private func removeUnlessBusy(_ name: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try remove(name)
            return true
        } catch  where error.code == EBUSY && name.isKeptByNFS {
            return false
        }
    }

    /// Removes an empty folder.
    /// - Returns: false if nothing but files that NFS keeps is in it.
    func removeFolderUnlessBusy(_ name: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try remove(name, isFolder: true)
            return true
        } catch  where error.code == ENOTEMPTY || error.code == EEXIST || error.code == EBUSY {
            let left = try folder(name).names()
            guard !left.isEmpty, left.allSatisfy({ BytePath($0).isKeptByNFS }) else { throw error }
            return false
        }
    }

    /// Removes the files whose names begin in one way, but not in another. What cannot be removed stays.
    package func removeFiles(beginningWith prefix: String, butNot exception: String) throws(SystemError) {
        let names = try DirectoryStream(self)
        var failure: SystemError?
        while let name = try names.next() {
            guard name.starts(with: prefix.utf8), !name.starts(with: exception.utf8) else { continue }
            do throws(SystemError) {
                try remove(BytePath(name))
            } catch {
                if !error.isAbsence { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
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

/// Reads the names of a directory one by one.
///
/// Used by one thread at a time.
package final class DirectoryStream {
    private let file: OpenFile
    private var entries = [UInt8](repeating: 0, count: 32 << 10)
    /// The bytes of the entries that were read but not returned yet.
    private var unread = 0..<0

    /// An entry begins with the number of the file, the place of the next one, the entry's length and the file's kind;
    /// the name follows. `struct linux_dirent64`, getdents(2).
    private static let (lengthOffset, nameOffset) = (16, 19)

    package init(_ directory: Directory) throws(SystemError) {
        // A position of its own: descriptors that are copies of each other share theirs.
        let descriptor = clinux_openat(directory.file.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError("list a folder") }
        file = OpenFile(owning: descriptor)
    }

    /// The next name but `.` and `..`; nil at the end.
    package func next() throws(SystemError) -> [UInt8]? {
        while true {
            if unread.isEmpty {
                let count = entries.withUnsafeMutableBytes {
                    clinux_folder_entries(file.descriptor, $0.baseAddress, UInt($0.count))
                }
                guard count >= 0 else { throw SystemError("list a folder") }
                guard count > 0 else { return nil }
                unread = 0..<count
            }
            let start = unread.lowerBound
            let length = entries.withUnsafeBytes {
                Int($0.loadUnaligned(fromByteOffset: start + Self.lengthOffset, as: UInt16.self))
            }
            // The system's own; a wrong one must not be followed.
            guard length > Self.nameOffset, length <= unread.count else {
                throw SystemError("list a folder", code: EIO)
            }
            unread = start + length..<unread.upperBound
            let name = Array(entries[start + Self.nameOffset..<start + length].prefix { $0 != 0 })
            if name != [UInt8(ascii: ".")] && name != Array("..".utf8) { return name }
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
