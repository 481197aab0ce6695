// The display of a run while it goes: failures as they come, and on a terminal one line of progress.
import Engine
import Glibc
import Pipeline
import Synchronization
import System

/// Shows a run on standard error.
final class Progress: BatchObserver {
    private let state: Mutex<ProgressState>

    /// - Parameters:
    ///   - showsLine: one line shows how far the run is.
    ///   - outbox: written files are listed, as paths that begin with this folder; nil if they are not.
    init(showsLine: Bool, listingIn outbox: BytePath? = nil) {
        state = Mutex(ProgressState(showsLine: showsLine, outbox: outbox))
    }

    /// A source has failed because of the output folder, so that it may succeed in another run.
    var hasEnvironmentFailure: Bool { state.withLock { $0.hasEnvironmentFailure } }

    /// How often each warning was given.
    var warnings: [WarningCode: Int] { state.withLock { $0.warnings } }

    /// The first warning of a version that is due to a file that was edited or that something else wrote.
    var foreignFile: Warning? { state.withLock { $0.foreignFile } }

    /// How many sources have failed with each code.
    var failures: [FailureCode: Int] { state.withLock { $0.failures } }

    func begin(sources: Int) { state.withLock { $0.begin(sources: sources) } }
    func finished(_ report: SourceReport, _ summary: BatchSummary) { state.withLock { $0.finished(report, summary) } }
    func end() { state.withLock { $0.clearLine() } }
}

extension SourceReport.Source {
    /// The path for messages.
    var shown: String { (typed ?? path).printable }
}

private struct ProgressState {
    private let showsLine: Bool
    private let outbox: BytePath?
    private let paint = Paint(2)
    /// Otherwise a line is written now and then, and stays.
    private let canGoBack = Terminal.canGoBack(2)
    private var total = 0
    private var start = SuspendingClock.now
    private var lastShown = SuspendingClock.now
    private var isLineShown = false
    private(set) var hasEnvironmentFailure = false
    private(set) var warnings: [WarningCode: Int] = [:]
    private(set) var foreignFile: Warning?
    private(set) var failures: [FailureCode: Int] = [:]
    private var explained: Set<FailureCode> = []

    init(showsLine: Bool, outbox: BytePath?) {
        self.showsLine = showsLine
        self.outbox = outbox
    }

    mutating func begin(sources: Int) {
        total = sources
        start = .now
    }

    mutating func finished(_ report: SourceReport, _ summary: BatchSummary) {
        if let error = report.error {
            clearLine()
            if [.diskFull, .outputNotWritable].contains(error.code) { hasEnvironmentFailure = true }
            printError("\(report.source.shown): \(paint.red(error.code.rawValue)): \(oneLine(error.message))")
            failures[error.code, default: 0] += 1
            // A mistake in a sidecar has its line, and a caret below the place.
            let lines = error.detail?.split(whereSeparator: \.isNewline) ?? []
            for line in lines.prefix(error.code == .badParameters ? 2 : 1) { printError("  \(oneLine(String(line)))") }
            // Once for each code, so that a thousand of them stay readable.
            if explained.insert(error.code).inserted { printError("  \(error.remedy(in: .command))") }
        }
        for warning in report.warnings { warnings[warning.code, default: 0] += 1 }
        foreignFile = foreignFile ?? report.warnings.first(where: \.isOfForeignFile)
        if let outbox { list(report, in: outbox) }
        let now = SuspendingClock.now
        guard showsLine, now - lastShown > (canGoBack ? .milliseconds(100) : .seconds(10)) else { return }
        lastShown = now
        show(summary, now)
    }

    private mutating func list(_ report: SourceReport, in outbox: BytePath) {
        clearLine()
        for rendition in report.renditions { printError(renditionLine(report, rendition, in: outbox)) }
        for warning in report.warnings {
            printError(
                "\(report.source.shown): \(paint.yellow("warning")): \(warning.code.rawValue): \(oneLine(warning.message))"
            )
        }
    }

    private mutating func show(_ summary: BatchSummary, _ now: SuspendingClock.Instant) {
        let left = summary.sources - summary.done - summary.failed - summary.skipped
        let finished = total - left
        let seconds = Double((now - start).components.seconds) + Double((now - start).components.attoseconds) / 1e18
        let rate = Double(finished) / max(seconds, 0.001)
        let secondsLeft = Int((Double(left) / max(rate, 0.001)).rounded(.up))
        let line = ProgressLine(
            finished: finished, total: total, failed: summary.failed, rate: oneDecimal(rate),
            left: duration(secondsLeft))
        guard canGoBack else { return printError(line.text) }
        write("\r\u{1B}[2K" + line.fitting(Terminal.width(2)))
        isLineShown = true
    }

    mutating func clearLine() {
        guard isLineShown else { return }
        write("\r\u{1B}[2K")
        isLineShown = false
    }

    private func write(_ text: String) {
        let text = Terminal.shown(text, on: 2)
        _ = Glibc.write(2, text, text.utf8.count)
    }
}

/// The line of progress, which is never cut in the middle of a number.
struct ProgressLine {
    let finished, total, failed: Int
    /// Sources in a second.
    let rate: String
    /// The time that is left.
    let left: String

    private var count: String { "\(finished)/\(total)" + (failed > 0 ? ", \(failed) failed" : "") }

    private func bar(_ width: Int) -> String {
        let filled = total == 0 ? width : finished * width / total
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    /// Without a bar.
    var text: String { "\(count)  \(rate)/s  \(left) left" }

    /// As much of it as a line can have.
    func fitting(_ width: Int) -> String {
        Terminal.fitting(
            [
                "\(bar(20)) \(text)", "\(bar(10)) \(text)", text, "\(count)  \(left) left", count,
                "\(finished)/\(total)",
            ],
            width)
    }
}

/// A rendition that was written, or would be: `photos/a.jpg → out/a.webp (640×480)`.
func renditionLine(_ report: SourceReport, _ rendition: SourceReport.RenditionEntry, in outbox: BytePath) -> String {
    let bytes = rendition.bytes.map { ", \(byteCount($0))" } ?? ""
    return "\(report.source.shown) → \(outbox.appending(rendition.path).printable) (\(rendition.size)\(bytes))"
}

/// `840 bytes`, `12.3 kB`, `4.5 MB`.
func byteCount(_ bytes: Int) -> String {
    if bytes < 1000 { return counted(bytes, "byte") }
    return bytes < 1_000_000 ? "\(oneDecimal(Double(bytes) / 1e3)) kB" : "\(oneDecimal(Double(bytes) / 1e6)) MB"
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
