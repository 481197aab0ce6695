/// `tone-map` of a pipeline: the light that HDR pictures are compressed from and to.
package struct ToneMapSettings: ParameterMapping, Hashable {
    /// The light in cd/m² that becomes white.
    package let white: Double
    /// The most light in the picture; nil for what the file says, or what is usual.
    package let peak: Double?

    /// The light of paper in HDR pictures by ITU-R BT.2408.
    private static let usualWhite = 203.0

    package static let owner = "'tone-map'"
    package static let expectation = "a mapping such as { white: 203, peak: 1000 }"
    package static let placeholder = ToneMapSettings(white: usualWhite, peak: nil)
    package var written: String { "{ white: \(writtenNumber(white)) }" }

    private init(white: Double, peak: Double?) { (self.white, self.peak) = (white, peak) }

    package init(_ p: inout Parameters) {
        white = p.optional(
            "white", Self.usualWhite, in: 50...1000,
            "The light in cd/m² that becomes white. Less makes the picture brighter.")
        peak = p.optional(
            "peak", in: 100...10_000,
            "The most light of the picture in cd/m², whatever the file says; what is brighter is white. Default: the file's, else 1000."
        )
    }
}
