// The check of requests over the daemon's socket, before anything acts on them.
import Pipeline
import Testing

@testable import imagemill

@Suite struct ControlMessageTests {
    @Test func `a request arrives as it was sent, names byte for byte`() throws {
        let names = [BytePath([0xFF, UInt8(ascii: "%"), 0x0A]), BytePath("a/b c.jpg"), BytePath("/abs/é")]
        for retry in [RetryRequest(names: names, all: false), RetryRequest(names: [], all: true)] {
            var reader = HTTPRequestReader()
            let request = try #require(try reader.add(ControlRequest.retry(retry).bytes))
            #expect(request.method == .post && request.path == "/api/retry")
            #expect(try RetryRequest(body: request.body) == retry)
        }
    }

    @Test(arguments: [
        ("", "the request is not understood: expected JSON with 'names' or 'all'"),
        ("[1]", "the request is not understood: expected JSON with 'names' or 'all'"),
        ("{}", "retry takes names, or 'all'"),
        (#"{"names":["a"],"all":true}"#, "retry takes names, or 'all'"),
        (#"{"names":["../a"]}"#, "'../a' is no name of a file"),
        (#"{"names":["/a/../b"]}"#, "'/a/../b' is no name of a file"),
        (#"{"names":["a%00b"]}"#, "'a%00b' is no name of a file"),
        (#"{"names":["a%zz"]}"#, "'a%zz' is no name of a file"),
        (#"{"names":[""]}"#, "'' is no name of a file"),
        (#"{"select":{}}"#, "the selection has none of 'inbox', 'code' and 'search'; use 'all'"),
        (#"{"select":{"inbox":""}}"#, "the selection has none of 'inbox', 'code' and 'search'; use 'all'"),
        (#"{"select":{"code":"x"},"all":true}"#, "retry takes 'select', or names, or 'all'"),
    ])
    func `what is no request is refused in words`(body: String, words: String) {
        let error = #expect(throws: HTTPRefusal.self) { try RetryRequest(body: Array(body.utf8)) }
        #expect(error == HTTPRefusal(.badRequest, words))
    }

    @Test func `too many names are refused`() {
        let body = #"{"names":["# + Array(repeating: #""a""#, count: 10_001).joined(separator: ",") + "]}"
        let error = #expect(throws: HTTPRefusal.self) { try RetryRequest(body: Array(body.utf8)) }
        #expect(error?.message == "more than 10000 names; use 'all'")
    }
}
