// The names of a folder, read a buffer at a time: folders may have a hundred thousand.
import CLinux
import Glibc

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
