// One source and the cache: which of its renditions are there, and what is kept of those that were made.
import Messages
import Pipeline
import System

/// The renditions of one source, as far as the cache knows them.
struct CachedJob {
    /// A rendition at one scale. A plan may leave some of a pipeline's out, because they repeat another one.
    private struct Place: Hashable {
        let rendition: Int
        let scale: Int

        init(_ plan: RenditionPlan) { (rendition, scale) = (plan.index, plan.scale) }
        init(rendition: Int, scale: Int) { (self.rendition, self.scale) = (rendition, scale) }
    }

    private let cache: PipelineCache
    private let keys: [Place: CacheKey]
    private var found: [Place: CachedRendition]

    /// - Parameters:
    ///   - digest: the source's SHA-256.
    ///   - own: what else of the source decides the bytes of its renditions, by name.
    ///   - formats: of its file, or of the members of a set.
    init(
        _ cache: PipelineCache, source digest: String, pixelsPerPoint: Int, own: [(String, String)],
        formats: [SourceFormat]
    ) {
        self.cache = cache
        let keys = cache.keys(source: digest, pixelsPerPoint: pixelsPerPoint, own: own)
        let places = cache.pipeline.renditions.enumerated().flatMap { index, rendition in
            rendition.scales.map { Place(rendition: index, scale: $0) }
        }
        self.keys = Dictionary(uniqueKeysWithValues: zip(places, keys))
        found = Dictionary(uniqueKeysWithValues: zip(places, cache.look(for: keys, formats: formats))).compactMapValues(
            \.self)
    }

    /// The facts from the source's headers, if any rendition is there.
    var facts: CachedFacts? {
        let all = found.values.map(\.facts)
        return all.first(where: \.wasLookedAt) ?? all.first
    }

    /// The warnings that a plan would have after measuring; nil if they are not known.
    func plannedWarnings(of plan: SourcePlan) -> [Warning]? {
        plan.renditions.first.flatMap { found[Place($0)]?.facts.planned }
    }

    /// The sizes of a plan's renditions; nil if one of them is not there.
    func sizes(of plan: SourcePlan) -> [PixelSize]? {
        let sizes = plan.renditions.compactMap { found[Place($0)]?.facts.size.size }
        return sizes.count == plan.renditions.count ? sizes : nil
    }

    /// Fills outputs with what is in the cache. What cannot be used is made after all.
    /// - Returns: for each output what is in it now; nil if it is empty.
    mutating func fill(_ outputs: [StagedFile], _ plan: SourcePlan) throws(SystemError) -> [CachedRendition?] {
        for (output, planned) in zip(outputs, plan.renditions) {
            guard let rendition = found[Place(planned)] else { continue }
            // Read back like what comes from a worker: a key says nothing about who filled the file.
            let isCopied = cache.copy(rendition, into: output.file)
            let isRight =
                isCopied == true
                && (try? OutputCheck.check(output.file, against: planned, said: rendition.facts.size.size)) != nil
            if isRight { continue }
            found[Place(planned)] = nil
            // A cache that has not answered in time may go on writing into the file.
            if isCopied == nil { try output.renew() } else { try? output.file.empty() }
        }
        return zip(outputs, plan.renditions).map { found[Place($1)] }
    }

    /// Keeps a rendition that was made.
    func keep(_ plan: RenditionPlan, in file: OpenFile, digest: String, facts: CachedFacts) {
        if let key = keys[Place(plan)] { cache.put(key, file: file, digest: digest, facts: facts) }
    }
}
