// The daemon's messages to systemd, by datagrams to $NOTIFY_SOCKET: see sd_notify(3). Without a service manager nothing
// is sent.
import Engine
import Glibc
import System

/// Something to tell the service manager.
enum ServiceNews: Equatable, Sendable {
    case ready
    /// The configuration is being read again; `ready` ends it.
    case reloading
    case stopping
    /// The loop has gone round.
    case alive
    /// A line for `systemctl status`.
    case status(String)
    /// The present step takes this much longer, in milliseconds.
    case extendTimeout(Int)

    /// - Parameter now: of the monotonic clock, in microseconds.
    func lines(now: Int) -> [String] {
        switch self {
        case .ready: ["READY=1"]
        // A manager from version 253 on takes the time for the beginning of the reload; older ones ignore it.
        case .reloading: ["RELOADING=1", "MONOTONIC_USEC=\(now)"]
        case .stopping: ["STOPPING=1"]
        case .alive: ["WATCHDOG=1"]
        case .status(let text): ["STATUS=" + oneLine(text)]
        case .extendTimeout(let milliseconds): ["EXTEND_TIMEOUT_USEC=\(milliseconds * 1000)"]
        }
    }
}

/// The service manager that has started this process. For any thread; never waits.
struct ServiceManager: Sendable {
    private let socket: OpenFile
    private let address: UnixAddress
    /// How often `alive` must be told at the latest; half of what the manager allows. nil if it does not watch.
    let watchdogInterval: Duration?

    /// - Returns: nil if there is none.
    /// - Parameter variables: the environment.
    init?(_ variables: [String: String], process: pid_t = getpid()) {
        guard let text = variables["NOTIFY_SOCKET"], let address = UnixAddress(variable: text),
            let socket = try? unixSocket(SOCK_DGRAM, nonblocking: true)
        else { return nil }
        (self.address, self.socket) = (address, socket)
        watchdogInterval = Self.watchdogInterval(variables, process)
    }

    private static func watchdogInterval(_ variables: [String: String], _ process: pid_t) -> Duration? {
        // It may be meant for the process that started this one.
        if let meant = variables["WATCHDOG_PID"], pid_t(meant) != process { return nil }
        guard let microseconds = variables["WATCHDOG_USEC"].flatMap({ Int($0) }), microseconds > 0 else { return nil }
        return .microseconds(microseconds / 2)
    }

    /// Tells all of it in one datagram.
    /// - Returns: whether it went out. There is nothing to be done if it did not: the manager is gone or busy.
    @discardableResult
    func tell(_ news: ServiceNews...) -> Bool {
        let now = Self.monotonicMicroseconds
        let bytes = Array(news.flatMap { $0.lines(now: now) }.joined(separator: "\n").utf8)
        return address.withPointer { address, length in
            bytes.withUnsafeBytes {
                sendto(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL), address, length)
            } == bytes.count
        }
    }

    private static var monotonicMicroseconds: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
    }
}
