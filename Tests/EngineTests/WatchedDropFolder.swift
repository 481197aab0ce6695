// A drop folder without its process, over a folder of a test.
import TestSupport

@testable import Engine
@testable import System

struct SilentObserver: DropFolderObserver {
    func happened(_ event: DropFolderEvent, inbox: String) {}
    func noted(_ sentence: String) {}
}

extension WatchedFolder {
    /// Starts a drop folder with the mill file, in this process.
    func startHere(
        _ observer: any DropFolderObserver = SilentObserver(),
        workers command: WorkerCommand = WorkerCommand(executable: CommandRunner.executable)
    ) async throws -> DropFolder {
        let text = String(decoding: try runner.bytes("mill.yaml"), as: UTF8.self)
        let loaded = try LoadedMill(path: runner.folder.path("mill.yaml"), text: text) { _ in nil }
        let mill = try DropFolder(loaded, workers: WorkerPool(command), observer: observer)
        try await onNewThread { try mill.start() }
        return mill
    }
}
