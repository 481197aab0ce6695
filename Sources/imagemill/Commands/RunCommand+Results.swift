// The end of `imagemill run`, when everything is rendered: it removes stale renditions, writes the page, and sums up.
import ArgumentParser
import Engine
import Pipeline
import System

extension RunCommand {
    /// - Returns: how many renditions were removed.
    func removeStale(_ preparation: Preparation, record: OutboxRecord, made: MadeNames) throws -> Int {
        let pruning = Pruning(
            record, roots: preparation.roots, found: preparation.found.sources, unchanged: preparation.work.unchanged,
            made: made)
        let stale = try pruning.stale()
        if dryRun {
            guard !json && !jsonLines else { return 0 }
            let lines = stale.files.map { "would remove \(preparation.outbox.path.appending($0).printable)\n" }
            printOutput(lines.joined())
            return 0
        }
        if verbose {
            stale.files.forEach { printError("removed \(preparation.outbox.path.appending($0).printable)") }
        }
        try pruning.remove(stale)
        return stale.files.count
    }

    /// The report is a page for a browser.
    var isPage: Bool { report.map(ReportPageFile.isPage) ?? false }

    /// Where the JSON goes, of which a page is made too.
    func documentPath(_ preparation: Preparation) -> BytePath? {
        guard isPage else { return reportPath(preparation.outbox) }
        return dryRun ? preparation.streams?.report : preparation.outbox.report
    }

    /// In a dry run there are no renditions to list.
    var manifestPath: BytePath? { dryRun ? nil : manifest.map { RawArguments.paths([$0])[0] } }

    func writePage(_ preparation: Preparation) throws {
        guard isPage, let page = reportPath(preparation.outbox), let document = documentPath(preparation) else {
            return
        }
        try ReportPageFile(page, isToStandardOutput ? .unknown : .outbox(preparation.outbox.path)).write(
            reportIn: document)
    }

    private func reportPath(_ outbox: OutboxLocation) -> BytePath? {
        if let report { return RawArguments.paths([report])[0] }
        return dryRun ? nil : outbox.report
    }

    func conclude(
        _ outcome: BatchOutcome, removed: Int, _ preparation: Preparation, progress: Progress,
        cancellation: Cancellation
    ) throws {
        let summary = outcome.summary
        if !quiet && !isToStandardOutput {
            let report = outcome.isReported ? reportPath(preparation.outbox) : nil
            let words = RunSummary(
                summary: summary, isDryRun: dryRun, report: report, warnings: progress.warnings,
                failures: progress.failures, isVerbose: verbose,
                passedOver: preparation.found.passedOver.reduce(into: [:]) { $0[$1.why, default: 0] += 1 },
                failedBefore: preparation.work.failedBefore.count,
                hintsAtTree: !keepTree && progress.warnings[.nameVersioned] != nil
                    && preparation.found.haveOneNameInSeveralFolders,
                foreignFile: progress.foreignFile,
                isFiltered: !search.include.isEmpty || !search.exclude.isEmpty)
            words.lines.forEach(printError)
            if removed > 0 { printError("\(counted(removed, "rendition")) removed that nothing makes any more") }
        }
        if let signal = cancellation.cause { throw ExitStatus.stopped(by: signal) }
        if let obstacle = outcome.obstacle { throw obstacle }
        guard summary.failed > 0 else { return }
        if progress.hasEnvironmentFailure { throw ExitStatus.tryAgain }
        throw summary.failed == summary.sources ? ExitStatus.allFailed : ExitStatus.someFailed
    }
}
