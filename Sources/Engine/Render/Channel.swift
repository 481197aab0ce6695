// Messages with descriptors over a stream socket: a length, then JSON. Both ends use it.
import CLinux
import FoundationEssentials
import Glibc

/// What can go wrong between supervisor and worker.
enum ChannelError: Error, Equatable {
    /// The other side closed the socket, usually by dying.
    case closed
    case timedOut
    case cancelled
    /// What came is no message.
    case garbage(String)
    case system(CInt)
}

/// One end of the socket.
final class Channel: Sendable {
    private let socket: OpenFile
    private static let headerSize = 4
    /// A message holds a pipeline's text at the most.
    private static let largestMessage = 16 << 20

    init(_ socket: OpenFile) { self.socket = socket }

    /// The two ends of a new socket.
    static func pair() throws(SystemError) -> (Channel, OpenFile) {
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError("make a socket for a worker")
        }
        return (Channel(OpenFile(owning: ends[0])), OpenFile(owning: ends[1]))
    }

    func send(_ message: some Encodable, descriptors: [CInt] = []) throws(ChannelError) {
        guard let body = try? JSONEncoder().encode(message), body.count <= Self.largestMessage else { throw .garbage("a message that is too large") }
        var length = UInt32(body.count).littleEndian
        let header = withUnsafeBytes(of: &length) { Array($0) }
        var bytes = [UInt8](body)
        var sent = try retrying { clinux_send(socket.descriptor, header, header.count, bytes, bytes.count, descriptors, CInt(descriptors.count)) }
        // The descriptors went with the first byte; the rest of a long message follows alone.
        bytes = header + bytes
        while sent < bytes.count {
            sent += try retrying {
                bytes.withUnsafeBytes { Glibc.send(socket.descriptor, $0.baseAddress! + sent, $0.count - sent, CInt(MSG_NOSIGNAL)) }
            }
        }
    }

    /// Waits for a message.
    /// - Parameters:
    ///   - end: until when to wait for the whole of it; nil for ever.
    ///   - cancellation: stops the waiting.
    func receive<Message: Decodable>(
        _ type: Message.Type, until end: ContinuousClock.Instant? = nil, cancellation: Cancellation? = nil
    ) throws(ChannelError) -> (Message, [OpenFile]) {
        let patience = Patience(end: end, cancellation: cancellation)
        try wait(patience)
        var descriptors = [CInt](repeating: -1, count: Int(CLINUX_MAX_DESCRIPTORS))
        var count = CInt(descriptors.count)
        var header = [UInt8](repeating: 0, count: Self.headerSize)
        var got = try retrying {
            count = CInt(descriptors.count)
            return clinux_receive(socket.descriptor, &header, header.count, &descriptors, &count)
        }
        let files = descriptors.prefix(Int(count)).map { OpenFile(owning: $0) }
        while got < header.count { got += try read(into: &header, from: got, patience) }
        let length = header.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        guard length <= Self.largestMessage else { throw .garbage("a message of \(length) bytes") }
        var body = [UInt8](repeating: 0, count: length)
        var filled = 0
        while filled < length { filled += try read(into: &body, from: filled, patience) }
        guard let message = try? JSONDecoder().decode(type, from: Data(body)) else { throw .garbage("a message that is not understood") }
        return (message, files)
    }

    /// The other side is gone, whatever may still be unread.
    var isClosedByPeer: Bool {
        var waiting = pollfd(fd: socket.descriptor, events: 0, revents: 0)
        return poll(&waiting, 1, 0) > 0 && waiting.revents & Int16(POLLHUP) != 0
    }

    private func read(into buffer: inout [UInt8], from start: Int, _ patience: Patience) throws(ChannelError) -> Int {
        try wait(patience)
        return try retrying { buffer.withUnsafeMutableBytes { Glibc.read(socket.descriptor, $0.baseAddress! + start, $0.count - start) } }
    }

    /// The call's bytes; none means that the other side is gone.
    private func retrying(_ call: () -> Int) throws(ChannelError) -> Int {
        while true {
            let result = call()
            if result > 0 { return result }
            if result == 0 { throw .closed }
            if errno == EPIPE || errno == ECONNRESET { throw .closed }
            guard errno == EINTR else { throw .system(errno) }
        }
    }

    /// How long to wait, and for whom.
    private struct Patience {
        let end: ContinuousClock.Instant?
        let cancellation: Cancellation?
    }

    private func wait(_ patience: Patience) throws(ChannelError) {
        let (end, cancellation) = (patience.end, patience.cancellation)
        guard end != nil || cancellation != nil else { return }
        while true {
            var waiting = [pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)]
            if let cancellation { waiting.append(pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)) }
            let left = end.map { max(0, milliseconds(in: $0 - .now)) } ?? -1
            let ready = poll(&waiting, nfds_t(waiting.count), CInt(clamping: left))
            if ready < 0 && errno == EINTR { continue }
            guard ready >= 0 else { throw .system(errno) }
            if waiting.count > 1 && waiting[1].revents != 0 { throw .cancelled }
            if waiting[0].revents != 0 { return }
            if let end, end <= .now { throw .timedOut }
        }
    }
}

/// Whole milliseconds of a duration, rounded up.
func milliseconds(in duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
