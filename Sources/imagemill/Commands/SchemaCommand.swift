import ArgumentParser
import Engine
import Pipeline
import Stages

/// `imagemill schema`: JSON Schemas, for editors and for programs that read reports.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the JSON Schema of pipeline files, of mill files or of reports.",
        discussion: "Example: imagemill schema > pipeline.schema.json")

    enum Document: String, CaseIterable, ExpressibleByArgument {
        case pipeline, mill, report, batch, status, failure

        var schema: JSONValue {
            switch self {
            case .pipeline: PipelineFile.schema(catalogue: .all)
            case .mill: MillFile.schema
            case .report: ReportSchema.report
            case .batch: ReportSchema.batch
            case .status: StatusSchema.status
            case .failure: ReportSchema.failureNote
            }
        }
    }

    @Argument(help: "The document.")
    var document = Document.pipeline

    func run() {
        printOutput(json(document.schema, pretty: true) + "\n")
    }
}
