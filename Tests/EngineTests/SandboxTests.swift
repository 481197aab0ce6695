// The sandbox of a worker: the things that a decoder that was taken over can reach.
import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Engine
@testable import Messages
@testable import Render
@testable import System

@Suite struct SandboxTests {
    private static let everything = [
        "read /etc/passwd", "list the root", "list the working folder", "make a file", "open the supervisor's memory",
        "read the supervisor's environment", "open an own file again", "make a network socket", "make a local socket",
        "make a netlink socket",
        "fork", "fork by clone3", "execute a program", "trace the supervisor", "read the supervisor's memory",
        "signal the supervisor",
        "signal everybody", "signal a thread of the supervisor", "set up io_uring", "raise an own limit",
        "limit the supervisor",
        "become dumpable", "enter a new user namespace", "load a filter", "own a descriptor's signals",
        "type into a terminal", "map memory that nobody counts", "end as the system ends processes",
    ]
    /// The attempts that look at nothing but open files.
    private static let ownFiles = [
        "look at an own file", "look at an own file by the call of a path", "learn that a file is not open",
    ]

    /// The attacker's report on each attempt, in a worker of a kind.
    private func attempts(_ kind: WorkerKind) async throws -> [String: Set<String>] {
        let runner = try CommandRunner()
        let library = runner.folder.path("attacks.so")
        let attacker = "\(Checkout.path)/Tests/Fixtures/hostile/attacks.c"
        let compiling = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -w -o attacks.so '\(attacker)'")
        #expect(compiling.exit == 0, "\(compiling)")
        let command = WorkerCommand(
            executable: "/bin/sh",
            arguments: ["-c", "LD_PRELOAD='\(library)' exec \"$0\" __worker", CommandRunner.executable])
        let worker = try WorkerProcess(ProcessStarter(), command)
        // The attacker begins with the first JPEG: here an asset, which all kinds of workers read once they are shut
        // in.
        let asset = AssetMessage(path: "a.jpg", content: .picture(.jpeg, pixelsPerPoint: 1))
        let message = PipelineMessage(
            id: 1, name: "p.yaml", text: "renditions: { a: { save: { format: png } } }", assets: [asset], kind: kind,
            limits: Limits())
        let picture = try OpenFile.reading(BytePath(try await runner.picture("a.jpg")))
        let loss = #expect(throws: WorkerLoss.self) {
            try worker.ask(
                WorkerQuestion(.prepare(message), files: [picture]), within: TimeBound(seconds: 30),
                cancellation: Cancellation())
        }
        guard case .died(let how, let words) = loss else {
            Issue.record("the attacker did not come to its end: \(String(describing: loss))")
            return [:]
        }
        #expect(how == "ended with code 99", "\(words)")
        var found: [String: Set<String>] = [:]
        for line in words.split(separator: "\n") {
            guard let separator = line.firstRange(of: ": ") else { continue }
            found[String(line[..<separator.lowerBound]), default: []].insert(String(line[separator.upperBound...]))
        }
        return found
    }

    @Test(
        .enabled(if: Sandbox.missing.isEmpty),
        arguments: [WorkerKind(), WorkerKind(modules: [.heif]), WorkerKind(format: .raw)])
    func `a worker that a picture has taken over reaches nothing`(kind: WorkerKind) async throws {
        let found = try await attempts(kind)
        for attempt in Self.everything + ["read a font folder", "look at a path", "look at the working folder"] {
            #expect(found[attempt] == ["refused"], "\(attempt)")
        }
        for attempt in Self.ownFiles { #expect(found[attempt] == ["possible"], "\(attempt)") }
    }

    @Test(.enabled(if: Sandbox.missing.isEmpty))
    func `one that draws text reads fonts, and reaches nothing else`() async throws {
        let found = try await attempts(WorkerKind(drawsText: true))
        for attempt in Self.everything { #expect(found[attempt] == ["refused"], "\(attempt)") }
        #expect(found["read a font folder"] == [access("/usr/share/fonts", R_OK) == 0 ? "possible" : "refused"])
        for attempt in Self.ownFiles { #expect(found[attempt] == ["possible"], "\(attempt)") }
    }

    @Test(
        .enabled(if: Sandbox.missing.isEmpty),
        arguments: [WorkerKind(format: .svg), WorkerKind(format: .pdf), WorkerKind(drawsSVG: true)])
    func `one for SVG or PDF reads fonts, and reaches nothing else`(kind: WorkerKind) async throws {
        let found = try await attempts(kind)
        for attempt in Self.everything { #expect(found[attempt] == ["refused"], "\(attempt)") }
    }

    @Test(.enabled(if: Sandbox.missing.isEmpty), arguments: [SourceFormat.svg, .pdf], [false, true])
    func `a thread that was there before the worker was shut in reaches nothing either`(
        format: SourceFormat, isTried: Bool
    ) async throws {
        let runner = try CommandRunner()
        let library = runner.folder.path("thread.so")
        let compiling = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -w -o thread.so '\(Checkout.path)/Tests/Fixtures/hostile/early-thread.c' -ldl"
        )
        #expect(compiling.exit == 0, "\(compiling)")
        let worker = try WorkerProcess(
            ProcessStarter(),
            WorkerCommand(
                executable: "/bin/sh",
                arguments: ["-c", "LD_PRELOAD='\(library)' exec \"$0\" __worker", CommandRunner.executable]))
        let ask = { request in
            try worker.ask(WorkerQuestion(request), within: TimeBound(seconds: 30), cancellation: Cancellation())
        }
        let message = PipelineMessage(
            id: 1, name: "p.yaml", text: "renditions: { a: { save: { format: png } } }", assets: [],
            kind: WorkerKind(format: format),
            limits: Limits())
        let loss = #expect(throws: WorkerLoss.self) {
            if isTried { #expect(try ask(.tryReading(format)).isReadable()) }
            #expect(try ask(.prepare(message)).assets(for: message).isEmpty)
            for _ in 0..<100 {
                usleep(50_000)
                _ = try ask(.prepare(message))
            }
        }
        #expect(loss == .died(how: "ended with code 97", words: ""))
    }

    @Test(arguments: [SourceFormat.jp2, .jxl, .svg, .pdf, .avif, .heic])
    func `a worker that has tried a format becomes one of any kind`(format: SourceFormat) throws {
        let worker = try WorkerProcess(ProcessStarter(), WorkerCommand(executable: CommandRunner.executable))
        let ask = { request in
            try worker.ask(WorkerQuestion(request), within: TimeBound(seconds: 30), cancellation: Cancellation())
        }
        #expect(try ask(.tryReading(format)).isReadable())
        let message = PipelineMessage(
            id: 1, name: "p.yaml", text: "renditions: { a: { save: { format: avif } } }", assets: [],
            kind: WorkerKind(drawsText: true, format: format.isOnRequest ? format : nil, modules: [.heif]),
            limits: Limits())
        #expect(try ask(.prepare(message)).assets(for: message, saving: [.avif]).isEmpty)
    }

    private static let readable: [(WorkerKind, [SourceFormat])] = [
        (WorkerKind(), [.jpeg]), (WorkerKind(modules: [.heif]), [.jpeg, .avif]), (WorkerKind(format: .svg), [.svg]),
        (WorkerKind(format: .jp2), []), (WorkerKind(drawsSVG: true), [.jpeg]),
    ]

    @Test(arguments: readable)
    func `a worker reads formats of its kind only`(kind: WorkerKind, read: [SourceFormat]) async throws {
        let runner = try CommandRunner()
        let worker = try WorkerProcess(ProcessStarter(), WorkerCommand(executable: CommandRunner.executable))
        let message = PipelineMessage(
            id: 1, name: "p.yaml", text: "renditions: { a: { save: { format: png } } }", assets: [], kind: kind,
            limits: Limits())
        let ready = try worker.ask(
            WorkerQuestion(.prepare(message)), within: TimeBound(seconds: 30), cancellation: Cancellation())
        #expect(try ready.assets(for: message).isEmpty)
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"
        let sources: [(SourceFormat, String)] = [
            (.jpeg, try await runner.picture("a.jpg")), (.svg, try runner.folder.write(svg, to: "a.svg")),
            (.avif, try runner.folder.write(try await SamplePicture.avif.bytes, to: "a.avif")),
        ]
        for (format, path) in sources {
            let source = try OpenFile.reading(BytePath(path))
            let reply = try worker.ask(
                WorkerQuestion(.probe(format), files: [source]), within: TimeBound(seconds: 30),
                cancellation: Cancellation())
            let failure = Result { try reply.facts(of: format) }.failure as? Failure
            #expect(
                failure?.message
                    == (read.contains(format) ? nil : "a worker of another kind was given \(format.title)"), "\(format)"
            )
        }
    }

    // Where `VIPSHOME` is set, libvips loads all its modules when it starts, else with the first that needs them.
    @Test(arguments: [false, true])
    func `a worker that saves JPEG XL cannot load it`(hasHome: Bool) async throws {
        let home = getenv("VIPSHOME").map { String(cString: $0) }
        if hasHome { setenv("VIPSHOME", "/usr", 1) } else { unsetenv("VIPSHOME") }
        defer { if let home { setenv("VIPSHOME", home, 1) } else { unsetenv("VIPSHOME") } }
        let runner = try CommandRunner()
        try await runner.save("a.jxl", as: "jxlsave_target", [("effort", 3)]) {
            try TestPicture.make(width: 16, height: 8) { x, _ in [UInt8(x), 0, 0] }
        }
        let text = "renditions: { a: { stages: [ { overlay: { image: a.jxl } } ], save: { format: jxl } } }"
        func reply(_ kind: WorkerKind) throws -> Reply {
            let worker = try WorkerProcess(ProcessStarter(), WorkerCommand(executable: CommandRunner.executable))
            let asset = AssetMessage(path: "a.jxl", content: .picture(.jxl, pixelsPerPoint: 1))
            let message = PipelineMessage(
                id: 1, name: "p.yaml", text: text, assets: [asset], kind: kind, limits: Limits())
            let file = try OpenFile.reading(BytePath(runner.folder.path("a.jxl")))
            let checked = try worker.ask(
                WorkerQuestion(.prepare(message), files: [file]), within: TimeBound(seconds: 30),
                cancellation: Cancellation())
            do {
                return .assets(try checked.assets(for: message, saving: [.jxl]))
            } catch let bad as WorkerReply.BadAsset {
                return .assetFailed(bad.index, bad.failure)
            }
        }
        guard case .assetFailed(0, let failure) = try reply(WorkerKind(modules: [.jxl])) else {
            Issue.record("the worker has loaded JPEG XL")
            return
        }
        #expect(failure.detail?.contains("blocked") == true, "\(failure)")
        guard case .assets(let facts) = try reply(WorkerKind(format: .jxl, modules: [.jxl])) else {
            Issue.record("a worker for JPEG XL has not loaded it")
            return
        }
        #expect(facts.map(\.size) == [PixelSize(16, 8)])
    }

    @Test func `a worker with libheif does the work of one without, and no other difference is bridged`() {
        let (plain, heif) = (WorkerKind(), WorkerKind(modules: [.heif]))
        #expect(heif.serves(plain) && heif.serves(heif) && plain.serves(plain) && !plain.serves(heif))
        #expect(plain.isOfFamily(heif))
        for other in [
            WorkerKind(drawsText: true), WorkerKind(drawsSVG: true), WorkerKind(format: .svg),
            WorkerKind(format: .jp2, modules: [.heif]),
        ] {
            #expect(!heif.serves(other) && !other.serves(plain) && !heif.isOfFamily(other))
        }
    }

    @Test func `a worker that has not been shut in yet looks at no picture`() throws {
        let worker = try WorkerProcess(ProcessStarter(), WorkerCommand(executable: CommandRunner.executable))
        let reply = try worker.ask(
            WorkerQuestion(.probe(.jpeg)), within: TimeBound(seconds: 30), cancellation: Cancellation())
        let failure = #expect(throws: Failure.self) { try reply.facts(of: .jpeg) }
        #expect(failure?.message == "the worker was not given a pipeline")
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
