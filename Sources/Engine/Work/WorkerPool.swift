// Where workers come from: those that nobody needs at the moment, a few that were made ready while the program started,
// then new processes.
import CLinux
import Glibc
import Messages
import Pipeline
import Synchronization
import System

/// How a new worker process is started.
package struct WorkerCommand: Sendable {
    /// The program that has the worker subcommand: this one.
    package let executable: String
    package let arguments: [String]

    package init(executable: String = "/proc/self/exe", arguments: [String] = ["__worker"]) {
        self.executable = executable
        self.arguments = arguments
    }

    /// The few variables that a worker needs; none of the user's secrets.
    static var environment: [(name: String, value: String)] {
        let kept = [
            "PATH", "LD_LIBRARY_PATH", "VIPSHOME", "LIBHEIF_PLUGIN_PATH", "LSAN_OPTIONS", "TSAN_OPTIONS",
            "ASAN_OPTIONS",
        ]
        let passed = kept.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        // A crash is to be over at once: Swift's helper for backtraces would hold the socket open for as long as it
        // works.
        return passed + [("LC_ALL", "C.UTF-8"), ("SWIFT_BACKTRACE", "enable=no")]
    }
}

/// Gives out worker processes, and lends them: a thread that waits for a file system leaves its worker to the others.
package final class WorkerPool: Sendable {
    /// Also for others that start processes.
    let starter: ProcessStarter
    private let command: WorkerCommand
    private let spare: SpareWorker
    private let state: Mutex<State>

    /// `state`'s lock protects what is in here; what is taken out belongs to one thread until it is given back.
    private struct State: @unchecked Sendable {
        var ready: [WorkerProcess] = []
        /// The one that was in use last is at the end.
        var idle: [IdleWorker] = []
        /// How many are in use.
        var lent = 0
        /// How many of these are for one inbox alone.
        var lentApart = 0
        var most = Int.max
        /// The formats on request that were tried and can be read.
        var readable: Set<SourceFormat> = []

        /// The idle worker to lend; nil if a new one is better.
        func place(for kind: WorkerKind, last: ObjectIdentifier?) -> Int? {
            let right = idle.indices.filter { idle[$0].slot.serves(kind) }
            if let place = right.last(where: { ObjectIdentifier(idle[$0].slot) == last }) ?? right.last { return place }
            if let place = idle.lastIndex(where: { $0.slot.hasNoProcess }) { return place }
            // One that only lacks a module is replaced: nothing needs it beside the new one.
            let family = idle.indices.filter { idle[$0].slot.kind.isOfFamily(kind) }
            if let place = family.first(where: { ObjectIdentifier(idle[$0].slot) == last }) ?? family.first {
                return place
            }
            // So is one of another kind, the one that has been idle for the longest time, if there are as many as may
            // be. Those of one inbox alone count with those in use, and go first.
            let isolated = idle.firstIndex { $0.slot.kind.inbox != nil }
            if isolated != nil || kind.inbox != nil, idle.count + lent >= most { return isolated ?? idle.indices.first }
            return idle.count >= most ? idle.indices.first : nil
        }

        /// Takes out those that are idle and too many. If there is one of one inbox alone among them or among those in
        /// use, these count too.
        mutating func takeSurplus() -> [IdleWorker] {
            let isDivided = lentApart > 0 || idle.contains { $0.slot.kind.inbox != nil }
            let room = max(0, most - (isDivided ? lent : 0))
            return (0..<max(0, idle.count - room)).map { _ in
                idle.remove(at: idle.firstIndex { $0.slot.kind.inbox != nil } ?? 0)
            }
        }
    }

    private struct IdleWorker {
        let slot: WorkerSlot
        let since: Moment
        /// The processor time that the worker had taken at the last look.
        var processorSeconds: Double?

        /// The most that idle workers may take: their libraries tidy up after an answer.
        private static let mostMemory = 64 << 20
        private static let mostProcessorSeconds = 0.2

        init(_ slot: WorkerSlot) { (self.slot, since) = (slot, .now) }

        /// Whether the worker takes memory, or has taken processor time since the last look.
        mutating func isRestless() -> Bool {
            let (memory, seconds) = slot.spending
            defer { processorSeconds = seconds }
            return memory > Self.mostMemory
                || processorSeconds.map { seconds - $0 > Self.mostProcessorSeconds } ?? false
        }
    }

    /// - Parameter copies: how many workers to make ready now, by copying this process, and the life of each, which
    ///   returns its exit code. None if this process has several threads already, of which a copy would have one alone,
    ///   with locks that nobody opens.
    package init(
        _ command: WorkerCommand = WorkerCommand(), copies: (count: Int, serve: @Sendable () -> CInt)? = nil
    ) {
        let starter = ProcessStarter()
        self.starter = starter
        self.command = command
        spare = SpareWorker { () throws(SystemError) in try WorkerProcess(starter, command) }
        var state = State()
        if let copies {
            while state.ready.count < copies.count, clinux_thread_count() == 1,
                let process = try? WorkerProcess.forked(copies.serve)
            {
                state.ready.append(process)
            }
        }
        self.state = Mutex(state)
    }

    /// Those that are ready and were not lent yet.
    var readyCount: Int { state.withLock { $0.ready.count } }

    // MARK: - Lending

    /// A worker that nobody else has until it is given back: of the right kind if one is idle, of those the one that
    /// has been idle for the shortest time, since its memory is warm.
    /// - Parameter last: the one that the thread had last. The system keeps a thread and the process that it talks to
    ///   on one processor, so two threads that exchange their workers end up on one, and the other processor idles.
    func lend(_ kind: WorkerKind, _ cancellation: Cancellation, last: ObjectIdentifier?) -> WorkerSlot {
        let (found, surplus) = state.withLock { state in
            state.lent += 1
            if kind.inbox != nil { state.lentApart += 1 }
            let slot = state.place(for: kind, last: last).map { state.idle.remove(at: $0).slot }
            return Handed((slot, state.takeSurplus()))
        }.value
        // They end here, not under the lock, and before another one is started.
        withExtendedLifetime(surplus) {}
        let slot = found ?? WorkerSlot(self)
        slot.isApart = kind.inbox != nil
        slot.cancellation = cancellation
        return slot
    }

    func takeBack(_ slot: WorkerSlot) {
        let lent = Handed((slot, slot.isApart))
        let surplus = state.withLock { state in
            let (slot, isApart) = lent.value
            state.lent -= 1
            if isApart { state.lentApart -= 1 }
            state.idle.append(IdleWorker(slot))
            return Handed(state.takeSurplus())
        }
        withExtendedLifetime(surplus) {}
    }

    /// Ends the workers of one inbox alone that nobody has needed for so long.
    func endIsolated(idleFor time: Duration) {
        let end = Moment.now
        // They end here, not under the lock.
        let ended = state.withLock { state in
            let isOver = { (idle: IdleWorker) in idle.slot.kind.inbox != nil && idle.since + time <= end }
            defer { state.idle.removeAll(where: isOver) }
            return Handed(state.idle.filter(isOver))
        }
        withExtendedLifetime(ended) {}
    }

    /// Ends workers that do something though nobody asks them: a picture has taken them over. To be called every few
    /// seconds.
    /// - Returns: how many.
    func endRestless() -> Int {
        // They end here, not under the lock.
        let ended = state.withLock { state in
            let places = state.idle.indices.filter { state.idle[$0].isRestless() }
            defer { for place in places.reversed() { state.idle.remove(at: place) } }
            return Handed(places.map { state.idle[$0] })
        }
        return withExtendedLifetime(ended) { ended.value.count }
    }

    /// Notes that a format on request can be read.
    func noteReadable(_ format: SourceFormat) { state.withLock { _ = $0.readable.insert(format) } }

    func isReadable(_ format: SourceFormat) -> Bool { state.withLock { $0.readable.contains(format) } }

    /// Keeps no more workers than this that nobody needs.
    func limitIdle(to count: Int) { state.withLock { $0.most = count } }

    /// A new process is wanted again soon.
    func keepSpare() { spare.keep() }

    /// A new process.
    func start() throws(SystemError) -> WorkerProcess {
        if let process = state.withLock({ Handed($0.ready.popLast()) }).value ?? spare.take() { return process }
        return try WorkerProcess(starter, command)
    }

    /// Passes a worker from one thread to the next: it is out of `state` or on its way there, so only its single owner
    /// uses it.
    private struct Handed<Worker>: @unchecked Sendable {
        let value: Worker

        init(_ value: Worker) { self.value = value }
    }
}
