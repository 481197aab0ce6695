// The daemon's log: to journald with its fields if standard error goes there, else lines on standard error.
import Engine
import Glibc
import Logging
import Pipeline
import System

/// Where lines go. For any thread.
struct LogSink: Sendable {
    private enum Place: Sendable {
        case journal(OpenFile, UnixAddress)
        /// Lines, with `<N>` before them if a service manager reads the priority from there.
        case lines(withPriority: Bool)
        /// Lines for somebody who reads along.
        case terminal
    }

    private let place: Place
    private let writer: LogWriter
    /// There are lines below the log, on a terminal that can go back.
    let hasLiveLines: Bool
    private let errors: CInt
    private static let identifier = "imagemill"

    /// - Parameters:
    ///   - variables: the environment.
    ///   - errors: standard error.
    ///   - journal: journald's socket.
    init(_ variables: [String: String], errors: CInt = 2, journal: String = "/run/systemd/journal/socket") {
        self.errors = errors
        let isJournal = variables["JOURNAL_STREAM"].map { Self.stream($0, is: errors) } ?? false
        let live = LiveLines(terminal: errors, variables: variables)
        hasLiveLines = live != nil
        if isJournal, let address = UnixAddress(variable: journal),
            let socket = try? unixSocket(SOCK_DGRAM, nonblocking: true)
        {
            place = .journal(socket, address)
        } else if isatty(errors) == 1 {
            place = .terminal
        } else {
            place = .lines(withPriority: isJournal)
        }
        let place = place
        writer = LogWriter(errors, live: live) { count in
            let line = LogLine(
                level: .warning, message: "\(counted(count, "line")) of the log left out, because nobody read them",
                metadata: [:])
            return Self.text(of: line, at: place, errors)
        }
    }

    /// `device:inode` of the descriptor, as systemd says it: else standard error was sent elsewhere since.
    private static func stream(_ text: String, is descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && text == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes a line. Never waits.
    func write(_ line: LogLine) {
        // journald may be gone or busy; what it does not take is said the other way.
        if case .journal(let socket, let address) = place,
            send(line.journal(identifier: Self.identifier), through: socket, to: address)
        {
            return
        }
        writer.write(Self.text(of: line, at: place, errors))
    }

    /// Shows other lines below the log. Never waits.
    func show(_ lines: [String]) { writer.show(lines) }

    /// Waits for a moment until all is written.
    func flush() { writer.flush(within: .seconds(1)) }

    private static func text(of line: LogLine, at place: Place, _ errors: CInt) -> String {
        switch place {
        case .terminal:
            Terminal.shown(line.forTerminal(time: localTime(of: time(nil)), Paint(errors)), on: errors) + "\n"
        case .journal, .lines(withPriority: true): "<\(line.level.priority)>\(line.text)\n"
        case .lines(withPriority: false): "\(timestamp()) \(line.level): \(line.text)\n"
        }
    }

    private func send(_ bytes: [UInt8], through socket: OpenFile, to address: UnixAddress) -> Bool {
        address.withPointer { address, length in
            bytes.withUnsafeBytes {
                sendto(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL), address, length)
            } == bytes.count
        }
    }
}

/// The handler that the daemon's loggers have.
struct ServiceLog: LogHandler {
    private let sink: LogSink
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(_ sink: LogSink) { self.sink = sink }

    /// A logger to this sink.
    static func logger(_ sink: LogSink, level: Logger.Level = .info) -> Logger {
        var logger = Logger(label: "imagemill") { _ in ServiceLog(sink) }
        logger.logLevel = level
        return logger
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        if let error = event.error { all["ERROR"] = "\(error)" }
        sink.write(LogLine(level: event.level, message: "\(event.message)", metadata: all))
    }
}
