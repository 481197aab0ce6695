// The files that were published without syncs, and the sync that makes up for it.
package import Pipeline
package import System

/// The files in an output folder that may not have reached the disk yet. For any thread.
package final class WrittenFiles: Sendable {
    private let outbox: BytePath
    private let state = Monitor(State())

    private struct State {
        var paths: [BytePath] = []
        var count = 0
        var isSyncing = false
        /// A folder of each file system that files were written to, by its device. It stays open: the system tells its
        /// descriptor of errors since the last sync.
        var fileSystems: [UInt64: (path: BytePath, folder: Directory)] = [:]
        /// The folders whose file system is known, as paths from the output folder.
        var folders: Set<BytePath> = []
        var error: SystemError?
    }

    /// So few are synced one by one. More are synced by one call for each file system, which writes besides whatever other programs have
    /// written to the file system.
    private static let few = 16
    /// After so many, that call is made while others are rendered, so that the last one has little left to do.
    private static let many = 1000

    /// - Parameter outbox: the output folder.
    package init(in outbox: BytePath) { self.outbox = outbox }

    package func add(_ files: Fingerprint) {
        for folder in [BytePath([])] + Set(files.files.map(\.name.directory)) { noteFileSystem(of: folder) }
        let isDue = state.change { state in
            let rounds = state.count / Self.many
            state.count += files.files.count
            if state.count <= Self.few { state.paths += files.files.map(\.name) }
            return state.count / Self.many > rounds
        }
        if isDue { syncAhead() }
    }

    /// Begins to write what there is, unless that is under way or little, and does not wait for it: `sync` has less left
    /// to do then.
    package func syncAhead() {
        let isDue = state.change { state in
            guard state.count > Self.few, !state.isSyncing else { return false }
            state.isSyncing = true
            return true
        }
        if isDue && !startThread({ [self] in syncFileSystems() }) { state.change { $0.isSyncing = false } }
    }

    /// Waits until all of them have reached the disk.
    package func sync() throws(SystemError) {
        let (paths, count) = state.wait { $0.isSyncing ? nil : ($0.paths, $0.count) }
        if count > Self.few {
            syncFileSystems()
        } else if count > 0 {
            return try sync(paths)
        }
        if let error = state.note({ $0.error }) { throw error }
    }

    /// Another file system may be mounted on any folder below the output folder.
    private func noteFileSystem(of path: BytePath) {
        guard state.change({ $0.folders.insert(path).inserted }) else { return }
        do throws(SystemError) {
            try ifThere { () throws(SystemError) in
                let folder = try Directory(outbox).folder(path)
                let device = try folder.identity.device
                state.change { state in
                    if state.fileSystems[device] == nil { state.fileSystems[device] = (path, folder) }
                }
            }
        } catch {
            state.change { $0.error = $0.error ?? error }
        }
    }

    private func syncFileSystems() {
        var trouble: SystemError?
        for (path, folder) in state.note({ Array($0.fileSystems.values) }) {
            do throws(SystemError) {
                try folder.syncFileSystem("'\(outbox.appending(path).printable)'")
            } catch {
                trouble = trouble ?? error
            }
        }
        state.change { state in
            state.error = state.error ?? trouble
            state.isSyncing = false
        }
    }

    private func sync(_ paths: [BytePath]) throws(SystemError) {
        let root = try Directory(outbox)
        var folders: Set<BytePath> = []
        for path in paths {
            var above = path
            repeat {
                above = above.directory
                folders.insert(above)
            } while !above.bytes.isEmpty
            try ifThere { () throws(SystemError) in
                let (folder, title) = (try root.folder(path.directory), "'\(outbox.appending(path).printable)'")
                if try folder.status(path.lastComponent)?.kind == .directory {
                    return try folder.syncFileSystem(title)
                }
                try folder.opening(path.lastComponent).sync(title)
            }
        }
        // The deepest first: who sees a folder sees what is in it.
        for folder in folders.sorted(by: { $0.bytes.count > $1.bytes.count }) {
            try ifThere { () throws(SystemError) in
                try root.folder(folder).sync("the folder '\(outbox.appending(folder).printable)'")
            }
        }
        // The output folder may be new.
        try DurableFile.syncFolder(DurableFile.folder(of: outbox))
    }

    /// Somebody may have taken it away already.
    private func ifThere(_ sync: () throws(SystemError) -> Void) throws(SystemError) {
        do throws(SystemError) {
            try sync()
        } catch {
            guard error.isAbsence else { throw error }
        }
    }
}
