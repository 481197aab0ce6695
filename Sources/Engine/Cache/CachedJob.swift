// One source and the cache: which of its renditions are there, and what is kept of those that were made.
import Pipeline

/// The renditions of one source, as far as the cache knows them.
struct CachedJob {
    private let cache: PipelineCache
    private let keys: [CacheKey]
    /// In the order of a plan; nil where it must be made.
    private var found: [CachedRendition?]

    /// - Parameters:
    ///   - digest: the source's SHA-256.
    ///   - own: what else of the source decides the bytes of its renditions, by name.
    ///   - formats: of its file, or of the members of a set.
    init(_ cache: PipelineCache, source digest: String, pixelsPerPoint: Int, own: [(String, String)], formats: [SourceFormat]) {
        self.cache = cache
        keys = cache.keys(source: digest, pixelsPerPoint: pixelsPerPoint, own: own)
        found = cache.look(for: keys, formats: formats)
    }

    /// What the source's headers say, where every rendition is there: nobody needs to look at the source then.
    var factsIfComplete: CachedFacts? { found.contains { $0 == nil } ? nil : found.first??.facts }

    /// The sizes of all renditions, where every one is there.
    var sizes: [PixelSize] { found.compactMap { $0?.facts.size.size } }

    /// Fills outputs with what is in the cache. What cannot be used is made after all.
    /// - Returns: for each output what is in it now; nil where it is empty.
    mutating func fill(_ outputs: [StagedFile], _ plan: SourcePlan) -> [CachedRendition?] {
        for index in found.indices where outputs.indices.contains(index) {
            guard let rendition = found[index] else { continue }
            // Read back like what comes from a worker: a key says nothing about who filled the file.
            let isRight =
                cache.copy(rendition, into: outputs[index].file)
                && (try? OutputCheck.check(outputs[index].file, against: plan.renditions[index], said: rendition.facts.size.size)) != nil
            if !isRight {
                try? outputs[index].file.empty()
                found[index] = nil
            }
        }
        return found
    }

    /// Keeps a rendition that was made.
    func keep(_ index: Int, _ file: OpenFile, digest: String, _ facts: CachedFacts) {
        guard keys.indices.contains(index) else { return }
        cache.put(keys[index], file, digest: digest, facts)
    }
}
