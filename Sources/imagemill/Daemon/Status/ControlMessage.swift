// What is asked over the daemon's socket, and answered: one line of JSON each way. What comes in is checked here, and nowhere else.
import Engine
import FoundationEssentials
import Pipeline

/// What the daemon can be asked.
enum ControlRequest: Equatable, Sendable {
    case status
    /// Read the configuration again. The answer comes when that is done.
    case reload
    /// Move failed sources back to their inboxes.
    case retry(RetryRequest)
}

/// Which failed sources to take up again.
struct RetryRequest: Equatable, Sendable {
    /// Absolute, or from the folder `failed/` of any inbox.
    var names: [BytePath]
    /// All that there are; `names` is empty then.
    var all: Bool
}

/// The answer to anything but `status`.
struct ControlReply: Codable, Equatable, Sendable {
    var schema = "imagemill.reply/1"
    /// What was asked for was done, all of it.
    var ok: Bool
    /// A sentence.
    var message: String
    /// A line for each mistake or file.
    var details: [String] = []

    init(ok: Bool, _ message: String, details: [String] = []) { (self.ok, self.message, self.details) = (ok, message, details) }
}

/// A request that is none.
struct BadRequest: Error, Equatable {
    let message: String
}

extension ControlRequest {
    /// The longest request, in bytes.
    static let longest = 256 << 10
    private static let mostNames = 10_000
    private static let longestName = 4096

    /// - Parameter line: what came, without the line feed.
    init(line: [UInt8]) throws(BadRequest) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: Data(line)) else {
            throw BadRequest(message: "the request is not understood: expected one line of JSON with 'request'")
        }
        switch wire.request {
        case "status": self = .status
        case "reload": self = .reload
        case "retry": self = .retry(try Self.retry(wire))
        default: throw BadRequest(message: "unknown request '\(oneLine(wire.request))'; there are status, reload and retry")
        }
    }

    private static func retry(_ wire: Wire) throws(BadRequest) -> RetryRequest {
        let (texts, all) = (wire.names ?? [], wire.all ?? false)
        guard all != !texts.isEmpty else { throw BadRequest(message: "retry takes names, or 'all'") }
        guard texts.count <= mostNames else { throw BadRequest(message: "more than \(mostNames) names; use 'all'") }
        var names: [BytePath] = []
        for text in texts {
            guard let name = BytePath(percentEncoded: text), name.bytes.count <= longestName, isSafe(name) else {
                throw BadRequest(message: "'\(oneLine(text))' is no name of a file")
            }
            names.append(name)
        }
        return RetryRequest(names: names, all: all)
    }

    private static func isSafe(_ name: BytePath) -> Bool {
        BytePath(Array(name.bytes.drop { $0 == UInt8(ascii: "/") })).staysBelow
    }

    /// The request as it is sent, with its line feed.
    var line: [UInt8] {
        let wire =
            switch self {
            case .status: Wire(request: "status")
            case .reload: Wire(request: "reload")
            case .retry(let retry): Wire(request: "retry", names: retry.names.map(\.percentEncoded), all: retry.all)
            }
        return Array((json(wire) + "\n").utf8)
    }

    private struct Wire: Codable {
        var request: String
        /// Percent-encoded bytes.
        var names: [String]?
        var all: Bool?
    }
}
