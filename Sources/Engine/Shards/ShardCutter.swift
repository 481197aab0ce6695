// Cuts a stream of sources into shards.
import Pipeline

/// The sources of one shard, as they are in the plan's list.
struct ShardBlock: Equatable {
    private(set) var list: [UInt8] = []
    private(set) var sources = 0

    mutating func add(_ record: [UInt8]) {
        list += record
        sources += 1
    }

    mutating func add(_ block: ShardBlock) {
        list += block.list
        sources += block.sources
    }
}

/// Cuts after so many sources; between folders only, if those are to be kept together. It holds one shard and one
/// folder.
struct ShardCutter {
    let perShard: Int
    let keepsFolders: Bool
    private var shard = ShardBlock()
    /// The sources of the folder that is being walked, which may go to this shard or to the next.
    private var pending = ShardBlock()
    private var folder: BytePath?

    init(perShard: Int, keepsFolders: Bool) {
        self.perShard = perShard
        self.keepsFolders = keepsFolders
    }

    /// Adds a source.
    /// - Returns: a shard that is complete.
    mutating func add(_ record: [UInt8], in folder: BytePath) -> ShardBlock? {
        guard keepsFolders else {
            shard.add(record)
            return shard.sources >= perShard ? take() : nil
        }
        let complete = folder == self.folder ? nil : endFolder()
        self.folder = folder
        pending.add(record)
        return complete
    }

    /// The last shards, after the last source.
    mutating func finish() -> [ShardBlock] {
        let complete = [endFolder(), shard.sources > 0 ? take() : nil].compactMap { $0 }
        return complete
    }

    private mutating func endFolder() -> ShardBlock? {
        let isTooMuch = shard.sources > 0 && shard.sources + pending.sources > perShard
        let complete = isTooMuch ? take() : nil
        shard.add(pending)
        pending = ShardBlock()
        return complete
    }

    private mutating func take() -> ShardBlock {
        defer { shard = ShardBlock() }
        return shard
    }
}
