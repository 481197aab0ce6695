// The supervisor's side of a worker that dies, hangs or is not there.
import Foundation
import Glibc
import Pipeline
import Synchronization
import Testing

@testable import Engine
@testable import Messages
@testable import System

@Suite struct WorkerProcessTests {
    private func shell(_ line: String) -> WorkerCommand {
        WorkerCommand(executable: "/bin/sh", arguments: ["-c", line])
    }

    private func loss(_ command: WorkerCommand, seconds: Double = 20, _ cancellation: Cancellation = Cancellation())
        throws -> WorkerLoss?
    {
        let worker = try WorkerProcess(ProcessStarter(), command)
        let loss = #expect(throws: WorkerLoss.self) {
            try worker.ask(
                WorkerQuestion(.probe(.jpeg)), within: TimeBound(seconds: seconds), cancellation: cancellation)
        }
        #expect(isGone(worker), "the process still runs")
        return loss
    }

    /// Waits a while: on a busy machine it is collected in the background.
    private func isGone(_ worker: WorkerProcess) -> Bool {
        let end = SuspendingClock.now + .seconds(20)
        while kill(worker.identifier, 0) == 0, .now < end { usleep(5_000) }
        return kill(worker.identifier, 0) != 0
    }

    @Test func `a worker that ends is reported with its code and its last words`() throws {
        #expect(
            try loss(shell("head -c 4 > /dev/null; echo oh no >&2; exit 3"))
                == .died(how: "ended with code 3", words: "oh no\n"))
    }

    @Test func `a worker that a signal ends is reported with the signal`() throws {
        #expect(try loss(shell("kill -SEGV $$")) == .died(how: "ended by signal 11 (Segmentation fault)", words: ""))
    }

    @Test func `a worker that crashes is not held up by Swift's helper for backtraces`() throws {
        #expect(
            try loss(shell("echo $SWIFT_BACKTRACE >&2; exit 3"))
                == .died(how: "ended with code 3", words: "enable=no\n"))
    }

    @Test func `a worker that hangs is killed at its deadline`() throws {
        let start = SuspendingClock.now
        #expect(try loss(shell("exec sleep 60"), seconds: 0.3) == .timedOut(TimeBound(seconds: 0.3).overrun))
        #expect(SuspendingClock.now - start < .seconds(40))
    }

    /// A picture once failed for good because somebody had stopped its worker.
    @Test(arguments: [0.5, 60])
    func `a worker that a signal has stopped is given up, and its time is not to blame`(seconds: Double) throws {
        let start = SuspendingClock.now
        #expect(try loss(shell("kill -STOP $$; exec sleep 60"), seconds: seconds) == .stopped)
        #expect(SuspendingClock.now - start < .seconds(50))
    }

    @Test func `a worker that takes more processor time than it may is killed long before its deadline`() throws {
        var limits = Limits()
        limits.maximumProcessorMilliseconds = 200
        limits.maximumMilliseconds = 600_000
        let bound = TimeBound(limits, pixelSeconds: 0.1)
        let worker = try WorkerProcess(ProcessStarter(), shell("while :; do :; done"))
        let loss = #expect(throws: WorkerLoss.self) {
            try worker.ask(WorkerQuestion(.probe(.jpeg)), within: bound, cancellation: Cancellation())
        }
        #expect(loss == .timedOut(bound.processorOverrun))
        #expect(isGone(worker), "the process still runs")
    }

    @Test func `a cancellation kills a worker at once`() throws {
        let cancellation = Cancellation()
        runOnNewThread {
            usleep(100_000)
            cancellation.raise()
        }
        let start = SuspendingClock.now
        #expect(try loss(shell("exec sleep 60"), cancellation) == .cancelled)
        #expect(SuspendingClock.now - start < .seconds(40))
    }

    private func loss(_ command: WorkerCommand, _ cancellation: Cancellation) throws -> WorkerLoss? {
        try loss(command, seconds: 20, cancellation)
    }

    @Test func `a worker that talks nonsense is killed`() throws {
        #expect(
            try loss(shell("printf '\\377\\377\\377\\377' >&0; exec sleep 60"))
                == .confused("a message of 4294967295 bytes"))
    }

    @Test func `a program that is not there is an error of the system`() {
        let error = #expect(throws: SystemError.self) {
            try WorkerProcess(ProcessStarter(), WorkerCommand(executable: "/nowhere/imagemill"))
        }
        #expect(error?.description == "cannot start a worker process: No such file or directory")
    }

    @Test
    func `a worker that reads nothing is killed at the deadline, and by a cancellation, during a long message`() throws
    {
        let message = PipelineMessage(
            id: 1, name: "p.yaml", text: String(repeating: "#", count: 4 << 20), assets: [], limits: Limits())
        for isCancelled in [false, true] {
            let worker = try WorkerProcess(ProcessStarter(), shell("exec sleep 60"))
            let cancellation = Cancellation()
            if isCancelled {
                runOnNewThread {
                    usleep(200_000)
                    cancellation.raise()
                }
            }
            let start = SuspendingClock.now
            #expect(throws: isCancelled ? WorkerLoss.cancelled : .timedOut(TimeBound(seconds: 0.3).overrun)) {
                try worker.ask(
                    WorkerQuestion(.prepare(message)), within: TimeBound(seconds: isCancelled ? 20 : 0.3),
                    cancellation: cancellation)
            }
            #expect(SuspendingClock.now - start < .seconds(40))
        }
    }

    /// A worker that asks for members for ever, and reads nothing.
    private static let beggar = """
        import socket, struct
        us = socket.socket(fileno=0)
        body = struct.pack("<Q", 11) + b"needsMember" + bytes(8)
        while True:
            us.sendall(struct.pack("<I", len(body)) + body)
        """

    @Test(arguments: [0, 1, 3, 1_000_000])
    func `a worker that asks for members for ever is stopped when it has had them all`(mostRequests: Int) throws {
        let worker = try WorkerProcess(
            ProcessStarter(), WorkerCommand(executable: "/usr/bin/python3", arguments: ["-c", Self.beggar]))
        let count = Mutex(0)
        let access = MemberAccess(count: min(1, mostRequests), mostRequests: mostRequests) { _ in
            count.withLock { $0 += 1 }
            return nil
        }
        let start = SuspendingClock.now
        let loss = #expect(throws: WorkerLoss.self) {
            try worker.ask(
                WorkerQuestion(.probe(.jpeg), members: access), within: TimeBound(seconds: 2),
                cancellation: Cancellation())
        }
        #expect(SuspendingClock.now - start < .seconds(40))
        let opened = count.withLock { $0 }
        switch mostRequests {
        case 0: #expect(loss == .confused("it asked for a member that the set does not have") && opened == 0)
        case 1, 3: #expect(loss == .confused("it asked for more members than the set has") && opened == mostRequests)
        // The bound is out of reach; it is the deadline that ends this.
        default: #expect(loss == .timedOut(TimeBound(seconds: 2).overrun))
        }
    }

    enum Ending: CaseIterable { case silence, cancellation, deadline }

    @Test(arguments: Ending.allCases)
    func `nobody waits for a member on a file system that does not answer`(ending: Ending) throws {
        let worker = try python(Self.beggar)
        let isOver = Monitor(false)
        defer { isOver.change { $0 = true } }
        let cancellation = Cancellation()
        let access = MemberAccess(count: 1, mostRequests: 9) { _ in
            if ending == .cancellation { cancellation.raise() }
            isOver.wait { $0 ? () : nil }
            return nil
        }
        let time = TimeBound(seconds: ending == .deadline ? 0.5 : 40)
        let start = SuspendingClock.now
        let loss: WorkerLoss =
            switch ending {
            case .silence: .silenced
            case .cancellation: .cancelled
            case .deadline: .timedOut(time.overrun)
            }
        #expect(throws: loss) {
            try worker.ask(
                WorkerQuestion(.probe(.jpeg), members: access), within: time, cancellation: cancellation,
                isSilent: { ending == .silence && .now - start > .milliseconds(200) })
        }
        #expect(.now - start < .seconds(20))
        #expect(isGone(worker))
    }

    private func python(_ program: String) throws -> WorkerProcess {
        try WorkerProcess(ProcessStarter(), WorkerCommand(executable: "/usr/bin/python3", arguments: ["-c", program]))
    }

    /// Workers that never fall silent: one drips its answer, one asks for members without end, one reads slowly.
    private static let talkers = [
        "drips": """
        threading.Thread(target=read, daemon=True).start()
        us.sendall(struct.pack("<I", 1 << 20))
        while True: us.sendall(b"x"); time.sleep(0.001)
        """,
        "begs": """
        threading.Thread(target=read, daemon=True).start()
        body = struct.pack("<Q", 11) + b"needsMember" + bytes(8)
        while True: us.sendall(struct.pack("<I", len(body)) + body); time.sleep(0.001)
        """,
        "reads slowly": "while True: us.recv(100); time.sleep(0.001)",
    ]

    /// A worker that does something, and then talks without end.
    private func talker(_ kind: String, after work: String) throws -> WorkerProcess {
        try python(
            """
            import socket, struct, threading, time
            us = socket.socket(fileno=0)
            us.recv(4)
            def read():
                while True: us.recv(65536)
            def spin():
                while True: pass

            """ + work + "\n" + (Self.talkers[kind] ?? ""))
    }

    private func ask(_ worker: WorkerProcess, within time: TimeBound, growth: Int?) throws {
        let message = PipelineMessage(
            id: 1, name: "p.yaml", text: String(repeating: "#", count: 4 << 20), assets: [], limits: Limits())
        _ = try worker.ask(
            WorkerQuestion(.prepare(message), members: MemberAccess(count: 1, mostRequests: .max) { _ in nil }),
            within: time, growth: growth, cancellation: Cancellation())
    }

    @Test(arguments: ["drips", "begs", "reads slowly"])
    func `a worker's memory is watched while it talks`(kind: String) throws {
        let worker = try talker(kind, after: "memory = b'x' * (300 << 20)")
        #expect(throws: WorkerLoss.outgrown(100 << 20)) {
            try ask(worker, within: TimeBound(seconds: 20), growth: 100 << 20)
        }
    }

    @Test(arguments: ["drips", "begs", "reads slowly"])
    func `a worker's processor time is counted while it talks`(kind: String) throws {
        let worker = try talker(kind, after: "threading.Thread(target=spin, daemon=True).start()")
        var limits = Limits()
        (limits.maximumProcessorMilliseconds, limits.maximumMilliseconds) = (500, 20_000)
        let bound = TimeBound(limits, pixelSeconds: 0.1)
        #expect(throws: WorkerLoss.timedOut(bound.processorOverrun)) { try ask(worker, within: bound, growth: nil) }
    }

    @Test func `what a worker writes to its errors is bounded`() throws {
        #expect(
            try loss(shell("head -c 65536 /dev/zero >&2 && ! printf x >&2 && exit 3"))
                == .died(how: "ended with code 3", words: String(repeating: "\0", count: 2000)))
    }

    @Test func `the last words of a worker are those since its last answer`() throws {
        let worker = try python(
            """
            import socket, struct, sys
            us = socket.socket(fileno=0)
            for words in ("a much longer line than the other", "the last"):
                us.recv(1000)
                print(words, file=sys.stderr, flush=True)
                if words == "the last": sys.exit(3)
                body = struct.pack("<Q", 8) + b"readable" + b"\\1"
                us.sendall(struct.pack("<I", len(body)) + body)
            """)
        let ask = {
            try worker.ask(
                WorkerQuestion(.tryReading(.jpeg)), within: TimeBound(seconds: 30), cancellation: Cancellation())
        }
        #expect(try ask().isReadable())
        let loss = #expect(throws: WorkerLoss.self) { _ = try ask() }
        #expect(loss == .died(how: "ended with code 3", words: "the last\n"))
    }

    @Test
    func `a worker that the system kills is told from one that crashes, and from one that is killed from here`() throws
    {
        #expect(try loss(shell("kill -KILL $$")) == .killed)
        #expect(try loss(shell("exec sleep 60"), seconds: 0.2) == .timedOut(TimeBound(seconds: 0.2).overrun))
        // Closes its socket and goes on: it has to be killed from here.
        let loss = try loss(shell("exec <&-; exec 0</dev/null; sleep 60"))
        #expect(loss == .died(how: "closed its socket and was stopped", words: ""))
    }

    /// A worker that another process traces for a few seconds: until that one ends, nobody else hears of the worker's
    /// end, as if the system did not let it go.
    private static let held = """
        import ctypes, os, time
        libc = ctypes.CDLL(None)
        libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
        worker = os.getpid()
        if os.fork() == 0:
            libc.ptrace(0x4206, worker, None, None)
            time.sleep(5)
            os._exit(0)
        time.sleep(60)
        """

    @Test func `a worker that the system does not let go after its death holds up nobody, and is collected later`()
        throws
    {
        let worker = try python(Self.held)
        let status = "/proc/\(worker.identifier)/status"
        let end = SuspendingClock.now + .seconds(20)
        while try String(contentsOfFile: status, encoding: .utf8).contains("TracerPid:\t0\n"), .now < end {
            usleep(10_000)
        }
        let start = SuspendingClock.now
        #expect(throws: WorkerLoss.timedOut(TimeBound(seconds: 0.2).overrun)) {
            try worker.ask(
                WorkerQuestion(.probe(.jpeg)), within: TimeBound(seconds: 0.2), cancellation: Cancellation())
        }
        #expect(SuspendingClock.now - start < .seconds(3))
        #expect(kill(worker.identifier, 0) == 0, "the system has let it go")
        while kill(worker.identifier, 0) == 0, .now < end { usleep(10_000) }
        #expect(kill(worker.identifier, 0) != 0, "nobody has collected it")
    }

    @Test func `a worker's memory is watched while it learns a pipeline and while it tries a format`() throws {
        let greedy = "import time; memory = b'x' * (700 << 20); time.sleep(20)"
        let pool = WorkerPool(WorkerCommand(executable: "/usr/bin/python3", arguments: ["-c", greedy]))
        #expect(throws: WorkerLoss.outgrown(512 << 20)) { try WorkerSlot(pool).canRead(.svg, WorkerKind()) }
        let pipeline = try LoadedPipeline(path: "p.yaml", text: "renditions: { a: { save: { format: png } } }")
        #expect(throws: WorkerLoss.outgrown(512 << 20)) {
            try WorkerSlot(pool).prepare(pipeline, limits: Limits(), kind: WorkerKind())
        }
    }

    /// A pool with one idle worker that was asked once, and has done something since.
    private func idle(_ work: String) throws -> WorkerPool {
        let body = try MessageCoding.bytes(of: Reply.readable(true))
        let program = """
            import socket, struct, time
            us = socket.socket(fileno=0)
            us.recv(1000)
            body = bytes(\(body))
            us.sendall(struct.pack("<I", len(body)) + body)
            time.sleep(0.1)
            \(work)
            time.sleep(30)
            """
        let pool = WorkerPool(WorkerCommand(executable: "/usr/bin/python3", arguments: ["-c", program]))
        let slot = pool.lend(WorkerKind(), Cancellation(), last: nil)
        #expect(try slot.canRead(.svg, WorkerKind()))
        pool.takeBack(slot)
        return pool
    }

    @Test(arguments: ["memory = b'x' * (200 << 20)", "while True: pass"])
    func `an idle worker that takes memory or processor time is ended`(work: String) throws {
        let pool = try idle(work)
        let end = SuspendingClock.now + .seconds(20)
        var count = 0
        // A busy machine gives it little time: the looks are further and further apart.
        var pause: useconds_t = 300_000
        while count == 0, .now < end {
            count = pool.endRestless()
            usleep(pause)
            pause += pause / 2
        }
        #expect(count == 1)
        #expect(pool.lend(WorkerKind(), Cancellation(), last: nil).hasNoProcess)
    }

    @Test func `an idle worker that does nothing is kept`() throws {
        let pool = try idle("pass")
        for _ in 0..<4 {
            usleep(200_000)
            #expect(pool.endRestless() == 0)
        }
        #expect(!pool.lend(WorkerKind(), Cancellation(), last: nil).hasNoProcess)
    }

    @Test func `nobody waits for a worker while a file system that its source needs does not answer`() throws {
        let worker = try WorkerProcess(ProcessStarter(), shell("exec sleep 60"))
        let start = SuspendingClock.now
        #expect(throws: WorkerLoss.silenced) {
            try worker.ask(
                WorkerQuestion(.probe(.jpeg)), within: TimeBound(seconds: 40), cancellation: Cancellation(),
                isSilent: { .now - start > .milliseconds(200) })
        }
        #expect(.now - start < .seconds(20))
        #expect(isGone(worker))
    }
}
