// Starts worker processes without copying this process's descriptors.
import CLinux
import Glibc
import Synchronization

/// A process of few descriptors that starts the workers. For any thread.
///
/// A new process begins with copies of all descriptors of the one that starts it, and closing one of a file system that
/// hangs hangs too. The supervisor has such descriptors; the starter, which is made before it has any, has none.
final class WorkerStarter: Sendable {
    private let command: WorkerCommand
    /// Nil before it is needed.
    private let connection = Mutex<Connection?>(nil)

    private final class Connection: Sendable {
        let socket: OpenFile
        private let process: pid_t

        init(_ socket: OpenFile, _ process: pid_t) { (self.socket, self.process) = (socket, process) }

        deinit {
            // It ends at once, if it does: one that hangs is left to the system.
            shutdown(socket.descriptor, CInt(SHUT_RDWR))
            for _ in 0..<100 where waitpid(process, nil, WNOHANG) == 0 { usleep(1_000) }
        }
    }

    /// To start a process is a matter of milliseconds.
    private static let patience: CInt = 10_000

    init(_ command: WorkerCommand) { self.command = command }

    /// Makes the starter now, before files are open.
    func prepare() throws(SystemError) {
        try connection.withLock { connection throws(SystemError) in _ = try connect(&connection) }
    }

    /// Starts a worker.
    /// - Parameters:
    ///   - socket: its standard input.
    ///   - errors: its error output.
    func start(socket input: CInt, errors: CInt) throws(SystemError) -> pid_t {
        try connection.withLock { connection throws(SystemError) in
            do throws(SystemError) {
                return try ask(connect(&connection), input: input, errors: errors)
            } catch {
                // Emulators of another processor cannot make the new process a child of this one.
                if error.code == EINVAL { return try startHere(input: input, errors: errors) }
                connection = nil
                // Somebody may have killed it.
                guard [EPIPE, ECONNRESET].contains(error.code) else { throw error }
            }
            return try ask(connect(&connection), input: input, errors: errors)
        }
    }

    /// Starts a worker without the starter, from a copy of this process.
    private func startHere(input: CInt, errors: CInt) throws(SystemError) -> pid_t {
        try fork { [command] arguments, environment in
            clinux_fork_program(input, errors, command.executable, arguments.pointers, environment.pointers)
        }
    }

    private func ask(_ connection: Connection, input: CInt, errors: CInt) throws(SystemError) -> pid_t {
        let (socket, attempt) = (connection.socket, "start a worker process")
        guard clinux_send(socket.descriptor, [UInt8(0)], 1, nil, 0, [input, errors], 2, CInt(MSG_NOSIGNAL)) == 1 else {
            throw SystemError(attempt)
        }
        var answer: (process: CInt, error: CInt) = (0, 0)
        var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Self.patience) < 0 && errno == EINTR {}
        let received = withUnsafeMutableBytes(of: &answer) {
            recv(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT))
        }
        switch received {
        case MemoryLayout.size(ofValue: answer): break
        case 0: throw SystemError(attempt, code: EPIPE)
        case 1...: throw SystemError(attempt, code: EIO)
        default: throw SystemError(attempt, code: errno == EAGAIN ? ETIMEDOUT : errno)
        }
        guard answer.error == 0 else {
            if answer.process > 0 { waitpid(answer.process, nil, 0) }
            throw SystemError.starting(attempt, code: answer.error)
        }
        return answer.process
    }

    private func connect(_ connection: inout Connection?) throws(SystemError) -> Connection {
        if let connection { return connection }
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError("make a socket for workers")
        }
        let (ours, theirs) = (OpenFile(owning: ends[0]), OpenFile(owning: ends[1]))
        let socket = theirs.descriptor
        let process = try fork { [command] arguments, environment in
            clinux_fork_starter(socket, command.executable, arguments.pointers, environment.pointers)
        }
        withExtendedLifetime(theirs) {}
        let made = Connection(ours, process)
        connection = made
        return made
    }

    /// Makes a process from a thread that never ends: workers die with the thread that is their parent, which is not to
    /// be one that has asked for something.
    /// - Parameter make: copies this process; it is given the program's arguments and environment.
    private func fork(_ make: @escaping @Sendable (_ arguments: Borrowed, _ environment: Borrowed) -> pid_t)
        throws(SystemError) -> pid_t
    {
        let arguments = (["imagemill"] + command.arguments).map { strdup($0) } + [nil]
        let environment = Self.environment.map { strdup("\($0.name)=\($0.value)") } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        let forked = Monitor<(process: pid_t, error: CInt)?>(nil)
        let isStarted = startThread { [arguments = Borrowed(arguments), environment = Borrowed(environment)] in
            let process = make(arguments, environment)
            let error = errno
            forked.change { $0 = (process, error) }
            while true { pause() }
        }
        guard isStarted else { throw .noThread }
        let (process, error) = forked.wait { $0 }
        guard process > 0 else { throw SystemError.starting("start a process for workers", code: error) }
        return process
    }

    /// Arguments for another thread. Unchecked: that thread only reads them, and this one waits for it before it frees
    /// them.
    private struct Borrowed: @unchecked Sendable {
        let pointers: [UnsafeMutablePointer<CChar>?]

        init(_ pointers: [UnsafeMutablePointer<CChar>?]) { self.pointers = pointers }
    }

    /// The few variables that a worker needs; none of the user's secrets.
    static var environment: [(name: String, value: String)] {
        let kept = [
            "PATH", "LD_LIBRARY_PATH", "VIPSHOME", "LIBHEIF_PLUGIN_PATH", "LSAN_OPTIONS", "TSAN_OPTIONS",
            "ASAN_OPTIONS",
        ]
        let passed = kept.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        // A crash is to be over at once: Swift's helper for backtraces would hold the socket open for as long as it
        // works.
        return passed + [("LC_ALL", "C.UTF-8"), ("SWIFT_BACKTRACE", "enable=no")]
    }
}
