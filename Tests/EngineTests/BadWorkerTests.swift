// Workers that fail on certain sources, made of a real one with a stub before it: a batch loses those sources and no others.
import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine

@Suite struct BadWorkerTests {
    /// A process between the supervisor and a real worker, which does after a good probe what a broken worker might: what the source's name says, or
    /// its last bytes.
    static let stub = """
        import os, signal, socket, struct, subprocess, sys, time

        us = socket.socket(fileno=0)
        ours, theirs = socket.socketpair()
        worker = subprocess.Popen([sys.argv[1], "__worker"], stdin=theirs)
        theirs.close()

        def receive(end):
            header, files, _, _ = socket.recv_fds(end, 4, 253)
            if not header:
                sys.exit(0)
            body = b""
            while len(body) < struct.unpack("<I", header)[0]:
                body += end.recv(65536)
            return body, files

        def send(end, body, files=[]):
            socket.send_fds(end, [struct.pack("<I", len(body)) + body], files)

        def once(what):
            try:
                open(os.path.join(os.path.dirname(sys.argv[0]), what), "x")
                return True
            except FileExistsError:
                return False

        while True:
            body, files = receive(us)
            if body.startswith(b'{"prepare"') and b"tiny.png" in body:
                send(us, b'{"assets":{"_0":[{"size":{"width":0,"height":9},"pixelsPerPoint":0,"isGrey":false,"depth":"eight"}]}}')
                continue
            if body.startswith(b'{"probe"'):
                name = os.readlink("/proc/self/fd/%d" % files[0])
                with open(os.path.join(os.path.dirname(sys.argv[0]), "log"), "a") as log:
                    print(os.path.basename(name), os.getpid(), file=log)
                name += os.pread(files[0], 16, max(0, os.fstat(files[0]).st_size - 16)).decode("latin-1")
            if body.startswith(b'{"render"'):
                if "poison" in name:
                    sys.exit("cannot bear it")
                if "deadly" in name:
                    os.kill(os.getpid(), signal.SIGSEGV)
                if "hungry" in name or "victim" in name and once("killed"):
                    os.kill(os.getpid(), signal.SIGKILL)
                if "victim" in name:
                    time.sleep(0.5)
                if "babble" in name:
                    send(us, b"{}")
                    continue
                if "liar" in name:
                    for file in files:
                        os.close(file)
                    send(us, b'{"rendered":{"_0":{"renditions":[{"size":{"width":32,"height":24},"frames":1}],'
                        b'"warnings":[],"peakMemory":1}}}')
                    continue
                if "miser" in name:
                    send(us, b'{"rendered":{"_0":{"renditions":[],"warnings":[],"peakMemory":1}}}')
                    continue
                if "beggar" in name:
                    for index in range(100000):
                        send(us, b'{"needsMember":{"_0":%d}}' % index)
                if "full" in name or "talker" in name:
                    code, words = (b"disk-full", b"no room") if "full" in name else (b"corrupt", b"\\\\u001b[31m" + b"x" * ((16 << 20) - 200))
                    send(us, b'{"failed":{"_0":{"code":"%s","stage":"save","message":"%s"}}}' % (code, words))
                    continue
            if body.startswith(b'{"probe"') and "giant" in name:
                send(us, b'{"facts":{"_0":{"format":"jpeg","size":{"width":-5,"height":9},"orientation":1,"frames":1,"hasAlpha":false,'
                    b'"colour":"rgb","depth":"eight","hasProfile":false,"isInterlaced":false,"bytes":9,"metadataBytes":0,"profileBytes":0}}}')
                continue
            send(ours, body, files)
            late = body.startswith(b'{"render"') and "late" in name
            if not late:
                for file in files:
                    os.close(file)
            send(us, receive(ours)[0])
            if late:
                # Long enough for a check, and for a rename.
                time.sleep(0.3)
                for file in files:
                    os.pwrite(file, b"EVIL", 0)
        """

    /// Runs `p.yaml` over `in`.
    private func run(
        _ runner: CommandRunner, lanes: Int = 2, memory: MemoryBudget = MemoryBudget(bytes: 1 << 30)
    ) async throws -> [String: SourceReport] {
        let stub = try runner.folder.write(Self.stub, to: "stub.py")
        let command = WorkerCommand(executable: "/usr/bin/python3", arguments: [stub, CommandRunner.executable])
        return try await runner.run(workers: command, lanes: lanes, memory: memory)
    }

    /// A folder with a pipeline and these pictures in `in`.
    private func runner(_ names: String...) async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in names { try await runner.picture("in/" + name) }
        return runner
    }

    /// Which process was asked about which source, in their order.
    private func log(_ runner: CommandRunner) throws -> [(source: String, process: String)] {
        try runner.folder.text("log").split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (String(words[0]), String(words[1]))
        }
    }

    @Test("A source that costs a worker its life three times is worker-crashed, and the others are done")
    func poison() async throws {
        let runner = try await runner("a.jpg", "b-poison.jpg", "c.jpg", "d-deadly.jpg", "e.jpg", "f.jpg")
        let reports = try await run(runner)
        for name in ["a.jpg", "c.jpg", "e.jpg", "f.jpg"] { #expect(reports[name]?.status == .done && reports[name]?.attempt == 1) }
        let poison = try #require(reports["b-poison.jpg"])
        #expect(poison.error?.code == .workerCrashed && poison.attempt == 3)
        #expect(poison.error?.message == "the worker process ended with code 1, 3 times in a row")
        #expect(poison.error?.detail == "cannot bear it\n")
        #expect(reports["d-deadly.jpg"]?.error?.message == "the worker process ended by signal 11 (Segmentation fault), 3 times in a row")
        #expect(runner.files() == ["a.webp", "c.webp", "e.webp", "f.webp"])
        #expect(try BatchDocument(file: runner.folder.path("report.json")).summary.failed == 2)
    }

    @Test("A worker that lies or talks nonsense publishes nothing, and the others are done")
    func liars() async throws {
        let runner = try await runner("a.jpg", "b-liar.jpg", "c-babble.jpg", "d-miser.jpg", "e-giant.jpg", "f.jpg")
        let reports = try await run(runner)
        #expect(reports["a.jpg"]?.status == .done && reports["f.jpg"]?.status == .done)
        #expect(reports["b-liar.jpg"]?.error?.message == "'small' was not published: expected a webp file, found no bytes")
        #expect(reports["c-babble.jpg"]?.error?.message == "the worker answered nonsense: a message that is not understood")
        #expect(reports["d-miser.jpg"]?.error?.message == "the worker answered nonsense: 0 renditions instead of 1")
        #expect(reports["e-giant.jpg"]?.error?.message == "the worker answered nonsense: a header that cannot be")
        #expect(runner.files() == ["a.webp", "f.webp"])
    }

    @Test("B4, B6, B13: A worker that begs for members, says disk-full or talks for 16 MiB fails its source alone, in bounded words")
    func floods() async throws {
        let runner = try await runner("a.jpg", "b-beggar.jpg", "c-full.jpg", "d-talker.jpg", "e.jpg")
        let reports = try await run(runner)
        #expect(reports["a.jpg"]?.status == .done && reports["e.jpg"]?.status == .done)
        let beggar = "the worker answered nonsense: it asked for a member that the set does not have"
        #expect(reports["b-beggar.jpg"]?.error?.code == .workerCrashed && reports["b-beggar.jpg"]?.error?.message == beggar)
        let full = "the worker answered nonsense: 'disk-full', which is not for a worker to say"
        #expect(reports["c-full.jpg"]?.error?.code == .workerCrashed && reports["c-full.jpg"]?.error?.message == full)
        #expect(reports["d-talker.jpg"]?.error?.code == .corrupt && reports["d-talker.jpg"]?.error?.message.unicodeScalars.count == 2000)
        #expect(runner.files() == ["a.webp", "e.webp"])
    }

    @Test("B13: A lie about an asset's size reaches no planner")
    func assets() async throws {
        let runner = try await runner("a.jpg")
        try await runner.picture("tiny.png")
        try runner.folder.write("renditions:\n  a: { stages: [ { overlay: { image: tiny.png } } ], save: { format: webp } }\n", to: "p.yaml")
        await #expect(throws: WorkerLoss.confused("an asset that cannot be: 0×9 at 0x")) { try await run(runner) }
        #expect(runner.files().isEmpty)
    }

    @Test("B13: What is published is what was checked, also if the worker goes on writing after its answer")
    func late() async throws {
        let runner = try await runner("a-late.jpg", "b.jpg")
        let reports = try await run(runner, lanes: 1)
        let late = try #require(reports["a-late.jpg"])
        #expect(late.error?.code == .outputRejected)
        #expect(late.error?.message == "'small' was not published: the worker still has it open for writing")
        #expect(reports["b.jpg"]?.status == .done)
        try await Task.sleep(for: .milliseconds(500))
        #expect(runner.files() == ["b.webp"])
        #expect(try runner.bytes("out/b.webp").starts(with: Array("RIFF".utf8)))
    }

    @Test("B13: A worker that has lied is asked about nothing else", arguments: ["liar", "late", "full", "giant", "miser"])
    func replaced(kind: String) async throws {
        let runner = try await runner("a.jpg", "b.jpg", "c-\(kind).jpg", "d.jpg")
        let reports = try await run(runner, lanes: 1)
        #expect(reports["c-\(kind).jpg"]?.status == .failed && reports["d.jpg"]?.status == .done)
        let log = try log(runner)
        let (before, liar) = (log.first { $0.source == "b.jpg" }, log.last { $0.source == "c-\(kind).jpg" })
        #expect(log.first { $0.source == "a.jpg" }?.process == before?.process, "an honest worker is kept")
        #expect(log.last { $0.source == "d.jpg" }?.process != liar?.process)
    }

    @Test("B18: A source whose worker the system kills is done at once again, alone, which costs no attempt")
    func killedOnce() async throws {
        let runner = try await runner("a-victim.jpg")
        let memory = MemoryBudget(bytes: 1 << 30)
        let isOver = Mutex(false)
        async let most = Task.detached {
            var most = 0
            while !isOver.withLock({ $0 }) {
                most = max(most, memory.reserved)
                try await Task.sleep(for: .milliseconds(5))
            }
            return most
        }.value
        let reports = try await run(runner, memory: memory)
        isOver.withLock { $0 = true }
        let victim = try #require(reports["a-victim.jpg"])
        #expect(victim.status == .done && victim.attempt == 1, "\(victim.error?.message ?? "")")
        #expect(runner.files() == ["a-victim.webp"])
        #expect(try await most == memory.total, "nothing else may run beside it")
        #expect(memory.reserved == 0)
    }

    @Test("B18: A source whose worker the system kills again is out-of-memory, and its sentence says what to do")
    func killedTwice() async throws {
        let runner = try await runner("a.jpg", "b-hungry.jpg", "c.jpg")
        let reports = try await run(runner)
        let hungry = try #require(reports["b-hungry.jpg"]?.error)
        #expect(hungry.code == .outOfMemory && reports["b-hungry.jpg"]?.attempt == 1)
        #expect(
            hungry.message == "the system killed the worker process, most likely because memory ran out; give the machine or the service more "
                + "memory, or lower max-pixels")
        #expect(try log(runner).count { $0.source == "b-hungry.jpg" } == 2)
        #expect(runner.files() == ["a.webp", "c.webp"])
    }
}
