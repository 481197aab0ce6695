// A walk through an inbox in small steps, one name after the other, so that a hundred thousand files neither fill the memory nor hold up events.
import Pipeline

/// Walks through folders, as many names at a time as its caller likes. Used by one thread.
final class FolderScan {
    /// What a step comes upon.
    enum Found {
        /// A folder is about to be listed; the time to watch it.
        case folder(BytePath, Directory)
        /// In an inbox of sets: a folder that is a set. Its inside is not walked for sources, but for folders to watch.
        case set(BytePath)
        case file(BytePath, Sighting)
        /// A link, a pipe, a socket or a device.
        case irregular(BytePath, Sighting.Kind)
        case ignored
        /// A folder that cannot be listed.
        case unreadable(BytePath, SystemError)
    }

    /// Folders deeper than this are not looked into.
    static let deepest = 64

    private let ignored: IgnoredNames
    private let takesSets: Bool
    private var folders: [BytePath] = []
    private var current: (path: BytePath, directory: Directory, stream: DirectoryStream)?
    /// The walk began at the inbox itself, so that its end means that all was seen.
    private(set) var isWhole = false

    init(ignored: IgnoredNames, takesSets: Bool) {
        self.ignored = ignored
        self.takesSets = takesSets
    }

    var isRunning: Bool { current != nil || !folders.isEmpty }

    /// Walks everything, from the beginning.
    func startWhole() {
        folders = [BytePath([])]
        current = nil
        isWhole = true
    }

    /// Walks a folder besides what is being walked.
    func add(_ folder: BytePath) {
        if !isRunning { isWhole = false }
        folders.append(folder)
    }

    func stop() {
        folders = []
        current = nil
        isWhole = false
    }

    /// Goes on for so many names.
    /// - Parameter root: the inbox, from which folders are opened that were found before.
    func step(in root: Directory, names: Int, _ tell: (Found) -> Void) {
        for _ in 0..<names {
            guard let folder = currentFolder(root, tell) else { return }
            do throws(SystemError) {
                guard let name = try folder.stream.next() else {
                    current = nil
                    continue
                }
                if let found = try found(name, in: folder.path, folder.directory) { tell(found) }
            } catch {
                current = nil
                tell(.unreadable(folder.path, error))
            }
        }
    }

    private func currentFolder(_ root: Directory, _ tell: (Found) -> Void) -> (path: BytePath, directory: Directory, stream: DirectoryStream)? {
        while current == nil, let path = folders.popLast() {
            do throws(SystemError) {
                let directory = try root.folder(path)
                // Watched before it is listed: what comes in between is seen twice rather than never.
                tell(.folder(path, directory))
                current = (path, directory, try DirectoryStream(directory))
            } catch {
                if !error.isAbsence { tell(.unreadable(path, error)) }
            }
        }
        return current
    }

    private func found(_ name: [UInt8], in folder: BytePath, _ directory: Directory) throws(SystemError) -> Found? {
        let path = folder.appending(BytePath(name))
        guard !ignored.contains(name) else { return .ignored }
        guard let sighting = try directory.sighting(BytePath(name)) else { return nil }
        switch sighting.kind {
        case .regular: return takesSets && !folder.bytes.isEmpty ? .set(BytePath(path.components[0])) : .file(path, sighting)
        case .link, .other: return .irregular(path, sighting.kind)
        case .directory:
            if path.components.count <= Self.deepest { folders.append(path) }
            return takesSets ? .set(BytePath(path.components[0])) : nil
        }
    }
}
