// Where workers come from: those that nobody needs at the moment, a few that were made ready while the program started, then new processes.
import CLinux
import Synchronization

/// How a new worker process is started.
package struct WorkerCommand: Sendable {
    /// The program that has the worker subcommand: this one.
    package let executable: String
    package let arguments: [String]

    package init(executable: String = "/proc/self/exe", arguments: [String] = ["__worker"]) {
        self.executable = executable
        self.arguments = arguments
    }
}

/// Gives out worker processes, and lends them: a thread that waits for a file system leaves its worker to the others.
package final class WorkerPool: Sendable {
    private let starter: WorkerStarter
    private let state: Mutex<State>

    /// `state`'s lock protects what is in here; what is taken out belongs to one thread until it is given back.
    private struct State: @unchecked Sendable {
        var ready: [WorkerProcess] = []
        /// The one that was in use last is at the end.
        var idle: [WorkerSlot] = []
        var mostIdle = Int.max
    }

    /// - Parameter ready: how many workers to make ready now, by copying this process. None where it has several threads already, of
    ///   which a copy would have one alone, with locks that nobody opens.
    package init(_ command: WorkerCommand = WorkerCommand(), ready count: Int = 0) {
        starter = WorkerStarter(command)
        var state = State()
        while state.ready.count < count, clinux_thread_count() == 1, let process = try? WorkerProcess.forked() { state.ready.append(process) }
        self.state = Mutex(state)
    }

    // MARK: - Lending

    /// A worker that nobody else has until it is given back.
    /// - Parameter last: the one that the thread had last. The system keeps a thread and the process that it talks to on one processor, so two threads
    ///   that exchange their workers end up on one, and the other processor idles.
    func lend(_ cancellation: Cancellation, last: ObjectIdentifier?) -> WorkerSlot {
        let slot =
            state.withLock { state in
                let own = state.idle.lastIndex { ObjectIdentifier($0) == last }
                // Otherwise the one that has been idle for the shortest time: its memory is warm.
                return Handed(own.map { state.idle.remove(at: $0) } ?? state.idle.popLast())
            }.value ?? WorkerSlot(self)
        slot.cancellation = cancellation
        return slot
    }

    func takeBack(_ slot: WorkerSlot) {
        let lent = Handed(slot)
        state.withLock { state in
            // Those beyond end with their slots.
            if let slot = lent.value, state.idle.count < state.mostIdle { state.idle.append(slot) }
        }
    }

    /// Keeps no more workers than this that nobody needs.
    func limitIdle(to count: Int) { state.withLock { $0.mostIdle = count } }

    /// Sees to it that workers can be started whatever happens to file systems of which files are opened from now on.
    func prepareToStart() throws(SystemError) { try starter.prepare() }

    /// A new process.
    func start() throws(SystemError) -> WorkerProcess {
        if let process = state.withLock({ Handed($0.ready.popLast()) }).value { return process }
        return try WorkerProcess(starter)
    }

    /// Passes a worker from one thread to the next: it is out of `state` or on its way there, so only its single owner uses it.
    private struct Handed<Worker>: @unchecked Sendable {
        let value: Worker?

        init(_ value: Worker?) { self.value = value }
    }
}
