// The daemon's socket: it answers, it refuses nonsense, and nobody who misuses it holds up another.
import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import imagemill

@Suite struct StatusServerTests {
    private let folder: TemporaryFolder
    private var path: BytePath { BytePath(folder.path("run/status.sock")) }

    init() throws { folder = try TemporaryFolder() }

    private func serve(_ daemon: FakeDaemon = FakeDaemon()) throws -> StatusServer {
        try StatusServer(folder: BytePath(folder.path("run")), control: daemon)
    }

    private func status(seconds: Int = 20) async throws -> StatusDocument {
        let path = path
        return try await onNewThread { try ControlClient.ask(.status, at: path, as: StatusDocument.self, withinSeconds: seconds) }
    }

    /// A client that says something, or nothing.
    private func client(saying text: String = "") throws -> OpenFile {
        let socket = try unixSocket(SOCK_STREAM, nonblocking: false)
        let address = try #require(UnixAddress(variable: folder.path("run/status.sock")))
        #expect(address.withPointer { connect(socket.descriptor, $0, $1) } == 0)
        #expect(send(socket.descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL)) == text.utf8.count)
        return socket
    }

    private func answer(_ socket: OpenFile) async throws -> String {
        try await onNewThread {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while case let got = recv(socket.descriptor, &chunk, chunk.count, 0), got > 0 { bytes += chunk[..<got] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test("The document comes as the daemon gives it")
    func status() async throws {
        let server = try serve()
        defer { server.stop() }
        #expect(try await status() == FakeDaemon.busy)
    }

    @Test("The socket is for owner and group, whatever the mask, and goes with the server")
    func mode() throws {
        let server = try serve()
        var found = stat()
        #expect(lstat(path.text, &found) == 0)
        #expect(found.st_mode & S_IFMT == S_IFSOCK && found.st_mode & 0o777 == 0o660)
        server.stop()
        #expect(lstat(path.text, &found) != 0)
    }

    @Test("What a killed daemon has left is replaced; a file that is no socket is not")
    func stale() async throws {
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

    @Test("A folder whose path is longer than a socket's may be will do")
    func longPath() async throws {
        let deep = folder.path(String(repeating: "x", count: 200))
        let server = try StatusServer(folder: BytePath(deep), control: FakeDaemon())
        defer { server.stop() }
        let document = try await onNewThread {
            try ControlClient.ask(.status, at: BytePath(deep + "/status.sock"), as: StatusDocument.self, withinSeconds: 20)
        }
        #expect(document.process == 42)
    }

    @Test("reload and retry reach the daemon, and their answers come back")
    func commands() async throws {
        let daemon = FakeDaemon(reply: ControlReply(ok: false, "refused", details: ["line 1"]))
        let server = try serve(daemon)
        defer { server.stop() }
        let path = path
        let request = ControlRequest.retry(RetryRequest(names: [BytePath([0xFF])], all: false))
        for request in [.reload, request] {
            let reply = try await onNewThread { try ControlClient.ask(request, at: path, as: ControlReply.self, withinSeconds: 20) }
            #expect(reply == ControlReply(ok: false, "refused", details: ["line 1"]))
        }
        #expect(daemon.requests == [.reload, request])
    }

    @Test("While a reload takes its time, status is answered, and a second reload is told to come again")
    func slow() async throws {
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
        let first = try client(saying: "{\"request\":\"reload\"}\n")
        // The second is only refused once the first was taken up.
        var refusal = ""
        for _ in 0..<200 where !refusal.contains("another reload") {
            let second = try client(saying: "{\"request\":\"retry\",\"names\":[\"a\"]}\n")
            refusal = try await answer(second)
        }
        #expect(refusal.contains("the daemon is at another reload or retry; ask again in a moment"))
        #expect(try await status().process == 42)
        release.signal()
        #expect(try await answer(first).contains("\"message\":\"done\""))
    }

    @Test("Nonsense is answered with what is wrong")
    func nonsense() async throws {
        let server = try serve()
        defer { server.stop() }
        #expect(try await answer(client(saying: "GET / HTTP/1.1\r\n\r\n")).contains("the request is not understood"))
        #expect(try await answer(client(saying: String(repeating: "x", count: 300_000))).contains("the request is longer than 262144 bytes"))
        #expect(try await status().process == 42)
    }

    @Test("Clients that say nothing, or leave, hold up nobody; too many wait for a place")
    func idle() async throws {
        let server = try serve()
        defer { server.stop() }
        var silent = try (0..<20).map { _ in try client() }
        for _ in 0..<5 { _ = try client(saying: "{\"request\":\"status\"}\n") }
        // There are sixteen places; they are free again once the silent ones have had their time.
        let start = ContinuousClock.now
        #expect(try await status(seconds: 60).process == 42)
        #expect(ContinuousClock.now - start < .seconds(50))
        silent.removeAll()
    }

    @Test("Without a daemon the client says where it has looked, also where a dead socket stands")
    func nobody() throws {
        let words = "no daemon is running at '\(path.text)'; start one with 'imagemill watch mill.yaml'"
        for isDead in [false, true] {
            if isDead { _ = try DatagramListener(try makeFolder() + "/status.sock") }
            let error = #expect(throws: (any Error).self) {
                try ControlClient.ask(.status, at: path, as: StatusDocument.self, withinSeconds: 5)
            }
            #expect(error.map { "\($0)" } == words)
        }
    }

    @Test("Who may not reach the socket is told so, and not that there is no daemon", .enabled(if: TestMachine.isRoot))
    func refused() async throws {
        let server = try serve()
        defer { server.stop() }
        let folder = DurableFile.folder(of: path).text
        let runner = try CommandRunner()
        let tool = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        // Where the program is hidden from that user, there is nothing to try.
        guard try await runner.shell("\(tool) test -x '\(CommandRunner.executable)'").exit == 0 else { return }
        let result = try await runner.shell("chmod 700 '\(folder)'; cd / && \(tool) '\(CommandRunner.executable)' status --socket '\(path.text)'")
        #expect(result.exit == 75)
        #expect(
            result.errors
                == "imagemill: the daemon at '\(path.text)' may not be asked by this user; ask as the user that it runs as, or as root\n")
    }
}
