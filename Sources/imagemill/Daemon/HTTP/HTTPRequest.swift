// HTTP requests as the daemon takes them: small, whole, one for each connection.
import Pipeline

/// A request that was read to its end.
struct HTTPRequest: Equatable, Sendable {
    enum Method: String, Equatable, Sendable { case get = "GET", head = "HEAD", post = "POST" }

    let method: Method
    /// Without the query, as it was sent.
    let path: String
    /// The values of the query, decoded; of several of one name, the last.
    var query: [String: String] = [:]
    /// By their names in lower case.
    let headers: [String: String]
    var body: [UInt8] = []
}

/// A request that is refused before anybody looks at what it wants.
struct HTTPRefusal: Error, Equatable {
    let status: HTTPStatus
    /// A sentence.
    let message: String

    init(_ status: HTTPStatus, _ message: String) { (self.status, self.message) = (status, message) }
}

/// Puts a request together from what a connection delivers. Pure: it touches no socket.
struct HTTPRequestReader {
    static let longestHead = 16 << 10
    static let longestBody = 256 << 10
    private static let mostHeaders = 64

    private var input: [UInt8] = []
    private var head: (request: HTTPRequest, length: Int)?

    /// Takes in bytes.
    /// - Returns: the request once it is complete. What comes after it is not looked at: a connection has one request.
    mutating func add(_ bytes: some Sequence<UInt8>) throws(HTTPRefusal) -> HTTPRequest? {
        // The end of the head may have come in two pieces.
        let start = max(0, input.count - 3)
        input += bytes
        if head == nil {
            guard let end = Self.endOfHead(input, from: start) else {
                if input.count > Self.longestHead { throw Self.tooLong }
                return nil
            }
            guard end <= Self.longestHead else { throw Self.tooLong }
            let request = try Self.head(input[..<end])
            head = (request, try Self.length(of: request))
            input.removeFirst(end)
        }
        guard let (head, length) = head, input.count >= length else { return nil }
        var request = head
        request.body = Array(input[..<length])
        return request
    }

    private static let tooLong = HTTPRefusal(
        .headTooLarge, "the head of the request is longer than \(longestHead) bytes")

    /// The index after the empty line. Every line ends with CR and LF: what else may end one is where servers and
    /// proxies differ.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (start...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }.map { $0 + 4 }
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPRequest {
        let malformed = HTTPRefusal(.badRequest, "the request is not understood: expected HTTP/1.1")
        // Names of headers and what we need of their values are ASCII; other bytes are kept, as Latin-1.
        var lines = bytes.dropLast(4).split(separator: 13, omittingEmptySubsequences: false).map { $0 }
        for index in lines.indices.dropFirst() {
            guard lines[index].first == 10 else { throw malformed }
            lines[index] = lines[index].dropFirst()
        }
        guard lines.allSatisfy({ line in line.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 } }) else {
            throw malformed
        }
        let texts = lines.map { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) }
        let words = texts[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", words[1].first == "/" else {
            throw malformed
        }
        guard let method = HTTPRequest.Method(rawValue: String(words[0])) else {
            throw HTTPRefusal(
                .methodNotAllowed,
                "the method '\(oneLine(String(words[0].prefix(20))))' is not used here; there are GET, HEAD and POST")
        }
        let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return HTTPRequest(
            method: method, path: String(parts[0]), query: parts.count == 2 ? try query(parts[1]) : [:],
            headers: try headers(texts.dropFirst()))
    }

    /// `a=1&b=two%20words`; a plus sign is a space, as in a form.
    private static func query(_ text: Substring) throws(HTTPRefusal) -> [String: String] {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = sides.map { side in
                BytePath(percentEncoded: String(side.map { $0 == "+" ? " " : $0 }))?.text
            }
            guard let name = decoded[0], let value = decoded.count == 2 ? decoded[1] : "" else {
                throw HTTPRefusal(.badRequest, "the query is malformed: '%' is followed by two digits")
            }
            values[name] = value
        }
        return values
    }

    private static func headers(_ lines: ArraySlice<String>) throws(HTTPRefusal) -> [String: String] {
        guard lines.count <= mostHeaders else {
            throw HTTPRefusal(.headTooLarge, "the request has more than \(mostHeaders) headers")
        }
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, line[..<colon].utf8.allSatisfy(isToken)
            else {
                throw HTTPRefusal(.badRequest, "the request has a malformed header")
            }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            // Two of a name can mean different things to a proxy and to us.
            if headers.updateValue(String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed()), forKey: name)
                != nil
                && decides.contains(name)
            {
                throw HTTPRefusal(.badRequest, "the request has two headers '\(name)'")
            }
        }
        return headers
    }

    private static let decides: Set = [
        "host", "content-length", "origin", "authorization", "sec-fetch-site", "sec-fetch-mode", "x-imagemill",
    ]

    private static func isToken(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }

    private static func length(of request: HTTPRequest) throws(HTTPRefusal) -> Int {
        guard request.headers["transfer-encoding"] == nil else {
            throw HTTPRefusal(.notImplemented, "the request has a 'Transfer-Encoding'; send a 'Content-Length'")
        }
        guard let text = request.headers["content-length"] else { return 0 }
        guard !text.isEmpty, text.utf8.count <= 9, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let length = Int(text)
        else {
            throw HTTPRefusal(.badRequest, "the request has a malformed 'Content-Length'")
        }
        guard length <= longestBody else {
            throw HTTPRefusal(.bodyTooLarge, "the request is longer than \(longestBody) bytes")
        }
        return length
    }
}
