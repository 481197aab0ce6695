// A drop folder at work, as whoever asks over HTTP sees it.
import Foundation
import TestSupport
import Testing

@Suite struct WatchHTTPTests {
    private func start(_ http: String) async throws -> (WatchedFolder, RunningCommand) {
        let inbox = "  - { path: in, outbox: out, pipeline: p.yaml, settle: 100ms, attempts: 1 }\n"
        let drop = try WatchedFolder(mill: "state: state\nworkers: 2\nhttp: \(http)\ninboxes:\n\(inbox)")
        return (drop, try await drop.start())
    }

    /// The answer at a path, over the socket that the mill file names.
    private func get(_ drop: WatchedFolder, _ path: String, _ options: String = "") async throws -> CommandResult {
        try await drop.runner.shell("curl -s --max-time 20 --unix-socket web.sock \(options) 'http://localhost\(path)'")
    }

    @Test
    func `the metrics show what was done, failed and tried again, and the latest result has its picture`() async throws
    {
        let (drop, watch) = try await start("./web.sock")
        #expect(watch.errorsSoFar.contains("the dashboard is on the socket './web.sock'"), "\(watch.errorsSoFar)")
        try await drop.drop("a.png")
        try drop.drop("notes.txt", Array("text".utf8))
        try drop.drop("b.jpg", Array("no picture".utf8))
        try await drop.until("both are counted") {
            let metrics = try await get(drop, "/metrics").output
            return metrics.contains("imagemill_jobs_total{inbox=\"in\",status=\"done\"} 1\n")
                && metrics.contains("imagemill_jobs_total{inbox=\"in\",status=\"failed\"} 1\n")
                && metrics.contains("imagemill_failed_files{inbox=\"in\"} 1\n")
                && metrics.contains("imagemill_passed_over_files{inbox=\"in\"} 1\n")
        }
        _ = try await get(drop, "/api/results/1/renditions/0", "-o picture")
        #expect(try drop.runner.bytes("picture") == drop.runner.bytes("out/a.webp"))
        #expect(try await get(drop, "/readyz").output == "running\n")
        let dashboard = try await get(drop, "/api/dashboard").output
        #expect(dashboard.contains(#""headline":{"level":"attention","sentence":"1 failed"}"#), "\(dashboard)")
        let page = try #require(
            try JSONSerialization.jsonObject(
                with: Data(try await get(drop, "/api/failures?code=not-an-image").output.utf8))
                as? [String: Any])
        let failure = try #require((page["failures"] as? [[String: Any]])?.first)
        #expect(
            failure["name"] as? String == "in/b.jpg" && failure["code"] as? String == "not-an-image"
                && failure["attempts"] as? Int == 1)
        _ = try await get(drop, "/api/failures/original?name=in%2Fb.jpg", "-o original")
        #expect(try drop.runner.bytes("original") == Array("no picture".utf8))
        let refused = try await get(drop, "/api/retry", "-d '{\"names\":[\"in/b.jpg\"]}'")
        #expect(refused.output.contains("a request that changes something needs the header 'X-Imagemill: 1'"))
        let none = "-H 'X-Imagemill: 1' -d '{\"select\":{\"code\":\"truncated\"}}'"
        #expect(try await get(drop, "/api/retry", none).output.contains("0 sources moved back"))
        let group = "-H 'X-Imagemill: 1' -d '{\"select\":{\"inbox\":\"in\",\"code\":\"not-an-image\"}}'"
        let retried = try await get(drop, "/api/retry", group)
        #expect(retried.output.contains("1 source moved back"))
        try await drop.until("it has failed again") {
            try await get(drop, "/metrics").output.contains("{inbox=\"in\",status=\"failed\"} 2\n")
        }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(!drop.runner.exists("web.sock"))
    }

    @Test
    func `an address that cannot be used, and a token that everybody can read, are said at the start`() async throws {
        let drop = try WatchedFolder()
        let inboxes = "inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n"
        try drop.runner.folder.write("state: state\nhttp: ./in\n\(inboxes)", to: "mill.yaml")
        let taken = try await drop.runner.run("watch", "mill.yaml")
        #expect(taken.errors.contains("a file or a folder has that name"), "\(taken.errors)")
        try drop.runner.folder.write("0123456789abcdef0123\n", to: "token")
        try drop.runner.folder.write(
            "state: state\nhttp: { address: 0.0.0.0:1, token: token }\n\(inboxes)", to: "mill.yaml")
        _ = try await drop.runner.shell("chmod 644 token")
        let open = try await drop.runner.run("watch", "mill.yaml")
        #expect(
            open.exit == 78 && open.errors.contains("everybody may read the token in 'token'; use chmod 640"),
            "\(open.errors)")
        try drop.runner.folder.write("short\n", to: "token")
        _ = try await drop.runner.shell("chmod 600 token")
        let short = try await drop.runner.run("watch", "mill.yaml")
        #expect(short.exit == 78 && short.errors.contains("the first line of 'token' is no token"), "\(short.errors)")
    }
}
