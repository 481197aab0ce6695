// The daemon's server: it answers, it refuses nonsense, and nobody who misuses it holds up another.
import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System
@testable import imagemill

/// Reads a file of the outbox that the path names, or makes a picture of one; `/slow` hangs.
private struct TwoOutboxes: HTTPRoutes {
    let hang: Monitor<Bool>

    func handle(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling {
        let folder = BytePath(request.path)
        return .later(request.query["picture"] == nil ? .file(folder: folder) : .picture(folder: folder)) {
            if request.path == "/slow" { hang.wait { $0 ? () : nil } }
            return .text("read\n")
        }
    }

    func event() -> [UInt8] { [] }
}

@Suite struct HTTPServerTests {
    private let folder: TemporaryFolder
    private var path: BytePath { BytePath(folder.path("run/status.sock")) }

    init() throws { folder = try TemporaryFolder() }

    private func serve(_ daemon: FakeDaemon = FakeDaemon()) throws -> HTTPServer {
        try HTTPServer([.unix(path)], DaemonRoutes(control: daemon))
    }

    private func status(seconds: Int = 20) async throws -> StatusDocument {
        let path = path
        return try await onNewThread {
            try HTTPClient.ask(.status, at: path, as: StatusDocument.self, withinSeconds: seconds)
        }
    }

    /// A client that says something, or nothing.
    private func client(saying text: String = "") throws -> OpenFile {
        let socket = try unixSocket(SOCK_STREAM, nonblocking: false)
        let address = try #require(UnixAddress(variable: folder.path("run/status.sock")))
        #expect(address.withPointer { connect(socket.descriptor, $0, $1) } == 0)
        #expect(send(socket.descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL)) == text.utf8.count)
        return socket
    }

    private func text(_ request: ControlRequest) -> String { String(decoding: request.bytes, as: UTF8.self) }

    private func answer(_ socket: OpenFile) async throws -> String {
        try await onNewThread {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while case let got = recv(socket.descriptor, &chunk, chunk.count, 0), got > 0 { bytes += chunk[..<got] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test func `the document comes as the daemon gives it`() async throws {
        let server = try serve()
        defer { server.stop() }
        #expect(try await status() == FakeDaemon.busy)
    }

    @Test func `the socket is for owner and group, whatever the mask, and goes with the server`() throws {
        let server = try serve()
        var found = stat()
        #expect(lstat(path.text, &found) == 0)
        #expect(found.st_mode & S_IFMT == S_IFSOCK && found.st_mode & 0o777 == 0o660)
        server.stop()
        #expect(lstat(path.text, &found) != 0)
    }

    @Test func `what a killed daemon has left is replaced; a file that is no socket is not`() async throws {
        let dead = try DatagramListener(try makeFolder() + "/status.sock")
        withExtendedLifetime(dead) {}
        let server = try serve()
        #expect(try await status().process == 42)
        server.stop()
        try folder.write("mine", to: "run/status.sock")
        let error = #expect(throws: SystemError.self) { try serve() }
        #expect(error?.description == "cannot listen on '\(path.text)': a file or a folder has that name: File exists")
        #expect(try String(contentsOfFile: path.text, encoding: .utf8) == "mine")
    }

    private func makeFolder() throws -> String {
        try FileManager.default.createDirectory(atPath: folder.path("run"), withIntermediateDirectories: true)
        return folder.path("run")
    }

    @Test func `a folder whose path is longer than a socket's may be will do`() async throws {
        let deep = folder.path(String(repeating: "x", count: 200))
        let server = try HTTPServer([.unix(BytePath(deep + "/status.sock"))], DaemonRoutes(control: FakeDaemon()))
        defer { server.stop() }
        let document = try await onNewThread {
            try HTTPClient.ask(.status, at: BytePath(deep + "/status.sock"), as: StatusDocument.self, withinSeconds: 20)
        }
        #expect(document.process == 42)
    }

    @Test func `reload and retry reach the daemon, and their answers come back`() async throws {
        let daemon = FakeDaemon(reply: ControlReply(ok: false, "refused", details: ["line 1"]))
        let server = try serve(daemon)
        defer { server.stop() }
        let path = path
        let request = ControlRequest.retry(RetryRequest(names: [BytePath([0xFF])], all: false))
        for request in [.reload, request] {
            let reply = try await onNewThread {
                try HTTPClient.ask(request, at: path, as: ControlReply.self, withinSeconds: 20)
            }
            #expect(reply == ControlReply(ok: false, "refused", details: ["line 1"]))
        }
        #expect(daemon.requests == [.reload, request])
    }

    @Test
    func `while a reload takes its time, status is answered, and a second reload is asked to come again`() async throws
    {
        let daemon = FakeDaemon()
        let server = try serve(daemon)
        defer { server.stop() }
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        runOnNewThread {
            daemon.gate.withLock { _ in
                held.signal()
                release.wait()
            }
        }
        try await onNewThread { held.wait() }
        let first = try client(saying: text(.reload))
        // The second is only refused once the first was taken up.
        var refusal = ""
        for _ in 0..<200 where !refusal.contains("another reload") {
            let second = try client(saying: text(.reload))
            refusal = try await answer(second)
        }
        #expect(refusal.contains("the daemon is at another reload; ask again in a moment"))
        #expect(try await status().process == 42)
        release.signal()
        #expect(try await answer(first).contains("\"message\":\"done\""))
    }

    @Test func `nonsense is answered with what is wrong`() async throws {
        let server = try serve()
        defer { server.stop() }
        let old = try await answer(client(saying: "{\"request\":\"status\"}\r\n\r\n"))
        #expect(
            old.hasPrefix("HTTP/1.1 400 Bad Request\r\n")
                && old.contains("the request is not understood: expected HTTP/1.1"))
        let long = "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 100_000)
        #expect(try await answer(client(saying: long)).contains("the head of the request is longer than 16384 bytes"))
        let large = "POST /api/retry HTTP/1.1\r\nContent-Length: 300000\r\n\r\n"
        #expect(try await answer(client(saying: large)).contains("the request is longer than 262144 bytes"))
        #expect(
            try await answer(client(saying: "GET /nothing HTTP/1.1\r\n\r\n")).hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(
            try await answer(client(saying: "GET /api/reload HTTP/1.1\r\n\r\n")).contains(
                "'/api/reload' does not take GET"))
        #expect(try await status().process == 42)
    }

    @Test func `a head request gets the head of the answer only`() async throws {
        let server = try serve()
        defer { server.stop() }
        let answer = try await answer(client(saying: "HEAD /healthz HTTP/1.1\r\n\r\n"))
        #expect(
            answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n")
                && answer.contains("Content-Length: 6\r\n"))
    }

    @Test
    func `whoever listens to events gets one at once, and another one later; the server ends the stream when it stops`()
        async throws
    {
        let server = try serve()
        let socket = try client(saying: "GET /api/events HTTP/1.1\r\n\r\n")
        let text = try await onNewThread {
            var text = ""
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while text.components(separatedBy: "data: {\"events\"").count < 3,
                case let got = recv(socket.descriptor, &chunk, chunk.count, 0), got > 0
            {
                text += String(decoding: chunk[..<got], as: UTF8.self)
            }
            return text
        }
        #expect(text.contains("Content-Type: text/event-stream\r\n") && !text.contains("Content-Length"))
        #expect(text.components(separatedBy: "data: {\"events\"").count == 3)
        server.stop()
        _ = try await answer(socket)
    }

    @Test func `over an address of the network the rules of access hold, with the token and without`() async throws {
        for token in [nil, "0123456789abcdef"] {
            let listener = try HTTPListener.tcp(host: "127.0.0.1", port: 0, token: token)
            let server = try HTTPServer([listener], DaemonRoutes(control: FakeDaemon()))
            defer { server.stop() }
            let runner = try CommandRunner()
            let url = "http://127.0.0.1:\(listener.port)"
            func status(_ options: String) async throws -> String {
                try await runner.shell("curl -s --noproxy '*' -o body -w '%{http_code}' \(options)").output
            }
            let key = token.map { "-H 'Authorization: Bearer \($0)'" } ?? ""
            #expect(try await status("\(key) \(url)/metrics") == "200")
            #expect(try await status("\(url)/metrics") == (token == nil ? "200" : "401"))
            #expect(try await status("\(url)/healthz") == "200")
            #expect(try await status("-H 'Host: rebound.example' \(url)/metrics") == (token == nil ? "403" : "401"))
            #expect(try await status("\(key) -X POST \(url)/api/reload") == "403")
            #expect(try await status("\(key) -X POST -H 'X-Imagemill: 1' \(url)/api/reload") == "200")
            if let token { #expect(try await status("-u any:\(token) \(url)/") == "200") }
        }
    }

    /// The system took the events for them, for a very long time.
    @Test func `those who never read their events lose their places to others`() async throws {
        let server = try serve()
        defer { server.stop() }
        let request = "GET /api/events HTTP/1.1\r\n\r\n"
        let silent = try (0..<8).map { _ in try client(saying: request) }
        func first() async throws -> String {
            let socket = try client(saying: request)
            return try await onNewThread {
                var chunk = [UInt8](repeating: 0, count: 12)
                _ = recv(socket.descriptor, &chunk, chunk.count, CInt(MSG_WAITALL))
                return String(decoding: chunk, as: UTF8.self)
            }
        }
        #expect(try await first() == "HTTP/1.1 503")
        let end = SuspendingClock.now + .seconds(60)
        var answer = ""
        while answer != "HTTP/1.1 200", .now < end {
            try await Task.sleep(for: .seconds(1))
            answer = try await first()
        }
        #expect(answer == "HTTP/1.1 200")
        withExtendedLifetime(silent) {}
    }

    @Test func `however many clients have sent half a request, a whole one is answered at once`() async throws {
        let server = try serve()
        defer { server.stop() }
        var silent: [OpenFile] = []
        let start = SuspendingClock.now
        // There are sixteen places.
        for number in 0..<150 {
            silent.append(try client(saying: "GET /healthz HTTP/1.1\r\nHost:"))
            if number % 10 == 9 {
                let answer = try await answer(client(saying: "GET /healthz HTTP/1.1\r\n\r\n"))
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
        for _ in 0..<5 { _ = try client(saying: text(.status)) }
        #expect(try await status().process == 42)
        // None of them has had its time.
        #expect(SuspendingClock.now - start < HTTPConnection.patience * 0.9)
        // The client that came first had to leave first.
        #expect(try await answer(silent[0]) == "")
        silent.removeAll()
    }

    @Test func `nobody leaves for the client that takes the last place`() async throws {
        let server = try serve()
        defer { server.stop() }
        let silent = try (0..<15).map { _ in try client(saying: "GET /healthz HTTP/1.1\r\n") }
        let watching = try client(saying: "GET /api/events HTTP/1.1\r\n\r\n")
        // Those who came before it are in when it gets its first event.
        let got = try await onNewThread {
            var byte: UInt8 = 0
            return recv(watching.descriptor, &byte, 1, 0)
        }
        #expect(got == 1)
        for client in silent {
            #expect(send(client.descriptor, "\r\n", 2, CInt(MSG_NOSIGNAL)) == 2)
            #expect(try await answer(client).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func `files of an outbox that hangs keep nobody from those of another, and are answered in the end`()
        async throws
    {
        let hang = Monitor(false)
        defer { hang.change { $0 = true } }
        let server = try HTTPServer([.unix(path)], TwoOutboxes(hang: hang))
        defer { server.stop() }
        let slow = try (0..<5).map { _ in try client(saying: "GET /slow HTTP/1.1\r\n\r\n") }
        #expect(try await answer(slow[4]).contains("too many files are being read"))
        #expect(try await answer(client(saying: "GET /fast HTTP/1.1\r\n\r\n")).hasSuffix("\r\n\r\nread\n"))
        for client in slow.prefix(4) {
            #expect(try await answer(client).contains("the file system does not answer"))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `pictures of a folder that hangs hold up neither other pictures nor files`() async throws {
        let hang = Monitor(false)
        defer { hang.change { $0 = true } }
        let server = try HTTPServer([.unix(path)], TwoOutboxes(hang: hang))
        defer { server.stop() }
        let slow = try (0..<3).map { _ in try client(saying: "GET /slow?picture HTTP/1.1\r\n\r\n") }
        #expect(try await answer(slow[2]).contains("other pictures are being made"))
        #expect(try await answer(client(saying: "GET /fast?picture HTTP/1.1\r\n\r\n")).hasSuffix("\r\n\r\nread\n"))
        #expect(try await answer(client(saying: "GET /fast HTTP/1.1\r\n\r\n")).hasSuffix("\r\n\r\nread\n"))
        for client in slow.prefix(2) {
            #expect(try await answer(client).contains("the file system does not answer"))
        }
    }

    @Test func `without a daemon the client says where it has looked, also if a dead socket is there`() throws {
        let words = "no daemon is running at '\(path.text)'; start one with 'imagemill watch mill.yaml'"
        for isDead in [false, true] {
            if isDead { _ = try DatagramListener(try makeFolder() + "/status.sock") }
            let error = #expect(throws: (any Error).self) {
                try HTTPClient.ask(.status, at: path, as: StatusDocument.self, withinSeconds: 5)
            }
            #expect(error.map { "\($0)" } == words)
        }
    }

    @Test(.enabled(if: TestMachine.othersCanRun, "no other user can run the program here"))
    func `who may not reach the socket gets that answer, and not that there is no daemon`() async throws {
        let server = try serve()
        defer { server.stop() }
        let folder = DurableFile.folder(of: path).text
        let runner = try CommandRunner()
        let tool = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let result = try await runner.shell(
            "chmod 700 '\(folder)'; cd / && \(tool) '\(CommandRunner.executable)' status --socket '\(path.text)'")
        #expect(result.exit == 75)
        #expect(
            result.errors
                == "imagemill: the daemon at '\(path.text)' may not be asked by this user; ask as the user that it runs as, or as root\n"
        )
    }
}
