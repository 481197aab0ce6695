// `imagemill watch` with trouble in its surroundings, when it is stopped, and when its configuration changes.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct WatchTroubleTests {
    @Test
    func `an outbox that vanishes pauses the inbox with the reason and loses nothing; once back, the work goes on`()
        async throws
    {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("out"))
        for number in 1...3 { try await drop.drop("b\(number).jpg") }
        try await drop.until("it is paused") { try await drop.pause() == "missing-outbox" }
        #expect(try await drop.runner.run("status", "--state", "state").exit == 1)
        #expect(!drop.runner.exists("out") && drop.files("state/failed").isEmpty)
        try drop.makeFolder("out")
        for number in 1...3 { try await drop.until("out/b\(number).jpg.json", "state/done/in/b\(number).jpg") }
        try await drop.until("it goes on") { try await drop.pause() == nil }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(
            watch.errorsSoFar.contains("PAUSE_REASON=missing-outbox") && watch.errorsSoFar.contains("notice: resumed"))
        #expect(drop.files("in").isEmpty && drop.files("state/work").isEmpty)
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `a pause has the reason that holds now: an outbox that is there again, but is read-only or full`() async throws
    {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        let out = drop.runner.folder.path("out")
        try FileManager.default.removeItem(atPath: out)
        try await drop.drop("a.jpg")
        try await drop.until("it is paused") { try await drop.pause() == "missing-outbox" }
        try drop.makeFolder("out")
        defer { _ = umount2(out, Int32(MNT_DETACH)) }
        try #require(try await drop.runner.shell("mount -t tmpfs -o ro,size=16k none out").exit == 0)
        try await drop.until("it is read-only") { try await drop.pause() == "read-only" }
        try #require(try await drop.runner.shell("mount -o remount,rw out").exit == 0)
        try await drop.until("it is full") { try await drop.pause() == "no-space" }
        let message = (try await drop.inbox()["paused"] as? [String: Any])?["message"] as? String
        #expect(message == "cannot write into '\(out)': No space left on device; make room there")
        try #require(try await drop.runner.shell("mount -o remount,size=8M out").exit == 0)
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `an inbox that vanishes pauses, and goes on when it is there again`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("in"))
        try await drop.until("it is paused") { try await drop.pause() == "missing-inbox" }
        try drop.makeFolder("in")
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `after a damaged picture a worker is kept ready for the second opinion on the next one`() async throws {
        let drop = try WatchedFolder(
            mill: "state: state\nworkers: 1\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        )
        let watch = try await drop.start()
        func workers() async throws -> Int {
            let found = try await drop.runner.shell("pgrep -c -P \(watch.process) -f __worker")
            return Int(found.output.filter(\.isNumber)) ?? 0
        }
        try await drop.drop("a.png")
        try await drop.until("out/a.png.json")
        #expect(try await workers() == 1)
        var broken = try await SamplePicture.png.bytes
        for index in broken.count / 2..<broken.count / 2 + 8 { broken[index] ^= 0xFF }
        try drop.drop("broken.png", broken)
        try await drop.until("state/failed/in/broken.png")
        try await drop.until("there is a spare worker") { try await workers() == 2 }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `an outbox that is gone shows before a source comes`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        #expect(try await drop.runner.shell("mv out away").exit == 0)
        try await drop.until("it is paused") { try await drop.pause() == "missing-outbox" }
        #expect(try await drop.runner.shell("mv away out").exit == 0)
        try await drop.until("it goes on") { try await drop.pause() == nil }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `folders of its own that somebody has removed are made again, and the work goes on`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        for name in ["work", "done", "failed"] {
            try FileManager.default.removeItem(atPath: drop.runner.folder.path("state/" + name))
        }
        try await drop.drop("b.jpg")
        try drop.drop("bad.jpg", Array("no picture".utf8))
        try await drop.until("out/b.jpg.json", "state/done/in/b.jpg", "state/failed/in/bad.jpg.error.json")
        try await drop.until("it goes on") { try await drop.pause() == nil }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test
    func `an inbox whose folders cannot be made stays paused, and says so once; it goes on when they can be made`()
        async throws
    {
        let drop = try WatchedFolder()
        for name in ["state/work", ".imagemill", "in/.imagemill"] {
            try drop.runner.folder.write("in the way", to: name)
        }
        try await drop.drop("a.jpg")
        let watch = try await drop.start()
        try await drop.until("it is paused") { try await drop.pause() != nil }
        // Longer than it takes to look again, twice.
        try await Task.sleep(for: .seconds(5))
        #expect(watch.errorsSoFar.components(separatedBy: "warning: paused").count == 2, "\(watch.errorsSoFar)")
        #expect(!watch.errorsSoFar.contains("notice: resumed") && drop.runner.exists("in/a.jpg"))
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("state/work"))
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `an original that cannot be put away waits alone, and its inbox goes on`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start(variables: ["IMAGEMILL_FAULT=before-source-commit:1:error:EACCES"])
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        try await drop.until("it is over") { try await drop.inbox()["in-progress"] as? Int == 0 }
        #expect(try await drop.stop(watch).exit == 0)
        let log = watch.errorsSoFar
        #expect(log.contains("tried again in 5 s: the original cannot be put away: cannot "), "\(log)")
        #expect(!log.contains("paused"), "\(log)")
    }

    @Test(arguments: ["keep", "delete"])
    func `an original that was taken to be moved is moved, whatever the mill file says when it is done`(policy: String)
        async throws
    {
        let drop = try WatchedFolder()
        try await drop.drop("a.jpg")
        _ = try await drop.runner.shell("IMAGEMILL_FAULT=after-decode:1:kill \"$IMAGEMILL\" watch mill.yaml")
        #expect(drop.files("in").isEmpty && drop.files("state/work").contains { $0.hasSuffix("/source") })
        let mill = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self)
        try drop.runner.folder.write(
            mill.replacingOccurrences(of: "settle: 200ms", with: "settle: 200ms, originals: \(policy)"),
            to: "mill.yaml")
        let watch = try await drop.start()
        try await drop.until("out/a.jpg.json")
        try await drop.until("it is over") { try await drop.inbox()["done"] as? Int == 1 }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("state/done") == ["in/a.jpg"] && drop.files("state/work").isEmpty)
    }

    @Test func `a failure that could not be recorded at once counts as a failure, once`() async throws {
        let drop = try WatchedFolder()
        try drop.drop("bad.jpg", Array("no picture".utf8))
        let line =
            "IMAGEMILL_FAULT=after-finish-record:1:error:EIO \"$IMAGEMILL\" watch mill.yaml 2>log & sleep 1; for i in $(seq 200); do"
        let end =
            " grep -q failed: log && break; sleep 0.1; done; \"$IMAGEMILL\" status --state state --json; kill $!; wait $!"
        let result = try await drop.runner.shell(line + end)
        let status = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        let inbox = (status?["inboxes"] as? [[String: Any]])?.first
        #expect(
            inbox?["failed"] as? Int == 1 && inbox?["done"] as? Int == 0 && inbox?["in-progress"] as? Int == 0,
            "\(result.output)")
        #expect(
            drop.files("state/failed") == ["in/bad.jpg", "in/bad.jpg.error.json"] && drop.files("state/work").isEmpty)
    }

    @Test(arguments: ["kill", "error:EIO"])
    func `an original whose decoder warned is not deleted, also if it is put away by the next start`(trouble: String)
        async throws
    {
        let drop = try WatchedFolder(inbox: "originals: delete")
        let bytes = try DecoderMessageTests.padded(try await SamplePicture.jpeg.bytes)
        try drop.drop("a.jpg", bytes)
        if trouble == "kill" {
            _ = try await drop.runner.shell(
                "IMAGEMILL_FAULT=after-outcome-record:1:kill \"$IMAGEMILL\" watch mill.yaml")
            #expect(
                drop.runner.exists("out/a.jpg.json") && drop.files("state/work").contains { $0.hasSuffix("/source") })
        }
        let watch = try await drop.start(
            variables: trouble == "kill" ? [] : ["IMAGEMILL_FAULT=before-source-commit:1:\(trouble)"])
        // The trouble is the first one's.
        try await drop.until("out/a.jpg.json")
        try await drop.drop("sound.jpg")
        try await drop.until("state/done/in/a.jpg", "out/sound.jpg.json")
        try await drop.until("it is over") { try await drop.inbox()["in-progress"] as? Int == 0 }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(try drop.runner.bytes("state/done/in/a.jpg") == bytes)
        #expect(
            drop.files("state/done") == ["in/a.jpg"] && drop.files("state/work").isEmpty && drop.files("in").isEmpty)
    }

    @Test
    func `an inbox gets another name at a restart only, and takes all along but its folders`() async throws {
        func mill(_ name: String) -> String {
            "state: state\ninboxes:\n  - { name: \(name), path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        }
        let drop = try WatchedFolder(mill: mill("one"))
        let watch = try await drop.start(variables: ["IMAGEMILL_FAULT=after-decode:1:sleep:3000"])
        try await drop.drop("a.jpg")
        try drop.runner.folder.write("no picture", to: "in/b.jpg")
        try await drop.until("it is under way") { try await drop.inbox()["in-progress"] as? Int == 1 }
        try drop.runner.folder.write(mill("two"), to: "mill.yaml")
        let refused = try await drop.runner.run("reload", "--state", "state")
        #expect(refused.exit == 78 && refused.errors.contains("would be 'two'"), "\(refused)")
        #expect(refused.errors.contains("give it 'name: one', or restart"), "\(refused.errors)")
        try await drop.until("out/a.jpg.json", "state/failed/one/b.jpg.error.json")
        #expect(try await drop.stop(watch).exit == 0)
        let again = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("state/done/two/a.jpg")
        #expect(try await drop.stop(again).exit == 0)
        #expect(drop.files("out") == ["a.jpg.json", "a.webp"])
        #expect(drop.files("state/work").isEmpty && drop.files("in").isEmpty)
        #expect(
            again.errorsSoFar.contains("failed/one', and the mill file has no inbox of that name"),
            "\(again.errorsSoFar)")
    }

    @Test(arguments: [["top/in", "top"], ["top", "top/in"]])
    func `an inbox that a reload moves to the folder above it, or back, goes on there`(paths: [String]) async throws {
        func mill(_ path: String) -> String {
            "state: state\ninboxes:\n  - { name: one, path: \(path), outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        }
        let drop = try WatchedFolder(mill: mill(paths[0]))
        try drop.makeFolder("top/in")
        let watch = try await drop.start()
        try await drop.drop("a.jpg", into: paths[0])
        try await drop.until("state/done/one/a.jpg")
        try drop.runner.folder.write(mill(paths[1]), to: "mill.yaml")
        #expect(try await drop.runner.run("reload", "--state", "state").exit == 0)
        try await drop.drop("b.jpg", into: paths[1])
        try await drop.until("state/done/one/b.jpg")
        #expect(try await drop.stop(watch).exit == 0)
        #expect(!watch.errorsSoFar.contains("PAUSE_REASON"), "\(watch.errorsSoFar)")
        #expect(drop.files("out") == ["a.jpg.json", "a.webp", "b.jpg.json", "b.webp"])
    }

    @Test func `two inboxes that change names each take up their own jobs`() async throws {
        func mill(_ first: String, _ second: String) -> String {
            "state: state\nworkers: 1\ninboxes:\n"
                + [(first, "in", "out"), (second, "in2", "out2")].map { name, inbox, outbox in
                    "  - { name: \(name), path: \(inbox), outbox: \(outbox), pipeline: p.yaml, settle: 200ms }\n"
                }.joined()
        }
        let drop = try WatchedFolder(mill: mill("one", "two"))
        try await drop.drop("a.jpg", into: "in2")
        _ = try await drop.runner.shell("IMAGEMILL_FAULT=after-decode:1:kill \"$IMAGEMILL\" watch mill.yaml")
        #expect(drop.files("state/work/two").contains { $0.hasSuffix("/source") })
        try drop.runner.folder.write(mill("two", "one"), to: "mill.yaml")
        let watch = try await drop.start()
        try await drop.until("it is done: \(drop.files("."))") {
            drop.files("out").count + drop.files("out2").count == 2
        }
        #expect(drop.files("out2") == ["a.jpg.json", "a.webp"])
        #expect(try await drop.stop(watch).exit == 0)
        #expect(!watch.errorsSoFar.contains("somebody has removed it"))
    }

    @Test
    func `what is under way when the pipeline of kept originals changes is made again with the new one`() async throws {
        let drop = try WatchedFolder(inbox: "originals: keep")
        try await drop.drop("a.jpg")
        let watch = try await drop.start(variables: ["IMAGEMILL_FAULT=after-decode:1:sleep:5000"])
        try await drop.until("it is under way") { try await drop.inbox()["in-progress"] as? Int == 1 }
        try drop.runner.pipeline(size: "16x16")
        #expect(try await drop.runner.run("reload", "--state", "state").exit == 0)
        try await drop.until("it is made again") {
            guard drop.runner.exists("out/a.webp") else { return false }
            return try await drop.runner.size(of: "out/a.webp") == [16, 12]
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test
    func `retry removes a copy of what is in the inbox, and never an original that failed before originals were kept`()
        async throws
    {
        let drop = try WatchedFolder()
        try drop.drop("bad.jpg", Array("the first".utf8))
        var watch = try await drop.start()
        try await drop.until("state/failed/in/bad.jpg.error.json")
        try await drop.stop(watch)
        let mill = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self)
        try drop.runner.folder.write(
            mill.replacingOccurrences(of: "settle: 200ms", with: "settle: 200ms, originals: keep"), to: "mill.yaml")
        try drop.drop("bad.jpg", Array("another one".utf8))
        watch = try await drop.start()
        try await drop.until("state/failed/in/bad~2.jpg.error.json")
        try await drop.until("it is over") { try await drop.inbox()["in-progress"] as? Int == 0 }
        let retried = try await drop.runner.run("retry", "--state", "state", "--all")
        #expect(retried.errors.contains("another file has that name by now"), "\(retried.output)\(retried.errors)")
        #expect(try drop.runner.bytes("state/failed/in/bad.jpg") == Array("the first".utf8))
        #expect(try drop.runner.bytes("in/bad.jpg") == Array("another one".utf8))
        try await drop.stop(watch)
    }

    @Test func `an inbox that is taken out of the file while its outbox is missing is let go`() async throws {
        let one = "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        let drop = try WatchedFolder(mill: one + "  - { path: in2, outbox: out2, pipeline: p.yaml, settle: 200ms }\n")
        try drop.makeFolder("in2")
        let watch = try await drop.start()
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("out2"))
        try await drop.drop("a.jpg", into: "in2")
        try await drop.until("it is paused") { try await drop.runner.run("status", "--state", "state").exit == 1 }
        try drop.runner.folder.write(one, to: "mill.yaml")
        #expect(try await drop.runner.run("reload", "--state", "state").exit == 0)
        try await drop.until("one inbox is left") {
            (try await drop.status()["inboxes"] as? [[String: Any]])?.count == 1
        }
        #expect(drop.runner.exists("in2/a.jpg"))
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test(.enabled(if: canMount))
    func `what was a mount is waited for when it is none any more: nothing is taken from beneath it, or hidden there`()
        async throws
    {
        let drop = try WatchedFolder()
        try drop.makeFolder("out")
        let mounts = ["in", "out"].map { drop.runner.folder.path($0) }
        defer { for mount in mounts { _ = umount2(mount, 2) } }
        for mount in mounts {
            #expect(try await drop.runner.shell("mount -t tmpfs -o size=4M tmpfs '\(mount)'").exit == 0)
        }
        let watch = try await drop.start()
        try await drop.runner.picture("in/a.jpg")
        try await drop.until("out/a.jpg.json")
        // The report has its name before the last descriptor of the folder is closed.
        try await drop.until("all is put away") { try await drop.inbox()["in-progress"] as? Int == 0 }
        try await drop.until("the outbox is let go") { umount2(mounts[1], 0) == 0 }
        try await drop.runner.picture("in/b.jpg")
        try await drop.until("it is paused") { try await drop.pause() == "missing-outbox" }
        #expect(drop.files("out").isEmpty)
        #expect(try await drop.runner.shell("mount -t tmpfs -o size=4M tmpfs '\(mounts[1])'").exit == 0)
        try await drop.until("out/b.jpg.json")
        try await drop.until("all is put away") { try await drop.inbox()["in-progress"] as? Int == 0 }
        // The lock on the folders of its sources keeps a file of it open.
        #expect(umount2(mounts[0], Int32(MNT_DETACH)) == 0)
        try await drop.until("it is paused") { try await drop.pause() == "missing-inbox" }
        let since = (try await drop.inbox()["paused"] as? [String: Any])?["since"] as? String
        #expect(since?.hasPrefix("20") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: mounts[0]).isEmpty)
        #expect(try await drop.runner.shell("mount -t tmpfs -o size=4M tmpfs '\(mounts[0])'").exit == 0)
        try await drop.runner.picture("in/c.jpg")
        try await drop.until("out/c.jpg.json")
        try await drop.stop(watch)
    }

    private static let canMount = {
        let trial = Process()
        trial.executableURL = URL(fileURLWithPath: "/bin/sh")
        trial.arguments = ["-c", "unshare -m mount -t tmpfs tmpfs /mnt 2>/dev/null"]
        guard TestMachine.isRoot, (try? trial.run()) != nil else { return false }
        trial.waitUntilExit()
        return trial.terminationStatus == 0
    }()

    @Test(arguments: [
        "after-claim-record", "after-claim-rename", "after-attempt-record", "after-names-record",
        "before-source-commit",
    ])
    func `trouble with the disk at any step pauses the inbox or puts the source off, and the source is done later`(
        point: String
    ) async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start(variables: ["IMAGEMILL_FAULT=\(point):1:error:ENOSPC"])
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        try await drop.until("it is over") { try await drop.inbox()["done"] as? Int == 1 }
        // Where the names are settled and the original is put away, a probe says that there is room again.
        let isProbed = ["after-names-record", "before-source-commit"].contains(point)
        #expect(
            watch.errorsSoFar.contains(isProbed ? "tried again" : "paused") && drop.files("state/failed").isEmpty)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(
            drop.files("in").isEmpty && drop.files("state/work").isEmpty
                && drop.files("out") == ["a.jpg.json", "a.webp"])
    }

    @Test func `an inbox that is missing at the start is waited for`() async throws {
        let drop = try WatchedFolder()
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("in"))
        let watch = try await drop.start()
        try await drop.until("it is paused") { try await drop.pause() == "missing-inbox" }
        try drop.makeFolder("in")
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `SIGTERM under load ends with 0, with what runs finished; the next start does the rest`() async throws {
        let drop = try WatchedFolder()
        try drop.runner.pipeline(size: "400x400", format: "avif")
        let noise = try await SamplePicture.noise(width: 600, height: 400)
        for number in 1...8 { try drop.drop("\(number).jpg", noise) }
        var watch = try await drop.start()
        try await drop.until("one is done") { drop.files("out").contains { $0.hasSuffix(".json") } }
        #expect(try await drop.stop(watch).exit == 0)
        let reports = drop.files("out").filter { $0.hasSuffix(".json") }
        #expect(reports.count == drop.files("state/done").count && reports.count < 8)
        #expect(reports.count + drop.files("in").count + drop.files("state/work").count == 8)
        watch = try await drop.start()
        try await drop.until("all are done") { try await drop.inbox()["done"] as? Int == 8 }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("in").isEmpty && drop.files("state/work").isEmpty && drop.files("state/done").count == 8)
    }

    @Test func `after kill -9 the next start finishes what was begun, once`() async throws {
        // A source may be the one that runs at each of the kills.
        let drop = try WatchedFolder(inbox: "attempts: 100")
        try drop.runner.pipeline(size: "300x300", format: "avif")
        let noise = try await SamplePicture.noise(width: 500, height: 300)
        for number in 1...6 { try drop.drop("\(number).jpg", noise) }
        for _ in 1...3 {
            let watch = try await drop.start()
            let before = drop.files("state/done").count
            try await drop.until("another one is done") {
                drop.files("state/done").count > before || drop.files("state/done").count == 6
            }
            watch.signal(SIGKILL)
            _ = try await watch.finish()
        }
        let watch = try await drop.start()
        try await drop.until("all are done") { drop.files("state/done").count == 6 }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == (1...6).flatMap { ["\($0).avif", "\($0).jpg.json"] }.sorted())
        #expect(drop.files("in").isEmpty && drop.files("state/work").isEmpty && drop.files("state/failed").isEmpty)
    }

    @Test
    func `reload takes a good configuration, refuses a bad one with its mistakes, and retry brings failures back`()
        async throws
    {
        let mill =
            "state: state\nmax-pixels: 100\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        let drop = try WatchedFolder(mill: mill)
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("state/failed/in/a.jpg", "state/failed/in/a.jpg.error.json")

        try drop.runner.folder.write(
            "state: state\ninboxes:\n  - { path: in, outbox: out, pipelin: p.yaml }\n", to: "mill.yaml")
        let refused = try await drop.runner.run("reload", "--state", "state")
        #expect(refused.exit == 78 && refused.errors.contains("mill.yaml:3:"), "\(refused.errors)")
        let said = try await drop.status()["reload"] as? [String: Any]
        #expect(said?["state"] as? String == "refused" && (said?["diagnostics"] as? [String])?.isEmpty == false)
        try await drop.until("the log has it") { watch.errorsSoFar.contains("pipelin") }
        // By the mill file too, even if it is no YAML any more: the daemon says what it thinks of it, and logs it.
        for (text, words) in [
            ("  - { path: in, outbox: out, piplin: p.yaml }\n", "piplin"), ("  - { path: in, outbx\n", "not YAML"),
        ] {
            try drop.runner.folder.write("state: state\ninboxes:\n\(text)", to: "mill.yaml")
            let again = try await drop.runner.run("reload", "mill.yaml")
            #expect(again.exit == 78 && again.errors.contains("'mill.yaml' was refused"), "\(again.errors)")
            try await drop.until("the log has it: \(watch.errorsSoFar)") { watch.errorsSoFar.contains(words) }
        }

        let second = "  - { path: in2, outbox: out2, pipeline: p.yaml, settle: 200ms }\n"
        try drop.makeFolder("in2")
        try drop.runner.folder.write(
            mill.replacingOccurrences(of: "max-pixels: 100\n", with: "") + second, to: "mill.yaml")
        let accepted = try await drop.runner.run("reload", "--state", "state")
        #expect(accepted.exit == 0, "\(accepted.errors)")
        let retried = try await drop.runner.run("retry", "--state", "state", "a.jpg")
        #expect(retried.exit == 0 && retried.output == "1 source moved back\n", "\(retried.errors)")
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        #expect(!drop.runner.exists("state/failed/in/a.jpg.error.json"))
        try await drop.drop("b.jpg", into: "in2")
        try await drop.until("out2/b.jpg.json")

        // SIGHUP does the same; the inbox that is gone from the file is let go.
        try drop.runner.folder.write(mill.replacingOccurrences(of: "max-pixels: 100\n", with: ""), to: "mill.yaml")
        watch.signal(SIGHUP)
        try await drop.until("one inbox is left") {
            (try await drop.status()["inboxes"] as? [[String: Any]])?.count == 1
        }
        let missing = try await drop.runner.run("retry", "--state", "state", "nothing.jpg")
        #expect(missing.exit == 1 && missing.errors.contains("there is no 'nothing.jpg'"))
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test(.enabled(if: TestMachine.othersCanRun, "no other user can run the program here"), .timeLimit(.minutes(2)))
    func `a folder that the daemon may not look into is blocked in the status, until it may`() async throws {
        let drop = try WatchedFolder()
        try await drop.runner.picture("in/locked/a.jpg")
        _ = try await drop.runner.shell("mkdir out state; chmod 777 . in in/locked out state; chmod 700 in/locked")
        let watch = try drop.runner.start(["watch", "mill.yaml"], user: .unprivileged)
        try await drop.until("it has started: \(watch.errorsSoFar)") { watch.errorsSoFar.contains("notice: started") }
        try await drop.until("it is blocked: \(watch.errorsSoFar)") {
            try await (drop.status()["inboxes"] as? [[String: Any]])?.first?["blocked"] as? Int == 1
        }
        let told = try await drop.runner.run("status", "mill.yaml")
        #expect(told.exit == 1 && told.output.hasPrefix("1 blocked\n"), "\(told)")
        #expect(
            told.output.contains(
                "\nblocked:\n  in/locked: cannot look into it: Permission denied; give the user 'nobody' the right to read it and to write into its folder\n"
            ), "\(told.output)")
        _ = try await drop.runner.shell("chmod 777 in/locked")
        try await drop.until("out/locked/a.jpg.json")
        try await drop.until("nothing is blocked") {
            try await (drop.status()["inboxes"] as? [[String: Any]])?.first?["blocked"] as? Int == 0
        }
        #expect(try await drop.stop(watch).exit == 0)
    }
}
