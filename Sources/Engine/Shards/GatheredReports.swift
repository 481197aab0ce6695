// The reports of a plan's sources, read again shard by shard.
package import Pipeline
package import System

/// The report of one shard that is done.
package struct ShardReport {
    package let result: ShardResult
    /// The folder, below the output folder, that the paths in the report begin at.
    package let folder: BytePath
    /// The tar that the renditions are in; nil if they are files.
    package let archive: BytePath?
    fileprivate let output: ShardOutput

    /// The document of its sources; nil if somebody has removed it.
    package func document() throws(SystemError) -> [UInt8]? { try output.report(result.shard) }
}

extension Gathering {
    /// Goes through the shards that are done.
    package func eachReport(_ body: (ShardReport) throws -> Void) throws {
        guard let output else { return }
        for shard in 0..<plan.plan.shards {
            guard let result = try output.result(shard, plan.entry(of: shard)) else { continue }
            let isPacked = plan.plan.layout == .tar
            let place = output.place(of: shard)
            try body(
                ShardReport(
                    result: result, folder: isPacked ? BytePath([]) : place, archive: isPacked ? place : nil,
                    output: output))
        }
    }
}
