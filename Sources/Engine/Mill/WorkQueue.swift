// Where inboxes put what is ready, and lanes take it from.

/// Something to do for an inbox.
enum InboxWork: Sendable, Comparable {
    /// A job that was begun before: these come first, the oldest before the others.
    case standing(MillJob)
    case ready(ReadySource)

    static func < (left: InboxWork, right: InboxWork) -> Bool {
        switch (left, right) {
        case (.standing(let left), .standing(let right)): left.id < right.id
        case (.standing, .ready): true
        case (.ready, .standing): false
        // In the order of first sight.
        case (.ready(let left), .ready(let right)): left.order < right.order
        }
    }

    static func == (left: InboxWork, right: InboxWork) -> Bool { !(left < right) && !(right < left) }

    /// Bytes of the source.
    var bytes: Int {
        switch self {
        case .standing(let job): job.observed.bytes
        case .ready(let source): source.sighting.bytes
        }
    }

    /// Several that are like this one can share their syncs. What was begun before is done alone: it may be what took the program down.
    fileprivate var isLight: Bool {
        guard case .ready(let source) = self else { return false }
        return !source.isSet && bytes <= 256 << 10
    }
}

/// What is ready in all inboxes. Taking waits, and blocks the thread.
final class WorkQueue: Sendable {
    private struct State {
        var queue = FairQueue<InboxWork>()
        var isClosed = false
        /// How many came when, for each inbox, without those that were taken.
        var arrivals: [String: [(time: Moment, count: Int)]] = [:]

        mutating func take() -> InboxWork? {
            let work = queue.take()
            if case .ready(let source)? = work, arrivals[source.inbox]?.isEmpty == false {
                arrivals[source.inbox]![0].count -= 1
                if arrivals[source.inbox]![0].count == 0 { arrivals[source.inbox]!.removeFirst() }
            }
            return work
        }
    }

    private let state = Monitor(State())

    func setInbox(_ key: String, priority: Int) { state.change { $0.queue.setLane(key, weight: priority) } }

    /// Nothing is given out of this inbox until it is resumed; what is ready stays ready.
    func pause(_ key: String) { state.change { $0.queue.setLane(key, isOpen: false) } }
    func resume(_ key: String) { state.change { $0.queue.setLane(key, isOpen: true) } }

    /// Lets go of an inbox with all that waits in it.
    func removeInbox(_ key: String) {
        state.change { state in
            state.queue.removeLane(key)
            state.arrivals[key] = nil
        }
    }

    /// Forgets what an inbox has offered: its watcher is another one now, which offers it anew.
    func removeOffers(of key: String) {
        state.change { state in
            state.queue.filter(lane: key) { if case .standing = $0 { true } else { false } }
            state.arrivals[key] = nil
        }
    }

    /// - Parameter sources: of one inbox.
    func add(_ sources: [ReadySource]) {
        state.change { state in
            guard let key = sources.first?.inbox else { return }
            state.arrivals[key, default: []].append((.now, sources.count))
            for source in sources { state.queue.add(.ready(source), to: key) }
        }
    }

    func add(_ job: MillJob, to key: String) { state.change { $0.queue.add(.standing(job), to: key) } }

    /// When the oldest came that waits for its claim; nil where none does. They are taken in the order of first sight, so this is nearly exact.
    func oldest(of key: String) -> Moment? { state.change { $0.arrivals[key]?.first?.time } }

    /// The next work of the inbox whose turn it is; nil once the queue is closed.
    func take() -> InboxWork? { take(atMost: 1, leaving: 0).first }

    /// The next work, and where it is light, more of that kind, so that their syncs can be shared.
    /// - Parameter rest: how much to leave for other lanes.
    /// - Returns: nothing once the queue is closed.
    func take(atMost limit: Int, leaving rest: Int) -> [InboxWork] {
        state.wait { state in
            if state.isClosed { return [] }
            guard let first = state.take() else { return nil }
            var taken = [first]
            while taken.count < limit, taken.last?.isLight == true, state.queue.count > rest, let next = state.take() { taken.append(next) }
            return taken
        }
    }

    /// Nobody gets anything from now on. What is ready stays in its inbox, where the next start finds it.
    func close() { state.change { $0.isClosed = true } }
}
