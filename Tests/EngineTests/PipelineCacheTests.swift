// A hit asks no worker anything: it works without one.
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct PipelineCacheTests {
    /// Runs `p.yaml` over `in` with a cache.
    private func run(_ runner: CommandRunner, to out: String, worker: WorkerCommand) async throws -> [String:
        SourceReport]
    {
        let folder = BytePath(runner.folder.path("cache"))
        return try await runner.run(to: out, workers: worker) { pipeline in
            PipelineCache(SharedCache(folder: folder, bound: 1 << 30) { Issue.record("\($0)") }, pipeline)
        }
    }

    @Test func `an inbox with workers of its own shares no rendition and no fact about an asset`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        let pipeline = try LoadedPipeline(path: runner.folder.path("p.yaml"))
        let cache = SharedCache(folder: BytePath(runner.folder.path("cache")), bound: 1 << 30) { Issue.record("\($0)") }
        let keys = [nil, "one", "two"].map {
            PipelineCache(cache, pipeline, isolatedInbox: $0).keys(source: "x", pixelsPerPoint: 1, own: [])
        }
        #expect(Set(keys).count == 3 && keys.allSatisfy { $0.count == 1 })
    }

    @Test(arguments: [false, true])
    func `a source whose renditions are all in the cache is done without any worker, with and without assets`(
        hasAsset: Bool
    ) async throws {
        let runner = try CommandRunner()
        try await runner.picture("badge.png")
        let stage = hasAsset ? "overlay: { image: badge.png, width: 8 }" : "resize: { size: 32x32 }"
        try runner.folder.write(
            "renditions:\n  a: { scale: [1, 2], stages: [ \(hasAsset ? "{ resize: { size: 32x32 } }, " : ""){ \(stage) } ], save: { format: webp } }\n",
            to: "p.yaml")
        for name in ["a.jpg", "b.gif"] { try await runner.picture("in/" + name) }
        let made = try await run(runner, to: "one", worker: WorkerCommand(executable: CommandRunner.executable))
        #expect(made.values.allSatisfy { $0.status == .done && $0.renditions.allSatisfy { !$0.cached } })
        let hits = try await run(runner, to: "two", worker: WorkerCommand(executable: "/bin/false", arguments: []))
        #expect(hits.count == 2)
        for (name, hit) in hits {
            #expect(
                hit.status == .done && hit.renditions.count == 2 && hit.renditions.allSatisfy(\.cached),
                "\(hit.error?.message ?? "")")
            #expect(hit.source.facts == made[name]?.source.facts && hit.warnings == made[name]?.warnings)
        }
        #expect(runner.files(in: "one") == runner.files(in: "two"))
        for name in runner.files(in: "one") { #expect(try runner.bytes("one/" + name) == runner.bytes("two/" + name)) }

        // The check can fail: what is not in the cache does need a worker.
        try await runner.picture("in/c.png")
        let rest = try await run(runner, to: "three", worker: WorkerCommand(executable: "/bin/false", arguments: []))
        #expect(rest["c.png"]?.error?.code == .workerCrashed && rest["a.jpg"]?.status == .done)
    }
}
