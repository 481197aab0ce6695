// A worker that is ready before it is wanted.
import Glibc
import Synchronization
import Testing

@testable import Engine
@testable import System

@Suite struct SpareWorkerTests {
    private final class Starts: Sendable {
        private let processes = Mutex<[pid_t]>([])
        private let starter = ProcessStarter()
        private let command = WorkerCommand(executable: "/bin/sh", arguments: ["-c", "exec sleep 600"])

        var all: [pid_t] { processes.withLock { $0 } }

        func start() throws(SystemError) -> WorkerProcess {
            let worker = try WorkerProcess(starter, command)
            processes.withLock { $0.append(worker.identifier) }
            return worker
        }
    }

    private func spare(_ starts: Starts, patience: Duration = .seconds(600)) -> SpareWorker {
        SpareWorker(patience: patience) { () throws(SystemError) in try starts.start() }
    }

    /// Waits until something is there.
    private func eventually<Value>(_ look: () -> Value?) throws -> Value {
        let end = Moment.now + .seconds(60)
        while Moment.now < end {
            if let value = look() { return value }
            usleep(2_000)
        }
        return try #require(look())
    }

    @Test func `there is none until one is wanted; then one is ready, and another one when it was taken`() throws {
        let starts = Starts()
        let spare = spare(starts)
        #expect(spare.take() == nil && starts.all.isEmpty)
        spare.keep()
        let first = try eventually { spare.take() }
        let second = try eventually { spare.take() }
        #expect(first.identifier != second.identifier)
        #expect(kill(first.identifier, 0) == 0 && kill(second.identifier, 0) == 0)
    }

    @Test func `one that nobody wants ends, and there is one again when it is wanted`() throws {
        let starts = Starts()
        let spare = spare(starts, patience: .milliseconds(300))
        spare.keep()
        let first = try eventually { starts.all.first }
        _ = try eventually { kill(first, 0) != 0 ? true : nil }
        #expect(spare.take() == nil)
        let second = try eventually {
            spare.keep()
            return spare.take()
        }
        #expect(second.identifier != first)
    }

    @Test func `there is one at a time, however often it is wanted`() throws {
        let starts = Starts()
        let spare = spare(starts)
        for _ in 0..<20 { spare.keep() }
        let first = try eventually { spare.take() }
        _ = try eventually { starts.all.count == 2 ? true : nil }
        for _ in 0..<20 { spare.keep() }
        usleep(50_000)
        #expect(starts.all.count == 2, "nobody has taken the second")
        withExtendedLifetime(first) {}
    }
}
