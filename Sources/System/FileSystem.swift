// The engine's calls to the file system, by path.
import CLinux
import Glibc
package import Pipeline

/// Whether nothing is there. An error is not an absence; `try?` cannot tell the two apart.
package func isAbsent(_ look: () throws(SystemError) -> FileStatus?) -> Bool {
    do throws(SystemError) {
        return try look() == nil
    } catch {
        return false
    }
}

package enum FileSystem {
    /// The status of what is at a path; nil if there is nothing.
    /// - Parameter followLinks: whether a link stands for what it points to.
    package static func status(_ path: BytePath, followLinks: Bool = true) throws(SystemError) -> FileStatus? {
        var status = stat()
        let result = withPath(path) { fstatat(AT_FDCWD, $0, &status, followLinks ? 0 : AT_SYMLINK_NOFOLLOW) }
        if result == 0 { return FileStatus(status) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw SystemError("examine '\(path.printable)'")
    }

    /// Whether nothing is at a path. False if that cannot be told.
    package static func isAbsent(_ path: BytePath) -> Bool {
        System.isAbsent { () throws(SystemError) in try status(path) }
    }

    /// Makes a directory and those above it. One that exists is fine, and stays as it is.
    /// - Parameter mode: permissions of those that are made, of which the process's mask takes away its own.
    package static func makeDirectories(_ path: BytePath, mode: UInt32 = 0o777) throws(SystemError) {
        if withPath(path, { mkdir($0, mode) }) == 0 || errno == EEXIST {
            guard try status(path)?.kind == .directory else {
                throw SystemError(
                    "make the folder '\(path.printable)'", code: ENOTDIR, because: "there is a file of that name")
            }
            return
        }
        guard errno == ENOENT, path.bytes.contains(UInt8(ascii: "/")), path.directory != path else {
            throw SystemError("make the folder '\(path.printable)'")
        }
        try makeDirectories(path.directory, mode: mode)
        guard withPath(path, { mkdir($0, mode) }) == 0 || errno == EEXIST else {
            throw SystemError("make the folder '\(path.printable)'")
        }
    }

    package static func rename(_ old: BytePath, to new: BytePath) throws(SystemError) {
        let result = withPath(old) { old in withPath(new) { new in Glibc.rename(old, new) } }
        guard result == 0 else { throw SystemError("put '\(new.printable)' in place") }
    }

    /// Removes a file; one that is gone already is fine.
    package static func remove(_ path: BytePath) {
        _ = withPath(path) { unlink($0) }
    }

    /// Writes a text file, with the folders above it.
    package static func write(_ text: String, to path: BytePath) throws(SystemError) {
        try makeDirectories(path.directory)
        let descriptor = withPath(path) { clinux_openat(AT_FDCWD, $0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
        guard descriptor >= 0 else { throw SystemError("write '\(path.printable)'") }
        let file = OpenFile(owning: descriptor)
        defer { withExtendedLifetime(file) {} }
        try file.append(Array(text.utf8), for: path)
    }

    /// The path without links, `.` and `..`; nil if it does not exist.
    package static func absolute(_ path: BytePath) -> BytePath? {
        guard let real = withPath(path, { realpath($0, nil) }) else { return nil }
        defer { free(real) }
        return BytePath(UnsafeBufferPointer(start: real, count: strlen(real)).map { UInt8(bitPattern: $0) })
    }

    /// An absolute path with the links that were named; without them if the path leads upwards, where links count.
    package static func absolute(keepingLinks path: BytePath) -> BytePath? {
        let parts = path.bytes.split(separator: UInt8(ascii: "/")).map { BytePath(Array($0)) }.filter {
            $0 != BytePath(".")
        }
        guard let here = absolute(BytePath(".")), !parts.contains(BytePath("..")) else { return absolute(path) }
        let start = path.bytes.first == UInt8(ascii: "/") ? BytePath("/") : here
        return parts.reduce(start) { $0.appending($1) }
    }
}
