// The last lines of a run: what was done, and what deserves a look.
import Engine
import Pipeline
import System

/// The summary at the end of a run.
struct RunSummary {
    let summary: BatchSummary
    let isDryRun: Bool
    /// Nil if no report was written.
    let report: BytePath?
    let warnings: [WarningCode: Int]
    var failures: [FailureCode: Int] = [:]
    /// The warnings were listed.
    let isVerbose: Bool
    /// How many files a search has found that are no pictures, by the reason.
    var passedOver: [NoPicture: Int] = [:]
    /// How many of the sources of a dry run failed in an earlier run.
    var failedBefore = 0
    /// Nothing was given to tell sources of one name in several folders apart.
    var hintsAtTree = false
    /// The first warning of a version that is due to a file that was edited or that something else wrote.
    var foreignFile: Warning?
    /// The user has said which files are wanted.
    var isFiltered = false

    var lines: [String] {
        [sentence] + [failuresSentence, warningsSentence, versionsSentence].compactMap(\.self)
    }

    /// Fewer failures than these are seen at a glance.
    private static let manyFailures = 4

    private var failuresSentence: String? {
        guard !isDryRun, summary.failed >= Self.manyFailures else { return nil }
        let counts = Dictionary(uniqueKeysWithValues: failures.map { ($0.key.rawValue, $0.value) })
        return "\(summary.failed) failed: \(countedByCode(counts))"
    }

    private var sentence: String {
        let passedOver = passedOverClause(self.passedOver)
        if summary.sources == 0 {
            let filter = isFiltered ? " that --include and --exclude let pass" : ""
            return "nothing to do: no pictures were found\(filter)\(passedOver)"
        }
        let time = "\(oneDecimal(Double(summary.milliseconds) / 1000)) s"
        let unchanged = summary.unchanged > 0 ? ", \(summary.unchanged) unchanged" : ""
        let sources = counted(summary.sources, "source")
        if isDryRun {
            let before = failedBefore > 0 ? ", \(failedBefore) failed before and would be tried again" : ""
            return "\(summary.planned) of \(sources) can be rendered\(unchanged)\(before); nothing was written"
                + passedOver
        }
        let report = self.report.map { "; report: \($0.printable)" } ?? ""
        if summary.unchanged == summary.sources {
            return "\(sources) unchanged: nothing to do (\(time))\(passedOver)\(report)"
        }
        let head = summary.interrupted ? "stopped: " : ""
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        let counts =
            "\(summary.done) of \(sources) done\(failed)\(unchanged), \(counted(summary.renditions, "rendition"))"
        let rate = Double(summary.done + summary.failed) * 1000 / Double(max(1, summary.milliseconds))
        let speed = summary.done == 0 ? "" : " (\(oneDecimal(rate))/s)"
        return "\(head)\(counts) in \(time)\(speed)\(passedOver)\(report)"
    }

    /// Versions of names have a sentence of their own, and that metadata is removed is the usual case.
    private var warningsSentence: String? {
        let others = warnings.filter { $0.key != .nameVersioned && $0.key != .metadataRemoved }
        guard !others.isEmpty else { return nil }
        let parts = others.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map {
            "\($0.value) \($0.key.rawValue)"
        }
        let place = isVerbose ? "" : report == nil ? "; -v lists them" : "; see the report"
        return
            "\(counted(others.values.reduce(0, +), "warning")): \(parts.joined(separator: ", "))\(place)"
    }

    /// Says that names were not the expected ones; nil if all were.
    private var versionsSentence: String? {
        let remedy =
            foreignFile.map { ": \(oneLine($0.message)); --collision overwrite replaces such files" }
            ?? (hintsAtTree ? "; --keep-tree keeps their folders apart" : "")
        return switch warnings[.nameVersioned] ?? 0 {
        case 0: nil
        case 1: "1 source was given a version, since its name was taken; see the report\(remedy)"
        case let count: "\(count) sources were given versions, since their names were taken; see the report\(remedy)"
        }
    }
}
