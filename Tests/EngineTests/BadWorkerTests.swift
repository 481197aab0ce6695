// Workers that fail on certain sources, made of a real one with a stub before it: a batch loses those sources and no others.
import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine

@Suite struct BadWorkerTests {
    /// Stands between the supervisor and a real worker, and does by the source's name what a broken worker might, after a good probe.
    private static let stub = """
        import os, signal, socket, struct, subprocess, sys

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

        while True:
            body, files = receive(us)
            if body.startswith(b'{"probe"'):
                name = os.readlink("/proc/self/fd/%d" % files[0])
            if body.startswith(b'{"render"'):
                if "poison" in name:
                    sys.exit("cannot bear it")
                if "deadly" in name:
                    os.kill(os.getpid(), signal.SIGSEGV)
                if "babble" in name:
                    send(us, b"{}")
                    continue
                if "liar" in name:
                    send(us, b'{"rendered":{"_0":{"renditions":[{"size":{"width":32,"height":24},"frames":1}],'
                        b'"warnings":[],"peakMemory":1,"keptMemory":1}}}')
                    continue
                if "miser" in name:
                    send(us, b'{"rendered":{"_0":{"renditions":[],"warnings":[],"peakMemory":1,"keptMemory":1}}}')
                    continue
            if body.startswith(b'{"probe"') and "giant" in name:
                send(us, b'{"facts":{"_0":{"format":"jpeg","size":{"width":-5,"height":9},"orientation":1,"frames":1,"hasAlpha":false,'
                    b'"colour":"rgb","depth":"eight","hasProfile":false,"isInterlaced":false,"bytes":9}}}')
                continue
            send(ours, body, files)
            for file in files:
                os.close(file)
            send(us, receive(ours)[0])
        """

    private final class Collector: BatchObserver {
        private let reports = Mutex<[SourceReport]>([])
        var all: [SourceReport] { reports.withLock { $0 } }
        func begin(sources: Int) {}
        func end() {}
        func finished(_ report: SourceReport, _ summary: BatchSummary) { reports.withLock { $0.append(report) } }
    }

    private func run(_ runner: CommandRunner) async throws -> [String: SourceReport] {
        try runner.pipeline()
        let stub = try runner.folder.write(Self.stub, to: "stub.py")
        let outbox = BytePath(runner.folder.path("out"))
        let found = SourceWalk.find([BytePath(runner.folder.path("in"))], outbox: outbox)
        let render = RenderSettings(
            pipeline: try LoadedPipeline(path: runner.folder.path("p.yaml")), limits: Limits(), outbox: outbox, keepsTree: false,
            memory: MemoryBudget(bytes: 1 << 30), cancellation: Cancellation())
        let settings = LaneSettings(
            render, workers: WorkerStarter(WorkerCommand(executable: "/usr/bin/python3", arguments: [stub, CommandRunner.executable])),
            names: try NameDesk(outbox: outbox, policy: .version, sources: found.sources, isDryRun: false))
        let collector = Collector()
        let report = try BatchReport(file: BytePath(runner.folder.path("report.json")), stream: nil)
        _ = try await Batch(settings: settings, lanes: 2, report: report, observer: collector).run(WorkList(toDo: found.sources))
        return Dictionary(uniqueKeysWithValues: collector.all.map { ($0.source.path.text, $0) })
    }

    @Test("A source that costs a worker its life three times is worker-crashed, and the others are done")
    func poison() async throws {
        let runner = try CommandRunner()
        for name in ["a.jpg", "b-poison.jpg", "c.jpg", "d-deadly.jpg", "e.jpg", "f.jpg"] { try await runner.picture("in/" + name) }
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
        let runner = try CommandRunner()
        for name in ["a.jpg", "b-liar.jpg", "c-babble.jpg", "d-miser.jpg", "e-giant.jpg", "f.jpg"] {
            try await runner.picture("in/" + name)
        }
        let reports = try await run(runner)
        #expect(reports["a.jpg"]?.status == .done && reports["f.jpg"]?.status == .done)
        #expect(reports["b-liar.jpg"]?.error?.message == "'small' was not published: expected a webp file, found no bytes")
        #expect(reports["c-babble.jpg"]?.error?.message == "the worker answered nonsense: a message that is not understood")
        #expect(reports["d-miser.jpg"]?.error?.message == "the worker answered nonsense: 0 renditions")
        #expect(reports["e-giant.jpg"]?.error?.message == "the worker answered nonsense: a header that cannot be")
        #expect(runner.files() == ["a.webp", "f.webp"])
    }
}
