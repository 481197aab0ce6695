import ArgumentParser
import Engine
import Pipeline

/// `imagemill check`: is a pipeline file right?
struct CheckCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks pipeline files and the assets they name.",
        discussion: "Example: imagemill check pipelines/*.yaml")

    @Argument(help: "Pipeline files.")
    var pipelines: [String]

    func workerCount(for preparation: Void) -> Int { 1 }

    func run(_ preparation: Void, _ workers: WorkerStarter) async throws {
        var failure: ExitCode?
        for pipeline in pipelines {
            do {
                let loaded = try LoadedPipeline(path: pipeline)
                let settings = try LaneSettings.looking(loaded, limits: Limits(), workers: workers)
                // The worker decodes the assets.
                _ = try await onNewThread { try Lane(settings, index: 0).prepare() }
                let files = loaded.file.renditions.reduce(0) { $0 + $1.scales.count }
                printOutput("\(pipeline): good; \(files) file\(files == 1 ? "" : "s") for each picture\n")
            } catch {
                failure = ExitStatus.explaining(error, pipeline: pipeline)
            }
        }
        if let failure { throw failure }
    }
}
