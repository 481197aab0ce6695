// What a run decides once, for all of its lanes.
package import Pipeline

/// What every lane of a run shares.
package struct LaneSettings: Sendable {
    package let pipeline: LoadedPipeline
    package let limits: Limits
    package let outbox: BytePath
    package let keepsTree: Bool
    package let isDryRun: Bool
    /// How often a source may cost a worker its life.
    package var attempts = 3
    package let workers: WorkerStarter
    package let names: NameDesk
    package let memory: MemoryBudget
    package let cancellation: Cancellation
    /// Where renditions are looked for before they are made; nil where there is no cache.
    package var cache: RunCache?

    package init(
        pipeline: LoadedPipeline, limits: Limits, outbox: BytePath, keepsTree: Bool, isDryRun: Bool, workers: WorkerStarter, names: NameDesk,
        memory: MemoryBudget, cancellation: Cancellation
    ) {
        self.pipeline = pipeline
        self.limits = limits
        self.outbox = outbox
        self.keepsTree = keepsTree
        self.isDryRun = isDryRun
        self.workers = workers
        self.names = names
        self.memory = memory
        self.cancellation = cancellation
    }
}
