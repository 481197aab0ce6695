// `run --metrics FILE`: what a run did, in Prometheus' text format, for the textfile collector of node exporter.
import Engine
import Glibc
import Pipeline
import Synchronization

/// Counts what a run does, and writes it into a file. All counters begin at zero with each run.
final class RunMetrics: BatchObserver {
    private let next: any BatchObserver
    private let path: BytePath
    /// Labels of every line, such as `pipeline="web-photos"`.
    private let labels: [(name: String, value: String)]
    private let start = RunMetrics.now
    private let counts = Mutex(RunCounts())

    init(_ next: any BatchObserver, writing path: BytePath, labels: [(name: String, value: String)]) {
        (self.next, self.path, self.labels) = (next, path, labels)
    }

    func begin(sources: Int) { next.begin(sources: sources) }
    func end() { next.end() }

    func finished(_ report: SourceReport, _ summary: BatchSummary) {
        counts.withLock { $0.add(report) }
        next.finished(report, summary)
    }

    /// Replaces the file.
    /// - Parameters:
    ///   - skipped: sources that were left as they are.
    ///   - passedOver: files that are no pictures.
    ///   - isComplete: nothing has kept the run from its end.
    func write(skipped: Int = 0, passedOver: Int = 0, isComplete: Bool) throws(SystemError) {
        let counts = counts.withLock { $0 }
        var text = MetricsText(labels: labels)
        counts.write(to: &text, skipped: skipped)
        text.add("imagemill_passed_over_files", "Files that a search found and that are no pictures.", "gauge", [([], Double(passedOver))])
        let end = Self.now
        text.add("imagemill_run_start_timestamp_seconds", "When the run began.", "gauge", [([], start)])
        text.add("imagemill_run_end_timestamp_seconds", "When the run ended, or this file was written.", "gauge", [([], end)])
        text.add("imagemill_run_duration_seconds", "How long the run took.", "gauge", [([], ((end - start) * 1000).rounded() / 1000)])
        let success: Double = isComplete && counts.ended[.failed, default: 0] == 0 ? 1 : 0
        text.add("imagemill_run_success", "1 if the run came to its end and no source failed.", "gauge", [([], success)])
        try FileSystem.makeDirectories(DurableFile.folder(of: path))
        try DurableFile.write(Array(text.text.utf8), to: path, syncsFolder: false)
    }

    /// Seconds since 1970, to the millisecond.
    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + (Double(time.tv_nsec) / 1e6).rounded(.down) / 1e3
    }
}

/// What a run has counted.
private struct RunCounts {
    var ended: [SourceReport.Status: Int] = [:]
    private var failures: [FailureCode: Int] = [:]
    private var warnings: [WarningCode: Int] = [:]
    private var renditions = (files: 0, bytes: 0, cached: 0)
    private var sourceBytes = 0
    private var durations = [Stage: Histogram](uniqueKeysWithValues: Stage.allCases.map { ($0, Histogram()) })

    enum Stage: String, CaseIterable { case wait, render, publish }

    init() {}

    mutating func add(_ report: SourceReport) {
        ended[report.status, default: 0] += 1
        if let error = report.error { failures[error.code, default: 0] += 1 }
        for warning in report.warnings { warnings[warning.code, default: 0] += 1 }
        sourceBytes += report.source.bytes ?? 0
        guard report.status == .done else { return }
        renditions.files += report.renditions.count
        renditions.cached += report.renditions.count(where: \.cached)
        renditions.bytes += report.renditions.reduce(0) { $0 + ($1.bytes ?? 0) }
        let times = report.milliseconds
        for (stage, milliseconds) in zip(Stage.allCases, [times.wait, times.render, times.publish]) {
            durations[stage]?.add(Double(milliseconds) / 1000)
        }
    }

    func write(to text: inout MetricsText, skipped: Int) {
        let statuses = [SourceReport.Status.done, .failed, .planned].map { ($0.rawValue, ended[$0, default: 0]) } + [("skipped", skipped)]
        text.add("imagemill_jobs_total", "Sources by how they ended.", "counter", statuses.map { ([("status", $0)], Double($1)) })
        text.add(
            "imagemill_failures_total", "Failures by code.", "counter",
            failures.sorted { $0.key.rawValue < $1.key.rawValue }.map { ([("code", $0.key.rawValue)], Double($0.value)) })
        text.add(
            "imagemill_warnings_total", "Warnings by code.", "counter",
            warnings.sorted { $0.key.rawValue < $1.key.rawValue }.map { ([("code", $0.key.rawValue)], Double($0.value)) })
        text.add("imagemill_source_bytes_total", "Bytes of the sources that were read.", "counter", [([], Double(sourceBytes))])
        text.add("imagemill_renditions_total", "Renditions that were published.", "counter", [([], Double(renditions.files))])
        text.add("imagemill_cached_renditions_total", "Those of them that came from the cache.", "counter", [([], Double(renditions.cached))])
        text.add("imagemill_rendition_bytes_total", "Bytes of the renditions.", "counter", [([], Double(renditions.bytes))])
        text.add(
            "imagemill_job_duration_seconds", "How long sources took, by the stage of their way.",
            histograms: Stage.allCases.compactMap { stage in
                durations[stage].map { ([("stage", stage.rawValue)], $0) }
            })
    }
}
