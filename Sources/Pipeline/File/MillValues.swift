// The types of values that only `mill.yaml` has.

/// The policy for a source that is done.
package enum OriginalPolicy: String, ParameterWord {
    /// To `done/`, under its relative path.
    case move
    /// It stays in the inbox; the ledger knows that it is done.
    case keep
    case delete
}

/// Where the report of a source goes.
package enum ReportPlace: String, ParameterWord {
    /// Beside its renditions.
    case beside
    /// Into the outbox's folder `reports`.
    case folder
}

/// How an inbox is watched.
package enum WatchMode: Hashable, Sendable {
    /// By events if the file system tells of all changes, else by looking every five seconds.
    case auto
    case events
    case poll(every: Duration)

    /// How often is looked if nothing else is said.
    package static let usualPoll = Duration.seconds(5)
}

extension WatchMode: ParameterValue {
    package static var expectation: String { "auto, events, poll, or 'poll every 10s'" }
    package static var schema: JSONValue {
        ["type": "string", "pattern": #"^(auto|events|poll|poll every [0-9]+(\.[0-9]+)?(ms|s|m|h|d))$"#]
    }
    package static var placeholder: WatchMode { .auto }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> WatchMode? {
        guard let text = node.text else { return nil }
        let words = text.split(separator: " ").map(String.init)
        switch words.first {
        case "auto" where words.count == 1: return .auto
        case "events" where words.count == 1: return .events
        case "poll" where words.count == 1: return .poll(every: usualPoll)
        case "poll" where words.count == 3 && words[1] == "every":
            guard let time = Duration(written: words[2]) else { return nil }
            if time >= .milliseconds(100) { return .poll(every: time) }
            log.problem(node.position, "'poll every' expects 100ms or more, found '\(words[2])'")
            return nil
        default:
            let hint = suggestion(for: words.first ?? "", among: ["auto", "events", "poll"])
            log.problem(node.position, "'watch' expects \(expectation), found '\(text)'\(hint)")
            return nil
        }
    }

    package var written: String {
        switch self {
        case .auto: "auto"
        case .events: "events"
        case .poll(let time): time == Self.usualPoll ? "poll" : "poll every \(time.written)"
        }
    }
}

/// `workers: auto` or a number.
package enum WorkerCount: Hashable, Sendable {
    /// One for each core.
    case auto
    case count(Int)
}

extension WorkerCount: ParameterValue {
    package static var expectation: String { "auto, or a whole number from 1 to 1024" }
    package static var schema: JSONValue {
        ["anyOf": [["const": "auto"], ["type": "integer", "minimum": 1, "maximum": 1024]]]
    }
    package static var placeholder: WorkerCount { .auto }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> WorkerCount? {
        if node.text == "auto" { return .auto }
        return node.plainText.flatMap { Int($0) }.flatMap { (1...1024).contains($0) ? .count($0) : nil }
    }

    package var written: String {
        switch self {
        case .auto: "auto"
        case .count(let count): String(count)
        }
    }
}

/// A path as the file has it, and its position, for messages about it.
package struct WrittenPath: Hashable, Sendable {
    package let text: String
    package let position: Position
}

extension WrittenPath: ParameterValue {
    package static var expectation: String { "a path, relative to this file" }
    package static var schema: JSONValue { ["type": "string", "minLength": 1] }
    package static var placeholder: WrittenPath { WrittenPath(text: ".", position: Position(line: 1, column: 1)) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> WrittenPath? {
        guard let text = node.text, !text.isEmpty, !node.isNull, !text.utf8.contains(0) else { return nil }
        if text == "~" || text.hasPrefix("~/") || text.hasPrefix("$") {
            log.problem(
                node.position, "no shell reads this file, so that '\(text)' is not replaced; write the whole path")
            return nil
        }
        return WrittenPath(text: text, position: node.position)
    }

    package var written: String { text }

    /// The path from the working folder.
    /// - Parameter file: the file that has it.
    package func resolved(beside file: BytePath) -> BytePath {
        let path = BytePath(text).withoutTrailingSlashes
        return path.bytes.first == UInt8(ascii: "/") ? path : file.directory.appending(path)
    }
}
