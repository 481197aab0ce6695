// The daemon's metrics for Prometheus.
import Engine
import Pipeline
import System

/// The metrics that Prometheus reads at `/metrics`.
struct DaemonMetrics {
    let status: StatusDocument
    let activity: Activity.Snapshot
    /// The contents of the spools, by the inboxes' names.
    let standing: [String: Standing]

    static let type = "text/plain; version=0.0.4; charset=utf-8"

    var text: String {
        (jobs + results + hooks + waiting + inboxes + disks + workers + cache + process).map(\.text).joined()
    }

    private func counts(_ inbox: StatusDocument.Inbox) -> Activity.Counts {
        activity.inboxes[inbox.name] ?? Activity.Counts()
    }

    private var jobs: [Metric] {
        var total = Metric(
            "imagemill_jobs_total", .counter,
            "Sources that were done, that have failed for good, and attempts that were put off, since the start.")
        var duration = Metric(
            "imagemill_job_duration_seconds", .histogram,
            "How long the sources that were done took, by stage of the flow.")
        for inbox in status.inboxes {
            let counts = counts(inbox)
            for (status, count) in [("done", counts.done), ("failed", counts.failed), ("retried", counts.retried)] {
                total.add(Double(count), [("inbox", inbox.name), ("status", status)])
            }
            for stage in Activity.Stage.allCases {
                duration.add(
                    counts.durations[stage] ?? Histogram(), [("inbox", inbox.name), ("stage", stage.rawValue)])
            }
        }
        return [total, duration]
    }

    private var results: [Metric] {
        var failures = Metric(
            "imagemill_failures_total", .counter, "Sources that have failed for good, by the reason, since the start.")
        var renditions = Metric(
            "imagemill_renditions_total", .counter, "Renditions that were published since the start.")
        var bytes = Metric("imagemill_rendition_bytes_total", .counter, "Bytes of these renditions.")
        var success = Metric(
            "imagemill_last_success_timestamp_seconds", .gauge,
            "When a source of the inbox was last done; not there if none was since the start.")
        for inbox in status.inboxes {
            let (counts, label) = (counts(inbox), ("inbox", inbox.name))
            // A counter that began with its first failure would show no increase for it. One code is of plans only.
            for code in FailureCode.allCases where code != .changedSincePlan {
                failures.add(Double(counts.failures[code] ?? 0), [label, ("code", code.rawValue)])
            }
            renditions.add(Double(counts.renditions), [label])
            bytes.add(Double(counts.renditionBytes), [label])
            if let time = counts.lastDone { success.add(Double(time) / 1000, [label]) }
        }
        return [failures, renditions, bytes, success]
    }

    private var hooks: [Metric] {
        var postponed = Metric(
            "imagemill_hook_retries_total", .counter,
            "Attempts to deliver an event to a hook that failed and are made again, since the start.")
        var lost = Metric(
            "imagemill_hook_losses_total", .counter,
            "Events that were not delivered to their hook, and never will be, since the start.")
        var waiting = Metric("imagemill_hooks_waiting", .gauge, "Events that were not delivered to their hook yet.")
        var oldest = Metric(
            "imagemill_hooks_oldest_seconds", .gauge, "How long the oldest of them has been waiting.")
        for inbox in status.inboxes {
            waiting.add(Double(inbox.hooksWaiting), [("inbox", inbox.name)])
            oldest.add(Double(inbox.oldestHookSeconds ?? 0), [("inbox", inbox.name)])
            postponed.add(Double(counts(inbox).hooks.postponed), [("inbox", inbox.name)])
            lost.add(Double(counts(inbox).hooks.lost), [("inbox", inbox.name)])
        }
        return [postponed, lost, waiting, oldest]
    }

    private var disks: [Metric] {
        var free = Metric("imagemill_disk_free_bytes", .gauge, "Bytes that may still be written there.")
        var total = Metric("imagemill_disk_bytes", .gauge, "The size of the file system that the folder is on.")
        for inbox in status.inboxes {
            for disk in standing[inbox.name]?.disks ?? [] {
                let labels = [("inbox", inbox.name), ("folder", disk.role.rawValue)]
                free.add(Double(disk.space.free), labels)
                total.add(Double(disk.space.total), labels)
            }
        }
        return [free, total]
    }

    private var waiting: [Metric] {
        var depth = Metric("imagemill_queue_depth", .gauge, "Sources that are ready or under way.")
        var oldest = Metric(
            "imagemill_oldest_pending_seconds", .gauge, "How long the oldest of them has been waiting or under way.")
        for inbox in status.inboxes {
            depth.add(Double(inbox.ready + inbox.inProgress + inbox.waiting), [("inbox", inbox.name)])
            oldest.add(Double(inbox.oldestSeconds ?? 0), [("inbox", inbox.name)])
        }
        return [depth, oldest]
    }

    private var inboxes: [Metric] {
        var paused = Metric("imagemill_paused", .gauge, "Whether the inbox takes no sources for this reason.")
        var settling = Metric("imagemill_settling_files", .gauge, "Sources in the inbox that are not complete yet.")
        var blocked = Metric(
            "imagemill_blocked_files", .gauge, "Sources in the inbox that the system does not let be taken.")
        var passedOver = Metric(
            "imagemill_passed_over_files", .gauge,
            "Files in the inbox that are left alone: no pictures, or where nothing is taken from.")
        var failed = Metric("imagemill_failed_files", .gauge, "Sources in the folder failed/ now.")
        var spool = Metric(
            "imagemill_spool_bytes", .gauge, "Bytes in the folders work/, done/ and failed/, as of the last look.")
        for inbox in status.inboxes {
            for reason in PauseReason.allCases {
                // Trouble may come while a person has paused it.
                let isReason = inbox.paused?.reason == reason || reason == .byRequest && inbox.pausedByRequest != nil
                paused.add(isReason ? 1 : 0, [("inbox", inbox.name), ("reason", reason.rawValue)])
            }
            settling.add(Double(inbox.settling), [("inbox", inbox.name)])
            blocked.add(Double(inbox.blocked), [("inbox", inbox.name)])
            passedOver.add(Double(inbox.passedOver), [("inbox", inbox.name)])
            guard let standing = standing[inbox.name] else { continue }
            if let failures = standing.failures { failed.add(Double(failures.count), [("inbox", inbox.name)]) }
            for (folder, bytes) in standing.bytes.sorted(by: { $0.key < $1.key }) {
                spool.add(Double(bytes), [("inbox", inbox.name), ("folder", folder)])
            }
        }
        return [paused, settling, blocked, passedOver, failed, spool]
    }

    private var workers: [Metric] {
        [
            Metric("imagemill_workers", .gauge, "Worker processes.", Double(status.workers.total)),
            Metric("imagemill_workers_busy", .gauge, "Worker processes that have a job.", Double(status.workers.busy)),
            Metric(
                "imagemill_worker_restarts_total", .counter, "Workers that died, hung or had grown too large.",
                Double(status.workers.replaced)),
            Metric(
                "imagemill_memory_budget_bytes", .gauge, "What all workers together may be given.",
                Double(status.memory.budgetBytes)),
            Metric(
                "imagemill_memory_reserved_bytes", .gauge, "What the jobs under way are expected to need.",
                Double(status.memory.reservedBytes)),
        ]
    }

    private var cache: [Metric] {
        guard let cache = status.cache else { return [] }
        return [
            Metric("imagemill_cache_bytes", .gauge, "Bytes in the cache of renditions.", Double(cache.bytes)),
            Metric(
                "imagemill_cache_bound_bytes", .gauge, "Most bytes that the cache may have.", Double(cache.boundBytes)),
            Metric(
                "imagemill_cache_hits_total", .counter, "Renditions that were copied from the cache.",
                Double(cache.hits)),
            Metric(
                "imagemill_cache_misses_total", .counter, "Renditions that were not in the cache.", Double(cache.misses)
            ),
        ]
    }

    private var process: [Metric] {
        var build = Metric("imagemill_build_info", .gauge, "The version of the program.")
        build.add(1, [("version", status.version)])
        return [
            build,
            Metric(
                "imagemill_configuration_refused", .gauge,
                "Whether the latest configuration was refused, and the one before is in use.",
                status.reload.state == .refused ? 1 : 0),
            Metric(
                "imagemill_uptime_seconds", .gauge, "How long the daemon has been running.",
                Double(status.uptimeSeconds)),
            Metric(
                "process_resident_memory_bytes", .gauge, "Memory that the supervisor itself occupies.",
                Double(status.memory.residentBytes)),
            Metric(
                "process_cpu_seconds_total", .counter, "Time that the supervisor itself has computed.",
                Machine.processorSeconds),
            started,
            openFiles,
            Metric(
                "process_max_fds", .gauge, "Files that the supervisor may have open.", Double(Machine.descriptorLimit)),
        ]
    }

    /// The time that was noted at the start: one that is computed anew each time would jump by a second now and then.
    private var started: Metric {
        var metric = Metric(
            "process_start_time_seconds", .gauge, "When the daemon was started, in seconds since 1970.")
        if let time = milliseconds(timestamp: status.started) { metric.add(Double(time) / 1000, []) }
        return metric
    }

    private var openFiles: Metric {
        var metric = Metric("process_open_fds", .gauge, "Files that the supervisor has open.")
        if let count = Machine.openDescriptors { metric.add(Double(count), []) }
        return metric
    }
}
