// The daemon in one sentence, worst first.
import Engine
import Pipeline

/// The sentence that an operator has to read first.
struct Headline: Codable, Equatable, Sendable {
    enum Level: String, Codable, Sendable {
        /// Nothing is to be done.
        case good
        /// Somebody should look, but the flow goes on.
        case attention
        /// An inbox takes nothing.
        case trouble
    }

    let level: Level
    let sentence: String

    init(level: Level, sentence: String) { (self.level, self.sentence) = (level, sentence) }

    /// The facts about the folders `failed/`.
    struct Failed: Equatable, Sendable {
        /// Sources in those that could be read.
        var count: Int
        /// How many could not be read.
        var unreadable = 0
        /// How many were not looked at yet.
        var awaited = 0
    }

    init(_ status: StatusDocument, failed: Failed) {
        var parts = Self.troubles(status, failed: failed)
        let needsHelp = !parts.isEmpty
        if status.queue.depth > 0 {
            parts.append("\(grouped(status.queue.depth)) queued")
            if let oldest = status.queue.oldestSeconds, oldest > 0 { parts.append("oldest \(Self.span(oldest))") }
        } else if !needsHelp {
            parts.append("nothing to do: \(grouped(status.inboxes.count, "inbox", "inboxes")) watched")
        }
        level = Self.pausedByTrouble(status) > 0 ? .trouble : needsHelp ? .attention : .good
        sentence = parts.joined(separator: ", ")
    }

    private static func pausedByTrouble(_ status: StatusDocument) -> Int {
        status.inboxes.count { $0.state == .paused && $0.paused?.reason != .byRequest }
    }

    /// The troubles that somebody should look at, the worst first; none if all is well.
    static func troubles(_ status: StatusDocument, failed: Failed) -> [String] {
        let inboxes = status.inboxes
        let blocked = inboxes.reduce(0) { $0 + $1.blocked }
        let requested = inboxes.count { $0.paused?.reason == .byRequest }
        let paused = pausedByTrouble(status)
        var parts: [String] = []
        if status.state != .running { parts.append(status.state == .starting ? "starting" : "stopping") }
        let lacksState = inboxes.contains { $0.paused?.reason == .missingState }
        if lacksState { parts.append("state folder missing") }
        if paused + requested > 0 {
            let which = requested == 0 ? "" : paused == 0 ? " by request" : ", \(grouped(requested)) of them by request"
            parts.append("\(grouped(paused + requested, "inbox", "inboxes")) paused\(which)")
        }
        if status.reload.state == .refused { parts.append("configuration refused") }
        if case let disks = status.lowDisks.count, disks > 0 { parts.append("\(grouped(disks, "disk")) nearly full") }
        if failed.count > 0 { parts.append("\(grouped(failed.count)) failed") }
        // The folders are missing with the state folder.
        if failed.unreadable > 0, !lacksState {
            parts.append("failed/ of \(grouped(failed.unreadable, "inbox", "inboxes")) cannot be read")
        }
        if blocked > 0 { parts.append("\(grouped(blocked)) blocked") }
        let stuck = inboxes.flatMap(\.waitingSources).filter(\.code.waitsForRoom)
        if !stuck.isEmpty {
            let codes = Set(stuck.map(\.code.rawValue)).sorted().joined(separator: ", ")
            parts.append("\(grouped(stuck.count)) waiting for room (\(codes))")
        }
        if status.hooks.lost > 0 { parts.append("\(grouped(status.hooks.lost, "hook event")) lost") }
        let lateHooks = inboxes.filter(\.hasLateHooks)
        if let oldest = lateHooks.compactMap(\.oldestHookSeconds).max() {
            let count = lateHooks.reduce(0) { $0 + $1.hooksWaiting }
            parts.append(
                "\(count == 1 ? "1 hook event waits" : "\(grouped(count)) hook events wait"), oldest \(span(oldest))")
        }
        if status.cache?.trouble != nil { parts.append("cache not used") }
        if failed.awaited > 0 {
            parts.append("looking into failed/ of \(grouped(failed.awaited, "inbox", "inboxes"))")
        }
        return parts
    }

    /// `4 min`: a glance, not a measurement.
    private static func span(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

extension StatusDocument.Inbox {
    /// Seconds that a hook may take, or its receiver may be away, before it is worth a look.
    private static let hookPatience = 300

    /// Some event has been waiting for its hook for too long.
    var hasLateHooks: Bool { (oldestHookSeconds ?? 0) >= Self.hookPatience }
}
