// The cache as one run uses it: keys for its pipeline, and an end of it at the first trouble.
import FoundationEssentials
import Pipeline
import Synchronization

/// What the cache keeps beside a rendition's bytes, so that a hit needs nobody to look at the source.
struct CachedFacts: Codable, Sendable {
    /// The header of the source, or those of the members of a set.
    private let source: [MemberFacts]
    private let isSet: Bool
    /// The rendition's own size and frames.
    let size: RenderedSize
    /// What the worker warned of while it rendered.
    let warnings: [Warning]

    init(_ input: ProbedInput, size: RenderedSize, warnings: [Warning]) {
        switch input {
        case .picture(let facts, _): (source, isSet) = ([MemberFacts(name: BytePath([]), facts: facts)], false)
        case .set(let members): (source, isSet) = (members, true)
        }
        self.size = size
        self.warnings = warnings
    }

    /// What to plan with.
    func input(_ name: SourceName) -> ProbedInput { isSet ? .set(source) : .picture(source[0].facts, name) }

    /// Whether this can be true of a source; it comes from a file that others may have written to.
    func isPlausible(for formats: [SourceFormat]) -> Bool {
        let sides = 1...maximumCoordinate
        return source.allSatisfy(\.facts.isPlausible) && source.map(\.facts.format) == formats && !source.isEmpty
            && sides.contains(size.size.width) && sides.contains(size.size.height)
    }
}

/// A rendition in the cache.
struct CachedRendition: Sendable {
    let entry: CacheEntry
    let facts: CachedFacts
}

/// A cache for one run. For any thread. No trouble with it fails a source: the run goes on without.
package final class RunCache: Sendable {
    private let store: CacheStore
    private let pipeline: PipelineFile
    private let keys: CacheKeyBuilder
    private let assets: [(asset: AssetMessage, digest: String)]
    private let note: @Sendable (String) -> Void
    private let isBroken = Mutex(false)

    /// - Parameter note: is told once, in a sentence, when the cache cannot be used any more.
    package init(_ store: CacheStore, _ pipeline: LoadedPipeline, note: @escaping @Sendable (String) -> Void) {
        self.store = store
        self.pipeline = pipeline.file
        self.note = note
        let assets = pipeline.assetContents
        self.assets = assets
        keys = CacheKeyBuilder(pipeline: pipeline.file, assets: Dictionary(assets.map { ($0.asset.path, $0.digest) }) { first, _ in first })
    }

    /// The keys of a source's renditions, in the order of a plan.
    /// - Parameter own: what else of the source decides their bytes, by name.
    func keys(source digest: String, pixelsPerPoint: Int, own: [(String, String)]) -> [CacheKey] {
        var builder = keys
        for (name, value) in own { builder.add(name, value) }
        return builder.keys(for: pipeline, source: digest, pixelsPerPoint: pixelsPerPoint)
    }

    /// What is known of these renditions, nil for one that is not there.
    func look(for keys: [CacheKey], formats: [SourceFormat]) -> [CachedRendition?] {
        keys.map { key in
            guard let entry = attempt({ try store.entry(key) }) ?? nil else { return nil }
            let facts = try? JSONDecoder().decode(CachedFacts.self, from: Data(entry.about.utf8))
            guard let facts, facts.isPlausible(for: formats) else { return nil }
            return CachedRendition(entry: entry, facts: facts)
        }
    }

    /// Copies a rendition into an output; false where it must be made.
    func copy(_ rendition: CachedRendition, into file: OpenFile) -> Bool {
        attempt { try store.copy(rendition.entry, into: file) } ?? false
    }

    func put(_ key: CacheKey, _ file: OpenFile, digest: String, _ facts: CachedFacts) {
        _ = attempt { try store.put(key, file, digest: digest, about: json(facts)) }
    }

    // MARK: - Planning without a worker

    /// A planner for the pipeline, where all that must be known of its assets was found out by an earlier run.
    func planner(limits: Limits) -> Planner? {
        var facts: [String: AssetFacts] = [:]
        for (asset, digest) in assets {
            guard let known = attempt({ try store.assetFacts(Self.key(asset, digest)) }) ?? nil,
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
            _ = attempt { try store.add(assetFacts: json(known), Self.key(asset, digest)) }
        }
    }

    private static func key(_ asset: AssetMessage, _ digest: String) -> String {
        Digest.of("\(engineName)\n\(asset.pixelsPerPoint)\n\(digest)")
    }

    // MARK: -

    /// - Returns: nil where the cache cannot be used.
    private func attempt<Value>(_ work: () throws -> Value) -> Value? {
        guard !isBroken.withLock({ $0 }) else { return nil }
        do {
            return try work()
        } catch {
            let isFirst = isBroken.withLock { isBroken in
                defer { isBroken = true }
                return !isBroken
            }
            if isFirst { note("the cache cannot be used any more (\(error)); the run goes on without it") }
            return nil
        }
    }
}
