// An inbox that a person pauses, and the one who resumes it.
import Engine
import Foundation
import TestSupport
import Testing

@Suite struct PauseTests {
    private func start(_ drop: WatchedFolder) async throws -> RunningCommand {
        let told = drop.runner.folder.path("told")
        let inbox = "path: in, outbox: out, pipeline: p.yaml, settle: 100ms, on-pause: [touch, '\(told)']"
        try drop.runner.folder.write(
            "state: state\nworkers: 2\nhttp: ./web.sock\ninboxes:\n  - { \(inbox) }\n", to: "mill.yaml")
        return try await drop.start()
    }

    private func get(_ drop: WatchedFolder, _ path: String) async throws -> String {
        try await drop.runner.shell("curl -s --max-time 20 --unix-socket web.sock 'http://localhost\(path)'").output
    }

    /// Sources that are complete.
    private func ready(_ drop: WatchedFolder) async throws -> Int { try await drop.inbox()["ready"] as? Int ?? 0 }

    @Test(.timeLimit(.minutes(2)))
    func `nothing is taken until somebody ends it, also after a restart, and neither a hook nor a probe hears of it`()
        async throws
    {
        let drop = try WatchedFolder()
        var watch = try await start(drop)
        let paused = try await drop.runner.run("pause", "mill.yaml", "in")
        #expect(paused.exit == 0 && paused.output == "'in' is paused until it is resumed; running jobs finish\n")
        try await drop.drop("a.jpg")
        try await drop.until("the source is complete") { try await ready(drop) == 1 }
        #expect(try await drop.pause() == "by-request")
        #expect(try await get(drop, "/healthz") == "alive\n")
        #expect(try await get(drop, "/readyz") == "running\n")
        #expect(try await drop.runner.run("status", "mill.yaml").exit == 0)
        #expect(try await drop.stop(watch).exit == 0)
        watch = try await start(drop)
        try await drop.until("the source is complete again") { try await ready(drop) == 1 }
        #expect(try await drop.pause() == "by-request")
        #expect(try await drop.inbox()["paused-by-request"] != nil)
        let since = try #require(try await drop.inbox()["paused-by-request"] as? String)
        #expect(
            watch.errorsSoFar.components(
                separatedBy:
                    "notice: paused by request since \(since): nothing is taken; resume it with 'imagemill resume mill.yaml in'"
            ).count == 2, "\(watch.errorsSoFar)")
        // To unmount the outbox's disk is what one pauses for. Longer than the housekeeper takes to look for it, to end a
        // pause whose cause is gone, and to offer the source again.
        _ = try await drop.runner.shell("mv out away")
        let end = SuspendingClock.now + .seconds(12)
        while SuspendingClock.now < end { #expect(try await ready(drop) == 1) }
        #expect(try await drop.pause() == "by-request")
        #expect(try await drop.runner.run("status", "mill.yaml").exit == 0)
        _ = try await drop.runner.shell("mv away out")
        // It once had no age, so that nobody saw how long it had been waiting.
        #expect(try await drop.inbox()["oldest-seconds"] as? Int ?? 0 >= 4)
        let metrics = try await get(drop, "/metrics")
        #expect(metrics.contains(#/imagemill_oldest_pending_seconds{inbox="in"} [1-9]/#), "\(metrics)")
        #expect(drop.runner.exists("in/a.jpg") && !drop.runner.exists("out/a.webp"))
        let resumed = try await drop.runner.run("resume", "mill.yaml", "in")
        #expect(resumed.exit == 0 && resumed.output == "'in' is resumed\n")
        try await drop.until("out/a.webp")
        #expect(try await drop.pause() == nil)
        let again = try await drop.runner.run("resume", "mill.yaml", "in")
        #expect(again.exit == 0 && again.output == "'in' was not paused by request\n", "\(again)")
        #expect(try await drop.stop(watch).exit == 0)
        #expect(!drop.runner.exists("told"), "on-pause ran")
    }

    @Test(.timeLimit(.minutes(2)))
    func `trouble ends by itself under a pause that somebody has asked for, and that goes on`() async throws {
        let drop = try WatchedFolder()
        let watch = try await start(drop)
        _ = try await drop.runner.shell("mv out away")
        try await drop.drop("a.jpg")
        try await drop.until("it is paused by trouble") { try await drop.pause() == "missing-outbox" }
        let trouble = "\nit is paused (missing-outbox) and goes on by itself when the cause is gone: "
        let unasked = try await drop.runner.run("resume", "mill.yaml", "in")
        #expect(
            unasked.exit == 0 && unasked.output.hasPrefix("'in' was not paused by request\(trouble)"), "\(unasked)")
        #expect(try await drop.pause() == "missing-outbox")
        #expect(try await drop.runner.run("pause", "mill.yaml", "in").exit == 0)
        let resumed = try await drop.runner.run("resume", "mill.yaml", "in")
        #expect(resumed.exit == 0 && resumed.output.hasPrefix("'in' is resumed\(trouble)"), "\(resumed)")
        #expect(try await drop.runner.run("pause", "mill.yaml", "in").exit == 0)
        #expect(try await drop.pause() == "missing-outbox")
        #expect(try await drop.runner.run("status", "mill.yaml").output.contains("; also paused by request\n"))
        _ = try await drop.runner.shell("mv away out")
        try await drop.until("only the person's pause is left") { try await drop.pause() == "by-request" }
        #expect(!watch.errorsSoFar.contains("notice: resumed ("), "\(watch.errorsSoFar)")
        #expect(!drop.runner.exists("out/a.webp"))
        #expect(try await drop.runner.run("resume", "mill.yaml", "in").exit == 0)
        try await drop.until("out/a.webp")
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a retry says that what it moves back waits for the end of a pause`() async throws {
        let drop = try WatchedFolder()
        let watch = try await start(drop)
        try drop.drop("a.jpg", Array("no picture".utf8))
        try await drop.until("state/failed/in/a.jpg.error.json")
        #expect(try await drop.runner.run("pause", "mill.yaml", "in").exit == 0)
        let retried = try await drop.runner.run("retry", "mill.yaml", "a.jpg")
        #expect(
            retried.exit == 0
                && retried.output
                    == "1 source moved back\nthe inbox 'in' is paused, so they wait: \(Pause.byRequest.message)\n"
        )
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `an inbox that is not there is named, with those that are`() async throws {
        let drop = try WatchedFolder()
        let watch = try await start(drop)
        let unnamed = try await drop.runner.run("pause", "mill.yaml")
        #expect(unnamed.exit == 64)
        #expect(unnamed.errors.contains("'mill.yaml' is a mill file; name the inbox after it"), "\(unnamed.errors)")
        let result = try await drop.runner.run("pause", "mill.yaml", "nowhere")
        #expect(result.exit == 1 && result.errors == "there is no inbox 'nowhere'\nthe inboxes: in\n")
        let none = try await drop.runner.run("resume", "--state", "state")
        #expect(none.exit == 64 && none.errors.contains("name the inbox"))
        #expect(try await drop.stop(watch).exit == 0)
    }
}
