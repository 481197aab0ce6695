// The status document for people.
import Engine
import Pipeline

struct StatusTable {
    let status: StatusDocument
    /// What is in the failed folders now, by the names of the inboxes.
    var failures: [String: StandingFailures] = [:]
    var paint = Paint(1)

    var text: String {
        let parts = [[head, ""], inboxes, places, settling, obstacles, cache, running, failed, reload]
        return parts.flatMap(\.self).joined(separator: "\n") + "\n"
    }

    private var head: String {
        let memory = Self.amount(status.memory.residentBytes)
        return
            "imagemill \(oneLine(status.version)), process \(status.process): \(status.state.rawValue) for \(Self.span(status.uptimeSeconds)); "
            + "\(status.workers.busy) of \(status.workers.total) workers busy, \(status.queue.depth) queued\(Self.oldest(status.queue.oldestSeconds)), \(memory)"
    }

    // MARK: - Inboxes

    private var inboxes: [String] {
        let titles = ["inbox", "state", "settling", "ready", "blocked", "in progress", "waiting", "done", "failed"]
        let rows = status.inboxes.map { inbox in
            let state = inbox.state == .running ? "watching by \(inbox.watching.rawValue)" : inbox.state.rawValue
            let numbers = [
                inbox.settling, inbox.ready, inbox.blocked, inbox.inProgress, inbox.waiting, inbox.done, inbox.failed,
            ]
            return [oneLine(inbox.name), state] + numbers.map { $0 == 0 ? "-" : "\($0)" }
        }
        return Self.table([titles] + rows).enumerated().map { $0.offset == 0 ? paint.bold($0.element) : $0.element }
    }

    /// Columns, the first two to the left and numbers to the right.
    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column < 2 ? text + space : space + text
            }.joined(separator: "  ")
        }
    }

    private var places: [String] {
        status.inboxes.flatMap { inbox -> [String] in
            var lines = [
                "",
                "\(oneLine(inbox.name)): \(inbox.path.printable) → \(inbox.outbox.printable) (\(oneLine(inbox.pipeline)))",
            ]
            if let done = inbox.doneFolder { lines.append("  originals go to \(done.printable)") }
            if let failed = inbox.failedFolder { lines.append("  failed ones to \(failed.printable)") }
            if let pause = inbox.paused {
                let words = paint.red("paused since \(localTime(pause.since))")
                lines.append("  \(words): \(pause.reason.rawValue): \(oneLine(pause.message))")
            }
            return lines
        }
    }

    private var settling: [String] {
        let lines = status.inboxes.flatMap { inbox in
            inbox.settlingSources.map { "  \(oneLine(inbox.name))/\($0.path.printable): \($0.sentence)" }
        }
        return lines.isEmpty ? [] : ["", "settling:"] + lines
    }

    private var obstacles: [String] {
        let lines = status.inboxes.flatMap { inbox in
            inbox.obstacles.map { "  \(oneLine(inbox.name))/\($0.path.printable): \(oneLine($0.message))" }
        }
        return lines.isEmpty ? [] : ["", paint.red("blocked:")] + lines
    }

    private var failed: [String] {
        let lines = status.inboxes.flatMap { inbox -> [String] in
            guard let standing = failures[inbox.name], standing.count > 0 else { return [] }
            let entries = standing.entries.map { entry in
                "  \(oneLine(inbox.name))/\(entry.path.printable)" + (entry.reason.map { ": \(oneLine($0))" } ?? "")
            }
            let more = standing.count - entries.count
            return entries + (more > 0 ? ["  and \(more) more in \(inbox.failedFolder?.printable ?? "")"] : [])
        }
        return lines.isEmpty ? recentlyFailed : ["", paint.red("failed:")] + lines
    }

    /// What the daemon remembers, if the failed folders cannot be read.
    private var recentlyFailed: [String] {
        let unread = status.recentFailures.filter { failure in
            guard let inbox = status.inboxes.first(where: { $0.path == failure.inbox }) else { return true }
            return failures[inbox.name] == nil
        }
        guard !unread.isEmpty else { return [] }
        return ["", paint.red("recent failures:")]
            + unread.map { "  \(localTime($0.time)) \($0.path.printable): \($0.code.rawValue): \(oneLine($0.message))" }
    }

    // MARK: - The rest

    private var cache: [String] {
        guard let cache = status.cache else { return [] }
        let size =
            "\(counted(cache.renditions, "rendition")), \(Self.amount(cache.bytes)) of \(Self.amount(cache.boundBytes))"
        let use = "\(cache.hits) taken from it, \(cache.misses) not found since the start"
        let trouble = cache.trouble.map { ["  not used: \(oneLine($0))"] } ?? []
        return ["", "cache \(cache.path.printable): \(size); \(use)"] + trouble
    }

    private var running: [String] {
        guard !status.inProgress.isEmpty else { return [] }
        let jobs = status.inProgress.map { job in
            let attempt = job.attempt > 1 ? ", attempt \(job.attempt)" : ""
            return "  \(job.path.printable): \(oneLine(job.stage)), \(Self.span(job.seconds))\(attempt)"
        }
        return ["", "in progress:"] + jobs
    }

    private var reload: [String] {
        guard status.reload.state == .refused else { return [] }
        let time = status.reload.time.map { " at \(localTime($0))" } ?? ""
        return ["", paint.red("the configuration was refused\(time); the one before is still in use:")]
            + status.reload.diagnostics.map { "  \(oneLine($0))" }
    }

    private static func oldest(_ seconds: Int?) -> String { seconds.map { ", the oldest for \(span($0))" } ?? "" }

    /// `900 B`, `12 KiB`, `3 MiB`.
    static func amount(_ bytes: Int) -> String {
        switch bytes {
        case ..<1024: "\(bytes) B"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        default: "\(bytes >> 20) MiB"
        }
    }

    /// `5 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    static func span(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}

extension StatusDocument.SettlingEntry {
    fileprivate var sentence: String {
        let anyway = "; decoded anyway in \(StatusTable.span(secondsLeft))"
        return switch reason {
        case .changing: "changed a moment ago"
        case .open: "a program has it open for writing" + anyway
        case .incomplete: "its end is missing" + anyway
        case .empty: "it has 0 bytes"
        case .unfinished: "a file of the set has the name of an unfinished upload" + anyway
        }
    }
}
