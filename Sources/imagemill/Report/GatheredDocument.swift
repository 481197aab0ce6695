// A batch in shards, for the page of its report.
import Engine
import Pipeline

/// Collects sources of all shards, as many as a page stays usable with: first those that failed, then those with
/// warnings, then the others.
struct GatheredDocument {
    private static let mostEntries = 10_000
    private var (failed, warned, others) = (
        [ReportDocument.Entry](), [ReportDocument.Entry](), [ReportDocument.Entry]()
    )
    private var unreadable = 0

    /// - Throws: `SystemError` if the report of a shard cannot be read.
    mutating func add(_ shard: ShardReport) throws {
        // Most reports of a large batch need not be read.
        let deservesLook =
            shard.result.failed > 0 || shard.result.warnings.keys.contains { !ReportPage.usualWarnings.contains($0) }
        guard deservesLook || others.count < Self.mostEntries else { return }
        guard let bytes = try shard.document(), let document = try? ReportDocument(bytes) else {
            unreadable += shard.result.sources
            return
        }
        unreadable += document.unreadable
        for var entry in document.entries {
            entry.place = ReportDocument.Entry.Place(folder: shard.folder, archive: shard.archive)
            if entry.error != nil {
                Self.add(entry, to: &failed)
            } else if entry.warnings.contains(where: { !ReportPage.usualWarnings.contains($0.code) }) {
                Self.add(entry, to: &warned)
            } else {
                Self.add(entry, to: &others)
            }
        }
    }

    private static func add(_ entry: ReportDocument.Entry, to list: inout [ReportDocument.Entry]) {
        if list.count < mostEntries { list.append(entry) }
    }

    func document(_ summary: GatherSummary) -> ReportDocument {
        let entries = Array((failed + warned + others).prefix(Self.mostEntries))
        var notices: [String] = []
        if !summary.isComplete {
            let missing = summary.shards - summary.shardsDone
            notices.append(
                "\(missing) of \(summary.shards) shards are not done; run these tasks again: \(summary.missing).")
        }
        let isPart = entries.count + unreadable < summary.done + summary.failed
        if isPart {
            let counts = "\(entries.count) of \(summary.done + summary.failed) sources"
            notices.append("Plots and the table have \(counts): those that failed first, then those with warnings.")
        }
        let totals = ReportDocument.Totals(
            sources: summary.done + summary.failed, done: summary.done, failed: summary.failed,
            renditions: summary.renditions, bytes: summary.bytes,
            codes: summary.codes)
        return ReportDocument(entries: entries, unreadable: unreadable, notices: notices, totals: isPart ? totals : nil)
    }
}
