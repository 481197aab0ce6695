// The requests of commands to the daemon, and its answers. Input is checked here, and nowhere else.
import Engine
import FoundationEssentials
import Pipeline
import System

/// A request of a command to the daemon.
enum ControlRequest: Equatable, Sendable {
    case status
    /// Read the configuration again. The answer comes when that is done.
    case reload
    /// Move failed sources back to their inboxes.
    case retry(RetryRequest)
    /// Pause an inbox, or end that.
    case pause(PauseRequest)

    /// The request as it is sent.
    var bytes: [UInt8] {
        let (method, path, body) =
            switch self {
            case .status: ("GET", "/api/status", "")
            case .reload: ("POST", "/api/reload", "")
            case .retry(let retry): ("POST", "/api/retry", json(retry.wire))
            case .pause(let pause):
                ("POST", pause.isPaused ? "/api/pause" : "/api/resume", json(["inbox": pause.inbox]))
            }
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: localhost", "X-Imagemill: 1", "Content-Length: \(body.utf8.count)",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}

/// A request to take failed sources up again.
struct RetryRequest: Equatable, Sendable {
    /// Absolute, or from the folder `failed/` of any inbox.
    var names: [BytePath]
    /// All that there are; `names` is empty then.
    var all: Bool
    /// Those of the list that are selected; `names` is empty then.
    var selection: FailureQuery?

    init(names: [BytePath], all: Bool) { (self.names, self.all) = (names, all) }
}

/// A request to pause an inbox, or to resume it.
struct PauseRequest: Equatable, Sendable {
    var inbox: String
    var isPaused: Bool

    init(inbox: String, isPaused: Bool) { (self.inbox, self.isPaused) = (inbox, isPaused) }

    /// - Parameter body: `{"inbox": "NAME"}`.
    init(body: [UInt8], isPaused: Bool) throws(HTTPRefusal) {
        guard let wire = try? JSONDecoder().decode([String: String].self, from: Data(body)), let inbox = wire["inbox"]
        else { throw HTTPRefusal(.badRequest, "the request is not understood: expected JSON with 'inbox'") }
        self.init(inbox: inbox, isPaused: isPaused)
    }
}

/// How far a retry has come, as the dashboard asks for it.
struct RetryProgress: Encodable, Sendable {
    /// Nil if none is under way.
    var count: Retry.Count?
}

/// The answer to anything but `status`.
struct ControlReply: Codable, Equatable, Sendable {
    var schema = "imagemill.reply/1"
    /// All that was asked for was done.
    var ok: Bool
    /// A sentence.
    var message: String
    /// A line for each mistake or file.
    var details: [String] = []

    init(ok: Bool, _ message: String, details: [String] = []) {
        (self.ok, self.message, self.details) = (ok, message, details)
    }
}

extension RetryRequest {
    private static let mostNames = 10_000
    private static let longestName = 4096

    /// - Parameter body: `{"names": [...]}` with percent-encoded names, `{"all": true}`, or `{"select": {"inbox": ...,
    ///   "code": ..., "search": ...}}`, of which at least one is there.
    init(body: [UInt8]) throws(HTTPRefusal) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: Data(body)) else {
            throw HTTPRefusal(.badRequest, "the request is not understood: expected JSON with 'names' or 'all'")
        }
        if let selection = wire.select {
            guard wire.names == nil, wire.all == nil else {
                throw HTTPRefusal(.badRequest, "retry takes 'select', or names, or 'all'")
            }
            self.init(names: [], all: false)
            self.selection = try FailureQuery(selection)
            guard self.selection != FailureQuery() else {
                throw HTTPRefusal(.badRequest, "the selection has none of 'inbox', 'code' and 'search'; use 'all'")
            }
            return
        }
        let (texts, all) = (wire.names ?? [], wire.all ?? false)
        guard all != !texts.isEmpty else { throw HTTPRefusal(.badRequest, "retry takes names, or 'all'") }
        guard texts.count <= Self.mostNames else {
            throw HTTPRefusal(.badRequest, "more than \(Self.mostNames) names; use 'all'")
        }
        var names: [BytePath] = []
        for text in texts {
            guard let name = BytePath(percentEncoded: text), name.bytes.count <= Self.longestName, Self.isSafe(name)
            else {
                throw HTTPRefusal(.badRequest, "'\(oneLine(text))' is no name of a file")
            }
            names.append(name)
        }
        self.init(names: names, all: all)
    }

    private static func isSafe(_ name: BytePath) -> Bool {
        BytePath(Array(name.bytes.drop { $0 == UInt8(ascii: "/") })).staysBelow
    }

    fileprivate var wire: Wire { Wire(names: names.map(\.percentEncoded), all: all) }

    fileprivate struct Wire: Codable {
        /// Percent-encoded bytes.
        var names: [String]?
        var all: Bool?
        var select: [String: String]?
    }
}
