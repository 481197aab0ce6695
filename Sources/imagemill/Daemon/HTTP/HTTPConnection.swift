// One client: a request comes in, an answer or a stream of events goes out, and nobody is waited for.
import Engine
import Glibc
import System

/// A connection, as a small state machine. Used on the server's thread alone.
struct HTTPConnection {
    enum Phase: Equatable {
        case reading, working, writing
        /// Gets events until it leaves.
        case streaming
        /// Nothing is left to do: to be closed.
        case over
    }

    let file: OpenFile
    private(set) var phase = Phase.reading
    private var deadline: SuspendingClock.Instant?
    private var reader = HTTPRequestReader()
    private var output: [UInt8] = []
    /// How much of it is sent.
    private var sent = 0

    /// How long a client may take to ask, and to take the answer or an event.
    static let patience = Duration.seconds(5)
    /// Bytes of a stream that the system keeps for a client.
    private static let streamBuffer: CInt = 8 << 10
    /// A large answer may take its time as long as it is taken.
    private static let largeAnswer = 1 << 16

    init(_ file: OpenFile) {
        self.file = file
        deadline = .now + Self.patience
    }

    /// The events to wait for.
    var events: CInt {
        switch phase {
        case .reading: POLLIN
        case .writing: POLLOUT
        case .streaming: hasOutput ? POLLIN | POLLOUT : POLLIN
        // A client that has gone meanwhile is noticed when the answer is written.
        case .working, .over: 0
        }
    }

    /// Until when it may stay as it is; nil while the daemon is at work that has a bound of its own, or a stream has got
    /// everything.
    var end: SuspendingClock.Instant? { phase == .streaming && !hasOutput ? nil : deadline }

    private var hasOutput: Bool { sent < output.count }

    /// The daemon is at work for it, and answers by then.
    mutating func waits(until end: SuspendingClock.Instant?) { deadline = end }

    /// Reads what there is.
    /// - Returns: the request once it is complete.
    mutating func read() throws(HTTPRefusal) -> HTTPRequest? {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let got = recv(file.descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
        guard got > 0 else {
            if got == 0 || (errno != EAGAIN && errno != EINTR) { phase = .over }
            return nil
        }
        // Whoever gets events has nothing more to say.
        guard phase == .reading, let request = try reader.add(chunk[..<got]) else { return nil }
        (phase, deadline) = (.working, nil)
        return request
    }

    mutating func answer(_ response: HTTPResponse, isHead: Bool = false) {
        (phase, output, sent, deadline) = (
            response.isStream && !isHead ? .streaming : .writing, response.bytes(isHead: isHead), 0,
            .now + Self.patience
        )
        if phase == .streaming { keepLittleUnread() }
        write()
    }

    /// The system takes many events for a client that reads none. With a small buffer it shows soon that they are not
    /// taken.
    private func keepLittleUnread() {
        var bytes = Self.streamBuffer
        setsockopt(file.descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout.size(ofValue: bytes)))
    }

    /// Adds an event to a stream; one that has not taken the last event gets it when it has.
    mutating func add(event: [UInt8]) {
        guard phase == .streaming, !hasOutput else { return }
        (output, sent, deadline) = (event, 0, .now + Self.patience)
        write()
    }

    /// Writes what can be written now.
    mutating func write() {
        while hasOutput {
            let taken = output[sent...].withUnsafeBytes {
                send(file.descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            }
            if taken < 0 && errno == EINTR { continue }
            if taken < 0 && errno == EAGAIN { return }
            guard taken > 0 else {
                phase = .over
                return
            }
            sent += taken
            if phase == .streaming { deadline = .now + Self.patience }
            if output.count - sent > Self.largeAnswer { deadline = .now + Self.patience }
        }
        (output, sent) = ([], 0)
        if phase == .writing { finish() }
    }

    /// Closing at once would take back from the client's hands what it has not read yet, if it has sent more than was
    /// read.
    private mutating func finish() {
        shutdown(file.descriptor, CInt(SHUT_WR))
        phase = .over
        var chunk = [UInt8](repeating: 0, count: 16_384)
        var left = 64
        while left > 0, recv(file.descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT)) > 0 { left -= 1 }
    }
}
