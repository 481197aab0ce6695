// The state folder in trouble: it is never made anew behind the operator's back, and what was lost is said.
import Foundation
import TestSupport
import Testing

@Suite struct StateFolderTests {
    private func world() throws -> WatchedFolder {
        try WatchedFolder(
            mill:
                "state: state\nworkers: 1\nhttp: ./web.sock\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 100ms }\n"
        )
    }

    private func get(_ drop: WatchedFolder, _ path: String) async throws -> String {
        try await drop.runner.shell("curl -s --max-time 20 --unix-socket web.sock 'http://localhost\(path)'").output
    }

    private func dashboard(_ drop: WatchedFolder) async throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(try await get(drop, "/api/dashboard").utf8)) as? [String: Any]
            ?? [:]
    }

    private func events(_ drop: WatchedFolder) async throws -> [String] {
        (try await dashboard(drop)["events"] as? [[String: Any]] ?? []).compactMap { $0["sentence"] as? String }
    }

    // MARK: - While it runs

    @Test(.timeLimit(.minutes(2))) func `a state folder and a ledger that are links are where they were`() async throws
    {
        let drop = try world()
        _ = try await drop.runner.shell(
            "mkdir -p disk/state; ln -s disk/state state; touch disk/ledger; ln -s ../ledger disk/state/ledger.sqlite")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("out/a.webp")
        // Longer than the housekeeper takes to look, twice.
        try await Task.sleep(for: .seconds(5))
        #expect(try await get(drop, "/healthz") == "alive\n", "\(watch.errorsSoFar)")
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: ["mv state away", "rm -rf state", "mv state away; mkdir state", "rm state/ledger.sqlite"])
    func `a state folder that is not where it was pauses all, is said everywhere, and is not made anew`(trouble: String)
        async throws
    {
        let drop = try world()
        let watch = try await drop.start()
        try await drop.until("the flow is good") { try await get(drop, "/healthz") == "alive\n" }
        _ = try await drop.runner.shell(trouble)
        let files = drop.files("state")
        // Whoever removes the ledger alone is noticed at the next look; a job that comes before is done.
        if !trouble.contains("ledger") { try await drop.drop("a.jpg") }
        try await drop.until("a probe hears of it: \(watch.errorsSoFar)") {
            try await get(drop, "/healthz").contains("put ")
        }
        if trouble.contains("ledger") { try await drop.drop("a.jpg") }
        // Longer than the housekeeper takes to look again, twice.
        try await Task.sleep(for: .seconds(5))
        // The socket and the journal are opened anew by nobody.
        #expect(drop.files("state") == files)
        #expect(drop.runner.exists("state") == (trouble.contains("mkdir") || trouble.contains("ledger")))
        #expect(drop.runner.exists("in/a.jpg") && !drop.runner.exists("out/a.webp"))
        let headline = try await dashboard(drop)["headline"] as? [String: String]
        #expect(headline?["level"] == "trouble")
        #expect(headline?["sentence"]?.hasPrefix("state folder missing, 1 inbox paused") == true, "\(headline ?? [:])")
        #expect(
            watch.errorsSoFar.components(separatedBy: "PAUSE_REASON=missing-state").count == 2, "\(watch.errorsSoFar)")
        let status = try await get(drop, "/api/status")
        #expect(status.contains("\"reason\":\"missing-state\""))
        if trouble == "mv state away" {
            let status = try await drop.runner.run("status", "mill.yaml")
            #expect(
                status.exit == 75 && status.errors.contains("it was moved or deleted: put it back"), "\(status.errors)")
            _ = try await drop.runner.shell("mv away state")
            try await drop.until("out/a.webp", "state/done/in/a.jpg")
            #expect(try await get(drop, "/healthz") == "alive\n")
            #expect(try await events(drop).contains("the state folder is back"))
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    // MARK: - At a start

    private static let another = "has renditions that another state folder knows, such as 'a."
    private static let lost = "was lost, and a new one is used"

    @Test(.timeLimit(.minutes(2)))
    func `a state folder that is new beside older renditions, and a ledger that was lost, are said once`() async throws
    {
        let drop = try world()
        var watch = try await drop.start()
        #expect(!watch.errorsSoFar.contains("is new, but") && !watch.errorsSoFar.contains(Self.lost))
        try await drop.drop("a.jpg")
        try await drop.until("out/a.webp", "state/done/in/a.jpg")
        for (loss, words) in [("mv state away", Self.another), ("rm state/ledger.sqlite*", Self.lost)] {
            #expect(try await drop.stop(watch).exit == 0)
            _ = try await drop.runner.shell(loss)
            watch = try await drop.start()
            try await drop.until("it is said: \(watch.errorsSoFar)") { watch.errorsSoFar.contains(words) }
            #expect(try await events(drop).contains { $0.contains(words) })
            #expect(watch.errorsSoFar.components(separatedBy: words).count == 2)
            #expect(try await drop.stop(watch).exit == 0)
            watch = try await drop.start()
            try await drop.until("it goes on") { try await get(drop, "/readyz") == "running\n" }
            #expect(!watch.errorsSoFar.contains(words))
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `renditions of a run, and files of others, are no sign of a lost state folder`() async throws {
        let drop = try world()
        try await drop.runner.picture("out/b.webp")
        try await drop.runner.picture("src/a.jpg")
        #expect(try await drop.runner.run("run", "p.yaml", "src", "-o", "out").exit == 0)
        let watch = try await drop.start()
        try await drop.until("it watches") { watch.errorsSoFar.contains("originals go to") }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(!watch.errorsSoFar.contains("is new, but"), "\(watch.errorsSoFar)")
    }

    // MARK: - Its end

    @Test func `after a clean stop the ledger's file alone has all that was recorded`() async throws {
        let drop = try world()
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("state/done/in/a.jpg")
        #expect(try await drop.stop(watch).exit == 0)
        let script = """
            import os, shutil, sqlite3
            log = 'state/ledger.sqlite-wal'
            print(os.path.getsize(log) if os.path.exists(log) else 0)
            shutil.copy('state/ledger.sqlite', 'copy.sqlite')
            print(sqlite3.connect('copy.sqlite').execute("SELECT CAST(path AS TEXT), state FROM jobs").fetchall())
            """
        try drop.runner.folder.write(script, to: "look.py")
        let found = try await drop.runner.shell("python3 look.py")
        #expect(found.output == "0\n[('a.jpg', 'done')]\n", "\(found.errors)")
    }

    // MARK: - Rights

    @Test(
        .enabled(if: TestMachine.othersCanRun, "no other user can run the program here"), arguments: ["kill", "fresh"])
    func `a state folder without rights is said with the folder, the right and the remedy`(before: String) async throws
    {
        let drop = try world()
        let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let program = CommandRunner.executable
        try #require(try await drop.runner.shell("mkdir -p out state; chown -R 65534 .; chmod 755 .").exit == 0)
        if before == "kill" {
            let line =
                "IMAGEMILL_FAULT=after-claim-rename:1:kill \(user) '\(program)' watch mill.yaml; test -S state/status.sock"
            try await drop.drop("a.jpg")
            try #require(try await drop.runner.shell("chown 65534 in/a.jpg; \(line)").exit == 0)
        }
        try #require(try await drop.runner.shell("chown 0 state; chmod 755 state").exit == 0)
        let result = try await drop.runner.shell("\(user) '\(program)' watch mill.yaml")
        let folder = drop.runner.folder.path("state")
        let name = try await drop.runner.shell("id -nu 65534").output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(
            result.errors.contains(
                "the user '\(name)' may not write to the folder '\(folder)', which belongs to 'root'; start it as 'root', or give it the "
                    + "right: chown \(name) '\(folder)'"), "\(result.errors)")
        #expect(result.exit == 75 || result.exit == 73 || result.exit == 77, "\(result.exit)")
    }
}
