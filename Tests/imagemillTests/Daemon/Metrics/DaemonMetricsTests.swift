import Foundation
import Pipeline
import TestSupport
import Testing

// The metrics as Prometheus reads them.
@testable import Engine
@testable import Messages
@testable import System
@testable import imagemill

@Suite struct DaemonMetricsTests {
    private func text(standing: [String: Standing] = [:]) -> String {
        let activity = Activity(clock: { 3_600_000 })
        var report = SourceReport(status: .done, pipeline: "p", source: BytePath("a.png"))
        (report.milliseconds.wait, report.milliseconds.render, report.milliseconds.publish) = (5, 700, 60)
        report.renditions = [
            SourceReport.RenditionEntry(
                name: "r", scale: 1, path: BytePath("a.webp"), format: .webp, size: PixelSize(1, 1), frames: 1,
                bytes: 99,
                sha256: nil)
        ]
        activity.happened(.done(JobID(milliseconds: 1, counter: 2, random: 3), report), inbox: "share")
        let call = HookCall(event: "success", source: BytePath("a.png"), action: "notify")
        let lost = HookLoss(time: 1, inbox: "share", call: call, reason: "x")
        activity.happened(.hook(.postponed(call, "x", after: 1)), inbox: "share")
        activity.happened(.hook(.lost(lost)), inbox: "share")
        activity.happened(
            .hook(.lost(HookLoss(time: 1, inbox: "share", call: nil, count: 3, reason: "x"))), inbox: "share")
        activity.happened(
            .failed(
                JobID(milliseconds: 1, counter: 2, random: 3), BytePath("b"), Failure(.truncated, stage: "decode", "x"),
                attempts: 1),
            inbox: "share")
        var status = FakeDaemon.busy
        (status.inboxes[1].hooksWaiting, status.inboxes[1].oldestHookSeconds) = (4, 725)
        status.inboxes[0].name = "a \"quoted\\ name"
        return DaemonMetrics(status: status, activity: activity.snapshot, standing: standing).text
    }

    @Test func `the names that users expect are there, with their labels`() {
        let disk = Standing.Disk(
            role: .outbox, path: BytePath("/o"), space: DiskSpace(device: 1, free: 5, total: 100))
        let standing = ["share": Standing(failures: nil, bytes: ["done": 12], disks: [disk])]
        let lines = Set(text(standing: standing).split(separator: "\n").map(String.init))
        for line in [
            #"imagemill_jobs_total{inbox="share",status="done"} 1"#,
            #"imagemill_jobs_total{inbox="share",status="failed"} 1"#,
            #"imagemill_jobs_total{inbox="a \"quoted\\ name",status="done"} 0"#,
            #"imagemill_job_duration_seconds_bucket{inbox="share",stage="render",le="0.5"} 0"#,
            #"imagemill_job_duration_seconds_bucket{inbox="share",stage="render",le="1"} 1"#,
            #"imagemill_job_duration_seconds_sum{inbox="share",stage="render"} 0.7"#,
            #"imagemill_job_duration_seconds_count{inbox="share",stage="wait"} 1"#,
            #"imagemill_paused{inbox="share",reason="no-space"} 1"#,
            #"imagemill_paused{inbox="share",reason="missing-inbox"} 0"#,
            #"imagemill_oldest_pending_seconds{inbox="share"} 0"#,
            #"imagemill_spool_bytes{inbox="share",folder="done"} 12"#,
            "imagemill_worker_restarts_total 2", "imagemill_memory_budget_bytes 4294967296",
            "imagemill_cache_hits_total 7",
            "imagemill_configuration_refused 1",
            #"imagemill_failures_total{inbox="share",code="truncated"} 1"#,
            #"imagemill_failures_total{inbox="share",code="corrupt"} 0"#,
            #"imagemill_failures_total{inbox="a \"quoted\\ name",code="truncated"} 0"#,
            "process_start_time_seconds 1795217400.123",
            #"imagemill_renditions_total{inbox="share"} 1"#, #"imagemill_rendition_bytes_total{inbox="share"} 99"#,
            #"imagemill_last_success_timestamp_seconds{inbox="share"} 3600"#,
            #"imagemill_hook_retries_total{inbox="share"} 1"#, #"imagemill_hook_losses_total{inbox="share"} 4"#,
            #"imagemill_hooks_waiting{inbox="share"} 4"#, #"imagemill_hooks_oldest_seconds{inbox="share"} 725"#,
            #"imagemill_hooks_waiting{inbox="a \"quoted\\ name"} 0"#,
            #"imagemill_settling_files{inbox="a \"quoted\\ name"} 2"#,
            #"imagemill_disk_free_bytes{inbox="share",folder="outbox"} 5"#,
            #"imagemill_disk_bytes{inbox="share",folder="outbox"} 100"#,
            #"imagemill_paused{inbox="share",reason="by-request"} 0"#,
        ] { #expect(lines.contains(line), "\(line)") }
    }

    @Test func `trouble with an inbox that was paused by request hides neither`() {
        var status = FakeDaemon.busy
        status.inboxes[1].pausedByRequest = "2026-01-01T00:00:00Z"
        let text = DaemonMetrics(status: status, activity: Activity().snapshot, standing: [:]).text
        for reason in ["by-request", "no-space"] {
            #expect(text.contains(#"imagemill_paused{inbox="share",reason="\#(reason)"} 1"#), "\(text)")
        }
    }

    @Test func `files that are open are counted`() throws {
        func count() throws -> Int {
            let line = try #require(text().split(separator: "\n").first { $0.hasPrefix("process_open_fds ") })
            return try #require(Int(line.dropFirst("process_open_fds ".count)))
        }
        // Other tests open files meanwhile.
        let before = try count()
        let files = try (0..<200).map { _ in try OpenFile.reading(BytePath("/dev/null")) }
        let after = try count()
        withExtendedLifetime(files) { #expect(before > 2 && (100...300).contains(after - before)) }
    }

    @Test(.enabled(if: Self.hasPromtool, "skipped: there is no promtool (apt install prometheus)"))
    func `promtool finds nothing to complain of`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(text(), to: "metrics")
        let result = try await runner.shell("promtool check metrics < metrics")
        #expect(result.exit == 0 && result.errors.isEmpty, "\(result.errors)")
        let rules = try await runner.shell("promtool check rules '\(Checkout.path)/deploy/prometheus/alerts.yaml'")
        #expect(rules.exit == 0, "\(rules.output)\(rules.errors)")
    }

    @Test func `every metric that the alerts and the dashboard of Grafana ask for exists`() throws {
        let folder = try TemporaryFolder()
        let known = text(standing: [
            "share": Standing(
                failures: StandingFailures(BytePath(folder.path("."))), bytes: ["done": 1],
                disks: [
                    Standing.Disk(role: .spool, path: BytePath("/"), space: DiskSpace(device: 1, free: 1, total: 2))
                ])
        ])
        for file in ["deploy/prometheus/alerts.yaml", "deploy/grafana/imagemill.json"] {
            let names = Set(try Checkout.text(file).matches(of: /imagemill_[a-z_]+/).map { String($0.output) })
            #expect(names.count > 4)
            for name in names {
                #expect(
                    known.contains("\n\(name)") || known.hasPrefix(name) || known.contains("# TYPE \(name) "),
                    "\(file): \(name)")
            }
        }
    }

    private static var hasPromtool: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool") }
}
