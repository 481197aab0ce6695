// Messages with descriptors over a stream socket: a length, then the message. Both ends use it.
import CLinux
import Glibc
package import System

/// The errors between supervisor and worker.
package enum ChannelError: Error, Equatable {
    /// The other side closed the socket, usually by dying.
    case closed
    case timedOut
    case cancelled
    /// The other side has taken more memory than so many bytes, which is all that it may.
    case outgrown(Int)
    /// The other side has taken more processor time than it may.
    case outran
    /// A file system that the other side may wait for does not answer.
    case silent
    /// The other side was stopped by a signal, and nobody has let it go on.
    case stopped
    /// The bytes that came are no message.
    case garbage(String)
    case system(CInt)
}

/// One end of the socket.
package final class Channel: Sendable {
    private let socket: OpenFile
    private static let headerSize = 4
    /// A message holds a pipeline's text at the most.
    private static let largestMessage = 16 << 20
    package static let timeBetweenChecks = Duration.milliseconds(25)

    package init(_ socket: OpenFile) { self.socket = socket }

    /// The two ends of a new socket.
    package static func pair() throws(SystemError) -> (Channel, OpenFile) {
        let (ours, theirs) = try OpenFile.socketPair()
        return (Channel(ours), theirs)
    }

    /// Sends a message.
    /// - Parameters:
    ///   - end: until when to wait for the other side to take it; nil for ever.
    ///   - cancellation: stops the waiting.
    ///   - check: as for `receive`.
    package func send(
        _ message: some Encodable, descriptors: [CInt] = [], until end: SuspendingClock.Instant? = nil,
        cancellation: Cancellation? = nil, check: (() throws(ChannelError) -> Void)? = nil
    ) throws(ChannelError) {
        let patience = Patience(end: end, cancellation: cancellation, check: check)
        guard var bytes = try? MessageCoding.bytes(of: message), bytes.count <= Self.largestMessage else {
            throw .garbage("a message that is too large")
        }
        var length = UInt32(bytes.count).littleEndian
        let header = withUnsafeBytes(of: &length) { Array($0) }
        var sent = try sending(patience) { flags in
            clinux_send(
                socket.descriptor, header, header.count, bytes, bytes.count, descriptors, CInt(descriptors.count), flags
            )
        }
        // The descriptors went with the first byte; the rest of a long message follows alone.
        bytes = header + bytes
        while sent < bytes.count {
            sent += try sending(patience) { flags in
                bytes.withUnsafeBytes { Glibc.send(socket.descriptor, $0.baseAddress! + sent, $0.count - sent, flags) }
            }
        }
    }

    /// Sends as much as there is room for, and waits only if there is none.
    /// - Parameter call: sends with these flags.
    private func sending(_ patience: Patience, _ call: (CInt) -> Int) throws(ChannelError) -> Int {
        let flags = CInt(MSG_NOSIGNAL) | (patience.isEndless ? 0 : CInt(MSG_DONTWAIT))
        while true {
            do throws(ChannelError) {
                return try retrying { call(flags) }
            } catch .system(EAGAIN) {
                try wait(for: POLLOUT, patience)
            }
        }
    }

    /// Waits for a message.
    /// - Parameters:
    ///   - end: until when to wait for the whole of it; nil for ever.
    ///   - cancellation: stops the waiting.
    ///   - check: called before each part of the message, and at least every `timeBetweenChecks`; what it throws stops
    ///     the waiting.
    package func receive<Message: Decodable>(
        _ type: Message.Type, until end: SuspendingClock.Instant? = nil, cancellation: Cancellation? = nil,
        check: (() throws(ChannelError) -> Void)? = nil
    ) throws(ChannelError) -> (Message, [OpenFile]) {
        let patience = Patience(end: end, cancellation: cancellation, check: check)
        try wait(for: POLLIN, patience)
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
        guard let message = try? MessageCoding.value(type, from: body) else {
            throw .garbage("a message that is not understood")
        }
        return (message, files)
    }

    /// The other side is gone, whatever may still be unread.
    package var isClosedByPeer: Bool {
        var waiting = pollfd(fd: socket.descriptor, events: 0, revents: 0)
        return poll(&waiting, 1, 0) > 0 && waiting.revents & Int16(POLLHUP) != 0
    }

    private func read(into buffer: inout [UInt8], from start: Int, _ patience: Patience) throws(ChannelError) -> Int {
        try wait(for: POLLIN, patience)
        return try retrying {
            buffer.withUnsafeMutableBytes { Glibc.read(socket.descriptor, $0.baseAddress! + start, $0.count - start) }
        }
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
        let end: SuspendingClock.Instant?
        let cancellation: Cancellation?
        let check: (() throws(ChannelError) -> Void)?

        /// The system may do the waiting.
        var isEndless: Bool { end == nil && cancellation == nil && check == nil }
    }

    /// Waits until the socket can be read from (POLLIN) or written to (POLLOUT).
    private func wait(for events: CInt, _ patience: Patience) throws(ChannelError) {
        guard !patience.isEndless else { return }
        let (end, cancellation) = (patience.end, patience.cancellation)
        while true {
            var waiting = [pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)]
            if let cancellation {
                waiting.append(pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0))
            }
            var left = end.map { max(0, milliseconds(in: $0 - .now)) } ?? Int.max
            if let check = patience.check {
                try check()
                left = min(left, milliseconds(in: Self.timeBetweenChecks))
            }
            let ready = poll(&waiting, nfds_t(waiting.count), left == .max ? -1 : CInt(clamping: left))
            if ready < 0 && errno == EINTR { continue }
            guard ready >= 0 else { throw .system(errno) }
            if waiting.count > 1 && waiting[1].revents != 0 { throw .cancelled }
            // Also if there is something to read: the other side may never stop sending.
            if let end, end <= .now { throw .timedOut }
            if waiting[0].revents != 0 { return }
        }
    }
}
