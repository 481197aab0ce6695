import ArgumentParser
import Engine
import Pipeline
import System

/// `imagemill gather`: what the tasks of a plan have done, in one document.
struct GatherCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gather",
        abstract: "Merges the results of a plan's tasks, and says which tasks must run again.",
        discussion: """
            Example: imagemill gather plan -o out
                     imagemill gather plan -o out --report report.html
                     sbatch --array=$(imagemill gather plan -o out --missing) imagemill.sbatch

            Writes out/.imagemill/report.json. Ends with 0 if all shards are done, also if sources have failed; otherwise with 75.
            """)

    @Argument(help: "The folder of the plan.")
    var plan: String

    @Option(name: [.customShort("o"), .long], help: "The folder that the tasks write into.")
    var output: String

    @Option(
        help: "A page for a browser, such as report.html, with up to 10,000 sources: those that failed first.",
        completion: .file())
    var report: String?

    @Flag(
        help:
            "Prints the numbers of the tasks that have shards to do, such as 3,17,200-210, and nothing else. Ends with 0."
    )
    var missing = false

    @Flag(help: "Prints the document on standard output.")
    var json = false

    func validate() throws {
        guard !missing || !json else { throw ValidationError("--missing and --json exclude each other") }
        guard !missing || report == nil else { throw ValidationError("--missing and --report exclude each other") }
        guard report.map(ReportPageFile.isPage) ?? true else {
            throw ValidationError(
                "--report writes a page; name a file that ends with .html. The document is in OUT/.imagemill/report.json"
            )
        }
    }

    func run() throws {
        if let report { try ReplacedFile.page.refuseOthers(at: RawArguments.paths([report])[0], option: "--report") }
        let opened: OpenedPlan
        do {
            opened = try OpenedPlan(RawArguments.paths([plan])[0])
        } catch {
            // Not 75, which means that shards are missing.
            throw ExitStatus.explaining(error, reading: plan)
        }
        let summary: GatherSummary
        do {
            let folder = RawArguments.paths([output])[0]
            let gathering = try Gathering(opened, folder) { printError("note: \($0)") }
            if missing {
                let tasks = try gathering.missing().description
                return printOutput(tasks.isEmpty ? "" : tasks + "\n")
            }
            summary = try gathering.gather(file: OutboxLocation(folder).report, stream: json ? 1 : nil)
            if let report {
                var document = GatheredDocument()
                try gathering.eachReport { try document.add($0) }
                try ReportPageFile(RawArguments.paths([report])[0], .outbox(folder)).write(
                    document.document(summary))
            }
        } catch {
            throw ExitStatus.explaining(error, pipeline: plan)
        }
        printError(GatherText(summary).text)
        if !summary.isComplete { throw ExitStatus.tryAgain }
    }
}

/// The summary for people.
private struct GatherText {
    let summary: GatherSummary

    init(_ summary: GatherSummary) { self.summary = summary }

    var text: String { ([head] + reasons + nodes + slowest + holes).joined(separator: "\n") }

    private var head: String {
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        return
            "\(summary.shardsDone) of \(summary.shards) shards, \(summary.done) of \(summary.sources) sources done\(failed), "
            + "\(summary.renditions) renditions, \(oneDecimal(Double(summary.bytes) / 1e6)) MB"
    }

    private var reasons: [String] {
        summary.codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "  \($0.value) failed: \($0.key)" }
            + summary.warnings.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                "  \($0.value) warnings: \($0.key)"
            }
    }

    private var nodes: [String] {
        summary.nodes.map {
            "  node \($0.node): \($0.shards) shards, \($0.sources) sources in \(time($0.milliseconds)), \(oneDecimal($0.rate))/s"
        }
    }

    private var slowest: [String] {
        guard summary.shardsDone > 1 else { return [] }
        return summary.slowest.map {
            "  slow: shard \($0.shard), \($0.sources) sources in \(time($0.milliseconds)) on \($0.node)"
        }
    }

    private var holes: [String] {
        let missing = summary.shards - summary.shardsDone
        guard missing > 0 else { return [] }
        return ["\(counted(missing, "shard is", "shards are")) missing; run these tasks again: \(summary.missing)"]
    }

    private func time(_ milliseconds: Int) -> String {
        milliseconds < 60_000 ? "\(oneDecimal(Double(milliseconds) / 1000)) s" : duration(milliseconds / 1000)
    }
}
