// How colours are mapped between a profile and others, as far as the profile can do it.

/// A way to map colours, by libvips' nickname. If a profile does not have the intent asked for, libvips ignores the
/// profile and takes sRGB instead.
enum RenderingIntent: String, CaseIterable {
    /// For profiles of the library's own.
    case relative
    case perceptual

    /// Relative, or perceptual for the profiles of scanners, and of JPEGs in XYB colours, which have one table for all
    /// purposes.
    /// - Parameters:
    ///   - profile: as embedded; nil if there is none.
    ///   - isTarget: whether colours are converted to the profile, not from it.
    init(of profile: [UInt8]?, isTarget: Bool = false) {
        let tags = profile.map(Self.tags) ?? []
        let (first, second) = isTarget ? ("B2A0", "B2A1") : ("A2B0", "A2B1")
        self = tags.contains(first) && !tags.contains(second) ? .perceptual : .relative
    }

    /// The names of a profile's parts: after a header of 128 bytes their number, then 12 bytes for each, beginning with
    /// its name.
    private static func tags(of profile: [UInt8]) -> Set<String> {
        guard profile.count >= 132 else { return [] }
        let count = profile[128..<132].reduce(0) { $0 << 8 | Int($1) }
        let places = stride(from: 132, to: profile.count - 11, by: 12).prefix(count)
        return Set(places.map { String(decoding: profile[$0..<$0 + 4], as: UTF8.self) })
    }
}
