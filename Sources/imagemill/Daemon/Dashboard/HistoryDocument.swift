// The history of each inbox in the last week, as the dashboard draws it.
import Engine
import System

/// The last week by hours. Internal to one version, as `DashboardDocument`.
struct HistoryDocument: Encodable, Sendable {
    /// The last 168 hours; the present one is the last.
    struct Inbox: Encodable, Sendable {
        var done = [Int](repeating: 0, count: HistoryDocument.hours)
        var failed = [Int](repeating: 0, count: HistoryDocument.hours)
    }

    static let hours = 7 * 24

    /// When the present hour began.
    var hour: String
    var inboxes: [String: Inbox] = [:]

    /// - Parameter now: in milliseconds since 1970.
    init(_ history: [HistoryHour], now: Int) {
        let present = now / 3_600_000
        hour = timestamp(milliseconds: present * 3_600_000)
        for entry in history {
            let index = entry.hour - present + Self.hours - 1
            guard (0..<Self.hours).contains(index) else { continue }
            inboxes[entry.inbox, default: Inbox()].done[index] += entry.done
            inboxes[entry.inbox, default: Inbox()].failed[index] += entry.failed
        }
    }
}
