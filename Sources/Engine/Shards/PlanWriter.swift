// Writes a plan. It is complete when `plan.json` has its name, which comes last; before that its files have no names.
import Pipeline
import System

/// Writes the files of one plan. Not for two threads at once.
final class PlanWriter {
    private let folder: Directory
    private let list: StagedFile
    private let index: StagedFile
    private let indexDigest = Digest()
    private var offset = 0
    private(set) var shards = 0

    /// - Parameter path: a folder without a plan; made if it is missing.
    /// - Throws: `PlanMismatch` if it has one.
    init(_ path: BytePath) throws {
        try DurableFile.makeFolders(path)
        folder = try Directory(path)
        guard try folder.status(PlanFile.plan) == nil else {
            throw PlanMismatch(
                description: "there is a plan in '\(path.printable)' already; choose another folder, or remove it")
        }
        list = try StagedFile(in: folder, destination: PlanFile.sources, token: DurableFile.newToken)
        index = try StagedFile(in: folder, destination: PlanFile.index, token: DurableFile.newToken)
    }

    func write(_ block: ShardBlock) throws(SystemError) {
        try list.file.append(block.list, for: PlanFile.sources)
        let line = ShardEntry(
            offset: offset, bytes: block.list.count, sources: block.sources, digest: Digest.of(block.list)
        ).line
        try index.file.append(line, for: PlanFile.index)
        indexDigest.update(line)
        offset += block.list.count
        shards += 1
    }

    /// Completes the plan.
    /// - Parameter make: makes it, given the digest of the index.
    func finish(pipeline: String, _ make: (_ index: String) -> ShardPlan) throws(SystemError) -> ShardPlan {
        let plan = make(indexDigest.finish())
        for file in [list, index] {
            try file.sync()
            try file.publish()
        }
        try DurableFile.write(Array(pipeline.utf8), to: PlanFile.pipeline, in: folder)
        try DurableFile.write(Array((json(plan, pretty: true) + "\n").utf8), to: PlanFile.plan, in: folder)
        return plan
    }
}
