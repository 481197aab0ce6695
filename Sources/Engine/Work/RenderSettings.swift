// The settings that a run, or an inbox, decides once for all of its sources.
import Messages
package import Pipeline
package import System

/// The settings of rendering: what is made of sources, within which bounds, and where it goes.
package struct RenderSettings: Sendable {
    package private(set) var pipeline: LoadedPipeline
    /// Those of the run or the inbox, as far as the pipeline does not lower them.
    package let limits: Limits
    /// The pipeline's, for what the run or the inbox leaves open.
    package let policy: WarningPolicy
    package let outbox: Outbox
    /// The formats that the names of the sources suggest, so that workers are of the right kind from the start.
    package var likelyFormats: Set<SourceFormat> = []
    package let keepsTree: Bool
    /// Names of other sources are taken (`collision: overwrite`).
    package let overwrites: Bool
    /// Everything is found out, and nothing is written.
    package var isDryRun = false
    /// Reports have the digest of each rendition.
    package var reportsContents = false
    package let memory: MemoryBudget
    package let cancellation: Cancellation
    /// The name of the inbox, if no source of another one may meet its workers.
    package var isolatedInbox: String?
    /// Where renditions are looked for before they are made; nil if there is no cache.
    package var cache: PipelineCache?

    package init(
        pipeline: LoadedPipeline, limits: Limits, policy: WarningPolicy = WarningPolicy(), outbox: Outbox,
        keepsTree: Bool, overwrites: Bool = false,
        memory: MemoryBudget,
        cancellation: Cancellation
    ) {
        self.pipeline = pipeline
        self.limits = pipeline.file.limits.lowering(limits)
        self.policy = pipeline.file.policy.overridden(by: policy)
        self.outbox = outbox
        self.keepsTree = keepsTree
        self.overwrites = overwrites
        self.memory = memory
        self.cancellation = cancellation
    }

    /// The same for the pipeline that has values of one picture.
    func with(_ pipeline: LoadedPipeline) -> RenderSettings {
        var settings = self
        settings.pipeline = pipeline
        settings.cache = cache?.with(pipeline)
        return settings
    }

    /// The kind of worker that sources of these formats need.
    func workerKind(for formats: [SourceFormat]) -> WorkerKind {
        var kind = pipeline.workerKind(for: formats)
        kind.inbox = isolatedInbox
        return kind
    }
}
