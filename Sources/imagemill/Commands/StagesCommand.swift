import ArgumentParser
import Pipeline
import Stages

/// `imagemill stages`: what a pipeline can do.
struct StagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stages",
        abstract: "Lists the stages, or explains one.",
        discussion: "Example: imagemill stages frame, or imagemill stages save for the options of each format")

    @Argument(help: "A stage, or save.", completion: .list(StageCatalogue.all.names + ["save"]))
    var name: String?

    func run() throws {
        guard let name else {
            let width = StageCatalogue.all.names.map(\.count).max() ?? 0
            for stage in StageCatalogue.all.stages {
                printOutput(
                    "\(stage.name + String(repeating: " ", count: width - stage.name.count))  \(stage.summary)\n")
            }
            return
        }
        if name == "save" { return printOutput(SaveFormat.allCases.map(saving).joined(separator: "\n")) }
        guard let stage = StageCatalogue.all.stage(named: name) else {
            printError(
                "imagemill: there is no stage '\(name)'\(suggestion(for: name, among: StageCatalogue.all.names))")
            throw ExitStatus.usage
        }
        printOutput(StagePage(stage).text)
    }

    private func saving(_ format: SaveFormat) -> String {
        "save: { format: \(format.rawValue) }\n"
            + StagePage.listing(of: SaveSettings.descriptions(of: format).filter { $0.key != "format" })
    }
}

/// The page about a stage, from its declaration.
struct StagePage {
    let name: String
    let summary: String
    /// The top of a pipeline; the renditions follow it.
    let example: [String]
    let parameters: [ParameterDescription]
    /// The parameters of what the parameters hold.
    let parts: [(name: String, parameters: [ParameterDescription])]

    init(_ stage: any StageDeclaration.Type) {
        name = stage.name
        summary = stage.summary
        example =
            (stage is any JoiningStage.Type ? ["source: set"] : []) + ["stages:"]
            + stage.example.split(separator: "\n").map { "  \($0)" }
        parameters = Parameters.describe(stage, catalogue: .all)
        parts = stage.parts.map { ($0.name, Parameters.describe($0.type, catalogue: .all)) }
    }

    /// For a terminal.
    var text: String {
        var lines = ["\(name): \(summary)", ""]
        if !parameters.isEmpty { lines += ["parameters"] + parameters.flatMap(Self.listed) }
        for part in parts { lines += ["", "parameters of a \(part.name)"] + part.parameters.flatMap(Self.listed) }
        lines += ["", "example"] + example.map { "  \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// For the generated reference.
    var markdown: String {
        var lines = ["## `\(name)`", "", summary, "", "```yaml"] + example + ["```", ""]
        if !parameters.isEmpty { lines += table(parameters, title: "parameter") }
        for part in parts { lines += [""] + table(part.parameters, title: "of a \(part.name)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Parameters for a terminal, each with what it takes.
    static func listing(of parameters: [ParameterDescription]) -> String {
        parameters.flatMap(listed).map { $0 + "\n" }.joined()
    }

    private static func listed(_ parameter: ParameterDescription) -> [String] {
        ["  \(parameter.key)\(facts(parameter))", "      \(parameter.text)", "      \(parameter.expectation)"]
    }

    private func table(_ parameters: [ParameterDescription], title: String) -> [String] {
        ["| \(title) | value | meaning |", "|---|---|---|"]
            + parameters.map { parameter in
                let fallback =
                    parameter.isRequired ? "required" : parameter.defaultText.map { "default `\($0)`" } ?? "optional"
                return
                    "| `\(parameter.key)` | \(escaped(parameter.expectation)); \(fallback) | \(escaped(parameter.text)) |"
            }
    }

    private static func facts(_ parameter: ParameterDescription) -> String {
        if parameter.isRequired { return " (required)" }
        return parameter.defaultText.map { " (default \($0))" } ?? ""
    }
}

/// Text for a cell of a Markdown table.
func escaped(_ text: String) -> String {
    text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
}
