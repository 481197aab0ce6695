// `imagemill status`, `reload` and `retry`, against a daemon that answers from a script.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct StatusCommandTests {
    private func serve(_ runner: CommandRunner, _ daemon: FakeDaemon = FakeDaemon()) throws -> HTTPServer {
        try HTTPServer([.unix(BytePath(runner.folder.path("state/status.sock")))], DaemonRoutes(control: daemon))
    }

    @Test func `the table says in words what each inbox does; a hostile name stays on its line`() async throws {
        let runner = try CommandRunner()
        let server = try serve(runner)
        defer { server.stop() }
        let result = try await runner.run("status", "--state", "state")
        #expect(result.exit == 1, "an inbox is paused")
        #expect(
            result.output == #"""
                1 inbox paused, configuration refused, 1 disk nearly full, failed/ of 1 inbox cannot be read, 1 blocked, 1 waiting for room (disk-full), 3 hook events lost, cache not used
                imagemill \#(imagemillVersion), process 42: running for 1 d 2 h; 1 of 4 workers busy, 6 queued, the oldest for 1 min 15 s, 50 MiB

                paused:
                  share, since \#(localTime(FakeDaemon.time)): no-space: the disk of '/o' is full

                the configuration was refused at \#(localTime(FakeDaemon.time)); the one before is still in use:
                  mill.yaml:3:1: error: unknown key 'inbx'

                nearly full:
                  the disk of /srv\n: 900 MiB of 20480 MiB free; make room before it pauses the inboxes

                recent failures:
                  \#(localTime(FakeDaemon.time)) b\u{1B}.jpg: truncated: it ends early
                    what to do: Copy the file again, or render what there is of a JPEG or PNG with tolerate: truncated in the pipeline.

                blocked:
                  in\n/c\n.jpg: cannot move it: Permission denied

                waiting:
                  in\n/w\n.jpg: disk-full: no room\n; tried again in 20 s
                    what to do: Make room.

                lost events of hooks, in the last 24 hours:
                  \#(localTime("2023-11-14T22:13:20.000Z")) in\n: the hook on-success (notify) for '�' is not tried again: 'notify' ended with 1
                    what to do: repair the hook, and do by hand what it would have done: it is not called again for this event
                  \#(localTime("2023-11-14T22:13:20.000Z")) share: 2 events will not be sent to hooks: too\nmany
                    what to do: find out why the hooks of this inbox take so long, and do by hand what they would have done
                  and 1 more

                inbox  state               settling  ready  blocked  in progress  waiting  done  failed
                in\n   watching by events         2      -        1            -        1    10       4
                share  paused                     -      -        -            -        -     -       -

                in\n: /srv/in\n → /srv/out (p.yaml)
                  originals go to /s/done
                  failed ones to /s/failed

                share: /� → /o (q)

                settling:
                  in\n/d\n.jpg: its end is missing; decoded anyway in 8 min 20 s
                  and 1 more

                left alone:
                  in\n/e\n.xmp: it is no picture
                  and 6 more

                cache /var/cache\n: 12 renditions, 3 MiB of 1024 MiB; 7 taken from it, 5 not found since the start
                  not used: its disk is\nfull

                in progress:
                  a.jpg: render, 3 s, attempt 2

                """#)
    }

    @Test func `of many inboxes the first lines are about those with trouble, and the rest are only counted`() throws {
        var document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        document.inboxes = (1...50).map { number in
            var inbox = StatusDocument.Inbox(
                name: "inbox\(number)", path: ShownPath(BytePath("/in\(number)")), outbox: ShownPath(BytePath("/out")),
                pipeline: "p.yaml", watching: .events)
            inbox.done = 1000 + number
            inbox.settling = number == 20 ? 3 : 0
            inbox.blocked = number == 30 ? 200 : 0
            if number == 40 {
                inbox.state = .paused
                inbox.paused = StatusDocument.Pause(reason: .noSpace, message: "full", since: FakeDaemon.time)
            }
            if number == 30 {
                inbox.obstacles = (1...20).map {
                    StatusDocument.Obstacle(path: ShownPath(BytePath("\($0).jpg")), message: "no")
                }
            }
            return inbox
        }
        let folder = try TemporaryFolder()
        try folder.write("x", to: "failed/z.jpg")
        let standing = try #require(StandingFailures(BytePath(folder.path("failed"))))
        let text = StatusTable(status: document, failures: ["inbox10": standing], paint: Paint(1, arguments: [])).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "1 inbox paused, 1 failed, 200 blocked")
        #expect(lines.count < 40, "\(text)")
        let table = lines.drop { !$0.hasPrefix("inbox ") }.dropFirst().prefix(5).map { $0.prefix { $0 != " " } }
        #expect(table == ["inbox40", "inbox10", "inbox30", "inbox20", "and"])
        #expect(text.contains("and 46 other inboxes; --verbose lists all\n"))
        #expect(text.contains("  and 190 more; --verbose lists more of them\n"))
        let all = StatusTable(status: document, isVerbose: true, paint: Paint(1, arguments: [])).text
        #expect(all.contains("inbox1: /in1 ") && all.contains("inbox50: /in50 "))
        #expect(all.contains("  inbox30/20.jpg: no\n"))
    }

    @Test func `what to do is said below the failures that it is about, and all parts count failures alike`() throws {
        let folder = try TemporaryFolder()
        let notes = [("a", "corrupt", "Export it."), ("b", "empty", "Copy it."), ("c", "corrupt", "Export it.")]
        for (name, code, remedy) in notes {
            try folder.write("x", to: "failed/\(name).jpg")
            try folder.write(
                #"{"code":"\#(code)","message":"why","remedy":"\#(remedy)"}"#, to: "failed/\(name).jpg.error.json")
        }
        let standing = try #require(StandingFailures(BytePath(folder.path("failed"))))
        var inbox = StatusDocument.Inbox(
            name: "in", path: ShownPath(BytePath("/in")), outbox: ShownPath(BytePath("/out")), pipeline: "p.yaml",
            watching: .events)
        // Since the start; an operator has taken some away since.
        inbox.failed = 9
        var document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        document.inboxes = [inbox]
        let text = StatusTable(status: document, failures: ["in": standing], paint: Paint(1, arguments: [])).text
        #expect(
            text.contains(
                """
                failed:
                  in/a.jpg: corrupt: why
                  in/c.jpg: corrupt: why
                    what to do: Export it.
                  in/b.jpg: empty: why
                    what to do: Copy it.

                """), "\(text)")
        #expect(text.hasPrefix("3 failed\n"))
        let row = text.split(separator: "\n").first { $0.hasPrefix("in  ") }
        #expect(row?.hasSuffix("-       3") == true, "\(text)")
    }

    @Test func `many failures are counted by their codes if the daemon knows all of them`() throws {
        let folder = try TemporaryFolder()
        for (name, code) in [("a", "empty"), ("b", "corrupt"), ("c", "corrupt"), ("d", "corrupt")] {
            try folder.write("x", to: "failed/\(name).jpg")
            try folder.write(#"{"code":"\#(code)","message":"why"}"#, to: "failed/\(name).jpg.error.json")
        }
        let standing = try #require(StandingFailures(BytePath(folder.path("failed")), describing: 20))
        #expect(standing.codes == ["corrupt": 3, "empty": 1])
        var document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        document.inboxes = [
            StatusDocument.Inbox(
                name: "in", path: ShownPath(BytePath("/in")), outbox: ShownPath(BytePath("/out")), pipeline: "p.yaml",
                watching: .events)
        ]
        func text() -> String {
            StatusTable(status: document, failures: ["in": standing], paint: Paint(1, arguments: [])).text
        }
        #expect(text().contains("\nfailed:\n"))
        document.fill(from: ["in": Standing(failures: standing)])
        #expect(text().contains("\n4 failed: 3 corrupt, 1 empty\n"), "\(text())")
        document.inboxes[0].failedCodes = ["corrupt": 3]
        #expect(text().contains("\nfailed:\n"))
    }

    @Test func `an inbox that a person has paused is told apart from one with trouble`() {
        var document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        document.inboxes = [PauseReason.byRequest, .noSpace].map { reason in
            var inbox = StatusDocument.Inbox(
                name: reason.rawValue, path: ShownPath(BytePath("/in")), outbox: ShownPath(BytePath("/out")),
                pipeline: "p.yaml", watching: .events)
            inbox.state = .paused
            inbox.paused = StatusDocument.Pause(reason: reason, message: "so", since: FakeDaemon.time)
            return inbox
        }
        let text = StatusTable(status: document, paint: Paint(1, arguments: [])).text
        #expect(text.hasPrefix("2 inboxes paused, 1 of them by request\n"), "\(text)")
    }

    @Test func `a source that waits for room is named in the first line, with the reason and what to do`() {
        var document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        var inbox = StatusDocument.Inbox(
            name: "in", path: ShownPath(BytePath("/in")), outbox: ShownPath(BytePath("/out")), pipeline: "p.yaml",
            watching: .events)
        inbox.waiting = 2
        inbox.waitingSources = [(FailureCode.diskFull, 20), (.workerCrashed, 0)].map { code, seconds in
            StatusDocument.WaitingEntry(
                path: ShownPath(BytePath("\(code.rawValue).jpg")), code: code, message: "so", remedy: "Do it.",
                secondsLeft: seconds)
        }
        document.inboxes = [inbox]
        let text = StatusTable(status: document, paint: Paint(1, arguments: [])).text
        #expect(text.hasPrefix("1 waiting for room (disk-full)\n"), "\(text)")
        #expect(
            text.contains(
                """

                waiting:
                  in/disk-full.jpg: disk-full: so; tried again in 20 s
                  in/worker-crashed.jpg: worker-crashed: so; tried again now
                    what to do: Do it.

                """), "\(text)")
        inbox.waitingSources.removeFirst()
        document.inboxes = [inbox]
        #expect(StatusTable(status: document, paint: Paint(1, arguments: [])).text.hasPrefix("all is well\n"))
    }

    @Test func `events that wait for their hook are listed by inbox`() {
        var document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        var inbox = StatusDocument.Inbox(
            name: "shop\n", path: ShownPath(BytePath("/in")), outbox: ShownPath(BytePath("/out")), pipeline: "p.yaml",
            watching: .events)
        (inbox.hooksWaiting, inbox.oldestHookSeconds) = (12, 730)
        document.inboxes = [inbox]
        let text = StatusTable(status: document, paint: Paint(1, arguments: [])).text
        #expect(text.hasPrefix("12 hook events wait, oldest 12 min\n"), "\(text)")
        #expect(
            text.contains(
                "\nwaiting for hooks:\n  shop\\n: 12 events, the oldest for 12 min 10 s; the log says why\n"),
            "\(text)")
    }

    @Test func `on a narrow terminal each inbox has a line of its own, without zeros`() {
        func lines(_ columns: Int?) -> [Substring] {
            let table = StatusTable(status: FakeDaemon.busy, columns: columns, paint: Paint(1, arguments: []))
            return table.text.split(separator: "\n")
        }
        for columns in [40, 89] {
            let narrow = lines(columns)
            #expect(narrow.contains("in\\n: 4 failed, 1 blocked, 2 settling, 1 waiting, 10 done"), "\(narrow)")
            #expect(narrow.contains("share: paused") && !narrow.contains { $0.hasPrefix("inbox ") }, "\(narrow)")
        }
        for columns in [nil, 90] {
            #expect(lines(columns).contains { $0.hasPrefix("inbox  state ") })
        }
    }

    @Test(arguments: ["pause", "resume"])
    func `several inboxes are paused and resumed, and none is taken for a mill file`(command: String) async throws {
        let runner = try CommandRunner()
        let daemon = FakeDaemon()
        let server = try serve(runner, daemon)
        defer { server.stop() }
        let both = try await runner.run(command, "news", "raw", "--state", "state")
        #expect(both.exit == 0 && both.output == "done\ndone\n", "\(both.errors)")
        try runner.folder.write("state: state\ninboxes: []\n", to: "mill")
        #expect(try await runner.run(command, "mill", "news", "raw").exit == 0)
        let asked = ["news", "raw"].map { ControlRequest.pause(PauseRequest(inbox: $0, isPaused: command == "pause")) }
        #expect(daemon.requests == asked + asked)
        let unclear = try await runner.run(command, "news", "raw")
        #expect(
            unclear.exit == 64 && unclear.errors.contains("'news' is no mill file; for several inboxes"),
            "\(unclear.errors)")
        for options in [[], ["--state", "state"]] {
            let gone = try await runner.run([command, "gone.yaml", "raw"] + options)
            #expect(
                gone.exit == 78 && gone.errors == "imagemill: there is no mill file 'gone.yaml'\n", "\(gone.errors)")
        }
        #expect(daemon.requests.count == 4)
    }

    @Test func `if one of several inboxes is not there, the others are paused all the same`() async throws {
        let runner = try CommandRunner()
        let daemon = FakeDaemon(reply: ControlReply(ok: false, "there is no inbox 'x'"))
        let server = try serve(runner, daemon)
        defer { server.stop() }
        #expect(try await runner.run("pause", "a", "b", "--state", "state").exit == 1)
        #expect(daemon.requests.count == 2)
    }

    @Test func `a daemon without trouble is well in the first line`() {
        let document = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 60)
        let text = StatusTable(status: document, paint: Paint(1, arguments: [])).text
        #expect(text.hasPrefix("all is well\nimagemill "))
    }

    @Test func `the document is as its schema says, full and empty`() async throws {
        let runner = try CommandRunner()
        let empty = StatusDocument(process: 1, state: .draining, started: FakeDaemon.time, uptimeSeconds: 0)
        for document in [FakeDaemon.busy, empty] {
            let server = try serve(runner, FakeDaemon(document))
            let result = try await runner.run("status", "--json", "--socket", "state/status.sock")
            server.stop()
            #expect(result.exit == (document == empty ? 0 : 1))
            #expect(try JSONDecoder().decode(StatusDocument.self, from: Data(result.output.utf8)) == document)
            try runner.folder.write(result.output, to: "status.json")
            let check = try await runner.validate("status", ["status.json"])
            #expect(check.exit == 0, "\(check.output)\(check.errors)")
        }
    }

    @Test func `a note beside a failed source is as its schema says`() async throws {
        let runner = try CommandRunner()
        for (name, detail) in [(BytePath("a.jpg"), "libvips' words"), (BytePath([0xFF]), nil)] {
            try FailureNote(
                source: name, job: "7", inbox: BytePath("/in"), quarantined: BytePath("/f/a"), pipeline: BytePath("/p"),
                failure: Failure(.corrupt, stage: "decode", "x", detail: detail), attempts: 1
            ).write(beside: BytePath("a"), in: Directory(BytePath(runner.folder.path)))
            let check = try await runner.validate("failure", ["a.error.json"])
            #expect(check.exit == 0, "\(check.output)\(check.errors)")
        }
    }

    @Test(arguments: [["status"], ["reload"], ["retry", "a.jpg"]])
    func `without a daemon every command says so, and to try again later`(command: [String]) async throws {
        let runner = try CommandRunner()
        let result = try await runner.run(command + ["--state", "state"])
        #expect(result.exit == 75)
        #expect(
            result.errors
                == "imagemill: no daemon is running at 'state/status.sock'; start one with 'imagemill watch mill.yaml' "
                + "(there is no folder 'state'; if a daemon runs, it was moved or deleted: put it back)\n"
        )
        #expect(result.output.isEmpty)
    }

    @Test func `a mill file that is no YAML is said to hide where its daemon is`() async throws {
        let runner = try CommandRunner()
        let texts = [("inboxes: [ { path: ", true), ("state: s\ninboxes: [ {", false), ("inboxes: [ ]", false)]
        for (text, isSaid) in texts {
            try runner.folder.write(text, to: "mill.yaml")
            let result = try await runner.shell("HOME=\"$PWD\" \"$IMAGEMILL\" reload mill.yaml")
            #expect(result.exit == 75)
            let words =
                "  'mill.yaml' is no YAML, so its 'state' cannot be read: "
                + "'imagemill check mill.yaml' says why; '--state' names the daemon's folder\n"
            #expect(result.errors.hasSuffix(words) == isSaid, "\(result.errors)")
        }
    }

    @Test(
        .enabled(if: TestMachine.canUnshareMounts, "no file system can be mounted here"),
        arguments: ["status", "status mill.yaml", "reload", "retry --all", "pause in", "status --service x"])
    func `without a daemon the service manager is named if the service is installed`(command: String) async throws {
        let runner = try CommandRunner()
        try runner.folder.write("inboxes: [ { path: drop, outbox: out, pipeline: p.yaml } ]\n", to: "mill.yaml")
        let line = "mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/imagemill && HOME=$PWD \"$0\" \(command)"
        let result = try await runner.shell("unshare -m sh -c '\(line)' '\(CommandRunner.executable)'")
        let help =
            command.hasSuffix("x")
            ? "  'systemctl status imagemill@x' says why it does not run\n"
            : "  if the service is meant: 'systemctl status imagemill' says why it does not run; for a service imagemill@NAME use --service NAME\n"
        #expect(
            result.exit == 75
                && result.errors.hasSuffix("start one with 'imagemill watch mill.yaml'\n\(help)"), "\(result.errors)")
    }

    @Test(.enabled(if: TestMachine.othersCanRun, "no other user can run the program here"))
    func `a service that this user may not ask is named, and not a daemon of the user's own that never was`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write("inboxes: [ { path: drop, outbox: out, pipeline: p.yaml } ]\n", to: "mill.yaml")
        let tool = "HOME=$PWD RUNTIME_DIRECTORY=$PWD/run setpriv --reuid=65534 --regid=65534 --clear-groups"
        try #require(try await runner.shell("chmod 755 .; mkdir -m 700 run").exit == 0)
        let result = try await runner.shell("\(tool) '\(CommandRunner.executable)' status mill.yaml")
        #expect(
            result.exit == 75 && result.errors.contains("/run/status.sock' may not be asked by this user"),
            "\(result.errors)")
    }

    @Test func `reload tells what was wrong with the configuration, and ends with the code for that`() async throws {
        let runner = try CommandRunner()
        let bad = ControlReply(
            ok: false, "the configuration was refused", details: ["mill.yaml:1:1: error: x\n  line\n  ^"])
        var server = try serve(runner, FakeDaemon(reply: bad))
        let refused = try await runner.run("reload", "--state", "state")
        server.stop()
        #expect(refused.exit == 78 && refused.output.isEmpty)
        #expect(refused.errors == "the configuration was refused\nmill.yaml:1:1: error: x\n  line\n  ^\n")
        server = try serve(runner, FakeDaemon(reply: ControlReply(ok: true, "the new configuration is at work")))
        let done = try await runner.run("reload", "--state", "state")
        server.stop()
        #expect(done.exit == 0 && done.output == "the new configuration is at work\n" && done.errors.isEmpty)
    }

    @Test func `retry names files by their absolute path where they are there, else as they were said`() async throws {
        let runner = try CommandRunner()
        let daemon = FakeDaemon()
        let server = try serve(runner, daemon)
        defer { server.stop() }
        try runner.folder.write("x", to: "failed/a.jpg")
        let odd: [UInt8] = [0xFF, 0x0A]
        let words = ["retry", "--state", "state", "failed/a.jpg", "b/c.jpg"].map { Array($0.utf8) } + [odd]
        #expect(try await runner.run(bytes: words).exit == 0)
        #expect(try await runner.run("retry", "--all", "--state", "state").exit == 0)
        let real = try #require(FileSystem.absolute(BytePath(runner.folder.path("failed/a.jpg"))))
        #expect(
            daemon.requests == [
                .retry(RetryRequest(names: [real, BytePath("b/c.jpg"), BytePath(odd)], all: false)),
                .retry(RetryRequest(names: [], all: true)),
            ])
    }

    @Test(arguments: [
        ("retry", "name the failed sources, or use --all"),
        ("retry --all a.jpg", "--all takes no sources; leave out 'a.jpg' or --all"),
    ])
    func `retry wants names or --all`(command: String, words: String) async throws {
        let result = try await CommandRunner().run(command.split(separator: " ").map(String.init))
        #expect(result.exit == 64 && result.errors.contains(words), "\(result.errors)")
    }
}
