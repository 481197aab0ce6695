// Answers for clients that take gzip.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct HTTPCompressionTests {
    private func request(_ codings: String?) -> HTTPRequest {
        HTTPRequest(method: .get, path: "/", headers: codings.map { ["accept-encoding": $0] } ?? [:])
    }

    private let page = HTTPResponse.text(String(repeating: "imagemill ", count: 1000))

    @Test(
        arguments: [
            ("gzip", true), ("br, gzip;q=0.5", true), ("GZIP ; Q=1.0", true), ("x-gzip", true), (nil, false),
            ("", false), ("identity", false), ("gzip;q=0", false), ("gzip; q=0.000", false), ("gzipped", false),
            ("deflate, br", false), ("gzip;q=much", false),
        ] as [(String?, Bool)])
    func `a client gets gzip if it says that it takes it`(_ codings: String?, _ takes: Bool) {
        let answer = page.encoded(for: request(codings))
        #expect(answer.headers.contains { $0 == ("Content-Encoding", "gzip") } == takes)
        #expect((answer.body.count < 200) == takes && answer.body.starts(with: [0x1F, 0x8B]) == takes)
        // A cache between must know that there are two.
        #expect(answer.headers.contains { $0 == ("Vary", "Accept-Encoding") })
        let head = String(decoding: answer.bytes(isHead: true), as: UTF8.self)
        #expect(head.contains("\r\nContent-Length: \(answer.body.count)\r\n"))
    }

    @Test func `pictures, files, streams and what is small or would not get smaller are sent as they are`() {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let events = HTTPResponse(type: "text/event-stream", body: page.body, isStream: true)
        let name = BytePath("a.svg")
        for answer in [
            .picture(page.body, type: "image/png", named: name), .attachment(page.body, named: name), events,
            .text("alive\n"), .nothing, HTTPResponse(type: "text/plain", body: noise),
        ] as [HTTPResponse] {
            let sent = answer.encoded(for: request("gzip"))
            #expect(sent.body == answer.body && !sent.headers.contains { $0.name == "Content-Encoding" })
        }
    }

    @Test func `what a client unpacks is what was said, over the wire, of pages, documents and metrics`() async throws {
        let runner = try CommandRunner()
        let path = BytePath(runner.folder.path("status.sock"))
        let server = try HTTPServer([.unix(path)], DaemonRoutes(control: FakeDaemon()))
        defer { server.stop() }
        for address in ["/", "/api/status", "/metrics"] {
            let ask = "curl -s --max-time 20 --unix-socket status.sock 'http://localhost\(address)'"
            let plain = try await runner.shell(ask)
            let packed = try await runner.shell("\(ask) -H 'Accept-Encoding: gzip' | gzip -dc")
            #expect(packed.exit == 0 && packed.errors.isEmpty, "\(packed.errors)")
            #expect(!plain.output.isEmpty)
            // Metrics have the time that the process has computed.
            func still(_ text: String) -> [Substring] {
                text.split(separator: "\n").filter { !$0.hasPrefix("process_") && !$0.hasPrefix("imagemill_uptime") }
            }
            #expect(still(packed.output) == still(plain.output), "\(address)")
        }
    }
}
