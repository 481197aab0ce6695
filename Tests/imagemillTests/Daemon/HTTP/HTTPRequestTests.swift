// Requests are put together from any pieces, and what is malformed is refused in words.
import Testing

@testable import imagemill

@Suite struct HTTPRequestTests {
    private let text =
        "POST /api/retry?x=1 HTTP/1.1\r\nHost: localhost:8080\r\nX-Imagemill:  1 \t\r\nContent-Length: 4\r\n\r\nbodyrest"

    @Test func `a request is the same in whatever pieces it comes; what comes after it is left alone`() throws {
        var expected: HTTPRequest?
        for size in [1, 2, 3, 5, 17, 1000] {
            var (reader, found) = (HTTPRequestReader(), HTTPRequest?.none)
            var rest = Array(text.utf8)[...]
            while found == nil, !rest.isEmpty {
                found = try reader.add(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            let request = try #require(found)
            #expect(request.method == .post && request.path == "/api/retry" && request.body == Array("body".utf8))
            #expect(request.headers == ["host": "localhost:8080", "x-imagemill": "1", "content-length": "4"])
            #expect(expected == nil || expected == request)
            expected = request
        }
    }

    @Test(arguments: [
        ("GET /\r\n\r\n", HTTPStatus.badRequest, "the request is not understood: expected HTTP/1.1"),
        ("GET / HTTP/2\r\n\r\n", .badRequest, "the request is not understood: expected HTTP/1.1"),
        ("GET  / HTTP/1.1\r\n\r\n", .badRequest, "the request is not understood: expected HTTP/1.1"),
        ("GET http://a/ HTTP/1.1\r\n\r\n", .badRequest, "the request is not understood: expected HTTP/1.1"),
        ("GET /\u{0} HTTP/1.1\r\n\r\n", .badRequest, "the request is not understood: expected HTTP/1.1"),
        ("GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n", .badRequest, "the request is not understood: expected HTTP/1.1"),
        (
            "PUT / HTTP/1.1\r\n\r\n", .methodNotAllowed,
            "the method 'PUT' is not used here; there are GET, HEAD and POST"
        ),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", .badRequest, "the request has a malformed header"),
        ("GET / HTTP/1.1\r\nA : b\r\n\r\n", .badRequest, "the request has a malformed header"),
        ("GET / HTTP/1.1\r\n folded: b\r\n\r\n", .badRequest, "the request has a malformed header"),
        ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", .badRequest, "the request has two headers 'host'"),
        (
            "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .badRequest,
            "the request has a malformed 'Content-Length'"
        ),
        (
            "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", .badRequest,
            "the request has a malformed 'Content-Length'"
        ),
        (
            "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", .badRequest,
            "the request has a malformed 'Content-Length'"
        ),
        (
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .notImplemented,
            "the request has a 'Transfer-Encoding'; send a 'Content-Length'"
        ),
    ])
    func `what is malformed is refused`(text: String, status: HTTPStatus, words: String) {
        var reader = HTTPRequestReader()
        let error = #expect(throws: HTTPRefusal.self) { try reader.add(text.utf8) }
        #expect(error == HTTPRefusal(status, words))
    }

    @Test func `nothing grows without bound: a head without end, many headers, a large body`() {
        var endless = HTTPRequestReader()
        let tooLong = #expect(throws: HTTPRefusal.self) {
            for _ in 0..<100 { _ = try endless.add([UInt8](repeating: 0x61, count: 1000)) }
        }
        #expect(tooLong?.status == .headTooLarge)
        var many = HTTPRequestReader()
        let headers = (0..<65).map { "a\($0): b\r\n" }.joined()
        #expect(throws: HTTPRefusal(.headTooLarge, "the request has more than 64 headers")) {
            try many.add("GET / HTTP/1.1\r\n\(headers)\r\n".utf8)
        }
        var large = HTTPRequestReader()
        #expect(throws: HTTPRefusal(.bodyTooLarge, "the request is longer than 262144 bytes")) {
            try large.add("POST / HTTP/1.1\r\nContent-Length: 262145\r\n\r\n".utf8)
        }
    }

    @Test func `whatever bytes come, the reader has an answer`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var reader = HTTPRequestReader()
            if let request = try? reader.add(bytes) {
                #expect(request.path.hasPrefix("/") && request.body.count <= HTTPRequestReader.longestBody)
            }
        }
    }
}
