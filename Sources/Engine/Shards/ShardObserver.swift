// Collects the results of a shard's sources, and gives the shard up when its environment breaks.
import Pipeline
import Synchronization
import System

/// The totals of a shard's sources.
struct ShardTotals {
    var bytes = 0
    var warnings: [String: Int] = [:]
    var failures: [ShardResult.Failed] = []
    /// The renditions of each source, by its location.
    var renditions: [BytePath: [BytePath]] = [:]
    /// Sources whose file was not to be found or not to be read.
    var unreadable = 0
    /// Why the shard was given up: nothing is wrong with its sources.
    var trouble: Failure?
}

/// Watches one shard. For any thread.
final class ShardObserver: BatchObserver {
    private let next: any BatchObserver
    private let cancellation: Cancellation
    private let state = Mutex(ShardTotals())

    init(_ next: any BatchObserver, _ cancellation: Cancellation) {
        self.next = next
        self.cancellation = cancellation
    }

    var totals: ShardTotals { state.withLock { $0 } }

    func begin(sources: Int) { next.begin(sources: sources) }
    func end() { next.end() }

    func finished(_ report: SourceReport, _ summary: BatchSummary) {
        let isTrouble = state.withLock { $0.add(report) }
        // One picture more would not be published either.
        if isTrouble { return cancellation.raise() }
        next.finished(report, summary)
    }
}

extension ShardTotals {
    /// - Returns: whether the shard cannot go on.
    fileprivate mutating func add(_ report: SourceReport) -> Bool {
        bytes += report.renditions.reduce(0) { $0 + ($1.bytes ?? 0) }
        for warning in report.warnings { warnings[warning.code.rawValue, default: 0] += 1 }
        guard let failure = report.error else {
            if let location = report.source.location { renditions[location] = report.paths }
            return false
        }
        if failure.stage == "publish", failure.code.isOfSurroundings {
            trouble = trouble ?? failure
            return true
        }
        if failure.stage == "read", [.notFound, .permissionDenied, .ioError].contains(failure.code) { unreadable += 1 }
        failures.append(ShardResult.Failed(report.source.path, failure))
        return false
    }
}

extension FailureCode {
    fileprivate var isOfSurroundings: Bool { self == .diskFull || self == .outputNotWritable || self == .ioError }
}
