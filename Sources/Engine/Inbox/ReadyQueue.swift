// Where inboxes put what is ready, and lanes take it from.

extension ReadySource: Comparable {
    /// In the order of first sight.
    package static func < (left: ReadySource, right: ReadySource) -> Bool { left.order < right.order }
}

/// What is ready in all inboxes. Taking waits, and blocks the thread.
package final class ReadyQueue: Sendable {
    private struct State {
        var queue = FairQueue<ReadySource>()
        var isClosed = false
    }

    private let state = Monitor(State())

    package init() {}

    package func setInbox(_ name: String, priority: Int) { state.change { $0.queue.setLane(name, weight: priority) } }

    /// Nothing is given out of this inbox until it is resumed; what is ready stays ready.
    package func pause(_ inbox: String) { state.change { $0.queue.setLane(inbox, isOpen: false) } }
    package func resume(_ inbox: String) { state.change { $0.queue.setLane(inbox, isOpen: true) } }

    package func removeInbox(_ name: String) { state.change { $0.queue.removeLane(name) } }

    package func add(_ sources: [ReadySource]) {
        state.change { state in
            for source in sources { state.queue.add(source, to: source.inbox) }
        }
    }

    package func count(of inbox: String) -> Int { state.change { $0.queue.count(in: inbox) } }

    /// The next source of the inbox whose turn it is; nil once the queue is closed.
    package func take() -> ReadySource? {
        let taken: ReadySource?? = state.wait { state in
            if state.isClosed { return .some(nil) }
            return state.queue.take().map { .some($0) }
        }
        return taken ?? nil
    }

    /// The same without waiting; nil where nothing is ready.
    package func takeNow() -> ReadySource? { state.change { $0.isClosed ? nil : $0.queue.take() } }

    /// Nobody gets anything from now on. What is ready stays in its inbox, where the next start finds it.
    package func close() { state.change { $0.isClosed = true } }
}
