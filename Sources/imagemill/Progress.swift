// What a run shows while it goes: failures as they come, and on a terminal one line of progress.
import Engine
import Glibc
import Pipeline

/// Shows a run on standard error.
actor Progress: BatchObserver {
    private let showsLine: Bool
    private var total = 0
    private var start = ContinuousClock.now
    private var lastShown = ContinuousClock.now
    private var isLineShown = false
    /// Failures of the environment, which may pass.
    private(set) var environmentFailures = 0

    init(showsLine: Bool) { self.showsLine = showsLine }

    func begin(sources: Int) {
        total = sources
        start = .now
    }

    func finished(_ report: SourceReport, _ summary: BatchSummary) {
        if let error = report.error {
            clearLine()
            if [.diskFull, .outputNotWritable].contains(error.code) { environmentFailures += 1 }
            printError("\(report.source.path.printable): \(error.code.rawValue): \(error.message)")
        }
        let now = ContinuousClock.now
        guard showsLine, now - lastShown > .milliseconds(100) else { return }
        lastShown = now
        show(summary, now)
    }

    func end() { clearLine() }

    private func show(_ summary: BatchSummary, _ now: ContinuousClock.Instant) {
        let finished = summary.done + summary.failed + summary.skipped
        let seconds = Double((now - start).components.seconds) + Double((now - start).components.attoseconds) / 1e18
        let rate = Double(finished) / max(seconds, 0.001)
        let left = Int((Double(total - finished) / max(rate, 0.001)).rounded(.up))
        let filled = total == 0 ? 20 : finished * 20 / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        let line = "\(bar) \(finished)/\(total)\(failed)  \(oneDecimal(rate))/s  \(duration(left)) left"
        // A line that wraps could not be taken back.
        write("\r\u{1B}[2K" + line.prefix(Machine.terminalColumns(2).map { $0 - 1 } ?? line.count))
        isLineShown = true
    }

    private func clearLine() {
        guard isLineShown else { return }
        write("\r\u{1B}[2K")
        isLineShown = false
    }

    private func write(_ text: String) {
        _ = Glibc.write(2, text, text.utf8.count)
    }
}

func oneDecimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
}

func duration(_ seconds: Int) -> String {
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
}
