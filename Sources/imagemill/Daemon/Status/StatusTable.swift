// The status document for people.
import Engine
import Pipeline

struct StatusTable {
    let status: StatusDocument
    /// The contents of the failed folders now, by the names of the inboxes.
    var failures: [String: StandingFailures] = [:]
    /// All inboxes, folders and files are shown, however many there are.
    var isVerbose = false
    /// The terminal's width; nil if it is none.
    var columns: Int?
    var paint = Paint(1)

    /// The status as text. Trouble comes first.
    var text: String {
        let parts = [
            [verdict, head], pauses, reload, disks, failed, obstacles, waiting, hooks, lateHooks, [""], inboxes, places,
            settling,
            passedOver,
            cache,
            running,
        ]
        return parts.flatMap(\.self).joined(separator: "\n") + "\n"
    }

    // MARK: - Trouble

    private var verdict: String {
        // Before its folders are made, nothing of an inbox can have failed.
        let counts = status.inboxes.filter { $0.failedFolder != nil || failedNow($0) != nil }.map(failedNow)
        let failed = Headline.Failed(
            count: counts.reduce(0) { $0 + ($1 ?? 0) }, unreadable: counts.count { $0 == nil })
        let troubles = Headline.troubles(status, failed: failed)
        return troubles.isEmpty ? paint.green("all is well") : paint.red(troubles.joined(separator: ", "))
    }

    /// How many of an inbox are in its folder `failed/`; nil if that is not known.
    private func failedNow(_ inbox: StatusDocument.Inbox) -> Int? { failures[inbox.name]?.count ?? inbox.failedNow }

    private var head: String {
        let memory = Self.amount(status.memory.residentBytes)
        return
            "imagemill \(oneLine(status.version)), process \(status.process): \(status.state.rawValue) for \(Self.span(status.uptimeSeconds)); "
            + "\(status.workers.busy) of \(status.workers.total) workers busy, \(status.queue.depth) queued\(Self.oldest(status.queue.oldestSeconds)), \(memory)"
    }

    private var pauses: [String] {
        list(
            "paused:", isBad: true,
            // Those that a person has paused are no trouble.
            status.inboxes.sorted { !$0.isPausedByRequest && $1.isPausedByRequest }.compactMap { inbox in
                inbox.paused.map {
                    let also = inbox.pausedByRequest == nil || inbox.isPausedByRequest ? "" : "; also paused by request"
                    return
                        "\(oneLine(inbox.name)), since \(localTime($0.since)): \($0.reason.rawValue): \(oneLine($0.message))\(also)"
                }
            })
    }

    /// The most lines of one list.
    private static let mostLines = 10

    /// A list below a title; nothing if it is empty.
    /// - Parameter count: how many there are, if they are more than the lines.
    private func list(_ title: String, isBad: Bool = false, _ lines: [String], of count: Int? = nil) -> [String] {
        guard !lines.isEmpty else { return [] }
        let shown = isVerbose ? lines[...] : lines.prefix(Self.mostLines)
        let more = max(count ?? 0, lines.count) - shown.count
        let isCut = shown.count < lines.count
        return ["", isBad ? paint.red(title) : title] + shown.map { "  \($0)" }
            + (more > 0 ? ["  and \(more) more" + (isCut ? "; --verbose lists more of them" : "")] : [])
    }

    // MARK: - Inboxes

    /// More inboxes than these are only counted if nothing happens in them.
    private static let mostInboxes = 10
    /// More inboxes than these are shown without their folders.
    private static let mostPlaces = 5
    /// On a narrower terminal the lines of the table would wrap.
    private static let tableColumns = 90

    private var inboxes: [String] {
        let shown = isVerbose || status.inboxes.count <= Self.mostInboxes ? status.inboxes : busiest
        let isNarrow = columns.map { $0 < Self.tableColumns } ?? false
        let lines = isNarrow ? shown.map(line) : shown.isEmpty ? [] : table(of: shown)
        let more = status.inboxes.count - shown.count
        guard more > 0 else { return lines }
        return lines + ["and \(counted(more, "other inbox", "other inboxes")); --verbose lists all"]
    }

    /// An inbox in a line, the worst first, without zeros.
    private func line(_ inbox: StatusDocument.Inbox) -> String {
        let numbers = [
            ("failed", failedNow(inbox) ?? inbox.failed), ("blocked", inbox.blocked), ("settling", inbox.settling),
            ("ready", inbox.ready), ("in progress", inbox.inProgress), ("waiting", inbox.waiting),
            ("done", inbox.done),
        ]
        let state = inbox.state == .running ? [] : [inbox.state.rawValue]
        let parts = state + numbers.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return "\(oneLine(inbox.name)): \(parts.isEmpty ? "nothing yet" : parts.joined(separator: ", "))"
    }

    private func table(of shown: [StatusDocument.Inbox]) -> [String] {
        let titles = ["inbox", "state", "settling", "ready", "blocked", "in progress", "waiting", "done", "failed"]
        let rows = shown.map { inbox in
            let state = inbox.state == .running ? "watching by \(inbox.watching.rawValue)" : inbox.state.rawValue
            let numbers = [
                inbox.settling, inbox.ready, inbox.blocked, inbox.inProgress, inbox.waiting, inbox.done,
                // As the first line and the list count them: those that are there now.
                failedNow(inbox) ?? inbox.failed,
            ]
            return [oneLine(inbox.name), state] + numbers.map { $0 == 0 ? "-" : "\($0)" }
        }
        return Self.table([titles] + rows).enumerated().map {
            $0.offset == 0 ? paint.bold($0.element) : $0.element
        }
    }

    /// Those in which something is wrong, then those in which something happens.
    private var busiest: [StatusDocument.Inbox] {
        func rank(_ inbox: StatusDocument.Inbox) -> Int {
            if inbox.state == .paused { return inbox.isPausedByRequest ? 1 : 0 }
            if (failures[inbox.name]?.count ?? 0) > 0 { return 2 }
            if inbox.blocked > 0 { return 3 }
            return inbox.settling + inbox.ready + inbox.inProgress + inbox.waiting > 0 ? 4 : 5
        }
        let ranked = status.inboxes.enumerated().map { (rank($0.element), $0.offset, $0.element) }
        return ranked.filter { $0.0 < 5 }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.prefix(Self.mostInboxes).map(\.2)
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
        guard isVerbose || status.inboxes.count <= Self.mostPlaces else { return [] }
        return status.inboxes.flatMap { inbox -> [String] in
            var lines = [
                "",
                "\(oneLine(inbox.name)): \(inbox.path.printable) → \(inbox.outbox.printable) (\(oneLine(inbox.pipeline)))",
            ]
            if let done = inbox.doneFolder { lines.append("  originals go to \(done.printable)") }
            if let failed = inbox.failedFolder { lines.append("  failed ones to \(failed.printable)") }
            return lines
        }
    }

    private var settling: [String] {
        list(
            "settling:",
            status.inboxes.flatMap { inbox in
                inbox.settlingSources.map { "\(oneLine(inbox.name))/\($0.path.printable): \($0.sentence)" }
            }, of: status.inboxes.reduce(0) { $0 + $1.settling })
    }

    private var disks: [String] {
        list(
            "nearly full:", isBad: true,
            status.lowDisks.map {
                "the disk of \($0.path.printable): \(Self.amount($0.freeBytes)) of \(Self.amount($0.totalBytes)) free; make room before it pauses the inboxes"
            })
    }

    private var obstacles: [String] {
        list("blocked:", isBad: true, lines(\.obstacles), of: status.inboxes.reduce(0) { $0 + $1.blocked })
    }

    private var waiting: [String] {
        let all = status.inboxes.flatMap { inbox in
            inbox.waitingSources.map { source in
                let next = source.secondsLeft > 0 ? " in \(Self.span(source.secondsLeft))" : " now"
                return Failed(
                    line:
                        "\(oneLine(inbox.name))/\(source.path.printable): \(source.code.rawValue): \(oneLine(source.message)); tried again\(next)",
                    remedy: source.remedy)
            }
        }
        return all.isEmpty ? [] : list("waiting:", all, of: all.count)
    }

    private var passedOver: [String] {
        list("left alone:", lines(\.passedOverFiles), of: status.inboxes.reduce(0) { $0 + $1.passedOver })
    }

    private func lines(_ files: (StatusDocument.Inbox) -> [StatusDocument.Obstacle]) -> [String] {
        status.inboxes.flatMap { inbox in
            files(inbox).map { "\(oneLine(inbox.name))/\($0.path.printable): \(oneLine($0.message))" }
        }
    }

    private var failed: [String] {
        let standing = status.inboxes.compactMap { inbox in failures[inbox.name].map { (inbox, $0) } }
        let all = standing.flatMap { inbox, found in
            found.entries.map { entry in
                Failed(
                    line: "\(oneLine(inbox.name))/\(entry.path.printable)"
                        + (entry.reason.map { ": \(oneLine($0))" } ?? ""),
                    remedy: entry.remedy)
            }
        }
        guard !all.isEmpty else { return recentlyFailed }
        let folders = standing.filter { $0.1.count > 0 }.compactMap { $0.0.failedFolder?.printable }
        let count = standing.reduce(0) { $0 + $1.1.count }
        return list(title(ofFailed: count, in: standing.map(\.0)), all, of: count)
            + (folders.count == 1 ? ["  they are in \(folders[0])"] : [])
    }

    /// Fewer failures than these are seen at a glance.
    private static let manyFailures = 4

    /// `12 failed: 9 corrupt, 3 too-many-pixels` if they are many and the daemon knows all of them.
    private func title(ofFailed count: Int, in inboxes: [StatusDocument.Inbox]) -> String {
        let codes = inboxes.compactMap(\.failedCodes).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        guard count >= Self.manyFailures, codes.values.reduce(0, +) == count else { return "failed:" }
        return "\(grouped(count)) failed: \(countedByCode(codes))"
    }

    /// A failed source or hook, and what to do about it.
    private struct Failed {
        let line: String
        let remedy: String?
    }

    /// A list of failures: those with one remedy together, and the remedy below them.
    private func list(_ title: String, _ all: [Failed], of count: Int) -> [String] {
        let shown = isVerbose ? all[...] : all.prefix(Self.mostLines)
        var remedies: [String?] = []
        for failure in shown where !remedies.contains(failure.remedy) { remedies.append(failure.remedy) }
        let lines = remedies.flatMap { remedy in
            shown.filter { $0.remedy == remedy }.map { "  \($0.line)" }
                + [remedy.map { "    what to do: \(oneLine($0))" }].compactMap(\.self)
        }
        let more = max(count, all.count) - shown.count
        let isCut = shown.count < all.count
        return ["", paint.red(title)] + lines
            + (more > 0 ? ["  and \(more) more" + (isCut ? "; --verbose lists more of them" : "")] : [])
    }

    /// The failures that the daemon remembers, if the failed folders cannot be read.
    private var recentlyFailed: [String] {
        let unread = status.recentFailures.filter { failure in
            guard let inbox = status.inboxes.first(where: { $0.path == failure.inbox }) else { return true }
            return failures[inbox.name] == nil
        }
        guard !unread.isEmpty else { return [] }
        let all = unread.map {
            Failed(
                line: "\(localTime($0.time)) \($0.path.printable): \($0.code.rawValue): \(oneLine($0.message))",
                remedy: $0.remedy)
        }
        return list("recent failures:", all, of: all.count)
    }

    private var lateHooks: [String] {
        let late = status.inboxes.filter(\.hasLateHooks)
        return list(
            "waiting for hooks:", isBad: true,
            late.map {
                "\(oneLine($0.name)): \(counted($0.hooksWaiting, "event"))\(Self.oldest($0.oldestHookSeconds)); the log says why"
            })
    }

    private var hooks: [String] {
        let all = status.hooks.latest.map {
            Failed(
                line: "\(localTime($0.time)) \(oneLine($0.inbox)): \(oneLine($0.message))", remedy: $0.remedy)
        }
        guard !all.isEmpty else { return [] }
        return list("lost events of hooks, in the last 24 hours:", all, of: status.hooks.lost)
    }

    // MARK: - The rest

    private var cache: [String] {
        guard let cache = status.cache else { return [] }
        let size =
            "\(counted(cache.renditions, "rendition")), \(Self.amount(cache.bytes)) of \(Self.amount(cache.boundBytes))"
        let use = "\(cache.hits) taken from it, \(cache.misses) not found since the start"
        let trouble = cache.trouble.map { [paint.red("  not used: \(oneLine($0))")] } ?? []
        return ["", "cache \(cache.path.printable): \(size); \(use)"] + trouble
    }

    private var running: [String] {
        list(
            "in progress:",
            status.inProgress.map { job in
                let attempt = job.attempt > 1 ? ", attempt \(job.attempt)" : ""
                return "\(job.path.printable): \(oneLine(job.stage)), \(Self.span(job.seconds))\(attempt)"
            })
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

extension StatusDocument.Inbox {
    fileprivate var isPausedByRequest: Bool { paused?.reason == .byRequest }
}

extension StatusDocument.SettlingEntry {
    fileprivate var sentence: String {
        let anyway = "; decoded anyway in \(StatusTable.span(secondsLeft))"
        return switch reason {
        case .changing: "changed a moment ago"
        case .open: "a program has it open for writing" + anyway
        case .incomplete: "its end is missing" + anyway
        case .empty: "it has 0 bytes; fails in \(StatusTable.span(secondsLeft))"
        case .unfinished: "a file of the set has the name of an unfinished upload" + anyway
        case .sidecar:
            "its sidecar is missing, and the inbox has 'sidecar: required'; fails in \(StatusTable.span(secondsLeft))"
        }
    }
}
