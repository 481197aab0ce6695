package import Kernels

/// The plan of a stage for one picture. The rendering follows it and works out nothing by itself.
package protocol StagePlan: Sendable {
    var output: PictureInfo { get }
    /// Facts for a person besides the output's size, such as `drawn 600×400 at (0, 100)`.
    var note: String { get }
    /// How the stage depends on the number of pixels that come in.
    var sizeDependence: SizeDependence { get }
    /// Rows are read once, from top to bottom; otherwise the picture must be held in memory.
    var isStreaming: Bool { get }
    /// Every picture that the stage holds whole in memory, besides what comes in: what it scales, masks, layers,
    /// assets, and the pictures of the stages within it. The limit of pixels and the predicted memory follow from this
    /// list.
    var intermediates: [PictureInfo] { get }
    /// The sizes in which the stage, and those within it, have vector assets drawn, one after the other.
    var drawings: [PixelSize] { get }
    /// The result is one of the `intermediates`, and not made of them row by row.
    var isResultHeld: Bool { get }
    /// The picture is drawn larger than it comes in.
    var isEnlarging: Bool { get }
    /// The picture goes out as it comes in.
    var changesNothing: Bool { get }
    /// How the result lies on the incoming picture, for drawings of the plan.
    var footprint: Footprint { get }
    /// The effect on the gain map of an HDR picture. A stage that does not say has spoilt it.
    var gainMapEffect: GainMapEffect { get }
    /// Warnings about it for the user.
    var warnings: [Warning] { get }
}

extension StagePlan {
    package var note: String { "" }
    package var sizeDependence: SizeDependence { .sourcePixels }
    package var isStreaming: Bool { true }
    package var intermediates: [PictureInfo] { [] }
    package var drawings: [PixelSize] { [] }
    package var isResultHeld: Bool { false }
    package var isEnlarging: Bool { false }
    package var changesNothing: Bool { false }
    package var footprint: Footprint { .unmoved }
    package var gainMapEffect: GainMapEffect { .spoils }
    package var warnings: [Warning] { [] }
}

/// How a stage depends on the number of pixels that come in. Loading shrinks only if every stage up to the first
/// scaling one allows it.
package enum SizeDependence: Hashable, Sendable {
    /// Any number will do: what the stage makes of a shrunk picture looks like what it makes of the whole one, shrunk.
    case anySize
    /// The stage scales to this size, whatever comes in.
    case scales(to: PixelSize, by: ScalingKernel)
    /// The plan's offsets and sizes are in pixels of the source.
    case sourcePixels
}

/// The values that a plan may depend on besides the incoming picture.
package struct PlanContext: Sendable {
    /// Pixels in one point of a size that a stage gives the picture: the rendition's scale, 1 in shared stages, and for
    /// something that is drawn on a picture what that one has. All other lengths are in points of the picture itself.
    package let scale: Double
    /// The assets of the pipeline by their path as written.
    package let assets: [String: AssetFacts]
    /// The measurement on the decoded picture for this stage; nil before that, and for stages that measure nothing.
    package let measurement: Measurement?
    /// The values of the fields in texts.
    package let fields: TextFields

    package init(
        scale: Double, assets: [String: AssetFacts] = [:], measurement: Measurement? = nil,
        fields: TextFields = TextFields()
    ) {
        self.scale = scale
        self.assets = assets
        self.measurement = measurement
        self.fields = fields
    }
}
