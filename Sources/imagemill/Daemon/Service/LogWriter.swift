// Writes the log on a thread of its own: a terminal that is stopped, or a pipe that nobody reads, holds up nothing else.
import Engine
import Glibc
import Pipeline
import System

/// The end of the log that may wait. For any thread; no call but `flush` waits.
final class LogWriter: Sendable {
    private struct State {
        var waiting: [String] = []
        /// The lines below the log, if they are to be others.
        var shown: [String]?
        /// Lines for which there was no room.
        var lost = 0
        var isWriting = false

        var isWritten: Bool { waiting.isEmpty && shown == nil && lost == 0 }
    }

    private let state = Monitor(State())
    private let file: CInt
    private let live: LiveLines?
    /// A line that says how many were lost.
    private let lossLine: @Sendable (Int) -> String

    /// Lines that wait to be written.
    private static let most = 4096

    init(_ file: CInt, live: LiveLines?, lossLine: @escaping @Sendable (Int) -> String) {
        (self.file, self.live, self.lossLine) = (file, live, lossLine)
        // Kept for good: that the system gives no threads any more is a thing to log.
        runOnNewThread { [self] in run() }
    }

    /// Adds a line, which ends with a line feed.
    func write(_ line: String) {
        state.change { state in
            if state.waiting.count < Self.most { state.waiting.append(line) } else { state.lost += 1 }
        }
    }

    /// Shows other lines below the log.
    func show(_ lines: [String]) {
        guard live != nil else { return }
        state.change { $0.shown = lines }
    }

    /// Waits until all is written, or the time is over.
    func flush(within time: Duration) {
        let end = Moment.now + time
        state.look { !$0.isWriting && $0.isWritten || .now >= end ? .ready(()) : .wait(until: end) }
    }

    private func run() {
        while true { writeNext() }
    }

    // If it is part of a loop without end, the optimizer of Swift 6.3 does not end either.
    @inline(never)
    private func writeNext() {
        let (lines, shown) = next()
        if let live {
            if !lines.isEmpty { live.write(above: lines.joined()) }
            if let shown { live.show(shown) }
        } else {
            // Each in one call, so that lines of other processes do not come in between.
            for line in lines { put(Array(line.utf8)) }
        }
    }

    private func next() -> (lines: [String], shown: [String]?) {
        state.change { $0.isWriting = false }
        return state.wait { state in
            guard !state.isWritten else { return nil }
            defer { (state.waiting, state.shown, state.lost, state.isWriting) = ([], nil, 0, true) }
            return (state.waiting + (state.lost > 0 ? [lossLine(state.lost)] : []), state.shown)
        }
    }

    private func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                // If nobody reads, there is nobody to tell.
                return
            }
        }
    }
}
