// The daemon's HTTP server. On a thread of its own, with few clients and deadlines, so that nobody who asks can hold up
// the flow.
import Engine
import Glibc
import Pipeline
import Synchronization
import System

/// How a request is handled.
enum HTTPHandling: Sendable {
    /// An answer from memory is given at once.
    case now(HTTPResponse)
    /// An answer that takes its time is made on another thread.
    case later(HTTPWork, @Sendable () -> HTTPResponse)
}

/// Kinds of work that take their time, each with a bound: what hangs holds up its own kind only.
enum HTTPWork: Hashable, Sendable {
    case reload
    case retry
    /// Making a list of what is in memory, which may be long.
    case listing
    /// Asking the ledger, whose disk may hang.
    case ledger
    /// Making a page of the journal.
    case report
    /// Reading a file of a folder, whose file system may hang.
    case file(folder: BytePath)
    /// Rendering a source of a folder small.
    case picture(folder: BytePath)

    fileprivate var limit: Int {
        switch self {
        case .reload, .retry, .report: 1
        case .picture: 2
        case .file, .listing, .ledger: 4
        }
    }

    /// How long the client waits; nil if the work has a bound of its own.
    fileprivate var patience: Duration? {
        switch self {
        case .reload, .retry, .report: nil
        case .file, .listing, .ledger: .seconds(5)
        case .picture: .seconds(15)
        }
    }

    fileprivate var refusal: HTTPRefusal {
        switch self {
        case .reload: HTTPRefusal(.unavailable, "the daemon is at another reload; ask again in a moment")
        case .retry: HTTPRefusal(.unavailable, "the daemon is at another retry; ask again in a moment")
        case .file: HTTPRefusal(.unavailable, "too many files are being read")
        case .picture: HTTPRefusal(.unavailable, "other pictures are being made; ask again in a moment")
        case .ledger: HTTPRefusal(.unavailable, "the ledger is busy; ask again in a moment")
        case .report: HTTPRefusal(.unavailable, "another report is being made; ask again in a moment")
        case .listing: HTTPRefusal(.unavailable, "too many lists are being made; ask again in a moment")
        }
    }
}

/// The server's source of answers. Called on the server's thread: it may take a lock for a moment, and must not wait
/// for work or for a disk.
protocol HTTPRoutes: Sendable {
    func handle(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling
    /// The event that the clients of a stream get, every few seconds.
    func event() -> [UInt8]
}

/// Serves HTTP at some addresses until it is stopped.
final class HTTPServer: Sendable {
    private let listeners: [HTTPListener]
    private let routes: any HTTPRoutes
    private let stopping = Cancellation()
    /// Answers of slow requests: the connection's number, and the answer. What comes over `wake` says that there are
    /// some.
    private let answers = Mutex<[(Int, HTTPResponse)]>([])
    private let atWork = Mutex<[HTTPWork: Int]>([:])
    private let wake: (reading: OpenFile, writing: OpenFile)

    /// Clients that are let in before the others are served again.
    private static let admittedAtOnce = 64
    /// Streams at one address.
    private static let mostStreams = 8
    private static let betweenEvents = Duration.seconds(2)

    /// Begins to serve.
    init(_ listeners: [HTTPListener], _ routes: any HTTPRoutes) throws(SystemError) {
        (self.listeners, self.routes) = (listeners, routes)
        var ends: [CInt] = [0, 0]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError("make a socket") }
        wake = (OpenFile(owning: ends[0]), OpenFile(owning: ends[1]))
        runOnNewThread { [self] in serve() }
    }

    /// Ends the thread, and removes the sockets' names.
    func stop() {
        guard !stopping.isRaised else { return }
        for path in listeners.compactMap(\.path) { FileSystem.remove(path) }
        stopping.raise()
    }

    // MARK: - The thread

    private struct Client {
        var connection: HTTPConnection
        /// The index of the listener.
        let address: Int
        var isHead = false

        mutating func answer(_ response: HTTPResponse) { connection.answer(response, isHead: isHead) }
    }

    private struct Clients {
        var all: [Int: Client] = [:]
        var next = 0
        /// Until then nobody is let in: the system had no descriptor left.
        var rest: SuspendingClock.Instant?
        var nextEvent = SuspendingClock.now

        func count(at address: Int) -> Int { all.values.count { $0.address == address } }

        /// The client that has to leave for the next one: the first of those that have not sent a whole request, else of
        /// those that do not take their answer; nil if all get what they came for.
        func last(at address: Int) -> Int? {
            for phase in [HTTPConnection.Phase.reading, .writing] {
                let numbers = all.filter { $0.value.address == address && $0.value.connection.phase == phase }.keys
                if let first = numbers.min() { return first }
            }
            return nil
        }
        func streams(at address: Int) -> Int {
            all.values.count { $0.address == address && $0.connection.phase == .streaming }
        }
        var hasStreams: Bool { all.values.contains { $0.connection.phase == .streaming } }
    }

    private func serve() {
        var clients = Clients()
        while !stopping.isRaised {
            wait(&clients)
            takeAnswers(&clients)
            sendEvents(&clients)
            clients.all = clients.all.filter { $0.value.connection.phase != .over }
        }
    }

    private func wait(_ clients: inout Clients) {
        let now = SuspendingClock.now
        let mayEnter = clients.rest.map { $0 <= now } ?? true
        var waiting = [stopping.descriptor, wake.reading.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        for (address, listener) in listeners.enumerated() {
            // poll leaves a negative descriptor out.
            let isOpen = mayEnter && (clients.count(at: address) < listener.places || clients.last(at: address) != nil)
            waiting.append(pollfd(fd: isOpen ? listener.socket.descriptor : -1, events: Int16(POLLIN), revents: 0))
        }
        let numbers = clients.all.keys.sorted()
        for number in numbers {
            let connection = clients.all[number]!.connection
            waiting.append(
                pollfd(
                    fd: connection.events == 0 ? -1 : connection.file.descriptor, events: Int16(connection.events),
                    revents: 0))
        }
        var ends = clients.all.values.compactMap(\.connection.end) + (mayEnter ? [] : [clients.rest].compactMap { $0 })
        if clients.hasStreams { ends.append(clients.nextEvent) }
        let timeout = ends.min().map { max(0, Int(($0 - now) / .milliseconds(1)) + 1) } ?? -1
        guard poll(&waiting, nfds_t(waiting.count), CInt(clamping: timeout)) >= 0 else { return }
        for (index, number) in numbers.enumerated() {
            serve(number, events: waiting[2 + listeners.count + index].revents, clients: &clients)
        }
        for address in listeners.indices where waiting[2 + address].revents != 0 { letIn(at: address, &clients) }
    }

    /// Lets in those who wait, and reads what they have sent: a whole request is answered at once, so that it does not
    /// matter how many others have sent half of one.
    private func letIn(at address: Int, _ clients: inout Clients) {
        for _ in 0..<Self.admittedAtOnce {
            let isFull = clients.count(at: address) >= listeners[address].places
            let last = isFull ? clients.last(at: address) : nil
            guard !isFull || last != nil else { return }
            let descriptor = listeners[address].socket.acceptConnection()
            guard descriptor >= 0 else {
                if errno != EAGAIN && errno != EINTR && errno != ECONNABORTED {
                    clients.rest = .now + .milliseconds(200)
                }
                return
            }
            // Nobody leaves before it is certain that somebody comes.
            if let last { clients.all[last] = nil }
            let number = clients.next
            clients.all[number] = Client(connection: HTTPConnection(OpenFile(owning: descriptor)), address: address)
            clients.next += 1
            serve(number, events: Int16(POLLIN), clients: &clients)
            if clients.all[number]?.connection.phase == .over { clients.all[number] = nil }
        }
    }

    private func serve(_ number: Int, events: Int16, clients: inout Clients) {
        guard var client = clients.all[number] else { return }
        if events != 0 {
            switch client.connection.phase {
            case .reading:
                read(from: number, into: &client, among: clients)
                // The first event comes with the answer.
                if client.connection.phase == .streaming && !clients.hasStreams {
                    clients.nextEvent = .now + Self.betweenEvents
                }
            case .writing: client.connection.write()
            case .streaming:
                client.connection.write()
                if client.connection.phase == .streaming { _ = try? client.connection.read() }
            case .working, .over: break
            }
        }
        let isLate = client.connection.end.map { $0 <= .now } ?? false
        if isLate && client.connection.phase == .working {
            client.answer(HTTPResponse(HTTPRefusal(.unavailable, "the file system does not answer")))
            clients.all[number] = client
        } else {
            clients.all[number] = isLate ? nil : client
        }
    }

    private func read(from number: Int, into client: inout Client, among clients: Clients) {
        do throws(HTTPRefusal) {
            guard let request = try client.connection.read() else { return }
            client.isHead = request.method == .head
            try listeners[client.address].access.check(request)
            switch try routes.handle(request) {
            case .now(let response) where response.isStream && clients.streams(at: client.address) >= Self.mostStreams:
                throw HTTPRefusal(.unavailable, "too many are watching live; this page asks now and then instead")
            case .now(let response): client.answer(response.encoded(for: request))
            case .later(let kind, let work):
                try start(kind, { work().encoded(for: request) }, for: number)
                client.connection.waits(until: kind.patience.map { .now + $0 })
            }
        } catch {
            client.answer(HTTPResponse(error))
        }
    }

    private func start(_ kind: HTTPWork, _ work: @escaping @Sendable () -> HTTPResponse, for number: Int)
        throws(HTTPRefusal)
    {
        let isFree = atWork.withLock { atWork in
            guard atWork[kind, default: 0] < kind.limit else { return false }
            atWork[kind, default: 0] += 1
            return true
        }
        guard isFree else { throw kind.refusal }
        let isStarted = startThread { [self] in
            let response = work()
            ended(kind)
            answers.withLock { $0.append((number, response)) }
            _ = write(wake.writing.descriptor, [1], 1)
        }
        guard isStarted else {
            ended(kind)
            throw HTTPRefusal(.unavailable, SystemError.noThread.description)
        }
    }

    private func ended(_ kind: HTTPWork) {
        atWork.withLock { atWork in
            let left = atWork[kind, default: 1] - 1
            atWork[kind] = left == 0 ? nil : left
        }
    }

    private func takeAnswers(_ clients: inout Clients) {
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = Glibc.read(wake.reading.descriptor, &bytes, bytes.count)
        let ready = answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
        // A client that has waited for too long was answered already.
        for (number, response) in ready where clients.all[number]?.connection.phase == .working {
            clients.all[number]?.answer(response)
        }
    }

    private func sendEvents(_ clients: inout Clients) {
        guard clients.hasStreams, clients.nextEvent <= .now else { return }
        let event = routes.event()
        for number in clients.all.keys { clients.all[number]?.connection.add(event: event) }
        clients.nextEvent = .now + Self.betweenEvents
    }
}
