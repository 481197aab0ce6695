// What a run, or an inbox, decides once for all of its sources.
package import Pipeline

/// What is made of sources, within which bounds, and where it goes.
package struct RenderSettings: Sendable {
    package let pipeline: LoadedPipeline
    package let limits: Limits
    package let outbox: BytePath
    package let keepsTree: Bool
    /// Everything is found out, and nothing is written.
    package var isDryRun = false
    package let memory: MemoryBudget
    package let cancellation: Cancellation
    /// Where renditions are looked for before they are made; nil where there is no cache.
    package var cache: RunCache?
    /// New folders are on the disk before anything is put into them, and the outbox itself is never made.
    var isDurable = false

    package init(
        pipeline: LoadedPipeline, limits: Limits, outbox: BytePath, keepsTree: Bool, memory: MemoryBudget, cancellation: Cancellation
    ) {
        self.pipeline = pipeline
        self.limits = limits
        self.outbox = outbox
        self.keepsTree = keepsTree
        self.memory = memory
        self.cancellation = cancellation
    }
}

/// What every lane of a run shares.
package struct LaneSettings: Sendable {
    package var render: RenderSettings
    /// How often a source may cost a worker its life.
    package var attempts = 3
    package let workers: WorkerStarter
    package let names: NameDesk

    package init(_ render: RenderSettings, workers: WorkerStarter, names: NameDesk) {
        self.render = render
        self.workers = workers
        self.names = names
    }
}
