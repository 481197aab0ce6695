// What comes over the daemon's socket is checked before anybody acts on it.
import Pipeline
import Testing

@testable import imagemill

@Suite struct ControlMessageTests {
    @Test("A request arrives as it was sent, names byte for byte")
    func roundTrip() throws {
        let names = [BytePath([0xFF, UInt8(ascii: "%"), 0x0A]), BytePath("a/b c.jpg"), BytePath("/abs/é")]
        let requests: [ControlRequest] = [
            .status, .reload, .retry(RetryRequest(names: names, all: false)), .retry(RetryRequest(names: [], all: true)),
        ]
        for request in requests {
            #expect(request.line.last == 0x0A && request.line.count(where: { $0 == 0x0A }) == 1)
            #expect(try ControlRequest(line: request.line.dropLast()) == request)
        }
    }

    @Test(
        "What is no request is refused in words",
        arguments: [
            ("", "the request is not understood: expected one line of JSON with 'request'"),
            ("{}", "the request is not understood: expected one line of JSON with 'request'"),
            ("[1]", "the request is not understood: expected one line of JSON with 'request'"),
            (#"{"request":"stop\u001b"}"#, "unknown request 'stop\\u{1B}'; there are status, reload and retry"),
            (#"{"request":"retry"}"#, "retry takes names, or 'all'"),
            (#"{"request":"retry","names":["a"],"all":true}"#, "retry takes names, or 'all'"),
            (#"{"request":"retry","names":["../a"]}"#, "'../a' is no name of a file"),
            (#"{"request":"retry","names":["/a/../b"]}"#, "'/a/../b' is no name of a file"),
            (#"{"request":"retry","names":["a%00b"]}"#, "'a%00b' is no name of a file"),
            (#"{"request":"retry","names":["a%zz"]}"#, "'a%zz' is no name of a file"),
            (#"{"request":"retry","names":[""]}"#, "'' is no name of a file"),
        ])
    func refused(line: String, words: String) {
        let error = #expect(throws: BadRequest.self) { try ControlRequest(line: Array(line.utf8)) }
        #expect(error?.message == words)
    }

    @Test("Too many names are refused")
    func many() {
        let line = #"{"request":"retry","names":["# + Array(repeating: #""a""#, count: 10_001).joined(separator: ",") + "]}"
        let error = #expect(throws: BadRequest.self) { try ControlRequest(line: Array(line.utf8)) }
        #expect(error?.message == "more than 10000 names; use 'all'")
    }
}
