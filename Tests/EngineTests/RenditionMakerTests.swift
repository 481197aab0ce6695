// The requests of the runner of jobs to the maker of renditions and its worker.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct RenditionMakerTests {
    private let runner: CommandRunner
    private let cancellation = Cancellation()

    init() throws {
        runner = try CommandRunner()
        try runner.pipeline()
    }

    /// A real worker that leaves a line in `starts` when it is started, and may not raise a hard limit: root may.
    private func maker() -> RenditionMaker { RenditionMaker(pool(), cancellation: cancellation) }

    private func pool() -> WorkerPool {
        let script = """
            echo $$ >> '\(runner.folder.path("starts"))'
            [ $(id -u) = 0 ] && exec setpriv --bounding-set=-sys_resource "$0" __worker
            exec "$0" __worker
            """
        return WorkerPool(WorkerCommand(executable: "/bin/sh", arguments: ["-c", script, CommandRunner.executable]))
    }

    private var starts: Int { get throws { try runner.folder.text("starts").split(separator: "\n").count } }

    private func settings(
        _ pipeline: String = "p.yaml", allowed: Set<SourceFormat> = [.svg], outputBytes: Int = 2 << 30,
        isolatedInbox: String? = nil
    ) throws -> RenderSettings {
        var limits = Limits()
        limits.allowed = allowed
        limits.maximumOutputBytes = outputBytes
        var settings = RenderSettings(
            pipeline: try LoadedPipeline(path: runner.folder.path(pipeline)), limits: limits,
            outbox: Outbox(path: BytePath(runner.folder.path("out")), of: .run),
            keepsTree: false, memory: MemoryBudget(bytes: 1 << 30), cancellation: cancellation)
        settings.isolatedInbox = isolatedInbox
        return settings
    }

    private func make(_ name: String, _ maker: RenditionMaker, _ settings: RenderSettings) throws -> [StagedFile] {
        let path = BytePath(runner.folder.path(name))
        let route = Route(
            render: settings,
            allocator: NameAllocator(
                store: MemoryJobStore(), outbox: settings.outbox.path, folder: settings.outbox, policy: .version
            ) { _ in false },
            publisher: Publisher(outbox: settings.outbox, names: nil, durability: .none), policy: .run, inbox: nil,
            recipe: "", retriesAtOnce: true)
        let job = Job(
            id: JobNames().next(), inbox: "run", path: path, isSet: false,
            observed: FileVersion(device: 0, inode: 0, bytes: 0, modified: 0),
            originals: .move, progress: JobProgress(.running, attempts: 1), offered: 0, changed: 0)
        var work = SourceWork(job, route)
        work.take(SourceFile(location: .path(path), identity: path, relative: BytePath(name)))
        let task = SourceTask(source: work.source, opened: try work.open(settings.limits), settings: settings)
        return try maker.make(&work, task, names: { candidates in try candidates(1) })
    }

    @Test func `no memory is reserved while files are waited for, which may hang`() async throws {
        try await runner.picture("a.jpg")
        let (maker, settings) = (maker(), try settings())
        var reserved: [Int] = []
        maker.noteActivity = { if $0 == .files { reserved.append(settings.memory.reserved) } }
        #expect(try make("a.jpg", maker, settings).count == 1)
        #expect(reserved.count >= 3 && reserved.allSatisfy { $0 == 0 }, "\(reserved)")
    }

    @Test func `a worker that has met a limit of output bytes works on with a higher one`() async throws {
        try await runner.picture("a.jpg")
        let maker = maker()
        let failure = #expect(throws: Failure.self) { try make("a.jpg", maker, settings(outputBytes: 20)) }
        #expect(failure?.code == .outputTooLarge)
        #expect(try make("a.jpg", maker, settings()).count == 1)
        #expect(throws: Failure.self) { try make("a.jpg", maker, settings(outputBytes: 20)) }
        #expect(try starts == 1)
    }

    @Test
    func `two lanes that take turns with JPEG and AVIF end up with two workers that read both, whatever is idle`()
        async throws
    {
        try await runner.picture("a.jpg")
        try runner.folder.write(try await SamplePicture.avif.bytes, to: "b.avif")
        let (pool, settings) = (pool(), try settings(allowed: []))
        pool.limitIdle(to: 2)
        let makers = (0..<2).map { _ in RenditionMaker(pool, cancellation: cancellation) }
        for name in ["a.jpg"] + Array(repeating: "b.avif", count: 4) + ["a.jpg", "b.avif"] {
            // Both have a worker at one time, and give it back as a lane does before each source.
            for maker in makers { _ = try make(name, maker, settings) }
            for maker in makers { maker.worker.giveBack() }
        }
        #expect(try starts == 4)
    }

    @Test func `what a worker that was taken over says of a pipeline or a format is asked of another one`() async throws
    {
        for name in ["evil-refuser.jpg", "a.jpg"] { try await runner.picture(name) }
        try runner.folder.write("renditions: { a: { save: { format: avif } } }", to: "avif.yaml")
        let stub = try runner.folder.write(Checkout.text("Tests/Fixtures/lying-worker.py"), to: "stub.py")
        let command = WorkerCommand(executable: "/usr/bin/python3", arguments: [stub, CommandRunner.executable])
        for isAsked in [false, true] {
            let maker = RenditionMaker(WorkerPool(command), cancellation: cancellation)
            _ = try make("evil-refuser.jpg", maker, settings(allowed: []))
            if isAsked {
                #expect(try maker.worker.canRead(.png))
            } else {
                try maker.worker.prepare(settings("avif.yaml", allowed: []))
                #expect(try make("a.jpg", maker, settings("avif.yaml", allowed: [])).count == 1)
            }
        }
    }

    @Test func `a worker that learns several pipelines is not replaced by the one that saves AVIF`() async throws {
        try runner.folder.write("renditions: { a: { save: { format: avif } } }", to: "avif.yaml")
        let maker = maker()
        try maker.worker.prepare([try settings(allowed: []), try settings("avif.yaml", allowed: [])])
        _ = try maker.worker.prepare(settings(allowed: []))
        #expect(try starts == 1)
    }

    @Test
    func `a worker that has tried a format on request is the one that reads it, also if it saves AVIF`() async throws {
        try runner.folder.write("renditions: { a: { save: { format: avif } } }", to: "avif.yaml")
        try runner.folder.write("<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>", to: "a.svg")
        let (maker, settings) = (maker(), try settings("avif.yaml"))
        try maker.worker.prepare(settings)
        _ = try make("a.svg", maker, settings)
        #expect(try starts == 2)
    }

    @Test
    func `a worker is fresh as long as it has met no source but the present one; a new one is fresh`() async throws {
        for name in ["a.jpg", "b.jpg"] { try await runner.picture(name) }
        let (maker, settings) = (maker(), try settings())
        _ = try make("a.jpg", maker, settings)
        #expect(maker.worker.isFresh)
        _ = try make("a.jpg", maker, settings)
        #expect(maker.worker.isFresh, "the same source again")
        _ = try make("b.jpg", maker, settings)
        #expect(!maker.worker.isFresh)
        #expect(try starts == 1)
        maker.worker.replace()
        #expect(!maker.worker.isFresh, "the last answer was not a fresh worker's")
        _ = try make("b.jpg", maker, settings)
        #expect(maker.worker.isFresh)
        #expect(try starts == 2)
    }

    @Test
    func `an inbox with workers of its own shares none, within the number that there may be, and they end when idle`()
        async throws
    {
        try await runner.picture("a.jpg")
        let (pool, shared) = (pool(), try settings(allowed: []))
        pool.limitIdle(to: 2)
        let makers = (0..<2).map { _ in RenditionMaker(pool, cancellation: cancellation) }
        let render = { (settings: [RenderSettings]) in
            for (maker, settings) in zip(makers, settings) { _ = try make("a.jpg", maker, settings) }
            for maker in makers { maker.worker.giveBack() }
        }
        let processes = { try runner.folder.text("starts").split(separator: "\n").compactMap { pid_t($0) } }
        let alive = { try processes().filter { kill($0, 0) == 0 } }
        // Preparing needs no source.
        try makers[0].worker.prepare(settings(allowed: [], isolatedInbox: "one"))
        makers[0].worker.giveBack()
        try render([shared, shared])
        #expect(try starts == 2)
        let one = try settings(allowed: [], isolatedInbox: "one")
        try render([one, shared])
        #expect(try starts == 3 && alive().count == 2)
        try render([shared, settings(allowed: [], isolatedInbox: "two")])
        #expect(try starts == 4 && alive().count == 2, "the worker of 'one' has made room")
        try render([settings(allowed: [], isolatedInbox: "two"), shared])
        #expect(try starts == 4)
        pool.endIsolated(idleFor: .seconds(600))
        #expect(try alive().count == 2)
        pool.endIsolated(idleFor: .zero)
        #expect(try alive().count == 1)
        try render([shared])
        #expect(try starts == 4, "the shared worker is kept")
    }

    @Test
    func `with workers of one inbox alone, no idle one makes the processes more than there may be`() async throws {
        try await runner.picture("a.jpg")
        let pool = pool()
        pool.limitIdle(to: 2)
        let makers = (0..<3).map { _ in RenditionMaker(pool, cancellation: cancellation) }
        let (one, two) = (
            try settings(allowed: [], isolatedInbox: "one"), try settings(allowed: [], isolatedInbox: "two")
        )
        let alive = {
            try runner.folder.text("starts").split(separator: "\n").compactMap { pid_t($0) }.filter { kill($0, 0) == 0 }
                .count
        }
        for maker in makers[..<2] { _ = try make("a.jpg", maker, one) }
        // The other inbox gets its share besides.
        _ = try make("a.jpg", makers[2], two)
        #expect(try alive() == 3)
        makers[0].worker.giveBack()
        #expect(try alive() == 2, "two are in use")
        makers[1].worker.giveBack()
        #expect(try alive() == 2 && starts == 3, "one is in use, and one is idle")
        _ = try make("a.jpg", makers[0], two)
        #expect(try alive() == 2 && starts == 4, "that of 'one' has made room")
        makers[2].worker.giveBack()
        _ = try make("a.jpg", makers[1], settings(allowed: []))
        #expect(try alive() == 2 && starts == 5)
    }

    private static let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"

    @Test func `sources that need workers of two kinds get two, which are lent again and again`() async throws {
        try await runner.picture("a.jpg")
        try runner.folder.write(Self.svg, to: "b.svg")
        let (pool, settings) = (pool(), try settings())
        let makers = [
            RenditionMaker(pool, cancellation: cancellation), RenditionMaker(pool, cancellation: cancellation),
        ]
        for name in ["a.jpg", "b.svg", "a.jpg", "b.svg"] {
            for maker in makers {
                #expect(try make(name, maker, settings).count == 1)
                maker.worker.giveBack()
            }
        }
        #expect(try starts == 2)
    }

    @Test func `a pool that keeps one worker only replaces it if the next source needs another kind`() async throws {
        try await runner.picture("a.jpg")
        try runner.folder.write(Self.svg, to: "b.svg")
        let (pool, settings) = (pool(), try settings())
        pool.limitIdle(to: 1)
        let maker = RenditionMaker(pool, cancellation: cancellation)
        for name in ["a.jpg", "a.jpg", "b.svg", "b.svg", "a.jpg"] {
            #expect(try make(name, maker, settings).count == 1)
            maker.worker.giveBack()
        }
        #expect(try starts == 3)
    }

    @Test func `renditions are handed over sealed`() async throws {
        try await runner.picture("a.jpg")
        let outputs = try make("a.jpg", maker(), settings())
        #expect(outputs.count == 1)
        for output in outputs { #expect(fcntl(output.file.descriptor, F_GETFL) & O_ACCMODE == O_RDONLY) }
    }

    /// A real worker whose first writes of renditions find the disk full.
    private func makerOnFullDisk(writes: Int) async throws -> RenditionMaker {
        let library = runner.folder.path("full.so")
        let compiling = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -o full.so '\(Checkout.path)/Tests/Fixtures/full-disk.c' -ldl"
        )
        try #require(compiling.exit == 0, "\(compiling)")
        let script =
            "FULL_FOLDER='\(runner.folder.path)' FULL_WRITES=\(writes) LD_PRELOAD='\(library)' exec \"$0\" __worker"
        return RenditionMaker(
            WorkerPool(WorkerCommand(executable: "/bin/sh", arguments: ["-c", script, CommandRunner.executable])),
            cancellation: cancellation)
    }

    private static let formats = OutputFormat.allCases.map(\.rawValue)

    private static func bytes(_ outputs: [StagedFile]) throws -> [[UInt8]] {
        try outputs.map { try $0.file.bytes(at: 0, count: 1 << 20) }
    }

    @Test(arguments: formats)
    func `a disk that was full for a moment only costs a second attempt`(format: String) async throws {
        try await runner.picture("a.jpg")
        try runner.pipeline(format: format)
        let outputs = try make("a.jpg", try await makerOnFullDisk(writes: 1), settings())
        let undisturbed = try make("a.jpg", try await makerOnFullDisk(writes: 0), settings())
        #expect(try Self.bytes(outputs) == Self.bytes(undisturbed), "nothing of the first attempt is left")
    }

    @Test(arguments: formats)
    func `a disk that has room again at each look is full all the same if no attempt gets through`(format: String)
        async throws
    {
        try await runner.picture("a.jpg")
        try runner.pipeline(format: format)
        let maker = try await makerOnFullDisk(writes: 1000)
        let failure = #expect(throws: Failure.self) { try make("a.jpg", maker, settings()) }
        #expect(failure?.code == .diskFull && failure?.stage == "save", "\(String(describing: failure))")
        #expect(failure?.detail?.contains("No space left on device") == true)
    }
}
