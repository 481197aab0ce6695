// The activity of the drop folder since its start, counted as it happens.
import Engine
import Pipeline
import Synchronization
import System

/// Counts the jobs of a drop folder and remembers the latest results. For any thread.
final class Activity: DropFolderObserver {
    /// A source that is done, with what a page shows of it.
    struct Result: Sendable {
        let number: Int
        let inbox: String
        let path: BytePath
        let time: String
        let milliseconds: Int
        let renditions: [Rendition]
        let warnings: [Warning]
        /// The index of the smallest rendition that browsers show.
        let picture: Int?
    }

    struct Rendition: Sendable {
        let path: BytePath
        /// Nil for what browsers do not show.
        let type: String?
        let bytes: Int?
        let size: PixelSize
        let isAnimated: Bool
    }

    struct Warning: Encodable, Sendable {
        let code: String
        let message: String
    }

    struct Counts: Sendable {
        var done = 0
        var failed = 0
        var retried = 0
        /// By code, those that have failed for good.
        var failures: [FailureCode: Int] = [:]
        var renditions = 0
        var renditionBytes = 0
        /// When a source was last done, in milliseconds since 1970.
        var lastDone: Int?
        /// Events that were not delivered at an attempt, and those that never will be.
        var hooks = (postponed: 0, lost: 0)
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
        /// Sources that end in a second, lately; nil if too few did to tell.
        var endsPerSecond: Double?
    }

    private struct State {
        var inboxes: [String: Counts] = [:]
        var results: [Result] = []
        var nextNumber = 1
        var minutes = Minutes()
        var recent = RecentEnds()
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int
    private let changed: @Sendable (_ inbox: String) -> Void
    private static let mostResults = 24
    /// A browser is not sent more than that for a thumbnail.
    static let largestPicture = 1 << 20
    /// Renditions, and warnings, of one result that can be asked for.
    fileprivate static let mostRenditions = 50

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
        let time = clock()
        let minute = time / 60_000
        switch event {
        case .done(_, let report):
            state.withLock { state in
                state.inboxes[inbox, default: Counts()].add(report, at: time)
                state.recent.add(at: time)
                state.minutes.at(minute) { $0.done += 1 }
                state.results.insert(Result(state.nextNumber, inbox, report), at: 0)
                state.nextNumber += 1
                state.results = Array(state.results.prefix(Self.mostResults))
            }
        case .failed(_, _, let failure, _):
            state.withLock { state in
                state.inboxes[inbox, default: Counts()].failed += 1
                state.inboxes[inbox, default: Counts()].failures[failure.code, default: 0] += 1
                state.recent.add(at: time)
                state.minutes.at(minute) { $0.failed += 1 }
            }
            changed(inbox)
        case .postponed: state.withLock { $0.inboxes[inbox, default: Counts()].retried += 1 }
        case .hook(let news):
            state.withLock { state in
                switch news {
                case .postponed: state.inboxes[inbox, default: Counts()].hooks.postponed += 1
                case .lost(let loss): state.inboxes[inbox, default: Counts()].hooks.lost += loss.count
                }
            }
        case .note, .putBack, .paused, .resumed, .pausedByRequest, .staysPausedByRequest, .resumedByRequest, .recovered,
            .lost, .spool, .pruned, .trouble:
            break
        }
    }

    func noted(_ sentence: String) {}

    var snapshot: Snapshot {
        let time = clock()
        return state.withLock {
            Snapshot(
                inboxes: $0.inboxes, results: $0.results, minutes: $0.minutes.all(until: time / 60_000),
                endsPerSecond: $0.recent.perSecond(at: time))
        }
    }

    /// One of the latest results.
    func result(_ number: Int) -> Result? { state.withLock { $0.results.first { $0.number == number } } }
}

extension Activity.Counts {
    fileprivate mutating func add(_ report: SourceReport, at time: Int) {
        done += 1
        lastDone = time
        renditions += report.renditions.count
        renditionBytes += report.renditions.reduce(0) { $0 + ($1.bytes ?? 0) }
        let times = report.milliseconds
        for (stage, time) in [(Activity.Stage.wait, times.wait), (.render, times.render), (.publish, times.publish)] {
            durations[stage, default: Histogram()].add(milliseconds: time)
        }
    }
}

extension Activity.Result {
    fileprivate init(_ number: Int, _ inbox: String, _ report: SourceReport) {
        let times = report.milliseconds
        let renditions = report.renditions.prefix(Activity.mostRenditions).map {
            Activity.Rendition(
                path: $0.path,
                type: $0.format.declaration.isShownByBrowsers ? $0.format.declaration.mediaType : nil,
                bytes: $0.bytes, size: $0.size, isAnimated: $0.frames > 1)
        }
        let pictures = renditions.indices.filter {
            renditions[$0].type != nil && renditions[$0].bytes.map { $0 <= Activity.largestPicture } ?? false
        }
        self.init(
            number: number, inbox: inbox, path: report.source.path, time: timestamp(),
            milliseconds: times.wait + times.render + times.publish,
            renditions: renditions,
            warnings: report.warnings.prefix(Activity.mostRenditions).map {
                Activity.Warning(code: $0.code.rawValue, message: $0.message)
            },
            picture: pictures.min { renditions[$0].bytes! < renditions[$1].bytes! })
    }
}

/// How many sources have ended in the last five minutes, by which an end of the queue is foretold.
private struct RecentEnds {
    private static let slot = 5_000
    private static let slots = 60
    private static let fewest = 5
    /// By their numbers since 1970.
    private var counts: [Int: Int] = [:]

    mutating func add(at time: Int) {
        counts[time / Self.slot, default: 0] += 1
        if counts.count > 2 * Self.slots { counts = counts.filter { $0.key > time / Self.slot - Self.slots } }
    }

    /// From the first end that counts to now, so that a flow that has just begun is not taken for a slow one.
    func perSecond(at time: Int) -> Double? {
        let recent = counts.filter { $0.key > time / Self.slot - Self.slots && $0.key <= time / Self.slot }
        let total = recent.values.reduce(0, +)
        guard total >= Self.fewest, let first = recent.keys.min() else { return nil }
        return Double(total) / (Double(max(Self.slot, time - first * Self.slot)) / 1000)
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
