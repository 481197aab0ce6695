// The work of each lane, for the status and for the leases.
package import Pipeline
import Synchronization
package import System

/// A job that a lane works on.
package struct RunningJob: Sendable {
    package let job: JobID
    package let inbox: String
    package let path: BytePath
    /// `claim`, `render`, `publish`, …
    package let stage: String
    package let attempt: Int
    package let since = Moment.now

    init(_ job: Job, stage: String) {
        self.job = job.id
        inbox = job.inbox
        path = job.path
        self.stage = stage
        attempt = max(1, job.progress.attempts)
    }
}

/// The jobs and leases of the lanes. For any thread.
package final class LaneStatus: Sendable {
    private struct State {
        var running: [Int: RunningJob] = [:]
        var leases: [Int: [Lease]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    func note(_ lane: Int, _ job: RunningJob?) { state.withLock { $0.running[lane] = job } }

    /// The leases that a lane has; none once it has done with them.
    func hold(_ lane: Int, _ leases: [Lease]) { state.withLock { $0.leases[lane] = leases.isEmpty ? nil : leases } }

    /// In the order of the lanes.
    package var running: [RunningJob] { state.withLock { $0.running.sorted { $0.key < $1.key }.map(\.value) } }
    /// Every lease that a lane has.
    package var leases: [Lease] { state.withLock { $0.leases.values.flatMap { $0 } } }
}
