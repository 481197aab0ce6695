// The places of the folders that a mill file names, and the rules for which of them must not be inside another.
import CLinux
import Glibc
import Pipeline
import System

/// A folder that need not be there yet, known by what is: names, links and mounts may all lie about what is inside of
/// what.
struct FolderPlace: Sendable {
    /// As the user wrote it, resolved; for messages.
    let path: BytePath
    /// The nearest folder that is there, and all above it, the nearest first.
    let ancestors: [FileIdentity]
    /// The names below that one that are not there; empty if the folder is.
    let missing: BytePath
    /// Where it is in its file system, with the missing names.
    let place: FileSystemPlace?
    /// Something is there that is no folder.
    var isNoFolder = false

    /// Whether this folder is another one, or somewhere inside of it.
    func isAtOrBelow(_ other: FolderPlace) -> Bool {
        if let place, let otherPlace = other.place, place.isAtOrBelow(otherPlace) { return true }
        guard let nearest = other.ancestors.first else { return false }
        if other.missing.bytes.isEmpty { return ancestors.contains(nearest) }
        // A missing folder contains nothing, so its entries are missing too.
        return ancestors.first == nearest && missing.isAtOrBelow(other.missing)
    }
}

/// The rules for the folders of a mill file, apart from how the places of these folders are found out.
struct MillLayout: Sendable {
    struct Inbox: Sendable {
        let name: String
        let inbox: FolderPlace
        /// Nil if it is not understood where it is.
        let outbox: FolderPlace?
        /// Files that are read at every start, with what they are: the pipeline and its assets.
        var files: [(what: String, place: FolderPlace)] = []
        /// Its position in the mill file.
        var position: Position?

        fileprivate var folders: [(what: String, place: FolderPlace)] {
            [("inbox", inbox)] + [outbox].compactMap(\.self).map { ("outbox", $0) }
        }
    }

    /// Nil if it is not understood where it is.
    let state: FolderPlace?
    /// The folders in `state` that hold sources of ours: work, done, failed.
    var shelves: [FolderPlace] = []
    var cache: FolderPlace?
    var inboxes: [Inbox]

    /// Why the mill cannot run, a sentence each, with the place of the inbox that it is about; empty if it can.
    var refusals: [(position: Position?, sentence: String)] {
        cacheRefusals.map { (nil, $0) }
            + inboxes.enumerated().flatMap { index, inbox in refusals(of: inbox, at: index).map { (inbox.position, $0) }
            }
    }

    private var cacheRefusals: [String] {
        guard let cache else { return [] }
        return (cache.isNoFolder ? ["the cache '\(cache.path.printable)' is no folder"] : [])
            + shelves.filter { cache.isAtOrBelow($0) }.map {
                "the cache '\(cache.path.printable)' is inside of '\($0.path.printable)', where Imagemill keeps sources; choose another folder"
            }
    }

    private func refusals(of one: Inbox, at index: Int) -> [String] {
        var sentences: [String] = []
        let title = "inbox '\(one.name)'"
        for (what, folder) in one.folders where folder.isNoFolder {
            sentences.append("\(title): the \(what) '\(folder.path.printable)' is no folder")
        }
        for (what, file) in one.files where inboxes.contains(where: { file.isAtOrBelow($0.inbox) }) {
            sentences.append(
                "\(title): \(what) '\(file.path.printable)' is in an inbox, and would be taken for a source; move it elsewhere"
            )
        }
        sentences += state(one, title) + cache(one, title)
        for other in inboxes { sentences += outbox(of: other, against: one) }
        for other in inboxes[(index + 1)...] { sentences += nested(one, other) }
        return sentences
    }

    private func state(_ one: Inbox, _ title: String) -> [String] {
        one.folders.flatMap { what, folder in
            let shown = "'\(folder.path.printable)'"
            if let state, state.isAtOrBelow(folder) {
                return [
                    "\(title): the state folder '\(state.path.printable)' is inside of the \(what) \(shown); keep them apart"
                ]
            }
            return shelves.filter { folder.isAtOrBelow($0) }.map {
                "\(title): the \(what) \(shown) is inside of '\($0.path.printable)', where Imagemill keeps sources; choose another folder"
            }
        }
    }

    private func cache(_ one: Inbox, _ title: String) -> [String] {
        guard let cache else { return [] }
        return one.folders.compactMap { what, folder in
            let (shown, own) = ("'\(folder.path.printable)'", "'\(cache.path.printable)'")
            if cache.isAtOrBelow(folder) {
                return "\(title): the cache \(own) is inside of the \(what) \(shown); keep them apart"
            }
            return folder.isAtOrBelow(cache)
                ? "\(title): the \(what) \(shown) is inside of the cache \(own); keep them apart" : nil
        }
    }

    private func outbox(of other: Inbox, against one: Inbox) -> [String] {
        guard let place = other.outbox else { return [] }
        let (inbox, outbox) = ("'\(one.inbox.path.printable)'", "'\(place.path.printable)'")
        let whose = one.name == other.name ? "" : " of '\(other.name)'"
        switch (place.isAtOrBelow(one.inbox), one.inbox.isAtOrBelow(place)) {
        case (true, true):
            return ["inbox '\(one.name)': \(inbox) is the outbox\(whose) too; choose another folder for the renditions"]
        case (true, false):
            return [
                "inbox '\(one.name)': the outbox\(whose) \(outbox) is inside of the inbox \(inbox), so that renditions would come in again"
            ]
        case (false, true):
            return [
                "inbox '\(one.name)': the inbox \(inbox) is inside of the outbox\(whose) \(outbox); keep them apart"
            ]
        case (false, false): return []
        }
    }

    private func nested(_ one: Inbox, _ other: Inbox) -> [String] {
        let (first, second) = ("'\(one.inbox.path.printable)'", "'\(other.inbox.path.printable)'")
        switch (other.inbox.isAtOrBelow(one.inbox), one.inbox.isAtOrBelow(other.inbox)) {
        case (true, true): return ["inboxes '\(one.name)' and '\(other.name)': \(first) and \(second) are one folder"]
        case (true, false): return ["inboxes '\(one.name)' and '\(other.name)': \(second) is inside of \(first)"]
        case (false, true): return ["inboxes '\(one.name)' and '\(other.name)': \(first) is inside of \(second)"]
        case (false, false): return []
        }
    }
}

extension MillLayout {
    /// Looks where the folders are that all inboxes share.
    init(state: BytePath?, cache: BytePath?) throws(SystemError) {
        let mounts = MountTable.current
        self.init(state: try state.map { path throws(SystemError) in try .looking(path, mounts) }, inboxes: [])
        if let state {
            for name in ["work", "done", "failed"] {
                shelves.append(try .looking(state.appending(BytePath(name)), mounts))
            }
        }
        if let cache { self.cache = try .looking(cache, mounts) }
    }

    /// Looks where files are that are read at every start.
    static func files(
        _ files: [(what: String, path: BytePath)]
    ) throws(SystemError) -> [(what: String, place: FolderPlace)] {
        let mounts = MountTable.current
        return try files.map { file throws(SystemError) in (file.what, try .looking(file.path, mounts)) }
    }
}

extension MillLayout.Inbox {
    init(_ settings: MillInbox, at places: InboxPlaces, files: [(what: String, place: FolderPlace)]) {
        self.init(
            name: settings.name, inbox: places.inbox, outbox: places.outbox, files: files, position: settings.position)
    }
}

extension FolderPlace {
    /// Looks where a path leads. Nothing is made.
    /// - Throws: if the system does not let even that be seen.
    static func looking(_ path: BytePath, _ mounts: MountTable) throws(SystemError) -> FolderPlace {
        var existing = path
        var missing: [UInt8] = []
        while FileSystem.absolute(existing) == nil, existing.bytes.count > 1 {
            let name = existing.lastComponent
            missing = missing.isEmpty ? name.bytes : name.bytes + [UInt8(ascii: "/")] + missing
            let above = existing.directory
            existing = above.bytes.isEmpty ? BytePath(".") : above
            if existing == BytePath(".") { break }
        }
        let real = FileSystem.absolute(existing) ?? BytePath("/")
        var isNoFolder = false
        var folder = real
        if try FileSystem.status(real)?.kind != .directory {
            isNoFolder = true
            folder = real.directory
        }
        let directory = try Directory(folder)
        let place = mounts.place(of: folder, onMount: clinux_mount(directory.file.descriptor))
        let rest = isNoFolder ? real.lastComponent.appending(BytePath(missing)) : BytePath(missing)
        return FolderPlace(
            path: path, ancestors: try ancestors(of: folder), missing: rest, place: place?.appending(rest),
            isNoFolder: isNoFolder)
    }

    private static func ancestors(of folder: BytePath) throws(SystemError) -> [FileIdentity] {
        var identities: [FileIdentity] = []
        var path = folder
        while true {
            guard let status = try FileSystem.status(path) else { return identities }
            identities.append(status.identity)
            if path.bytes.count <= 1 { return identities }
            path = path.directory
        }
    }
}
