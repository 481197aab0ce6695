// The cache as one pipeline uses it: keys, what is kept beside a rendition, and planning without a worker.
import FoundationEssentials
import Messages
import Pipeline
import System

/// The facts that the cache keeps with a rendition's bytes, so that a hit needs no look at the source.
struct CachedFacts: Codable, Sendable {
    /// The header of the source, or those of the members of a set.
    private let source: [MemberFacts]
    private let isSet: Bool
    /// The rendition's own size and frames.
    let size: RenderedSize
    /// The worker's warnings from the rendering.
    let warnings: [Warning]
    /// Those of the plan, of which measurements may have brought up some.
    let planned: [Warning]?

    init(_ input: ProbedInput, size: RenderedSize, warnings: [Warning], planned: [Warning]) {
        switch input {
        case .picture(let facts, _): (source, isSet) = ([MemberFacts(name: BytePath([]), facts: facts)], false)
        case .set(let members): (source, isSet) = (members, true)
        }
        self.size = size
        self.warnings = warnings
        self.planned = planned
    }

    /// The pixels were looked at for a condition.
    var wasLookedAt: Bool { source.first?.facts.isTransparent != nil }

    /// The input to plan with.
    func input(_ name: SourceName) -> ProbedInput { isSet ? .set(source) : .picture(source[0].facts, name) }

    /// Whether this can be true of a source; it comes from a file that others may have written to.
    func isPlausible(for formats: [SourceFormat]) -> Bool {
        let sides = 1...maximumCoordinate
        return source.allSatisfy(\.facts.isPlausible) && source.map(\.facts.format) == formats && !source.isEmpty
            && sides.contains(size.size.width) && sides.contains(size.size.height)
            && (1...1_000_000).contains(size.frames)
    }
}

/// A rendition in the cache.
struct CachedRendition: Sendable {
    let entry: CacheEntry
    let facts: CachedFacts
}

/// A cache for the sources of one pipeline. For any thread.
package final class PipelineCache: Sendable {
    private let cache: SharedCache
    let pipeline: PipelineFile
    private let keys: CacheKeyBuilder
    private let assets: [(asset: AssetMessage, digest: String)]
    private let isolatedInbox: String?

    /// - Parameter isolatedInbox: the inbox that shares nothing that its workers have made.
    package init(_ cache: SharedCache, _ pipeline: LoadedPipeline, isolatedInbox: String? = nil) {
        self.cache = cache
        self.pipeline = pipeline.file
        self.isolatedInbox = isolatedInbox
        assets = pipeline.assetContents
        var keys = CacheKeyBuilder(pipeline: pipeline.file, assets: pipeline.assetDigests)
        if let fonts = pipeline.installedFonts { keys.add("fonts", fonts) }
        if let isolatedInbox { keys.add("inbox", isolatedInbox) }
        self.keys = keys
    }

    /// The same cache for the pipeline that has values of one picture.
    func with(_ pipeline: LoadedPipeline) -> PipelineCache {
        PipelineCache(cache, pipeline, isolatedInbox: isolatedInbox)
    }

    /// The keys of a source's renditions, in the order of a plan.
    /// - Parameter own: what else of the source decides their bytes, by name.
    func keys(source digest: String, pixelsPerPoint: Int, own: [(String, String)]) -> [CacheKey] {
        var builder = keys
        for (name, value) in own { builder.add(name, value) }
        return builder.keys(for: pipeline, source: digest, pixelsPerPoint: pixelsPerPoint)
    }

    /// The cached renditions for these keys, nil for one that is not there.
    func look(for keys: [CacheKey], formats: [SourceFormat]) -> [CachedRendition?] {
        let entries = cache.use { store in try keys.map { try store.entry($0) } } ?? keys.map { _ in nil }
        let found: [CachedRendition?] = entries.map { entry in
            guard let entry else { return nil }
            let facts = try? JSONDecoder().decode(CachedFacts.self, from: Data(entry.about.utf8))
            guard let facts, facts.isPlausible(for: formats) else { return nil }
            return CachedRendition(entry: entry, facts: facts)
        }
        cache.count(hits: 0, misses: found.count { $0 == nil })
        return found
    }

    /// Copies a rendition into an output; false if it must be made.
    /// - Returns: nil if the cache cannot be used, and may still write into the file.
    func copy(_ rendition: CachedRendition, into file: OpenFile) -> Bool? {
        let isCopied = cache.use(bytes: rendition.entry.bytes) { try $0.copy(rendition.entry, into: file) }
        cache.count(hits: isCopied == true ? 1 : 0, misses: isCopied == true ? 0 : 1)
        return isCopied
    }

    func put(_ key: CacheKey, file: OpenFile, digest: String, facts: CachedFacts) {
        let bytes = (try? file.status().bytes) ?? 0
        _ = cache.use(bytes: bytes) { try $0.put(key, file, digest: digest, about: json(facts)) }
    }

    // MARK: - Planning without a worker

    /// A planner for the pipeline, if all that must be known of its assets was found out by an earlier run.
    func planner(limits: Limits) -> Planner? {
        var facts: [String: AssetFacts] = [:]
        for (asset, digest) in assets {
            let key = key(asset, digest)
            guard let known = cache.use({ try $0.assetFacts(key) }) ?? nil,
                let decoded = try? JSONDecoder().decode(AssetFacts.self, from: Data(known.utf8))
            else { return nil }
            facts[asset.path] = decoded
        }
        return Planner(pipeline: pipeline, assets: facts, limits: limits)
    }

    /// Keeps what a worker found out about the assets.
    func remember(_ facts: [String: AssetFacts]) {
        for (asset, digest) in assets {
            guard let known = facts[asset.path] else { continue }
            let key = key(asset, digest)
            _ = cache.use { try $0.add(assetFacts: json(known), key) }
        }
    }

    private func key(_ asset: AssetMessage, _ digest: String) -> String {
        Digest.of("\(engineName)\n\(asset.pixelsPerPoint)\n\(digest)" + (isolatedInbox.map { "\n\($0)" } ?? ""))
    }
}
