// Workers that fail on certain sources, made of a real one with a stub before it: a batch loses those sources and no
// others.
import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct BadWorkerTests {
    /// Runs `p.yaml` over `in`.
    private func run(
        _ runner: CommandRunner, lanes: Int = 2, memory: MemoryBudget = MemoryBudget(bytes: 1 << 30),
        limits: Limits = Limits()
    ) async throws -> [String: SourceReport] {
        let stub = try runner.folder.write(Checkout.text("Tests/Fixtures/lying-worker.py"), to: "stub.py")
        let command = WorkerCommand(executable: "/usr/bin/python3", arguments: [stub, CommandRunner.executable])
        return try await runner.run(workers: command, lanes: lanes, memory: memory, limits: limits)
    }

    /// A folder with a pipeline and these pictures in `in`.
    private func runner(_ names: String...) async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in names { try await runner.picture("in/" + name) }
        return runner
    }

    /// The sources, each with the process that was asked about it, in their order.
    private func log(_ runner: CommandRunner) throws -> [(source: String, process: String)] {
        try runner.folder.text("log").split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (String(words[0]), String(words[1]))
        }
    }

    @Test
    func `a source that costs a worker its life three times is worker-crashed, and the others are done`() async throws {
        let runner = try await runner("a.jpg", "b-poison.jpg", "c.jpg", "d-deadly.jpg", "e.jpg", "f.jpg")
        let reports = try await run(runner)
        for name in ["a.jpg", "c.jpg", "e.jpg", "f.jpg"] {
            #expect(reports[name]?.status == .done && reports[name]?.attempt == 1)
        }
        let poison = try #require(reports["b-poison.jpg"])
        #expect(poison.error?.code == .workerCrashed && poison.attempt == 3)
        #expect(poison.error?.message == "the worker process ended with code 1, 3 times in a row")
        #expect(poison.error?.detail == "cannot bear it\n")
        #expect(
            reports["d-deadly.jpg"]?.error?.message
                == "the worker process ended by signal 11 (Segmentation fault), 3 times in a row")
        #expect(runner.files() == ["a.webp", "c.webp", "e.webp", "f.webp"])
        #expect(try BatchDocument(file: runner.folder.path("report.json")).summary.failed == 2)
    }

    @Test func `a worker that lies or talks nonsense publishes nothing, and the others are done`() async throws {
        let runner = try await runner("a.jpg", "b-liar.jpg", "c-babble.jpg", "d-miser.jpg", "e-giant.jpg", "f.jpg")
        let reports = try await run(runner)
        #expect(reports["a.jpg"]?.status == .done && reports["f.jpg"]?.status == .done)
        #expect(
            reports["b-liar.jpg"]?.error?.message == "'small' was not published: expected a webp file, found no bytes")
        #expect(
            reports["c-babble.jpg"]?.error?.message == "the worker answered nonsense: a message that is not understood")
        #expect(reports["d-miser.jpg"]?.error?.message == "the worker answered nonsense: 0 renditions instead of 1")
        #expect(reports["e-giant.jpg"]?.error?.message == "the worker answered nonsense: a header that cannot be")
        #expect(runner.files() == ["a.webp", "f.webp"])
    }

    @Test
    func `a worker that begs for members, says disk-full or talks for 16 MiB fails its source alone, briefly`()
        async throws
    {
        let runner = try await runner("a.jpg", "b-beggar.jpg", "c-full.jpg", "d-talker.jpg", "e.jpg")
        let reports = try await run(runner)
        #expect(reports["a.jpg"]?.status == .done && reports["e.jpg"]?.status == .done)
        let beggar = "the worker answered nonsense: it asked for a member that the set does not have"
        #expect(
            reports["b-beggar.jpg"]?.error?.code == .workerCrashed && reports["b-beggar.jpg"]?.error?.message == beggar)
        let full = "the worker answered nonsense: 'disk-full', which is not for a worker to say"
        #expect(reports["c-full.jpg"]?.error?.code == .workerCrashed && reports["c-full.jpg"]?.error?.message == full)
        #expect(
            reports["d-talker.jpg"]?.error?.code == .corrupt
                && reports["d-talker.jpg"]?.error?.message.unicodeScalars.count == 2000)
        #expect(runner.files() == ["a.webp", "e.webp"])
    }

    @Test
    func `a worker that spins costs its source the processor time of the limit, which the message names`() async throws
    {
        let runner = try await runner("a.jpg", "b-spinner.jpg", "c.jpg")
        var limits = Limits()
        (limits.maximumMilliseconds, limits.maximumProcessorMilliseconds) = (600_000, 2_000)
        let reports = try await run(runner, limits: limits)
        #expect(reports["a.jpg"]?.status == .done && reports["c.jpg"]?.status == .done)
        let words =
            "the work on it was stopped after 2 s of processor time; the limit is 2 s (max-cpu-time), and 0 s for its pixels"
        #expect(reports["b-spinner.jpg"]?.error == Failure(.timedOut, stage: "render", words))
    }

    @Test func `a lie about an asset's size reaches no planner`() async throws {
        let runner = try await runner("a.jpg")
        try await runner.picture("tiny.png")
        try runner.folder.write(
            "renditions:\n  a: { stages: [ { overlay: { image: tiny.png } } ], save: { format: webp } }\n", to: "p.yaml"
        )
        await #expect(throws: WorkerLoss.confused("an asset that cannot be: 0×9 at 0x")) { try await run(runner) }
        #expect(runner.files().isEmpty)
    }

    @Test
    func `what is published is what was checked, also if the worker goes on writing after its answer`() async throws {
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

    @Test(arguments: ["liar", "late", "full", "giant", "miser"])
    func `a worker that has lied is asked about nothing else`(kind: String) async throws {
        let runner = try await runner("a.jpg", "b.jpg", "c-\(kind).jpg", "d.jpg")
        let reports = try await run(runner, lanes: 1)
        #expect(reports["c-\(kind).jpg"]?.status == .failed && reports["d.jpg"]?.status == .done)
        let log = try log(runner)
        let (before, liar) = (log.first { $0.source == "b.jpg" }, log.last { $0.source == "c-\(kind).jpg" })
        #expect(log.first { $0.source == "a.jpg" }?.process == before?.process, "an honest worker is kept")
        #expect(log.last { $0.source == "d.jpg" }?.process != liar?.process)
    }

    /// The ways in which a worker that a picture has taken over may spoil the next picture.
    @Test(arguments: ["liar", "late", "talker", "huge", "large", "glutton", "sleeper", "spinner", "miser", "full"])
    func `a picture after one that has taken its worker over is done`(kind: String) async throws {
        let runner = try await runner("a-evil-\(kind).jpg", "b.jpg", "c.jpg")
        var limits = Limits()
        limits.maximumMemory = 256 << 20
        (limits.maximumMilliseconds, limits.maximumProcessorMilliseconds) = (20_000, 2_000)
        if kind == "sleeper" { limits.maximumMilliseconds = 4_000 }
        let reports = try await run(runner, lanes: 1, memory: MemoryBudget(bytes: 256 << 20), limits: limits)
        #expect(reports.values.allSatisfy { $0.status == .done }, "\(reports.values.compactMap(\.error))")
        #expect(runner.files() == ["a-evil-\(kind).webp", "b.webp", "c.webp"])
        let log = try log(runner)
        #expect(log.first { $0.source == "b.jpg" }?.process == log.first?.process, "the first worker was asked")
    }

    @Test
    func
        `a picture is decoded once more after it could be read through, also if the worker that found it damaged is new`()
        async throws
    {
        let runner = try await runner("a-unread.jpg")
        let reports = try await run(runner, lanes: 1)
        #expect(reports["a-unread.jpg"]?.status == .done, "\(reports.values.compactMap(\.error))")
        let log = try log(runner)
        #expect(log.count == 2 && log[0].process == log[1].process)
    }

    @Test
    func `a source whose worker the system kills is done at once again, alone, which costs no attempt`() async throws {
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

    @Test
    func `a source whose worker the system kills again is out-of-memory, and its sentence says what to do`()
        async throws
    {
        let runner = try await runner("a.jpg", "b-hungry.jpg", "c.jpg")
        let reports = try await run(runner)
        let hungry = try #require(reports["b-hungry.jpg"]?.error)
        #expect(hungry.code == .outOfMemory && reports["b-hungry.jpg"]?.attempt == 1)
        #expect(
            hungry.message
                == "the system killed the worker process, most likely because memory ran out; give the machine or the service more "
                + "memory, or lower max-pixels")
        #expect(try log(runner).count { $0.source == "b-hungry.jpg" } == 2)
        #expect(runner.files() == ["a.webp", "c.webp"])
    }

    @Test
    func `a source that needs more memory than predicted is done alone, within all memory that there is`() async throws
    {
        let runner = try await runner("a-glutton.jpg", "b-greedy-glutton.jpg", "c.jpg")
        let reports = try await run(runner, lanes: 1, memory: MemoryBudget(bytes: 512 << 20))
        let glutton = try #require(reports["a-glutton.jpg"])
        #expect(glutton.status == .done && glutton.attempt == 1, "\(glutton.error?.message ?? "")")
        #expect(Set(try log(runner).filter { $0.source == "a-glutton.jpg" }.map(\.process)).count == 2)
        let words =
            "its worker took more than 512 MiB of memory, far more than a picture of the size in its header needs, and was stopped"
        #expect(
            reports["b-greedy-glutton.jpg"]?.error == Failure(.tooMuchMemory, stage: "decode", words))
        #expect(runner.files() == ["a-glutton.webp", "c.webp"])
    }
}
