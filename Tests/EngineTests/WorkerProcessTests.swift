// The supervisor's side of a worker that dies, hangs or is not there.
import Glibc
import Pipeline
import Testing

@testable import Engine

@Suite struct WorkerProcessTests {
    private func shell(_ line: String) -> WorkerCommand { WorkerCommand(executable: "/bin/sh", arguments: ["-c", line]) }

    private func loss(_ command: WorkerCommand, seconds: Double = 20, _ cancellation: Cancellation = Cancellation()) throws -> WorkerLoss? {
        let worker = try WorkerProcess(command)
        let loss = #expect(throws: WorkerLoss.self) {
            try worker.ask(.probe(.jpeg), files: [], withinSeconds: seconds, cancellation: cancellation)
        }
        #expect(kill(worker.identifier, 0) != 0, "the process still runs")
        return loss
    }

    @Test("A worker that ends is told with its code and its last words")
    func exits() throws {
        #expect(try loss(shell("head -c 4 > /dev/null; echo oh no >&2; exit 3")) == .died(how: "ended with code 3", words: "oh no\n"))
    }

    @Test("A worker that a signal ends is told with the signal")
    func signalled() throws {
        #expect(try loss(shell("kill -SEGV $$")) == .died(how: "ended by signal 11 (Segmentation fault)", words: ""))
    }

    @Test("A worker that crashes is not held up by Swift's helper for backtraces")
    func noBacktrace() throws {
        #expect(try loss(shell("echo $SWIFT_BACKTRACE >&2; exit 3")) == .died(how: "ended with code 3", words: "enable=no\n"))
    }

    @Test("A worker that hangs is killed at its deadline")
    func hangs() throws {
        let start = ContinuousClock.now
        #expect(try loss(shell("exec sleep 60"), seconds: 0.3) == .timedOut)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test("A cancellation kills a worker at once")
    func cancelled() throws {
        let cancellation = Cancellation()
        runOnNewThread {
            usleep(100_000)
            cancellation.raise()
        }
        let start = ContinuousClock.now
        #expect(try loss(shell("exec sleep 60"), cancellation) == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    private func loss(_ command: WorkerCommand, _ cancellation: Cancellation) throws -> WorkerLoss? {
        try loss(command, seconds: 20, cancellation)
    }

    @Test("A worker that talks nonsense is killed")
    func babbles() throws {
        #expect(try loss(shell("printf '\\377\\377\\377\\377' >&0; exec sleep 60")) == .confused("a message of 4294967295 bytes"))
    }

    @Test("A program that is not there is an error of the system")
    func missing() {
        let error = #expect(throws: SystemError.self) { try WorkerProcess(WorkerCommand(executable: "/nowhere/imagemill")) }
        #expect(error?.description == "cannot start a worker process: No such file or directory")
    }
}
