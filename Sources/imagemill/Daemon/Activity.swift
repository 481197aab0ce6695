// What the drop folder has done since its start, counted as it happens.
import Engine
import Pipeline
import Synchronization

/// Counts the jobs of a drop folder and remembers the latest results. For any thread.
final class Activity: DropFolderObserver {
    /// A source that is done, with what a page shows of it.
    struct Result: Sendable {
        let number: Int
        let inbox: String
        let path: BytePath
        let time: String
        let milliseconds: Int
        let renditions: Int
        let warnings: Int
        /// The smallest rendition that browsers show.
        let picture: (path: BytePath, type: String)?
    }

    struct Counts: Sendable {
        var done = 0
        var failed = 0
        var retried = 0
        var durations: [Stage: Histogram] = [:]
    }

    /// The stages of the flow whose time is measured.
    enum Stage: String, CaseIterable, Sendable { case wait, render, publish }

    struct Minute: Codable, Equatable, Sendable {
        var done = 0
        var failed = 0
    }

    struct Snapshot: Sendable {
        var inboxes: [String: Counts] = [:]
        var results: [Result] = []
        /// The last hour, a minute each; the present one is the last.
        var minutes: [Minute] = []
    }

    private struct State {
        var inboxes: [String: Counts] = [:]
        var results: [Result] = []
        var nextNumber = 1
        var minutes = Minutes()
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int
    private let changed: @Sendable (_ inbox: String) -> Void
    private static let mostResults = 24
    /// A browser is not sent more than that for a thumbnail.
    static let largestPicture = 1 << 20

    /// - Parameters:
    ///   - clock: milliseconds since 1970.
    ///   - changed: a source went to `failed/`.
    init(
        clock: @escaping @Sendable () -> Int = wallClock,
        failed changed: @escaping @Sendable (_ inbox: String) -> Void = { _ in }
    ) {
        (self.clock, self.changed) = (clock, changed)
    }

    func happened(_ event: DropFolderEvent, inbox: String) {
        let minute = clock() / 60_000
        switch event {
        case .done(_, let report):
            state.withLock { state in
                state.inboxes[inbox, default: Counts()].add(report)
                state.minutes.at(minute) { $0.done += 1 }
                state.results.insert(Result(state.nextNumber, inbox, report), at: 0)
                state.nextNumber += 1
                state.results = Array(state.results.prefix(Self.mostResults))
            }
        case .failed:
            state.withLock { state in
                state.inboxes[inbox, default: Counts()].failed += 1
                state.minutes.at(minute) { $0.failed += 1 }
            }
            changed(inbox)
        case .postponed: state.withLock { $0.inboxes[inbox, default: Counts()].retried += 1 }
        case .note, .putBack, .paused, .resumed, .recovered, .lost, .spool, .pruned, .hook, .trouble: break
        }
    }

    func noted(_ sentence: String) {}

    var snapshot: Snapshot {
        let minute = clock() / 60_000
        return state.withLock {
            Snapshot(inboxes: $0.inboxes, results: $0.results, minutes: $0.minutes.all(until: minute))
        }
    }

    /// One of the latest results.
    func result(_ number: Int) -> Result? { state.withLock { $0.results.first { $0.number == number } } }
}

extension Activity.Counts {
    fileprivate mutating func add(_ report: SourceReport) {
        done += 1
        let times = report.milliseconds
        for (stage, time) in [(Activity.Stage.wait, times.wait), (.render, times.render), (.publish, times.publish)] {
            durations[stage, default: Histogram()].add(milliseconds: time)
        }
    }
}

extension Activity.Result {
    fileprivate init(_ number: Int, _ inbox: String, _ report: SourceReport) {
        let times = report.milliseconds
        let pictures = report.renditions.compactMap { entry in entry.format.mediaType.map { (entry, $0) } }
        let smallest = pictures.filter { $0.0.bytes != nil }.min { $0.0.bytes! < $1.0.bytes! }
        let picture = smallest.flatMap { $0.0.bytes! <= Activity.largestPicture ? (path: $0.0.path, type: $0.1) : nil }
        self.init(
            number: number, inbox: inbox, path: report.source.path, time: timestamp(),
            milliseconds: times.wait + times.render + times.publish,
            renditions: report.renditions.count, warnings: report.warnings.count, picture: picture)
    }
}

extension OutputFormat {
    /// Nil for what browsers do not show.
    fileprivate var mediaType: String? {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .webp: "image/webp"
        case .avif: "image/avif"
        case .gif: "image/gif"
        case .tiff: nil
        }
    }
}

/// The minutes of the last hour.
private struct Minutes {
    private static let count = 60
    private var entries: [Int: Activity.Minute] = [:]

    mutating func at(_ minute: Int, _ body: (inout Activity.Minute) -> Void) {
        body(&entries[minute, default: Activity.Minute()])
        if entries.count > 2 * Self.count { entries = entries.filter { $0.key > minute - Self.count } }
    }

    func all(until minute: Int) -> [Activity.Minute] {
        ((minute - Self.count + 1)...minute).map { entries[$0] ?? Activity.Minute() }
    }
}
