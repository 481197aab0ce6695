// The folder that renditions appear in, and the folders below it.
import Glibc
package import Pipeline
import Synchronization
package import System

/// An outbox. It is opened as the user named it; below it no link is followed, so nothing is ever written outside of
/// it. For any number of threads.
package final class Outbox: Sendable {
    package let path: BytePath
    private let user: User
    /// The writer that its files name; nil if they name none.
    let writer: String?
    /// The folder that keeps files until they are published; nil if they are kept in the output folder itself.
    private let staging: Directory?
    private let open = Mutex<[BytePath: Directory]>([:])

    /// More are not held open: a source tree may have more folders than a process may have descriptors.
    private static let mostOpen = 64

    /// The writer of what `imagemill run` makes: its sources are known by their paths from the output folder.
    package static let runWriter = "run"

    /// The command that writes into an outbox.
    package enum User: Sendable {
        /// The outbox is made if it is missing, and folders are held open.
        case run
        /// Nothing is held open, since that would keep a file system from being unmounted; the outbox must be there,
        /// since it may be a mount; and new folders are synced into the one above.
        case dropFolder
    }

    /// - Parameters:
    ///   - writer: tells its files from those of others; nil for an outbox in which nobody asks whose a file is.
    ///   - staging: a folder on the same file system for the files that are not published yet, which have names there.
    ///     Whoever removes it takes away the right to publish them.
    package init(path: BytePath, of user: User, writer: String? = nil, staging: Directory? = nil) {
        self.path = path
        self.user = user
        self.writer = writer
        self.staging = staging
    }

    private var holdsOpen: Bool { user == .run }

    // MARK: - Folders

    /// A folder below, which is made if it is missing.
    /// - Parameters:
    ///   - folder: its path from the outbox; empty for the outbox itself.
    ///   - mode: permissions of folders that are made, of which the process's mask takes away its own.
    package func folder(_ folder: BytePath, mode: UInt32 = 0o777) throws(SystemError) -> Directory {
        if let known = known(folder) { return known }
        var directory = try root()
        var path = BytePath([])
        for component in folder.components {
            let name = BytePath(component)
            path = path.appending(name)
            if let next = try existing(name, in: directory, path: path) {
                directory = next
                continue
            }
            let isNew = try make(name, in: directory, path: path, mode: mode)
            guard let next = try existing(name, in: directory, path: path) else {
                throw SystemError("make the folder '\(shown(path))'", code: ENOENT)
            }
            if isNew && !holdsOpen { try directory.sync() }
            directory = next
        }
        remember(directory, folder)
        return directory
    }

    /// The folder of a name, and the name in it; nil if there is no such folder. Nothing is made.
    func lookUp(_ name: BytePath) throws(SystemError) -> (folder: Directory, name: BytePath)? {
        let last = name.lastComponent
        if let known = known(name.directory) { return (known, last) }
        var directory: Directory
        do throws(SystemError) {
            directory = try Directory(path)
        } catch  where error.code == ENOENT && holdsOpen {
            return nil
        }
        var path = BytePath([])
        for component in name.directory.components {
            path = path.appending(BytePath(component))
            do throws(SystemError) {
                guard let next = try existing(BytePath(component), in: directory, path: path) else { return nil }
                directory = next
            } catch  where error.code == ENOTDIR {
                return nil
            }
        }
        remember(directory, name.directory)
        return (directory, last)
    }

    private func root() throws(SystemError) -> Directory {
        if let known = known(BytePath([])) { return known }
        if holdsOpen { try FileSystem.makeDirectories(path) }
        let directory = try Directory(path)
        remember(directory, BytePath([]))
        return directory
    }

    private func make(
        _ name: BytePath, in directory: Directory, path: BytePath, mode: UInt32
    ) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try directory.make(name, mode: mode)
        } catch {
            throw SystemError("make the folder '\(shown(path))'", code: error.code)
        }
    }

    /// - Parameter path: from the outbox, for messages.
    /// - Throws: ELOOP if it is a link, ENOTDIR if it is something else that is no folder.
    private func existing(_ name: BytePath, in directory: Directory, path: BytePath) throws(SystemError) -> Directory? {
        do throws(SystemError) {
            return try directory.folder(name)
        } catch {
            switch error.code {
            case ENOENT: return nil
            case ENOTDIR, ELOOP:
                guard try directory.status(name)?.kind == .link else {
                    throw SystemError("make the folder '\(shown(path))'", code: ENOTDIR)
                }
                throw SystemError(
                    "write into '\(shown(path))'", code: ELOOP,
                    because:
                        "it is a link, and links inside of the output folder are not followed; put a folder or a mount in its place"
                )
            default: throw SystemError("open the folder '\(shown(path))'", code: error.code)
            }
        }
    }

    private func shown(_ folder: BytePath) -> String { path.appending(folder).printable }

    private func known(_ folder: BytePath) -> Directory? {
        guard holdsOpen, let known = open.withLock({ $0[folder] }) else { return nil }
        // Somebody may have removed it since.
        if let status = try? known.file.status(), status.links > 0 { return known }
        open.withLock { $0 = [:] }
        return nil
    }

    private func remember(_ directory: Directory, _ folder: BytePath) {
        guard holdsOpen else { return }
        open.withLock { open in
            if open.count >= Self.mostOpen { open = [:] }
            open[folder] = directory
        }
    }

    // MARK: - Files

    /// Files for the renditions of one source, each in its folder, which is made if it is missing.
    /// - Parameter newToken: distinct for every file that is staged at one time.
    package func stage(_ names: [RenditionName], newToken: () -> String) throws(SystemError) -> [StagedFile] {
        var folders: [BytePath: Directory] = [:]
        var files: [StagedFile] = []
        for name in names {
            // The specification of thumbnails wants them readable by their user alone.
            let mode: UInt32 = name.isThumbnail ? 0o600 : 0o666
            let path = name.path.directory
            let known = folders[path]
            let folder = if let known { known } else { try folder(path, mode: StagedFile.folderMode(mode)) }
            // Whatever a run has that was killed has no name, but for folders. A drop folder knows its own.
            if known == nil, name.isFolder, user == .run { try folder.removeLeftoversOfEndedProcesses() }
            folders[path] = folder
            let file = try StagedFile(
                in: staging ?? folder, destination: name.path, token: newToken(), mode: mode,
                allowsUnnamed: staging == nil)
            file.redirect(to: name.path, in: folder)
            files.append(file)
        }
        return files
    }

    /// Gives rendered files other names, because theirs were occupied.
    package func redirect(_ files: [StagedFile], to names: [RenditionName]) throws(SystemError) {
        for (file, name) in zip(files, names) where file.destination != name.path {
            file.redirect(to: name.path, in: try folder(name.path.directory))
        }
    }

    /// Removes temporary files (`.imagemill-PREFIX…`) that earlier starts have left in a folder below.
    /// - Parameter present: the prefix of this start, whose files stay.
    /// - Returns: false if the folder is missing, or did not let go of all of them.
    package func removeLeftovers(in folder: BytePath, prefix: String, present: String) -> Bool {
        guard let root = try? Directory(path), let found = try? root.folder(folder) else { return false }
        return (try? found.removeFiles(beginningWith: ".imagemill-\(prefix)", butNot: ".imagemill-\(present)")) != nil
    }

    /// The status of what is under a name; nil if there is nothing. No link is followed.
    package func status(_ name: BytePath) throws(SystemError) -> FileStatus? {
        guard let found = try lookUp(name) else { return nil }
        return try found.folder.status(found.name)
    }
}
