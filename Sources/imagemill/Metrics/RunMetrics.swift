// `run --metrics FILE`: what a run did, in Prometheus' text format, for the textfile collector of node exporter.
import Engine
import Glibc
import Pipeline
import Synchronization
import System

/// Counts what a run does, and writes it into a file. All metrics are gauges: the next run replaces them, and a counter
/// that began anew each time would have a rate of nothing.
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
            (
                "imagemill_run_passed_over_files", "Files that a search found and that are no pictures.",
                Double(passedOver)
            ),
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

/// The counts of a run.
private struct RunCounts {
    var ended: [SourceReport.Status: Int] = [:]
    private var failures: [FailureCode: Int] = [:]
    private var warnings: [WarningCode: Int] = [:]
    private var renditions = (files: 0, bytes: 0, cached: 0)
    private var sourceBytes = 0
    /// In milliseconds.
    private var (total, longest): ([Stage: Int], [Stage: Int]) = ([:], [:])

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
            total[stage, default: 0] += milliseconds
            longest[stage] = max(longest[stage] ?? 0, milliseconds)
        }
    }

    func metrics(skipped: Int, _ labels: [(String, String)]) -> [Metric] {
        func gauge(_ name: String, _ help: String, _ samples: [(Double, [(String, String)])]) -> Metric {
            var metric = Metric("imagemill_run_" + name, .gauge, help, labels: labels)
            for (value, own) in samples { metric.add(value, own) }
            return metric
        }
        func byCode<Code: Hashable & RawRepresentable<String>>(_ counts: [Code: Int]) -> [(Double, [(String, String)])]
        {
            counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { (Double($0.value), [("code", $0.key.rawValue)]) }
        }
        let statuses =
            [SourceReport.Status.done, .failed, .planned].map { ($0.rawValue, ended[$0, default: 0]) } + [
                ("skipped", skipped)
            ]
        func byStage(_ milliseconds: [Stage: Int]) -> [(Double, [(String, String)])] {
            Stage.allCases.map { (Double(milliseconds[$0, default: 0]) / 1000, [("stage", $0.rawValue)]) }
        }
        return [
            gauge("sources", "Sources by how they ended.", statuses.map { (Double($1), [("status", $0)]) }),
            gauge("failures", "Failures by code.", byCode(failures)),
            gauge("warnings", "Warnings by code.", byCode(warnings)),
            gauge("source_bytes", "Bytes of the sources that were read.", [(Double(sourceBytes), [])]),
            gauge("renditions", "Renditions that were published.", [(Double(renditions.files), [])]),
            gauge("cached_renditions", "Those of them that came from the cache.", [(Double(renditions.cached), [])]),
            gauge("rendition_bytes", "Bytes of the renditions.", [(Double(renditions.bytes), [])]),
            gauge("stage_seconds", "How long all sources together were in this stage of their way.", byStage(total)),
            gauge("stage_longest_seconds", "How long one source was in this stage at most.", byStage(longest)),
        ]
    }
}
