// The validation of the options of `imagemill run`: their values, and the ones that go together.
import ArgumentParser
import Engine
import Glibc
import Pipeline
import System

extension RunCommand {
    func validate() throws {
        guard jobs.map({ (1...1024).contains($0) }) ?? true else { throw ValidationError("--jobs takes 1 to 1024") }
        guard cacheSize == nil || cache != nil else { throw ValidationError("--cache-size needs --cache DIR") }
        guard !json || !jsonLines else { throw ValidationError("--json and --json-lines exclude each other") }
        guard !verbose || !quiet else { throw ValidationError("--verbose and --quiet exclude each other") }
        guard report != "-" else {
            throw ValidationError("--report takes the name of a file; --json prints the report on standard output")
        }
        guard manifest != "-" else { throw ValidationError("--manifest takes the name of a file") }
        guard let plan else { return try validateWithoutPlan() }
        guard inputs.isEmpty, !quick.isAny else {
            throw ValidationError("--plan takes no pipeline and no sources: they are in '\(plan)'")
        }
        guard output != nil else { throw Self.outputMissing }
        guard output != "-" else { throw ValidationError("--plan needs a folder: -o DIR") }
        let others: [GivenOption] =
            [
                ("--report", report != nil),
                ("--manifest", manifest != nil),
                ("--state", state != nil),
                ("--json", json),
                ("--json-lines", jsonLines),
                ("--dry-run", dryRun),
                ("--force", force),
                ("--why", why != nil),
                ("--keep-tree", keepTree),
                ("--cache", cache != nil),
                ("--collision", collision != .version),
                ("--verbose", verbose),
                ("--prune", prune),
                ("--print-pipeline", quick.printPipeline),
            ] + search.given + limitOptions.source.given
        if let option = Self.first(of: others) {
            throw ValidationError(
                "--plan does not go with \(option): it is in the plan, or a task has no use for it; --plan takes -o, --task, --jobs, --max-memory, --metrics, --quiet and --no-progress"
            )
        }
    }

    /// An option, and whether it was given.
    typealias GivenOption = (name: String, isGiven: Bool)

    private static func first(of options: [GivenOption]) -> String? { options.first(where: \.isGiven)?.name }

    private static let outputMissing = ValidationError("name the folder for the renditions with -o DIR (--output)")
    private static let outputEmpty = ValidationError("-o has an empty name; name the folder for the renditions")

    private func validateWithoutPlan() throws {
        guard taskNumber == nil else { throw ValidationError("--task needs --plan") }
        guard output != "" else { throw Self.outputEmpty }
        if let output, output == "~" || output.hasPrefix("~/") {
            throw ValidationError(
                "the shell replaces '~' only if it is not in quotes; write -o \(output) without, or ./\(output) for a folder of that name"
            )
        }
        if quick.printPipeline, !quick.isAny { return }
        let sources: [String]
        if quick.isAny {
            if let file = inputs.first(where: { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }) {
                throw ValidationError(
                    "options such as --resize replace the pipeline file; leave out '\(file)' or the options")
            }
            try PipelineArgument.refuseShippedName(inputs)
            // `--resize 800x800> --format webp` sends the output to a file named `--format`.
            if let word = inputs.first(where: { SaveFormat(rawValue: $0) != nil && FileSystem.isAbsent(BytePath($0)) })
            {
                throw ValidationError(
                    "'\(word)' is no picture; if a size ends with > or <, put it in quotes: --resize '800x800>'")
            }
            if quick.printPipeline { return }
            sources = inputs
        } else {
            guard !inputs.isEmpty || search.filesFrom != nil else {
                throw ValidationError(
                    "name a pipeline and the sources, such as: imagemill run web-photos photos/ -o out/")
            }
            sources = try PipelineArgument(among: inputs).others
        }
        guard !sources.isEmpty || search.filesFrom != nil else {
            throw ValidationError("name the sources: pictures, or folders of pictures")
        }
        guard output != nil else { throw Self.outputMissing }
        let recording: [GivenOption] = [
            ("--json", json),
            ("--json-lines", jsonLines),
            ("--prune", prune),
            ("--dry-run", dryRun),
            ("--why", why != nil),
            ("--keep-tree", keepTree),
            ("--state", state != nil),
            ("--manifest", manifest != nil),
        ]
        if output == "-", let option = Self.first(of: recording) {
            throw ValidationError("-o - does not go with \(option): it writes one picture and keeps no record")
        }
        guard output != "-" || isatty(1) == 0 else {
            throw ValidationError("-o - writes a picture; send standard output to a file or a program")
        }
        guard sources.count(where: { $0 == "-" }) + (search.filesFrom == "-" ? 1 : 0) <= 1 else {
            throw ValidationError("standard input can be read once only: name '-' once")
        }
    }
}
