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

    /// - Parameters:
    ///   - failed: sources that are in a folder `failed/`; nil if no such folder could be read.
    ///   - lowDisks: how many disks are nearly full.
    init(_ status: StatusDocument, failed: Int?, lowDisks: Int = 0) {
        var parts = Self.troubles(status, failed: failed, lowDisks: lowDisks)
        let needsHelp = !parts.isEmpty
        if status.queue.depth > 0 {
            parts.append("\(status.queue.depth) queued")
            if let oldest = status.queue.oldestSeconds, oldest > 0 { parts.append("oldest \(Self.span(oldest))") }
        } else if !needsHelp {
            parts.append("nothing to do: \(counted(status.inboxes.count, "inbox", "inboxes")) watched")
        }
        level = Self.pausedByTrouble(status) > 0 ? .trouble : needsHelp ? .attention : .good
        sentence = parts.joined(separator: ", ")
    }

    private static func pausedByTrouble(_ status: StatusDocument) -> Int {
        status.inboxes.count { $0.state == .paused && $0.paused?.reason != .byRequest }
    }

    /// What somebody should look at, the worst first; nothing if all is well. Parameters as above.
    static func troubles(_ status: StatusDocument, failed: Int?, lowDisks: Int = 0) -> [String] {
        let inboxes = status.inboxes
        let blocked = inboxes.reduce(0) { $0 + $1.blocked }
        let requested = inboxes.count { $0.paused?.reason == .byRequest }
        let paused = pausedByTrouble(status)
        var parts: [String] = []
        if status.state != .running { parts.append(status.state == .starting ? "starting" : "stopping") }
        if inboxes.contains(where: { $0.paused?.reason == .missingState }) { parts.append("state folder missing") }
        if paused > 0 { parts.append("\(counted(paused, "inbox", "inboxes")) paused") }
        if requested > 0 { parts.append("\(requested) paused by request") }
        if status.reload.state == .refused { parts.append("configuration refused") }
        if lowDisks > 0 { parts.append("\(counted(lowDisks, "disk")) nearly full") }
        if let failed, failed > 0 { parts.append("\(failed) failed") }
        if failed == nil, !status.recentFailures.isEmpty { parts.append("some failed") }
        if blocked > 0 { parts.append("\(blocked) blocked") }
        if status.hooks.lost > 0 { parts.append("\(counted(status.hooks.lost, "hook event")) lost") }
        if status.cache?.trouble != nil { parts.append("cache not used") }
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
