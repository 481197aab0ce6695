// What the daemon answers to a request.
import Engine

/// The statuses that the daemon answers with.
enum HTTPStatus: Int, Sendable {
    case ok = 200
    case badRequest = 400, unauthorized, forbidden = 403, notFound, methodNotAllowed
    case conflict = 409, bodyTooLarge = 413, headTooLarge = 431
    case notImplemented = 501, unavailable = 503

    var phrase: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .conflict: "Conflict"
        case .bodyTooLarge: "Content Too Large"
        case .headTooLarge: "Request Header Fields Too Large"
        case .notImplemented: "Not Implemented"
        case .unavailable: "Service Unavailable"
        }
    }
}

/// An answer. Every one closes its connection.
struct HTTPResponse: Sendable {
    var status = HTTPStatus.ok
    let type: String
    let body: [UInt8]
    /// More headers, whose values are ours.
    var headers: [(name: String, value: String)] = []
    /// The body has no end: events follow.
    var isStream = false

    /// A document of ours.
    static func json(_ document: some Encodable, _ status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, type: "application/json", body: Array((Engine.json(document) + "\n").utf8))
    }

    static func text(_ text: String, _ status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, type: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// A refusal in the form that the commands understand.
    init(_ refusal: HTTPRefusal) {
        self = .json(ControlReply(ok: false, refusal.message), refusal.status)
        // So that a browser asks for the token.
        if refusal.status == .unauthorized {
            headers = [("WWW-Authenticate", "Basic realm=\"imagemill\", charset=\"UTF-8\"")]
        }
    }

    init(
        status: HTTPStatus = .ok, type: String, body: [UInt8], headers: [(name: String, value: String)] = [],
        isStream: Bool = false
    ) {
        (self.status, self.type, self.body, self.headers, self.isStream) = (status, type, body, headers, isStream)
    }

    /// As it is sent.
    /// - Parameter isHead: without the body.
    func bytes(isHead: Bool = false) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status.rawValue) \(status.phrase)", "Content-Type: \(type)"]
        if !isStream { lines.append("Content-Length: \(body.count)") }
        lines += Self.always + headers.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (isHead ? [] : body)
    }

    /// Nothing of this is for caches, for frames, or for pages of others.
    private static let always = [
        "Connection: close", "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
        "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin",
    ]
}
