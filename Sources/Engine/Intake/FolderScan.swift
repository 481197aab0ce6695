// A scan of an inbox in small steps, so that a hundred thousand files neither fill the memory nor delay events.
import Pipeline
import System

/// Walks through folders, a given number of names at a time. Used by one thread.
final class FolderScan {
    /// The result of a step.
    enum Found {
        /// A folder that is about to be listed, and must be watched before.
        case folder(BytePath, Directory)
        /// A set, in an inbox of sets. Its folders are searched only in order to watch them.
        /// - Parameter folder: nil if it is something in the set that was found.
        case set(BytePath, folder: FileIdentity?)
        case file(BytePath, FileStatus)
        /// A link, a pipe, a socket or a device.
        case irregular(BytePath, FileStatus.Kind)
        case ignored
        /// A folder that cannot be listed.
        case unreadable(BytePath, SystemError)
        /// A folder below the deepest level. It is not walked.
        case tooDeep(BytePath)
    }

    /// The deepest level of folders that is walked; the inbox itself has level 0.
    static let deepest = 64

    private let ignored: IgnoredNames
    private let takesSets: Bool
    private var folders: [BytePath] = []
    private var current: (path: BytePath, directory: Directory, stream: DirectoryStream)?
    /// The walk began at the inbox itself, so everything was seen when it ends.
    private(set) var isWhole = false

    init(ignored: IgnoredNames, takesSets: Bool) {
        self.ignored = ignored
        self.takesSets = takesSets
    }

    var isRunning: Bool { current != nil || !folders.isEmpty }

    /// Walks everything, from the start.
    func startWhole() {
        folders = [BytePath([])]
        current = nil
        isWhole = true
    }

    /// Walks a folder in addition to those that are being walked.
    func add(_ folder: BytePath) {
        if !isRunning { isWhole = false }
        folders.append(folder)
    }

    func stop() {
        folders = []
        current = nil
        isWhole = false
    }

    /// Continues for up to `names` names.
    /// - Parameter root: the inbox, from which the folders are opened.
    func step(in root: Directory, names: Int, _ report: (Found) -> Void) {
        for _ in 0..<names {
            guard let folder = currentFolder(root, report) else { return }
            do throws(SystemError) {
                guard let name = try folder.stream.next() else {
                    current = nil
                    continue
                }
                if let found = try found(name, in: folder.path, folder.directory) { report(found) }
            } catch {
                current = nil
                report(.unreadable(folder.path, error))
            }
        }
    }

    private func currentFolder(_ root: Directory, _ report: (Found) -> Void) -> (
        path: BytePath, directory: Directory, stream: DirectoryStream
    )? {
        while current == nil, let path = folders.popLast() {
            do throws(SystemError) {
                let directory = try root.folder(path)
                // Watched before it is listed: what appears in between is seen twice instead of never.
                report(.folder(path, directory))
                current = (path, directory, try DirectoryStream(directory))
            } catch {
                if !error.isAbsence { report(.unreadable(path, error)) }
            }
        }
        return current
    }

    private func found(_ name: [UInt8], in folder: BytePath, _ directory: Directory) throws(SystemError) -> Found? {
        let path = folder.appending(BytePath(name))
        guard !ignored.contains(name) else { return .ignored }
        guard let status = try directory.status(BytePath(name)) else { return nil }
        switch status.kind {
        case .regular:
            guard takesSets && !folder.bytes.isEmpty else { return .file(path, status) }
            return .set(BytePath(path.components[0]), folder: nil)
        case .link, .other: return .irregular(path, status.kind)
        case .directory:
            guard path.components.count <= Self.deepest else { return .tooDeep(path) }
            folders.append(path)
            guard takesSets else { return nil }
            return .set(BytePath(path.components[0]), folder: folder.bytes.isEmpty ? status.identity : nil)
        }
    }
}
