// The daemon's answer to a request.
import Engine
import Pipeline
import System

/// The statuses that the daemon answers with.
enum HTTPStatus: Int, Sendable {
    case ok = 200, noContent = 204
    case badRequest = 400, unauthorized, forbidden = 403, notFound, methodNotAllowed
    case conflict = 409, bodyTooLarge = 413, headTooLarge = 431
    case notImplemented = 501, unavailable = 503

    var phrase: String {
        switch self {
        case .ok: "OK"
        case .noContent: "No Content"
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
    /// A cache may keep it for a day: it is the same for everybody and says nothing.
    var isKept = false

    /// A document of ours.
    static func json(_ document: some Encodable, _ status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, type: "application/json", body: Array((System.json(document) + "\n").utf8))
    }

    static func text(_ text: String, _ status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, type: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// A file for a person to save. A browser shows nothing of it, whatever it holds.
    static func attachment(_ body: [UInt8], named name: BytePath) -> HTTPResponse {
        HTTPResponse(
            type: "application/octet-stream", body: body,
            headers: [sandbox, ("Content-Disposition", "attachment; filename*=UTF-8''\(fileName(name))")])
    }

    /// A picture that the program has written. It is one, whatever somebody may have put in its place: no script in it
    /// runs.
    static func picture(_ body: [UInt8], type: String, named name: BytePath) -> HTTPResponse {
        HTTPResponse(
            type: type, body: body,
            headers: [sandbox, ("Content-Disposition", "inline; filename*=UTF-8''\(fileName(name))")])
    }

    /// There is nothing to show, and nothing is wrong: a browser does not complain of that.
    static let nothing = HTTPResponse(status: .noContent, type: "", body: [])

    private static let sandbox = ("Content-Security-Policy", "default-src 'none'; sandbox")

    /// The last part of a path in the form of RFC 8187; it has no bytes that are not ASCII.
    private static func fileName(_ path: BytePath) -> String {
        BytePath(Array(path.lastComponent.text.utf8)).percentEncoded
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
        isStream: Bool = false, isKept: Bool = false
    ) {
        (self.status, self.type, self.body, self.headers) = (status, type, body, headers)
        (self.isStream, self.isKept) = (isStream, isKept)
    }

    /// As it is sent.
    /// - Parameter isHead: without the body.
    func bytes(isHead: Bool = false) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status.rawValue) \(status.phrase)"]
        if status != .noContent {
            lines.append("Content-Type: \(type)")
            if !isStream { lines.append("Content-Length: \(body.count)") }
        }
        lines.append("Cache-Control: \(isKept ? "private, max-age=86400" : "no-store")")
        lines += Self.always + headers.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (isHead ? [] : body)
    }

    /// Nothing of this is for frames, or for pages of others.
    private static let always = [
        "Connection: close", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
        "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin",
    ]
}
