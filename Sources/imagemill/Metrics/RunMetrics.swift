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
    private let labels: [(String, String)]
    private let start = RunMetrics.now
    private let counts = Mutex(RunCounts())

    init(_ next: any BatchObserver, writing path: BytePath, labels: [(String, String)]) {
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
        let end = Self.now
        let success: Double = isComplete && counts.ended[.failed, default: 0] == 0 ? 1 : 0
        let whole: [(name: String, help: String, value: Double)] = [
            ("imagemill_passed_over_files", "Files that a search found and that are no pictures.", Double(passedOver)),
            ("imagemill_run_start_timestamp_seconds", "When the run began.", start),
            ("imagemill_run_end_timestamp_seconds", "When the run ended, or this file was written.", end),
            ("imagemill_run_duration_seconds", "How long the run took.", ((end - start) * 1000).rounded() / 1000),
            ("imagemill_run_success", "1 if the run came to its end and no source failed.", success),
        ]
        var metrics = counts.metrics(skipped: skipped, labels)
        for one in whole {
            var metric = Metric(one.name, .gauge, one.help, labels: labels)
            metric.add(one.value, [])
            metrics.append(metric)
        }
        try FileSystem.makeDirectories(DurableFile.folder(of: path))
        try DurableFile.write(Array(metrics.map(\.text).joined().utf8), to: path, syncsFolder: false)
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
            durations[stage]?.add(milliseconds: milliseconds)
        }
    }

    func metrics(skipped: Int, _ labels: [(String, String)]) -> [Metric] {
        func counter(_ name: String, _ help: String, _ samples: [(Double, [(String, String)])]) -> Metric {
            var metric = Metric(name, .counter, help, labels: labels)
            for (value, own) in samples { metric.add(value, own) }
            return metric
        }
        let statuses =
            [SourceReport.Status.done, .failed, .planned].map { ($0.rawValue, ended[$0, default: 0]) } + [
                ("skipped", skipped)
            ]
        let failed = failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            (Double($0.value), [("code", $0.key.rawValue)])
        }
        let warned = warnings.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            (Double($0.value), [("code", $0.key.rawValue)])
        }
        var duration = Metric(
            "imagemill_job_duration_seconds", .histogram, "How long sources took, by the stage of their way.",
            labels: labels)
        for stage in Stage.allCases { duration.add(durations[stage] ?? Histogram(), [("stage", stage.rawValue)]) }
        return [
            counter(
                "imagemill_jobs_total", "Sources by how they ended.", statuses.map { (Double($1), [("status", $0)]) }),
            counter("imagemill_failures_total", "Failures by code.", failed),
            counter("imagemill_warnings_total", "Warnings by code.", warned),
            counter(
                "imagemill_source_bytes_total", "Bytes of the sources that were read.", [(Double(sourceBytes), [])]),
            counter("imagemill_renditions_total", "Renditions that were published.", [(Double(renditions.files), [])]),
            counter(
                "imagemill_cached_renditions_total", "Those of them that came from the cache.",
                [(Double(renditions.cached), [])]),
            counter("imagemill_rendition_bytes_total", "Bytes of the renditions.", [(Double(renditions.bytes), [])]),
            duration,
        ]
    }
}
