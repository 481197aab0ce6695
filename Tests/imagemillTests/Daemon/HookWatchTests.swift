// Hooks of a drop folder at work: nothing is lost, and nothing waits for them.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct HookWatchTests {
    private func documents(_ drop: WatchedFolder, _ file: String = "told") throws -> [[String: Any]] {
        guard drop.runner.exists(file) else { return [] }
        let lines = String(decoding: try drop.runner.bytes(file), as: UTF8.self).split(separator: "\n")
        return lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    }

    /// A command that adds the document to a file.
    private func teller(_ drop: WatchedFolder, _ event: String) -> String {
        "on-\(event): [sh, -c, 'cat >> \(drop.runner.folder.path("told"))']"
    }

    private func write(_ drop: WatchedFolder, _ inbox: String) throws {
        let text =
            "state: state\nworkers: 2\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 100ms, attempts: 1, \(inbox) }\n"
        try drop.runner.folder.write(text, to: "mill.yaml")
    }

    @Test func `success, failure and pause are delivered, each to its own, with the report`() async throws {
        let drop = try WatchedFolder()
        try write(drop, ["success", "failure", "pause"].map { teller(drop, $0) }.joined(separator: ", "))
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("success is told") { try documents(drop).contains { $0["event"] as? String == "success" } }
        try drop.drop("b.jpg", Array("no picture".utf8))
        try await drop.until("failure is told") { try documents(drop).contains { $0["event"] as? String == "failure" } }
        _ = try await drop.runner.shell("mv out away")
        try await drop.drop("c.jpg")
        try await drop.until("the pause is told") { try documents(drop).contains { $0["event"] as? String == "pause" } }
        _ = try await drop.runner.shell("mv away out")
        try await drop.until("c.jpg is told") { try documents(drop).count { $0["event"] as? String == "success" } == 2 }
        #expect(try await drop.stop(watch).exit == 0)
        let all = try documents(drop)
        let report = all.first?["report"] as? [String: Any]
        #expect(
            (report?["renditions"] as? [Any])?.count == 1
                && (all[0]["source"] as? [String: Any])?["path"] as? String == "a.jpg")
        let failure = all.first { $0["event"] as? String == "failure" }
        #expect((failure?["error"] as? [String: Any])?["code"] as? String == "not-an-image")
        let pause = all.first { $0["event"] as? String == "pause" }
        #expect(
            (pause?["error"] as? [String: Any])?["code"] as? String == "missing-outbox"
                && pause?["inbox"] as? String == "in")
        let valid = try await drop.runner.shell(
            "split -l 1 told told- --additional-suffix .json; ls told-*.json | wc -l")
        #expect(valid.exit == 0)
        for name in drop.runner.files(in: ".") where name.hasPrefix("told-") {
            let result = try await drop.runner.validate("hook", [name])
            #expect(result.exit == 0, "\(result.output)\(result.errors)")
        }
        #expect(Set(all.compactMap { $0["id"] as? String }).count == all.count)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a hook that hangs holds up nothing, and its job is delivered by the next start`() async throws {
        let drop = try WatchedFolder()
        try write(drop, "on-success: { command: [sleep, '300'], timeout: 5m }")
        let watch = try await drop.start()
        for index in 0..<6 { try await drop.drop("\(index).jpg") }
        for index in 0..<6 { try await drop.until("out/\(index).jpg.json") }
        #expect(try await drop.stop(watch).exit == 0)
        try write(drop, teller(drop, "success"))
        let next = try await drop.start()
        try await drop.until("all six are told") { try documents(drop).count == 6 }
        #expect(try await drop.stop(next).exit == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `an inbox that a reload takes out still delivers its events, also those that are tried again`() async throws {
        let drop = try WatchedFolder()
        let (told, go) = (drop.runner.folder.path("told"), drop.runner.folder.path("go"))
        try write(drop, "on-success: [sh, -c, 'test -e \(go) && cat >> \(told)']")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json")
        try await drop.until("it was tried") { watch.errorsSoFar.contains("is tried again in") }
        try drop.runner.folder.write(
            "state: state\nworkers: 2\ninboxes:\n  - { path: in2, outbox: out2, pipeline: p.yaml }\n", to: "mill.yaml")
        for name in ["in2", "out2"] { try drop.makeFolder(name) }
        let reload = try await drop.runner.run("reload", "--state", "state")
        #expect(reload.exit == 0, "\(reload)")
        try drop.runner.folder.write("", to: "go")
        try await drop.until("a.jpg is told") { try documents(drop).count == 1 }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test(arguments: ["after-finish-record", "before-source-commit", "after-source-commit"])
    func `a program that is killed between the end of a job and its hook tells it at the next start`(point: String)
        async throws
    {
        let drop = try WatchedFolder()
        try write(drop, teller(drop, "success"))
        try await drop.drop("a.jpg")
        _ = try await drop.runner.shell("IMAGEMILL_FAULT=\(point):1:kill \"$IMAGEMILL\" watch mill.yaml")
        #expect(try documents(drop).isEmpty)
        let watch = try await drop.start()
        try await drop.until("a.jpg is told") { try documents(drop).count == 1 }
        #expect(try await drop.stop(watch).exit == 0)
        let document = try documents(drop)[0]
        #expect(
            document["event"] as? String == "success"
                && (document["source"] as? [String: Any])?["path"] as? String == "a.jpg")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a hook that is given up is named by log and status, with its remedy, also after a restart`() async throws {
        let drop = try WatchedFolder()
        try write(drop, "on-success: [sh, -c, 'echo no such table; exit 3']")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        let words = "the hook on-success (sh ••• •••) for 'a.jpg' is not tried again: 'sh' ended with 3: no such table"
        try await drop.until("it is given up: \(watch.errorsSoFar)") { watch.errorsSoFar.contains(words) }
        let line = watch.errorsSoFar.split(separator: "\n").first { $0.contains("not tried again") } ?? ""
        #expect(line.contains(" error: ") && line.contains("; what to do: repair the hook, and do by hand"), "\(line)")
        #expect(line.contains("(HOOK=on-success, INBOX=in, SOURCE_NAME=a.jpg)"), "\(line)")
        func check() async throws {
            let status = try await drop.runner.run("status", "mill.yaml")
            #expect(status.exit == 0 && status.output.hasPrefix("1 hook event lost\n"), "\(status.output)")
            #expect(status.output.contains("in: \(words)\n    what to do: repair the hook"), "\(status.output)")
        }
        try await check()
        #expect(try await drop.stop(watch).exit == 0)
        let next = try await drop.start()
        try await check()
        #expect(try await drop.stop(next).exit == 0)
    }

    @Test(.enabled(if: hasTools, "skipped: there is no curl or no python3"))
    func `a receiver that is down gets everything when it is back, signed`() async throws {
        let drop = try WatchedFolder()
        try drop.runner.folder.write("the key\n", to: "key")
        let port = try await freePort(drop)
        try write(drop, "on-success: { webhook: 'http://127.0.0.1:\(port)/hook?a=b', secret: key, timeout: 5s }")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("the log says that nobody is there") {
            watch.errorsSoFar.contains("hook") && watch.errorsSoFar.contains("tried again")
        }
        try drop.runner.folder.write(Self.receiverScript, to: "receiver.py")
        let server = Task { try await drop.runner.shell("timeout 60 python3 receiver.py \(port)") }
        try await drop.until("told") { drop.runner.exists("received") }
        server.cancel()
        #expect(try await drop.stop(watch).exit == 0)
        #expect(
            String(decoding: try drop.runner.bytes("received"), as: UTF8.self)
                == "POST /hook?a=b success application/json right\n")
    }

    @Test(
        .enabled(
            if: hasTools && fakeTime != nil,
            "skipped: there is no curl, no python3 or no libfaketime (`make deps` installs it)"),
        arguments: ["-1d", "+2d", "+40d"])
    func `a receiver that is down gets everything when it is back, whatever the time of day is set to meanwhile`(
        clock: String
    ) async throws {
        let drop = try WatchedFolder()
        try drop.runner.folder.write("the key\n", to: "key")
        try drop.runner.folder.write("+0", to: "clock")
        let port = try await freePort(drop)
        try write(drop, "on-success: { webhook: 'http://127.0.0.1:\(port)/hook', secret: key, timeout: 5s }")
        // Its beginning sets a variable, after which Swift does not find the arguments; the second `env` takes that on.
        let watch = try await drop.start(variables: [
            "LD_PRELOAD=\(Self.fakeTime ?? "")", "FAKETIME_TIMESTAMP_FILE=\(drop.runner.folder.path("clock"))",
            "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "/usr/bin/env",
        ])
        let tries = { watch.errorsSoFar.components(separatedBy: "tried again").count - 1 }
        try await drop.drop("a.jpg")
        try await drop.until("the log says that nobody is there") { tries() == 1 }
        try drop.runner.folder.write(clock, to: "clock")
        try await drop.until("it is tried again after its own time: \(watch.errorsSoFar)") { tries() == 2 }
        try drop.runner.folder.write(Self.receiverScript, to: "receiver.py")
        let server = Task { try await drop.runner.shell("timeout 60 python3 receiver.py \(port)") }
        try await drop.until("told") { drop.runner.exists("received") }
        server.cancel()
        #expect(try await drop.stop(watch).exit == 0)
    }

    private static let fakeTime: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }.first {
            FileManager.default.fileExists(atPath: $0)
        }
    }()

    private func freePort(_ drop: WatchedFolder) async throws -> String {
        try await drop.runner.shell(
            "python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])'"
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(.enabled(if: hasTools, "skipped: there is no curl or no python3"))
    func `a receiver that answers 302 has not received it, and is asked again`() async throws {
        let drop = try WatchedFolder()
        try drop.runner.folder.write(Self.redirectScript, to: "receiver.py")
        let server = Task { try await drop.runner.shell("timeout 100 python3 receiver.py") }
        try await drop.until("the receiver is there") { drop.runner.exists("port") }
        let port = String(decoding: try drop.runner.bytes("port"), as: UTF8.self)
        try write(drop, "on-success: { webhook: 'http://127.0.0.1:\(port)/old', timeout: 5s }")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("it is asked again") { drop.runner.exists("received") }
        #expect(watch.errorsSoFar.contains("the receiver answered 302, which leads to another address"))
        server.cancel()
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `what a hook has started is gone soon after the program was killed`() async throws {
        let drop = try WatchedFolder()
        let file = drop.runner.folder.path("child")
        let child = "echo $$ > \(file).part; mv \(file).part \(file); exec sleep 300"
        try drop.runner.folder.write("#!/bin/sh\nsetsid ./child.sh &\nsleep 300\n", to: "hook.sh")
        try drop.runner.folder.write("#!/bin/sh\n\(child)\n", to: "child.sh")
        try drop.runner.folder.write(
            "#!/bin/sh\ncd '\(drop.runner.folder.path("."))' && exec ./hook.sh\n", to: "start.sh")
        _ = try await drop.runner.shell("chmod +x *.sh")
        try write(drop, "on-success: { command: [./start.sh], timeout: 5m }")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("the hook has started a child") { drop.runner.exists("child") }
        let text = String(decoding: try drop.runner.bytes("child"), as: UTF8.self)
        let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(isAlive(process))
        watch.signal(SIGKILL)
        try await drop.until("the child is gone") { !isAlive(process) }
    }

    private static var hasTools: Bool {
        ["curl", "python3"].allSatisfy { name in
            ["/usr/bin", "/usr/local/bin", "/root/.pyenv/shims"].contains {
                FileManager.default.isExecutableFile(atPath: $0 + "/" + name)
            }
        }
    }

    private static let receiverScript = """
        import hashlib, hmac, http.server, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                text = self.headers["X-Imagemill-Timestamp"].encode() + b"." + body
                right = "sha256=" + hmac.new(b"the key", text, hashlib.sha256).hexdigest() == self.headers["X-Imagemill-Signature"]
                with open("received.part", "w") as file:
                    print("POST", self.path, self.headers["X-Imagemill-Event"], self.headers["Content-Type"], "right" if right else "wrong", file=file)
                self.send_response(204)
                self.end_headers()
                import os; os.rename("received.part", "received")
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).handle_request()
        """

    /// Redirects the first request and takes the second.
    private static let redirectScript = """
        import http.server, os
        class Handler(http.server.BaseHTTPRequestHandler):
            count = 0
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                Handler.count += 1
                self.send_response(302 if Handler.count == 1 else 204)
                self.send_header("Location", "/new")
                self.end_headers()
                if Handler.count == 2:
                    open("received", "w").close()
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        with open("port.part", "w") as file:
            file.write(str(server.server_port))
        os.rename("port.part", "port")
        while Handler.count < 2:
            server.handle_request()
        """
}
