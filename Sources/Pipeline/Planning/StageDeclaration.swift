// What a stage must say of itself before any pixel exists. The target Stages adds the pixels.

/// A stage, as far as it can be planned. A stage reads its parameters in its initialiser.
package protocol StageDeclaration: ParameterGroup {
    associatedtype Plan: StagePlan

    /// The name in the pipeline file: the user's verb.
    static var name: String { get }
    /// One sentence for the docs.
    static var summary: String { get }
    /// A pipeline's `stages` entry that shows the usual use, as YAML.
    static var example: String { get }
    /// What its parameters hold besides plain values and refer to in the schema as `#/$defs/name`: explained in the
    /// docs beside the stage.
    static var parts: [StagePart] { get }

    /// The plan depends on what is in the picture: it is measured, and then planned again.
    var needsMeasurement: Bool { get }
    /// It needs fonts, which only a worker process for such stages can read.
    var drawsText: Bool { get }
    /// The texts that it and the stages within it draw.
    var texts: [TextTemplate] { get }
    /// It gives the picture a size in points, so that it has other pixels at each scale.
    var sizesInPoints: Bool { get }

    /// Works out everything that is geometry: sizes, offsets, boxes.
    func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan
}

extension StageDeclaration {
    package static var parts: [StagePart] { [] }
    package var needsMeasurement: Bool { false }
    package var drawsText: Bool { false }
    package var texts: [TextTemplate] { [] }
    package var sizesInPoints: Bool { false }
}

/// A mapping within a stage's parameters that has parameters of its own.
package struct StagePart: Sendable {
    /// Its name in the schema and in the docs.
    package let name: String
    package let type: any ParameterGroup.Type

    package init(name: String, type: any ParameterGroup.Type) {
        self.name = name
        self.type = type
    }
}

/// What a stage will do to one picture. The rendering follows it and works out nothing by itself.
package protocol StagePlan: Sendable {
    var output: PictureInfo { get }
    /// What a person wants to know besides the output's size, such as `drawn 600×400 at (0, 100)`.
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
    /// What the user should know of it besides.
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
    package var warnings: [Warning] { [] }
}

/// How a stage depends on the number of pixels that come in. Loading shrinks only if every stage up to the first
/// scaling one allows it.
package enum SizeDependence: Hashable, Sendable {
    /// Any number will do: the stage treats all pixels alike.
    case anySize
    /// The stage scales to this size, whatever comes in.
    case scales(to: PixelSize, by: ScalingKernel)
    /// The plan's offsets and sizes are in pixels of the source.
    case sourcePixels
}

/// What a plan may depend on besides the incoming picture.
package struct PlanContext: Sendable {
    /// Pixels in one point of a size that a stage gives the picture: the rendition's scale, 1 in shared stages, and for
    /// something that is drawn on a picture what that one has. All other lengths are in points of the picture itself.
    package let scale: Double
    /// The assets of the pipeline by their path as written.
    package let assets: [String: AssetFacts]
    /// What was measured on the decoded picture for this stage; nil before that, and for stages that measure nothing.
    package let measurement: Measurement?
    /// What the fields of texts stand for.
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

/// What a stage found in the pixels, as fractions of the picture, so that all scales share it. Taken once per source.
package enum Measurement: Hashable, Sendable, Codable {
    /// A rectangle: left, top, width and height, 0…1.
    case box(left: Double, top: Double, width: Double, height: Double)
    /// Offsets along one axis, 0…1.
    case offsets([Double])
    /// The darkest and the lightest color value, 0…1.
    case levels(black: Double, white: Double)

    /// Whether it can be of any picture. It comes from a worker, so this must be asked before it is used.
    package var isPlausible: Bool {
        let numbers =
            switch self {
            case .box(let left, let top, let width, let height): [left, top, width, height]
            case .offsets(let offsets): offsets
            case .levels(let black, let white): [black, white]
            }
        return numbers.count <= 1_000_000 && numbers.allSatisfy { (0...1).contains($0) }
    }
}

/// What was measured for one stage.
package struct StageMeasurement: Hashable, Sendable, Codable {
    package let path: Planner.StagePath
    package let measurement: Measurement

    package init(path: Planner.StagePath, measurement: Measurement) {
        self.path = path
        self.measurement = measurement
    }
}

extension [StageMeasurement] {
    package var byPath: [Planner.StagePath: Measurement] {
        Dictionary(map { ($0.path, $0.measurement) }) { first, _ in first }
    }
}

/// The stages that a pipeline may name.
package struct StageCatalogue: Sendable {
    package let stages: [any StageDeclaration.Type]

    package init(_ stages: [any StageDeclaration.Type]) { self.stages = stages }

    package var names: [String] { stages.map { $0.name } }

    package func stage(named name: String) -> (any StageDeclaration.Type)? { stages.first { $0.name == name } }
}
