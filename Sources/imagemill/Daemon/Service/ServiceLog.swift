// The daemon's log: to journald with its fields if standard error goes there, else lines on standard error.
import Engine
import Glibc
import Logging

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
    /// The lines below the log, on a terminal that can go back.
    let live: LiveLines?
    private let errors: CInt
    private static let identifier = "imagemill"

    /// - Parameters:
    ///   - variables: the environment.
    ///   - errors: standard error.
    ///   - journal: journald's socket.
    init(_ variables: [String: String], errors: CInt = 2, journal: String = "/run/systemd/journal/socket") {
        self.errors = errors
        let isJournal = variables["JOURNAL_STREAM"].map { Self.stream($0, is: errors) } ?? false
        live = LiveLines(terminal: errors, variables: variables)
        if isJournal, let address = UnixAddress(variable: journal),
            let socket = try? unixSocket(SOCK_DGRAM, nonblocking: true)
        {
            place = .journal(socket, address)
        } else if isatty(errors) == 1 {
            place = .terminal
        } else {
            place = .lines(withPriority: isJournal)
        }
    }

    /// `device:inode` of the descriptor, as systemd says it: else standard error was sent elsewhere since.
    private static func stream(_ text: String, is descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && text == "\(status.st_dev):\(status.st_ino)"
    }

    func write(_ line: LogLine) {
        switch place {
        case .journal(let socket, let address):
            // journald may be gone or busy; what it does not take is said the other way.
            if !send(line.journal(identifier: Self.identifier), through: socket, to: address) {
                write(line.text, priority: line.level.priority)
            }
        case .terminal: writeAbove(line.forTerminal(time: localTime(of: time(nil)), Paint(errors)))
        case .lines(withPriority: true): write(line.text, priority: line.level.priority)
        case .lines(withPriority: false): write("\(timestamp()) \(line.level): \(line.text)", priority: nil)
        }
    }

    private func send(_ bytes: [UInt8], through socket: OpenFile, to address: UnixAddress) -> Bool {
        address.withPointer { address, length in
            bytes.withUnsafeBytes {
                sendto(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL), address, length)
            } == bytes.count
        }
    }

    private func writeAbove(_ text: String) {
        if let live { live.write(above: text + "\n") } else { write(text, priority: nil) }
    }

    private func write(_ text: String, priority: Int?) {
        let bytes = Array(((priority.map { "<\($0)>" } ?? "") + text + "\n").utf8)
        // In one call, so that lines of several threads do not mix. If nobody reads, there is nobody to tell.
        _ = bytes.withUnsafeBytes { Glibc.write(errors, $0.baseAddress, $0.count) }
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
