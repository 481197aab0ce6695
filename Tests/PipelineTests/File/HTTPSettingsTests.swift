// Where the daemon serves, and how long originals are kept, as the mill file says it.
import Testing

@testable import Pipeline

struct HTTPSettingsTests {
    private func mill(_ line: String) throws(Diagnostics) -> MillFile {
        try MillFile(text: "\(line)\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n", file: "mill.yaml")
    }

    @Test
    func `an address is read`() throws {
        #expect(try mill("").http == nil)
        #expect(try mill("http: 127.0.0.1:8080").http?.address == .tcp(host: "127.0.0.1", port: 8080))
        #expect(try mill("http: localhost:1").http?.address == .tcp(host: "localhost", port: 1))
        #expect(try mill("http: \"[::1]:8080\"").http?.address == .tcp(host: "::1", port: 8080))
        let socket = try mill("http: run/http.sock").http
        #expect(
            socket?.address == .unix(WrittenPath(text: "run/http.sock", position: Position(line: 1, column: 7)))
                && socket?.token == nil)
        let open = try mill("http: { address: \"0.0.0.0:80\", token: secret }").http
        #expect(open?.address == .tcp(host: "0.0.0.0", port: 80) && open?.token?.text == "secret")
    }

    @Test(arguments: [
        "8080", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.256:80", "example.org:80", "[::1]", "[zz]:80",
        ":80",
    ])
    func `what is no address is refused`(text: String) throws {
        let error = #expect(throws: Diagnostics.self) { try mill("http: \"\(text)\"") }
        let words =
            "expected an address such as 127.0.0.1:8080, the path of a socket, or { address: 0.0.0.0:8080, token: FILE }, found '\(text)'"
        #expect(error?.items.first?.message == words)
    }

    @Test(arguments: ["0.0.0.0:80", "[::]:80", "192.168.1.2:8080"])
    func `what is open to other hosts needs a token`(text: String) throws {
        let error = #expect(throws: Diagnostics.self) { try mill("http: \"\(text)\"") }
        #expect(
            error?.items.first?.message.hasPrefix(
                "'\(text)' is open to other hosts; use 127.0.0.1, or name a file with a secret: ") == true)
    }

    @Test
    func `a retention is an age, a size, or both`() throws {
        func retention(_ text: String) throws(Diagnostics) -> Retention? {
            try MillFile(
                text: "inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, keep-done: \(text) }\n", file: "m"
            ).inboxes[0].keepDone
        }
        #expect(try retention("30d") == Retention(age: .seconds(30 * 86_400), size: nil))
        #expect(try retention("10G") == Retention(age: nil, size: ByteCount("10G")))
        #expect(try retention("{ age: 1h, size: 5M }") == Retention(age: .seconds(3600), size: ByteCount("5M")))
        #expect(throws: Diagnostics.self) { try retention("30") }
        #expect(throws: Diagnostics.self) { try retention("{ days: 30 }") }
    }
}
