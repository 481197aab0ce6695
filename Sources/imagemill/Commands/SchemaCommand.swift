import ArgumentParser
import Engine
import Pipeline
import Stages
import System

/// `imagemill schema`: JSON Schemas, for editors and for programs that read reports.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the JSON Schema of pipeline files, mill files, reports or plans.",
        discussion: "Example: imagemill schema > pipeline.schema.json")

    enum Document: String, CaseIterable, ExpressibleByArgument {
        case pipeline, mill, report, batch, summary, status, failure, plan, shard, gather, check, hook, manifest
        case picturePlan = "picture-plan"

        var schema: JSONValue {
            switch self {
            case .pipeline: PipelineFile.schema(catalogue: .all)
            case .mill: MillFile.schema
            case .report: ReportSchema.report
            case .batch: ReportSchema.batch
            case .summary: ReportSchema.summary
            case .status: StatusSchema.status
            case .failure: ReportSchema.failureNote
            case .plan: ShardSchema.plan
            case .shard: ShardSchema.shard
            case .check: CheckedFile.schema
            case .hook: HookSchema.hook
            case .manifest: Manifest.schema
            case .picturePlan: PlanSchema.schema
            case .gather: ShardSchema.gather
            }
        }
    }

    @Argument(help: "The document.")
    var document = Document.pipeline

    func run() {
        printOutput(json(document.schema, pretty: true) + "\n")
    }
}
