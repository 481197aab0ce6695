// The daemon's socket. On a thread of its own, with few clients and deadlines, so that nobody who asks can hold up the flow.
import Engine
import Glibc
import Pipeline
import Synchronization

/// Listens on a Unix socket until it is stopped.
final class StatusServer: Sendable {
    static let socketName = "status.sock"
    private static let mostClients = 16

    private let listener: OpenFile
    private let control: any DaemonControl
    private let stopping = Cancellation()
    /// Answers of slow requests: the connection's number, and the bytes. What comes over `wake` says that there are some.
    private let answers = Mutex<[(Int, [UInt8])]>([])
    private let isAtWork = Mutex(false)
    private let wake: (reading: OpenFile, writing: OpenFile)
    private let socket: BytePath

    /// Makes the socket, for the owner and the group, and begins to listen.
    /// - Parameters:
    ///   - folder: where the socket is; what an earlier daemon left there is replaced. Only call it with the lock on the state folder.
    init(folder path: BytePath, control: any DaemonControl) throws(SystemError) {
        try FileSystem.makeDirectories(path)
        socket = path.appending(BytePath(Self.socketName))
        listener = try Self.listen(in: try OpenFile.reading(path), socket)
        self.control = control
        var ends: [CInt] = [0, 0]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError("make a socket") }
        wake = (OpenFile(owning: ends[0]), OpenFile(owning: ends[1]))
        runOnNewThread { [self] in serve() }
    }

    private static func listen(in folder: OpenFile, _ path: BytePath) throws(SystemError) -> OpenFile {
        if let found = try FileSystem.status(path, followLinks: false) {
            guard found.kind == .other else { throw SystemError("listen on '\(path.printable)': a file or a folder has that name", code: EEXIST) }
            FileSystem.remove(path)
        }
        let listener = try unixSocket(SOCK_STREAM, nonblocking: true)
        // Before it has a name, so that nobody else can connect in between; the umask may still take bits away, which the second one gives back.
        fchmod(listener.descriptor, 0o660)
        let isBound = UnixAddress(in: folder, name: socketName).withPointer { bind(listener.descriptor, $0, $1) } == 0
        guard isBound, withPath(path, { chmod($0, 0o660) }) == 0, Glibc.listen(listener.descriptor, 16) == 0 else {
            throw SystemError("listen on '\(path.printable)'")
        }
        return listener
    }

    /// Ends the thread, and removes the socket.
    func stop() {
        guard !stopping.isRaised else { return }
        FileSystem.remove(socket)
        stopping.raise()
    }

    // MARK: - The thread

    private struct Clients {
        var connections: [Int: ControlConnection] = [:]
        var next = 0
        /// Until then nobody is let in: the system had no descriptor left.
        var rest: ContinuousClock.Instant?
    }

    private func serve() {
        var clients = Clients()
        while !stopping.isRaised {
            wait(&clients)
            takeAnswers(&clients)
            clients.connections = clients.connections.filter { $0.value.phase != .over }
        }
    }

    private func wait(_ clients: inout Clients) {
        let now = ContinuousClock.now
        let isOpen = clients.connections.count < Self.mostClients && clients.rest.map { $0 <= now } ?? true
        let numbers = clients.connections.keys.sorted()
        var waiting = [pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0)]
        waiting.append(pollfd(fd: wake.reading.descriptor, events: Int16(POLLIN), revents: 0))
        // poll leaves a negative descriptor out.
        waiting.append(pollfd(fd: isOpen ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0))
        for number in numbers {
            let connection = clients.connections[number]!
            waiting.append(pollfd(fd: connection.events == 0 ? -1 : connection.file.descriptor, events: Int16(connection.events), revents: 0))
        }
        let ends = clients.connections.values.compactMap(\.end) + (isOpen ? [] : [clients.rest].compactMap { $0 })
        let timeout = ends.min().map { max(0, Int(($0 - now) / .milliseconds(1)) + 1) } ?? -1
        guard poll(&waiting, nfds_t(waiting.count), CInt(clamping: timeout)) >= 0 else { return }
        if waiting[2].revents != 0 { letIn(&clients) }
        for (index, number) in numbers.enumerated() { serve(number, waiting[3 + index].revents, &clients) }
    }

    private func letIn(_ clients: inout Clients) {
        let descriptor = accept(listener.descriptor, nil, nil)
        guard descriptor >= 0 else {
            if errno != EAGAIN && errno != EINTR && errno != ECONNABORTED { clients.rest = .now + .milliseconds(200) }
            return
        }
        // Workers are started from here too; they close what they do not know, and so does a program by this flag.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        clients.connections[clients.next] = ControlConnection(OpenFile(owning: descriptor))
        clients.next += 1
    }

    private func serve(_ number: Int, _ events: Int16, _ clients: inout Clients) {
        guard var connection = clients.connections[number] else { return }
        if events != 0 {
            switch connection.phase {
            case .reading: if let line = connection.read() { answer(line, number, &connection) }
            case .writing: connection.write()
            case .working, .over: break
            }
        }
        let isLate = connection.end.map { $0 <= .now } ?? false
        clients.connections[number] = isLate ? nil : connection
    }

    private func answer(_ line: [UInt8], _ number: Int, _ connection: inout ControlConnection) {
        do throws(BadRequest) {
            switch try ControlRequest(line: line) {
            case .status: connection.answer(Self.bytes(control.status()))
            case .reload: work(for: number, &connection) { $0.reload() }
            case .retry(let request): work(for: number, &connection) { $0.retry(request) }
            }
        } catch {
            connection.answer(Self.bytes(ControlReply(ok: false, error.message)))
        }
    }

    /// Does what takes its time on another thread, one thing at once.
    private func work(for number: Int, _ connection: inout ControlConnection, _ work: @escaping @Sendable (any DaemonControl) -> ControlReply) {
        let isFree = isAtWork.withLock { isAtWork in
            defer { isAtWork = true }
            return !isAtWork
        }
        guard isFree else {
            connection.answer(Self.bytes(ControlReply(ok: false, "the daemon is at another reload or retry; ask again in a moment")))
            return
        }
        runOnNewThread { [self] in
            let bytes = Self.bytes(work(control))
            isAtWork.withLock { $0 = false }
            answers.withLock { $0.append((number, bytes)) }
            _ = write(wake.writing.descriptor, [1], 1)
        }
    }

    private func takeAnswers(_ clients: inout Clients) {
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(wake.reading.descriptor, &bytes, bytes.count)
        let ready = answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
        for (number, bytes) in ready { clients.connections[number]?.answer(bytes) }
    }

    private static func bytes(_ document: some Encodable) -> [UInt8] { Array((json(document) + "\n").utf8) }
}
