import ArgumentParser
import Engine
import Glibc
import Pipeline

/// `imagemill check`: is a pipeline file, or a mill file with its pipelines, right?
struct CheckCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks pipeline files and the assets they name, and mill files with their pipelines and folders.",
        discussion: "Example: imagemill check pipelines/*.yaml mill.yaml")

    @Argument(help: "Pipeline files or mill files.")
    var files: [String]

    func workerCount(for preparation: Void) -> Int { 1 }

    func run(_ preparation: Void, _ workers: WorkerPool) async throws {
        var failure: ExitCode?
        for file in files {
            do {
                let text = try LoadedPipeline.text(of: file)
                let sentence = try await MillFile.isLikely(text) ? checkMill(file, text, workers) : checkPipeline(file, text, workers)
                printOutput("\(file): good; \(sentence)\n")
            } catch {
                failure = ExitStatus.explaining(error, reading: file)
            }
        }
        if let failure { throw failure }
    }

    private func checkPipeline(_ path: String, _ text: String, _ workers: WorkerPool) async throws -> String {
        let loaded = try LoadedPipeline(path: path, text: text)
        try await checkAssets(loaded, Limits(), workers)
        let files = loaded.file.renditions.reduce(0) { $0 + $1.scales.count }
        return "\(files) file\(files == 1 ? "" : "s") for each picture"
    }

    private func checkMill(_ path: String, _ text: String, _ workers: WorkerPool) async throws -> String {
        let mill = try LoadedMill(path: path, text: text) { name in getenv(name).map { String(cString: $0) } }
        for inbox in mill.inboxes { try await checkAssets(inbox.pipeline, mill.file.limits(memory: Machine.memory / 2), workers) }
        let count = mill.inboxes.count
        let head = "\(count) inbox\(count == 1 ? "" : "es")"
        let cache = mill.cache.map { "cache: \($0.folder.printable), at most \(($0.bound ?? SharedCache.usualBound) >> 20) MiB" }
        return ([head] + mill.inboxes.map(sentence) + [cache].compactMap(\.self)).joined(separator: "\n  ")
    }

    private func sentence(_ inbox: LoadedMill.Inbox) -> String {
        let head = "\(inbox.settings.name): \(inbox.path.printable) → \(inbox.outbox.printable)"
        if let place = inbox.spool.predicted { return "\(head); work/, done/ and failed/ will be in \(place.printable)" }
        let isThere = (try? FileSystem.status(inbox.path)).flatMap { $0 } != nil
        let trouble = isThere ? "this user may write to no place for work/, done/ and failed/" : "the inbox is missing, and would be waited for"
        return "\(head); \(trouble)"
    }

    /// The worker decodes the assets.
    private func checkAssets(_ pipeline: LoadedPipeline, _ limits: Limits, _ workers: WorkerPool) async throws {
        let settings = RenderSettings.looking(pipeline, limits: limits)
        try await onNewThread { try RenditionMaker(workers, cancellation: settings.cancellation).prepare(settings) }
    }
}
