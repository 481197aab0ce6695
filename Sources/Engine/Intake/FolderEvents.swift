// The kernel's events of an inbox: one inotify watch for each folder, since inotify does not watch sub-folders.
import Glibc
import Pipeline
import System

/// An event in an inbox.
enum FolderEvent: Equatable {
    /// Something happened to a file, or to anything else that is not a folder.
    case file(SourceTracker.Event, BytePath)
    /// A folder appeared; it must be watched and then scanned.
    case folderAppeared(BytePath)
    /// A folder was moved away or removed.
    case folderVanished(BytePath)
    /// The permissions or times of a folder changed; of the inbox itself if the path is empty.
    case folderTouched(BytePath)
    /// The inbox itself was removed or moved away.
    case rootGone
    /// The kernel dropped events.
    case overflow
}

/// An inotify instance with its watches. Used by one thread.
final class FolderEvents {
    /// A limit of the system that was reached, with the setting to raise.
    enum Shortage: Error, Equatable {
        case watches, instances

        var advice: String {
            switch self {
            case .watches: "the system has no more watches; raise fs.inotify.max_user_watches with sysctl"
            case .instances: "the system has no more inotify instances; raise fs.inotify.max_user_instances with sysctl"
            }
        }
    }

    private let file: OpenFile
    private var folders: [Int32: BytePath] = [:]
    private var watches: [BytePath: Int32] = [:]
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    private static let mask = UInt32(
        truncatingIfNeeded: [
            IN_CREATE, IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO, IN_MOVED_FROM, IN_DELETE, IN_ATTRIB, IN_DELETE_SELF,
            IN_MOVE_SELF,
        ].reduce(0) { $0 | Int($1) } | Int(IN_ONLYDIR) | Int(IN_EXCL_UNLINK))

    private let most: Int

    /// - Parameter most: the number of watches after which it behaves as if the system had no more.
    init(most: Int = .max) throws(Shortage) {
        self.most = most
        let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .instances }
        file = OpenFile(owning: descriptor)
    }

    var descriptor: CInt { file.descriptor }
    var count: Int { folders.count }

    /// Watches an open folder, whatever its name is by now.
    /// - Parameter path: its path from the inbox; empty for the inbox itself.
    func watch(_ directory: Directory, as path: BytePath) throws(Shortage) {
        guard count < most else { throw .watches }
        let watch = withPath(BytePath("/proc/self/fd/\(directory.file.descriptor)")) {
            inotify_add_watch(file.descriptor, $0, Self.mask)
        }
        if watch >= 0 {
            if let old = folders[watch] { watches[old] = nil }
            folders[watch] = path
            watches[path] = watch
        } else if errno == ENOSPC || errno == ENOMEM {
            throw .watches
        }
        // Any other error is about this folder: it is gone again, and the scan that follows will see that.
    }

    /// Stops watching a folder and those below it.
    func forget(_ path: BytePath) {
        for (below, watch) in watches where below.isAtOrBelow(path) {
            _ = inotify_rm_watch(file.descriptor, watch)
            folders[watch] = nil
            watches[below] = nil
        }
    }

    /// The events since the last call. Never waits.
    func read() -> [FolderEvent] {
        let size = buffer.withUnsafeMutableBytes { Glibc.read(file.descriptor, $0.baseAddress, $0.count) }
        guard size > 0 else { return [] }
        let events = buffer.withUnsafeBytes { InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
        return events.compactMap(folderEvent)
    }

    private func folderEvent(_ event: InotifyEvent) -> FolderEvent? {
        if event.has(Int(IN_Q_OVERFLOW)) { return .overflow }
        guard let folder = folders[event.watch] else { return nil }
        if event.name.isEmpty { return eventOfFolderItself(event, folder) }
        let path = folder.appending(BytePath(event.name))
        if event.isFolder {
            if event.has(Int(IN_CREATE)) || event.has(Int(IN_MOVED_TO)) { return .folderAppeared(path) }
            return event.has(Int(IN_DELETE)) || event.has(Int(IN_MOVED_FROM)) ? .folderVanished(path) : nil
        }
        if event.has(Int(IN_CLOSE_WRITE)) || event.has(Int(IN_MOVED_TO)) { return .file(.finished, path) }
        if event.has(Int(IN_MODIFY)) { return .file(.written, path) }
        if event.has(Int(IN_CREATE)) { return .file(.appeared, path) }
        if event.has(Int(IN_ATTRIB)) { return .file(.touched, path) }
        return event.has(Int(IN_DELETE)) || event.has(Int(IN_MOVED_FROM)) ? .file(.vanished, path) : nil
    }

    private func eventOfFolderItself(_ event: InotifyEvent, _ folder: BytePath) -> FolderEvent? {
        let isGone = event.has(Int(IN_DELETE_SELF)) || event.has(Int(IN_UNMOUNT)) || event.has(Int(IN_IGNORED))
        if isGone {
            folders[event.watch] = nil
            watches[folder] = nil
        }
        if event.has(Int(IN_ATTRIB)) { return .folderTouched(folder) }
        // The move of a sub-folder is an event of the folder above it.
        return folder.bytes.isEmpty && (isGone || event.has(Int(IN_MOVE_SELF))) ? .rootGone : nil
    }
}
