// Answers are compressed for clients that take that.
import Engine
import System

extension HTTPResponse {
    /// Less than this fits into a packet anyway.
    private static let smallest = 1024

    /// Whether compressing it is worth the time: pictures and archives are compressed already, and the events of a
    /// stream are not held back.
    private var isText: Bool {
        !isStream
            && (type.hasPrefix("text/") || ["application/json", "image/svg+xml"].contains(type))
    }

    /// The answer as this request takes it: compressed, if that is worth it.
    func encoded(for request: HTTPRequest) -> HTTPResponse {
        guard isText else { return self }
        var headers = headers + [("Vary", "Accept-Encoding")]
        var body = body
        if body.count >= Self.smallest, request.acceptsGzip, let packed = gzip(body) {
            headers.append(("Content-Encoding", "gzip"))
            body = packed
        }
        return HTTPResponse(
            status: status, type: type, body: body, headers: headers, isStream: isStream, isKept: isKept)
    }
}

extension HTTPRequest {
    /// Whether the client takes gzip: it is named in `Accept-Encoding` with a weight above zero.
    var acceptsGzip: Bool {
        (headers["accept-encoding"] ?? "").split(separator: ",").contains { coding in
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let name = parts.first, ["gzip", "x-gzip"].contains(name) else { return false }
            return parts.dropFirst().allSatisfy { !$0.hasPrefix("q=") || (Double($0.dropFirst(2)) ?? 0) > 0 }
        }
    }
}
