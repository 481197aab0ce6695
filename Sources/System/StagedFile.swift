// A file before it has its name: written beside its destination, put in place by one call.
import CLinux
import Glibc
package import Pipeline

/// A file that nobody sees until it is published. It is written in an open folder, so no link leads it anywhere else.
/// Not for two threads at once.
///
/// If the file system can do that, it has no name at all, so that not even a power cut leaves it behind; otherwise a
/// name with a leading dot, which is removed with this object.
package final class StagedFile {
    /// Open for writing until it is sealed.
    package private(set) var file: OpenFile
    /// The path that it will have, for messages; its last component is the name in the folder.
    package private(set) var destination: BytePath
    /// Where it will be.
    package private(set) var folder: Directory
    /// Distinguishes it from all files that are staged at one time.
    package let token: String
    /// Where its temporary name is.
    private let staging: Directory
    private let temporaryName: BytePath
    private let mode: mode_t
    private var hasTemporaryName: Bool
    /// Nil for a file that is published as it is.
    private var contents: UnpackedFolder?

    /// - Parameters:
    ///   - destination: its path from the outbox.
    ///   - token: distinct for every file that is staged at one time.
    ///   - mode: permissions, of which the process's mask takes away its own.
    package init(
        in folder: Directory, destination: BytePath, token: String, mode: UInt32 = 0o666, allowsUnnamed: Bool = true
    ) throws(SystemError) {
        self.destination = destination
        self.folder = folder
        self.token = token
        self.mode = mode
        staging = folder
        temporaryName = BytePath(".imagemill-\(token).part")
        if allowsUnnamed {
            let descriptor = clinux_open_unnamed(folder.file.descriptor, mode)
            if descriptor >= 0 {
                file = OpenFile(owning: descriptor)
                hasTemporaryName = false
                return
            }
            // These say that the file system has no unnamed files; anything else is about this folder.
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) else {
                throw SystemError("write '\(destination.printable)'")
            }
        }
        file = try Self.named(temporaryName, in: folder, mode, for: destination)
        hasTemporaryName = true
    }

    private static func named(_ name: BytePath, in folder: Directory, _ mode: mode_t, for destination: BytePath)
        throws(SystemError) -> OpenFile
    {
        var code: CInt = EEXIST
        for _ in 0..<2 where code == EEXIST {
            let descriptor = withPath(name) {
                clinux_openat(folder.file.descriptor, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            }
            if descriptor >= 0 { return OpenFile(owning: descriptor) }
            code = errno
            // Nobody else uses this name: on NFS an answer was lost, and the call was repeated.
            if code == EEXIST { try? folder.remove(name) }
        }
        throw SystemError("write '\(destination.printable)'", code: code)
    }

    /// The permissions of a folder that is made for a file with these: folders for what is its owner's alone are too.
    package static func folderMode(_ mode: UInt32) -> UInt32 { mode & 0o077 == 0 ? 0o700 : 0o777 }

    deinit {
        if hasTemporaryName { Leftovers.remove(temporaryName, in: staging) }
        // The folder that it has replaced, or one that is not published.
        if let contents { Leftovers.remove(contents.name, in: staging) }
    }

    /// Takes its temporary name away, so that not even a crash leaves that behind. It cannot be published then.
    package func removeName() {
        guard hasTemporaryName else { return }
        hasTemporaryName = (try? staging.remove(temporaryName)) == nil
    }

    private var name: BytePath { destination.lastComponent }

    // MARK: - Before it is published

    /// Why the file does not grow by another block; nil if it does.
    /// - Parameter limit: the most bytes that it may have.
    package func troubleGrowing(to limit: Int) -> SystemError? {
        let attempt = "write '\(destination.printable)'"
        guard let bytes = try? file.status().bytes else { return nil }
        let block = [UInt8](repeating: 0, count: 65_536)
        guard bytes < limit else {
            return SystemError(
                attempt, code: EFBIG,
                because: "it would have more than \(limit) bytes, which is the limit (max-output-bytes)")
        }
        defer { ftruncate(file.descriptor, off_t(bytes)) }
        let written = pwrite(file.descriptor, block, block.count, off_t(bytes))
        if written == block.count { return nil }
        return SystemError(attempt, code: written < 0 ? errno : ENOSPC)
    }

    /// How long writers are waited for. Another thread that starts a process shares every descriptor with it for a
    /// moment.
    private static let secondsForWriters = 1.0

    /// Ends the writing, by whomever: what is in the file now stays. A process that was given `file` may have kept it
    /// open.
    ///
    /// If the file system cannot tell whether somebody has the file open for writing, the content moves to a new file
    /// that nobody had.
    /// - Parameter hasWriter: asks the system; answers as `OpenFile.hasWriter`.
    /// - Returns: false if somebody still has it open for writing.
    package func seal(asking hasWriter: (OpenFile) -> Bool? = { $0.hasWriter }) throws(SystemError) -> Bool {
        file = try file.reopened()
        let end = SuspendingClock.now + .seconds(Self.secondsForWriters)
        while true {
            switch hasWriter(file) {
            case false: return true
            case true:
                guard .now < end else { return false }
                usleep(1000)
            case nil:
                try moveToNewFile()
                return true
            }
        }
    }

    /// Goes on with another file, which is empty, since somebody may still write into this one.
    package func renew() throws(SystemError) { file = try newFile() }

    private func moveToNewFile() throws(SystemError) {
        let new = try newFile()
        try new.fill(from: file)
        file = new
    }

    /// A file in the place of this one, which loses its temporary name.
    private func newFile() throws(SystemError) -> OpenFile {
        if hasTemporaryName {
            do throws(SystemError) {
                try staging.remove(temporaryName)
            } catch {
                guard error.isAbsence else { throw error }
            }
            return try Self.named(temporaryName, in: staging, mode, for: destination)
        }
        let descriptor = clinux_open_unnamed(staging.file.descriptor, mode)
        guard descriptor >= 0 else { throw SystemError("write '\(destination.printable)'") }
        return OpenFile(owning: descriptor)
    }

    // MARK: - Publishing

    /// Gives it another destination, on the same file system, before it is published.
    package func redirect(to destination: BytePath, in folder: Directory) {
        self.destination = destination
        self.folder = folder
    }

    /// Gives the file its temporary name, so that only a rename is left to do.
    package func makeReady() throws(SystemError) {
        guard !hasTemporaryName else { return }
        let result = withPath(temporaryName) { clinux_link_unnamed(file.descriptor, staging.file.descriptor, $0) }
        guard result == 0 else { throw SystemError("put '\(destination.printable)' in place") }
        hasTemporaryName = true
    }

    /// Begins to write the content to the disk. Of files that are begun before the first is synced, a journal is written
    /// once.
    package func beginSync() {
        if contents == nil { file.beginSync() }
    }

    /// Has the content written to the disk.
    package func sync() throws(SystemError) {
        // One by one, thousands of files would take minutes.
        if let contents { return try contents.folder.syncFileSystem("'\(destination.printable)'") }
        try file.sync("'\(destination.printable)'")
    }

    /// The file, or the folder that is published in its stead.
    package var published: OpenFile { contents?.folder.file ?? file }

    /// Puts the file in place, and replaces what is there.
    package func publish() throws(SystemError) {
        if contents != nil {
            if try !exchange() { try publishNew() }
            return
        }
        try makeReady()
        do throws(SystemError) {
            try staging.rename(temporaryName, to: folder, as: name)
        } catch {
            let reason = error.code == EISDIR ? "there is a folder of that name" : nil
            throw SystemError("put '\(destination.printable)' in place", code: error.code, because: reason)
        }
        hasTemporaryName = false
    }

    /// Puts the file in place if nothing is there.
    /// - Throws: EEXIST if something is; it is left as it is.
    package func publishNew() throws(SystemError) {
        do throws(SystemError) {
            if let contents {
                try staging.move(contents.name, to: folder, as: name)
            } else if hasTemporaryName {
                try staging.move(temporaryName, to: folder, as: name)
            } else {
                let result = withPath(name) { clinux_link_unnamed(file.descriptor, folder.file.descriptor, $0) }
                guard result == 0 else { throw SystemError("link") }
            }
        } catch {
            // On a network file system a call can be repeated because its answer was lost: then the file is there
            // already.
            guard error.code == EEXIST, isInPlace else {
                throw SystemError("put '\(destination.printable)' in place", code: error.code)
            }
            if hasTemporaryName { Leftovers.remove(temporaryName, in: staging) }
        }
        hasTemporaryName = false
    }

    /// Whether this file is what is under its destination now.
    package var isInPlace: Bool {
        guard let found = try? folder.status(name), let own = try? published.status() else { return false }
        return found.identity == own.identity
    }

    /// Takes a published file back under its temporary name, so that it can be published again.
    /// - Parameter kept: the name in the same folder of what it replaced, which is put back; nil if there was nothing.
    package func withdraw(restoring kept: BytePath?) throws(SystemError) {
        if let contents {
            try folder.move(name, to: staging, as: contents.name)
            if let kept { try folder.rename(kept, to: folder, as: name) }
            return
        }
        guard let kept else {
            try folder.move(name, to: staging, as: temporaryName)
            hasTemporaryName = true
            return
        }
        // A second name first: so there is always something under the real one.
        if (try? folder.link(name, to: staging, as: temporaryName)) != nil {
            hasTemporaryName = true
        } else if (try? folder.move(name, to: staging, as: temporaryName)) != nil {
            hasTemporaryName = true
        }
        try folder.rename(kept, to: folder, as: name)
    }
}

// MARK: - A folder in its stead

extension StagedFile {
    /// A folder with what was in the file, beside it.
    fileprivate struct UnpackedFolder {
        let name: BytePath
        let folder: Directory
    }

    /// The size and the time of the file, or of what is in the folder.
    package func stamp() throws(SystemError) -> FileStamp {
        guard let contents else { return try file.status().stamp }
        return try contents.folder.contentsStamp()
    }

    /// Whether a folder is published in the file's stead.
    package var isUnpacked: Bool { contents != nil }

    /// Unpacks the file, an archive, into a folder that is published in its stead. Done once.
    /// - Throws: EBADMSG if it is no archive of this program.
    package func unpack() throws(SystemError) {
        guard contents == nil else { return }
        let title = "unpack '\(destination.printable)'"
        guard let entries = try file.structure({ ZIPDirectory(of: $0)?.entries }) else {
            throw SystemError(title, code: EBADMSG)
        }
        let name = BytePath(".imagemill-\(token).folder")
        guard let root = try staging.makingNewFolder(name, mode: Self.folderMode(mode)) else {
            throw SystemError(title, code: EEXIST)
        }
        do throws(SystemError) {
            for entry in entries { try unpack(entry, into: root, title) }
        } catch {
            Leftovers.remove(name, in: staging)
            throw error
        }
        contents = UnpackedFolder(name: name, folder: root)
        removeName()
    }

    private func unpack(_ entry: ZIPDirectory.Entry, into root: Directory, _ title: String) throws(SystemError) {
        let path = BytePath(entry.name)
        var folder = root
        for part in path.directory.components {
            folder = try folder.makingFolder(BytePath(part), mode: Self.folderMode(mode))
        }
        let new = try folder.making(path.lastComponent, mode: mode)
        var rest = entry.content
        while !rest.isEmpty {
            let bytes = try file.bytes(at: rest.lowerBound, count: min(rest.count, Self.bytesAtOnce))
            guard !bytes.isEmpty else { throw SystemError(title, code: EIO) }
            try new.append(bytes, for: destination)
            rest = rest.lowerBound + bytes.count..<rest.upperBound
        }
    }

    private static let bytesAtOnce = 1 << 20

    /// Puts the folder in place of what is there, at once; that is removed with this object.
    /// - Returns: false if the file system cannot do that, or nothing is there.
    package func exchange() throws(SystemError) -> Bool {
        guard let contents else { return false }
        do throws(SystemError) {
            return try staging.exchange(contents.name, with: folder, destination.lastComponent)
        } catch {
            if error.code == ENOENT { return false }
            throw error
        }
    }
}
