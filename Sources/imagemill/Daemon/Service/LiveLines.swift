// The last lines of a terminal, which say how it goes, while the log is written above them.
import Engine
import Glibc
import Pipeline
import Synchronization

/// Lines that are written anew where they are. For any thread; a call waits if the terminal is stopped.
final class LiveLines: Sendable {
    private let terminal: CInt
    private let state = Mutex(State())

    private struct State {
        var lines: [String] = []
        /// How many are on the terminal.
        var shown = 0
    }

    /// More would push the log off a small window.
    private static let most = 8

    /// - Returns: nil if the terminal cannot go back.
    init?(terminal: CInt, variables: [String: String]) {
        guard Terminal.canGoBack(terminal, kind: variables["TERM"]) else { return nil }
        self.terminal = terminal
    }

    /// Writes lines of the log above these.
    func write(above text: String) { state.withLock { put(Self.erasing($0.shown) + text + drawing(&$0)) } }

    /// Shows other lines.
    func show(_ lines: [String]) {
        let more = lines.count - Self.most
        let shown =
            more > 0
            ? lines.prefix(Self.most - 1) + ["and \(counted(more + 1, "other inbox", "other inboxes"))"] : lines
        state.withLock { state in
            guard state.lines != shown else { return }
            state.lines = shown
            put(Self.erasing(state.shown) + drawing(&state))
        }
    }

    private static func erasing(_ lines: Int) -> String { lines == 0 ? "" : "\u{1B}[\(lines)F\u{1B}[J" }

    private func drawing(_ state: inout State) -> String {
        let width = Terminal.width(terminal)
        state.shown = state.lines.count
        return state.lines.map { "\(Terminal.cut($0, width))\n" }.joined()
    }

    private func put(_ text: String) {
        let text = Terminal.shown(text, on: terminal)
        _ = text.utf8.withContiguousStorageIfAvailable { Glibc.write(terminal, $0.baseAddress, $0.count) }
    }
}

extension DropFolderStatus {
    /// A line for each inbox.
    var lines: [String] {
        let width = inboxes.map(\.name.count).max() ?? 0
        return inboxes.map { inbox in
            let counts = inbox.watching.counts
            let numbers = [
                (counts.settling, "settling"), (counts.ready, "ready"), (inbox.begun - inbox.waiting, "in progress"),
                (inbox.waiting, "waiting"),
                (counts.blocked, "blocked"),
            ]
            let busy = numbers.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            let words = inbox.pause.map { ["paused: \($0.reason.rawValue)"] + busy } ?? (busy.isEmpty ? ["idle"] : busy)
            let name = oneLine(inbox.name).padded(to: width)
            return "\(name)  \(words.joined(separator: ", ")); \(inbox.done) done, \(inbox.failed) failed"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
