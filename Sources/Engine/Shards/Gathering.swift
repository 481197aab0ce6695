// Merges the results of a plan into one document, as a stream.
package import Pipeline
import System

/// Goes through the results of a plan, shard by shard.
package struct Gathering {
    let plan: OpenedPlan
    /// Nil if no task has begun.
    let output: ShardOutput?
    private let note: (String) -> Void

    /// - Parameter note: told of results that cannot be used, and count as missing.
    package init(_ plan: OpenedPlan, _ path: BytePath, note: @escaping (String) -> Void) throws {
        self.plan = plan
        self.note = note
        output = try ShardOutput(looking: path, plan.plan)
    }

    /// The tasks that have shards that are not done.
    package func missing() throws -> TaskRanges {
        TaskRanges(
            try (0..<plan.plan.tasks).filter { task in
                try plan.plan.shards(of: task).contains { shard in try result(shard) == nil }
            })
    }

    /// Adds up all results, and writes the document.
    /// - Parameters:
    ///   - file: where it goes; nil if it goes to no file, or if there is no output folder yet.
    ///   - stream: an open descriptor that gets it too.
    package func gather(file: BytePath?, stream: CInt?) throws -> GatherSummary {
        var writers: [ReportWriter] = []
        if let file, output != nil { writers.append(try ReportWriter(file: file)) }
        if let stream { writers.append(ReportWriter(stream: stream)) }
        func write(_ text: String) { for writer in writers { writer.write(text) } }

        var tally = ShardTally(plan.plan)
        write(#"{"schema":"imagemill.gather/1","plan":\#(json(plan.plan.id)),"failures":["#)
        var separator = "\n"
        for shard in 0..<plan.plan.shards {
            guard let result = try result(shard) else {
                tally.addMissing(shard: shard)
                continue
            }
            for failure in result.failures {
                write(separator + json(GatheredFailure(shard: shard, failure: failure)))
                separator = ",\n"
            }
            tally.add(result)
        }
        let summary = tally.finish()
        write("\n],\"summary\":\(json(summary))}\n")
        for writer in writers { try writer.finish() }
        try removeLeftovers()
        return summary
    }

    private func result(_ shard: Int) throws -> ShardResult? {
        try output?.result(shard, plan.entry(of: shard)) {
            note("the result of shard \(shard) cannot be used; the shard counts as missing")
        }
    }

    /// Attempts that died after somebody else had done their shard.
    private func removeLeftovers() throws(SystemError) {
        guard let output else { return }
        for shard in try output.stagedShards() where try output.isDone(shard) { output.revoke(shard) }
    }
}

/// A failure in the document.
private struct GatheredFailure: Encodable {
    let shard: Int
    let failure: ShardResult.Failed

    private enum Key: String, CodingKey { case shard }

    func encode(to encoder: any Encoder) throws {
        try failure.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(shard, forKey: .shard)
    }
}
