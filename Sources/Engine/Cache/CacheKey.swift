// The name of a rendition in the cache: a digest of everything that decides its bytes.
import Pipeline
import System

/// SHA-256 in hexadecimal.
struct CacheKey: Hashable, Sendable {
    let text: String
}

/// Gathers the parts that decide a rendition's bytes. What is not among them does not count: names of renditions and
/// files that are not drawn, comments, the order of keys.
///
/// Whatever else comes to decide bytes (the members of a set, what a source writes into its thumbnail) is one more part
/// with a name of its own.
struct CacheKeyBuilder {
    /// To be raised when the same parts come to mean something else.
    private static let format = "4"

    private var parts: [String: String] = ["format": format]

    mutating func add(_ name: String, _ value: String) { parts[name] = value }

    var key: CacheKey {
        // Lengths keep one part from looking like two.
        let text = parts.sorted { $0.key < $1.key }.map {
            "\($0.key.utf8.count):\($0.key)\($0.value.utf8.count):\($0.value)"
        }
        return CacheKey(text: Digest.of(text.joined()))
    }
}

extension CacheKeyBuilder {
    /// The parts that all renditions of all sources share.
    init(pipeline: PipelineFile, assets: [String: String]) {
        add("engine", engineName)
        add("pipeline", pipeline.sharedCanonical)
        for (path, digest) in assets { add("asset " + path, digest) }
    }

    /// The keys of a source's renditions, in the order of a plan.
    /// - Parameters:
    ///   - source: the source's digest.
    ///   - pixelsPerPoint: the `@Nx` of its name.
    func keys(for pipeline: PipelineFile, source: String, pixelsPerPoint: Int) -> [CacheKey] {
        var builder = self
        builder.add("source", source)
        builder.add("pixels per point", String(pixelsPerPoint))
        return pipeline.renditions.flatMap { rendition in
            rendition.scales.map { scale in
                var builder = builder
                builder.add("rendition", rendition.canonical)
                builder.add("scale", String(scale))
                if pipeline.texts.contains(where: \.needsRendition) { builder.add("name", rendition.name) }
                return builder.key
            }
        }
    }
}
