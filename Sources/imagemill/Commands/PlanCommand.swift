import ArgumentParser
import Engine
import Glibc
import Pipeline

/// `imagemill plan`: what a pipeline would do with one picture.
struct PlanCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows what a pipeline does with a picture, stage by stage, without writing anything.",
        discussion: "Example: imagemill plan photo.jpg pipelines/product-shots.yaml")

    @Argument(help: "A picture.")
    var sample: String

    @Argument(help: "The pipeline file.")
    var pipeline: String

    @Flag(help: "Prints the plan as JSON.")
    var json = false

    @OptionGroup(title: "Limits")
    var limitOptions: LimitOptions

    func workerCount(for preparation: Void) -> Int { 1 }

    func run(_ preparation: Void, _ workers: WorkerStarter) async throws {
        do {
            let loaded = try LoadedPipeline(path: pipeline)
            let settings = try LaneSettings.looking(loaded, limits: limitOptions.limits, workers: workers)
            let path = RawArguments.paths([sample])[0]
            let source = SourceFile(path: path, identity: path, relative: path.lastComponent)
            let (plan, names) = try await onNewThread { try Lane(settings, index: 0).plan(source) }
            let table = PlanTable(plan: plan, names: names, title: path.printable)
            printOutput(json ? Engine.json(table.json, pretty: true) + "\n" : table.text)
        } catch let failure as Failure {
            printError("\(BytePath(sample).printable): \(failure.code.rawValue): \(failure.message)")
            throw ExitStatus.someFailed
        } catch {
            throw ExitStatus.explaining(error, pipeline: pipeline)
        }
    }
}

extension LaneSettings {
    /// For commands that look and write nothing, outside of any run.
    static func looking(_ pipeline: LoadedPipeline, limits: Limits, workers: WorkerStarter) throws -> LaneSettings {
        let outbox = BytePath(".")
        return LaneSettings(
            pipeline: pipeline, limits: limits, outbox: outbox, keepsTree: false, isDryRun: true, workers: workers,
            names: try NameDesk(outbox: outbox, policy: .version, sources: [], isDryRun: true),
            memory: MemoryBudget(bytes: limits.maximumMemory), cancellation: Cancellation())
    }
}
