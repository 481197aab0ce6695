// A rendition before it has its name: written beside its destination, put in place by a rename.
import CLinux
import Glibc
import Pipeline

/// A file that nobody sees until it is published.
///
/// Where the file system can, it has no name at all, so that not even a power cut leaves it behind; elsewhere a name with a leading dot,
/// which is removed with this object.
final class StagedFile {
    let file: OpenFile
    let destination: BytePath
    /// The temporary name; nil while the file has none.
    private var temporary: BytePath?

    /// - Parameters:
    ///   - token: distinct for every file that is staged at one time.
    ///   - mode: permissions, of which the process' mask takes away its own.
    ///   - makesFolders: makes the folder where it is missing, and those above it.
    init(for destination: BytePath, token: String, mode: mode_t = 0o666, makesFolders: Bool = true, allowsUnnamed: Bool = true) throws(SystemError) {
        self.destination = destination
        let folder = destination.directory.bytes.isEmpty ? BytePath(".") : destination.directory
        // Folders for what is its owner's alone are too.
        if makesFolders { try FileSystem.makeDirectories(folder, mode: Self.folderMode(mode)) }
        temporaryName = folder.appending(BytePath(".imagemill-\(token).part"))
        if allowsUnnamed {
            let descriptor = withPath(folder) { clinux_open_unnamed($0, mode) }
            if descriptor >= 0 {
                file = OpenFile(owning: descriptor)
                return
            }
            // These say that the file system has no unnamed files; anything else is about this folder.
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) || errno == ENOENT && makesFolders else {
                throw SystemError("write into '\(folder.printable)'")
            }
        }
        let descriptor = withPath(temporaryName) { clinux_openat(AT_FDCWD, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else { throw SystemError("write into '\(folder.printable)'") }
        file = OpenFile(owning: descriptor)
        temporary = temporaryName
    }

    private let temporaryName: BytePath

    /// The permissions of a folder that is made for a file with these.
    static func folderMode(_ mode: mode_t) -> mode_t { mode & 0o077 == 0 ? 0o700 : 0o777 }

    deinit { if let temporary { FileSystem.remove(temporary) } }

    /// Gives the file its temporary name, so that only a rename is left to do.
    func makeReady() throws(SystemError) {
        guard temporary == nil else { return }
        let result = withPath(temporaryName) { clinux_link_unnamed(file.descriptor, $0) }
        guard result == 0 else { throw SystemError("put '\(destination.printable)' in place") }
        temporary = temporaryName
    }

    /// Has the content written to the disk.
    func sync() throws(SystemError) {
        guard fsync(file.descriptor) == 0 else { throw SystemError("write '\(destination.printable)' to the disk") }
    }

    /// Puts the file in place, over one that stands there.
    func publish() throws(SystemError) {
        try makeReady()
        guard let temporary else { return }
        try FileSystem.rename(temporary, to: destination)
        self.temporary = nil
    }
}
