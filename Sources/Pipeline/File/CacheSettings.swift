/// The cache of a mill file: `{ path: /var/cache/imagemill, size: 5G }`.
package struct CacheSettings: ParameterValue, ParameterGroup {
    /// Nil for the system's usual place.
    package let path: WrittenPath?
    /// Nil for the usual bound.
    package let size: ByteCount?

    private init(path: WrittenPath?, size: ByteCount?) { (self.path, self.size) = (path, size) }

    package init(_ p: inout Parameters) {
        path = p.optional(
            "path",
            "The cache's folder, on a local disk; default $CACHE_DIRECTORY, which systemd sets, or ~/.cache/imagemill. 'imagemill run --cache' may use it too."
        )
        size = p.optional(
            "size", "Most bytes of all renditions in it; default 1G. The least recently used are removed first.")
    }

    package static var expectation: String { "a cache such as { path: /var/cache/imagemill, size: 5G }" }
    package static var schema: JSONValue { mappingSchema() }
    package static var placeholder: CacheSettings {
        CacheSettings(path: nil, size: nil)
    }
    package var written: String { "{}" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> CacheSettings? {
        Parameters.read(CacheSettings.self, from: node, owner: "the cache", &log)
    }
}
