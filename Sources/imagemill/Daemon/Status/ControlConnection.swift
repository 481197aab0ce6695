// One client of the daemon's socket: a line comes in, a document goes out, and nobody is waited for.
import Engine
import Glibc

/// A connection, as a small state machine. Used on the server's thread alone.
struct ControlConnection {
    enum Phase: Equatable {
        case reading, working, writing
        /// Nothing is left to do: to be closed.
        case over
    }

    let file: OpenFile
    private(set) var phase = Phase.reading
    private var deadline: ContinuousClock.Instant
    private var input: [UInt8] = []
    private var output: [UInt8] = []

    /// How long a client may take to ask, and to take the answer.
    static let patience = Duration.seconds(5)

    init(_ file: OpenFile) {
        self.file = file
        deadline = .now + Self.patience
    }

    /// What to wait for.
    var events: CInt {
        switch phase {
        case .reading: POLLIN
        case .writing: POLLOUT
        // A client that has gone meanwhile is noticed when the answer is written.
        case .working, .over: 0
        }
    }

    /// Until when it may stay as it is; nil while the daemon is at work for it.
    var end: ContinuousClock.Instant? { phase == .working ? nil : deadline }

    /// Reads what there is.
    /// - Returns: the request once it is complete.
    mutating func read() -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let got = recv(file.descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
        guard got > 0 else {
            if got == 0 || (errno != EAGAIN && errno != EINTR) { phase = .over }
            return nil
        }
        input += chunk[..<got]
        if let newline = input.firstIndex(of: UInt8(ascii: "\n")), newline <= ControlRequest.longest {
            phase = .working
            return Array(input[..<newline])
        }
        if input.count > ControlRequest.longest {
            answer(Array((json(ControlReply(ok: false, "the request is longer than \(ControlRequest.longest) bytes")) + "\n").utf8))
        }
        return nil
    }

    mutating func answer(_ bytes: [UInt8]) {
        (phase, output, deadline) = (.writing, bytes, .now + Self.patience)
        write()
    }

    /// Writes what can be written now.
    mutating func write() {
        while !output.isEmpty {
            let sent = output.withUnsafeBytes { send(file.descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)) }
            if sent < 0 && errno == EINTR { continue }
            if sent < 0 && errno == EAGAIN { return }
            guard sent > 0 else { break }
            output.removeFirst(sent)
        }
        phase = .over
    }
}
