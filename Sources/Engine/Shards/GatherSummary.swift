// The results of a plan's shards, added up.
import Pipeline
import System

/// The totals of a plan's results.
package struct GatherSummary: Encodable, Sendable {
    /// One machine.
    package struct Node: Encodable, Sendable {
        package let node: String
        package var shards = 0
        package var sources = 0
        /// The time in which it was at work on at least one shard.
        package var milliseconds = 0
        /// Sources a second in that time.
        package var rate = 0.0
    }

    package struct Slow: Encodable, Sendable {
        package let shard: Int
        package let node: String
        package let sources: Int
        package let milliseconds: Int
    }

    /// All shards of the plan.
    package let sources: Int
    package let shards: Int
    package let tasks: Int
    package var shardsDone = 0
    package var done = 0
    package var failed = 0
    package var renditions = 0
    package var bytes = 0
    package var warnings: [String: Int] = [:]
    /// How many sources have failed for each reason.
    package var codes: [String: Int] = [:]
    /// The tasks whose shards are not all done, as `sbatch --array=` takes them.
    package var missing = ""
    package var nodes: [Node] = []
    /// The shards that took longest.
    package var slowest: [Slow] = []

    private enum CodingKeys: String, CodingKey {
        case sources, shards, tasks, done, failed, renditions, bytes, warnings, codes, missing, nodes, slowest
        case shardsDone = "shards-done"
    }

    package var isComplete: Bool { shardsDone == shards }

    init(_ plan: ShardPlan) {
        sources = plan.sources
        shards = plan.shards
        tasks = plan.tasks
    }
}

/// Adds results up, one by one. It keeps two numbers of each shard.
struct ShardTally {
    private(set) var summary: GatherSummary
    private var missing: Set<Int> = []
    private var nodes: [String: (node: GatherSummary.Node, times: [(start: Int, end: Int)])] = [:]
    private static let mostSlow = 5

    init(_ plan: ShardPlan) { summary = GatherSummary(plan) }

    mutating func addMissing(shard: Int) { missing.insert(shard % max(1, summary.tasks)) }

    mutating func add(_ result: ShardResult) {
        summary.shardsDone += 1
        summary.done += result.done
        summary.failed += result.failed
        summary.renditions += result.renditions
        summary.bytes += result.bytes
        summary.warnings.merge(result.warnings, uniquingKeysWith: +)
        for failure in result.failures { summary.codes[failure.code.rawValue, default: 0] += 1 }
        var known = nodes[result.node] ?? (GatherSummary.Node(node: result.node), [])
        known.node.shards += 1
        known.node.sources += result.sources
        let start = milliseconds(timestamp: result.started) ?? 0
        known.times.append((start, start + result.milliseconds))
        nodes[result.node] = known
        addSlow(result)
    }

    private mutating func addSlow(_ result: ShardResult) {
        let slow = GatherSummary.Slow(
            shard: result.shard, node: result.node, sources: result.sources, milliseconds: result.milliseconds)
        let place = summary.slowest.firstIndex { $0.milliseconds < slow.milliseconds } ?? summary.slowest.count
        guard place < Self.mostSlow else { return }
        summary.slowest.insert(slow, at: place)
        summary.slowest = Array(summary.slowest.prefix(Self.mostSlow))
    }

    mutating func finish() -> GatherSummary {
        summary.missing = TaskRanges(missing.sorted()).description
        summary.nodes = nodes.values.map { node, times in
            var node = node
            node.milliseconds = Self.covered(times)
            node.rate = (Double(node.sources) * 10_000 / Double(max(1, node.milliseconds))).rounded() / 10
            return node
        }.sorted { $0.node < $1.node }
        return summary
    }

    /// How long at least one of these times was going on.
    static func covered(_ times: [(start: Int, end: Int)]) -> Int {
        var (total, end) = (0, Int.min)
        for time in times.sorted(by: { $0.start < $1.start }) {
            total += max(0, time.end - max(time.start, end))
            end = max(end, time.end)
        }
        return total
    }
}
