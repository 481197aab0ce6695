// How an event becomes text or journal fields. A file name may hold line feeds and terminal codes; no event becomes
// two.
import Logging
import Pipeline
import System

/// An event of the daemon, with the number that the journal finds it by: `journalctl MESSAGE_ID=…`.
enum DaemonEvent: String, CaseIterable, Sendable {
    case started, claimed, done, failed, paused, resumed, overflow, reloaded, stopped
    case reloadRefused = "reload-refused"
    case postponed, lost
    case hookLost = "hook-lost"
    case putBack = "put-back"
    case takenUp = "taken-up"

    /// Made once, at random, and never changed.
    var messageID: String {
        switch self {
        case .started: "5c0f3d1c4e0b4d0ea07f3c9f1f6b2a01"
        case .claimed: "b7d6a9e25d6e4c42a3c9a15e0f7c2d02"
        case .done: "0e9c5a3b7f1d4a55b1f2c86d3e4a9f03"
        case .failed: "e41b8c6a92f04d87a6d50c7b1e93f804"
        case .paused: "93f27d50b1c64e1f8c0a7e5d64b2a105"
        case .resumed: "2d8e4f6b0a9c4b3d95e7f1c3a5b7d906"
        case .overflow: "c6a1e3f5078b4d9caf2e4b6d8091a307"
        case .reloaded: "7f4a2c9e6d1b4835b0c8e6a4f2d01b08"
        case .reloadRefused: "a85d0f3c7e2941b6bd4f6a8c0e2d4f09"
        case .stopped: "18c3e5a7b9d04f62a4c6e8f0b2d4f60a"
        case .postponed: "4b2f9d61c80e4a7795d3e1f6a7c8b20b"
        case .lost: "d9e07a3c5f1b4c28b6a4f2e8c1d3950c"
        case .hookLost: "3c9e71f0a2d84b56e8f1c7a4b0d5260f"
        case .putBack: "61a8c3f4e2d74b09a5f7d0c9b8e6a10d"
        case .takenUp: "f27b50d8a3c94e61b8e5a9c7d4f1e30e"
        }
    }
}

/// The keys of an event's fields, as the journal names them.
enum LogField: String, CaseIterable, Sendable {
    case event = "EVENT"
    case job = "JOB_ID"
    case inbox = "INBOX"
    case source = "SOURCE_NAME"
    case stage = "STAGE"
    case code = "ERROR_KIND"
    case attempt = "ATTEMPT"
    case milliseconds = "DURATION_MS"
    case reason = "PAUSE_REASON"
    case hook = "HOOK"
}

extension Logger.Metadata {
    /// An event with its fields.
    static func event(_ event: DaemonEvent, _ fields: [LogField: String] = [:]) -> Logger.Metadata {
        var metadata: Logger.Metadata = [LogField.event.rawValue: .string(event.rawValue)]
        for (field, value) in fields { metadata[field.rawValue] = .string(value) }
        return metadata
    }
}

extension Logger.Level {
    /// The number that syslog has for it.
    var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// The text on one line: control characters are shown as escapes.
func oneLine(_ text: String) -> String { BytePath(text).printable }

/// One event before it is written somewhere.
struct LogLine: Sendable {
    let level: Logger.Level
    let message: String
    /// In the order of the keys.
    let fields: [(key: String, value: String)]

    init(level: Logger.Level, message: String, metadata: Logger.Metadata) {
        (self.level, self.message) = (level, message)
        fields = metadata.map { (Self.fieldName($0.key), "\($0.value)") }.sorted { $0.key < $1.key }
    }

    /// The key as the journal takes it for a field: capitals, digits and `_`, a letter first.
    static func fieldName(_ key: String) -> String {
        let letters = key.uppercased().unicodeScalars.map { scalar -> Character in
            let isAllowed = ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
            return isAllowed ? Character(scalar) : "_"
        }
        let name = String(letters.drop { $0 == "_" || $0.isNumber }.prefix(64))
        return name.isEmpty ? "FIELD" : name
    }

    /// For a terminal or a file: `warning: message (JOB_ID=…, SOURCE_NAME=…)`.
    var text: String {
        let details = fields.filter { $0.key != LogField.event.rawValue }.map { "\($0.key)=\(oneLine($0.value))" }
        return oneLine(message) + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }

    /// For a terminal: `14:03:07 family/garden.jpg: done: 2 renditions (136 ms)`.
    func forTerminal(time: String, _ paint: Paint) -> String {
        let values = Dictionary(fields.map { ($0.key, oneLine($0.value)) }) { first, _ in first }
        let parts = [values[LogField.inbox.rawValue], values[LogField.source.rawValue]]
        let place = parts.compactMap(\.self).joined(separator: "/")
        let words =
            switch level {
            case .error, .critical: paint.red(oneLine(message))
            case .warning: paint.yellow(oneLine(message))
            case .trace, .debug, .info, .notice: oneLine(message)
            }
        let details = [values[LogField.code.rawValue], values[LogField.milliseconds.rawValue].map { "\($0) ms" }]
            .compactMap(\.self)
        return paint.dim(time) + " " + (place.isEmpty ? "" : paint.bold(place) + ": ") + words
            + (details.isEmpty ? "" : paint.dim(" (\(details.joined(separator: ", ")))"))
    }

    /// For journald, in its own protocol. A value with a line feed has its length before it, so that none can pass for
    /// a field.
    func journal(identifier: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var all = [("PRIORITY", "\(level.priority)"), ("SYSLOG_IDENTIFIER", identifier), ("MESSAGE", message)]
        all += fields.map { ($0.key, $0.value) }
        if let word = fields.first(where: { $0.key == LogField.event.rawValue })?.value,
            let event = DaemonEvent(rawValue: word)
        {
            all.append(("MESSAGE_ID", event.messageID))
        }
        for (key, value) in all { bytes += Self.field(key, [UInt8](value.utf8).prefix(Self.longestValue)) }
        return bytes
    }

    /// A datagram has its bounds; nothing that the daemon says is longer for a good reason.
    private static let longestValue = 8192

    private static func field(_ key: String, _ value: some Collection<UInt8>) -> [UInt8] {
        let lineFeed = UInt8(ascii: "\n")
        var bytes = [UInt8](key.utf8)
        if value.contains(lineFeed) {
            bytes.append(lineFeed)
            withUnsafeBytes(of: UInt64(value.count).littleEndian) { bytes.append(contentsOf: $0) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes.append(contentsOf: value)
        bytes.append(lineFeed)
        return bytes
    }
}
