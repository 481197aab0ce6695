// The status document for people.
import Engine
import Pipeline

struct StatusTable {
    let status: StatusDocument

    var text: String {
        ([head, ""] + status.inboxes.flatMap(lines) + cache + running + failures + reload).joined(separator: "\n") + "\n"
    }

    private var head: String {
        let memory = "\(status.memory.residentBytes >> 20) MiB"
        return "imagemill \(oneLine(status.version)), process \(status.process): \(status.state.rawValue) for \(Self.span(status.uptimeSeconds)); "
            + "\(status.workers.busy) of \(status.workers.total) workers busy, \(status.queue.depth) queued\(Self.oldest(status.queue.oldestSeconds)), \(memory)"
    }

    private func lines(_ inbox: StatusDocument.Inbox) -> [String] {
        let state = inbox.state == .running ? "watching by \(inbox.watching.rawValue)" : inbox.state.rawValue
        let counts = [
            ("settling", inbox.settling), ("ready", inbox.ready), ("blocked", inbox.blocked), ("in progress", inbox.inProgress),
            ("waiting to retry", inbox.waiting), ("ignored", inbox.ignored),
        ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let now = counts.isEmpty ? "idle" : counts.joined(separator: ", ") + Self.oldest(inbox.oldestSeconds)
        var lines = [
            "\(inbox.path.printable) → \(inbox.outbox.printable) (\(oneLine(inbox.pipeline)))",
            "  \(state); \(inbox.done) done, \(inbox.failed) failed; \(now)",
        ]
        lines += inbox.obstacles.map { "  blocked: \($0.path.printable): \(oneLine($0.message))" }
        if let pause = inbox.paused { lines.append("  paused since \(oneLine(pause.since)): \(pause.reason.rawValue): \(oneLine(pause.message))") }
        return lines
    }

    private var cache: [String] {
        guard let cache = status.cache else { return [] }
        let size = "\(cache.renditions) rendition\(cache.renditions == 1 ? "" : "s"), \(Self.amount(cache.bytes)) of \(Self.amount(cache.boundBytes))"
        let use = "\(cache.hits) taken from it, \(cache.misses) not found since the start"
        let trouble = cache.trouble.map { ["  not used: \(oneLine($0))"] } ?? []
        return ["cache \(cache.path.printable): \(size); \(use)"] + trouble
    }

    private var running: [String] {
        guard !status.inProgress.isEmpty else { return [] }
        let jobs = status.inProgress.map { job in
            let attempt = job.attempt > 1 ? ", attempt \(job.attempt)" : ""
            return "  \(job.path.printable): \(oneLine(job.stage)), \(Self.span(job.seconds))\(attempt)"
        }
        return ["", "in progress:"] + jobs
    }

    private var failures: [String] {
        guard !status.recentFailures.isEmpty else { return [] }
        return ["", "recent failures:"]
            + status.recentFailures.map { "  \(oneLine($0.time)) \($0.path.printable): \($0.code.rawValue): \(oneLine($0.message))" }
    }

    private var reload: [String] {
        guard status.reload.state == .refused else { return [] }
        let time = status.reload.time.map { " at \(oneLine($0))" } ?? ""
        return ["", "the configuration was refused\(time); the one before is still at work:"] + status.reload.diagnostics.map { "  \(oneLine($0))" }
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
