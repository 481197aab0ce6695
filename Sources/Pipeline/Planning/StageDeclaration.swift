// The declaration of a stage, known before any pixel exists. The target Stages adds the pixels.

/// A stage, as far as it can be planned. A stage reads its parameters in its initialiser.
package protocol StageDeclaration: ParameterGroup {
    associatedtype Plan: StagePlan

    /// The name in the pipeline file: the user's verb.
    static var name: String { get }
    /// One sentence for the docs.
    static var summary: String { get }
    /// A pipeline's `stages` entry that shows the usual use, as YAML.
    static var example: String { get }
    /// The parts that its parameters hold besides plain values and refer to in the schema as `#/$defs/name`: explained
    /// in the docs beside the stage.
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

/// The stages that a pipeline may name.
package struct StageCatalogue: Sendable {
    package let stages: [any StageDeclaration.Type]

    package init(_ stages: [any StageDeclaration.Type]) { self.stages = stages }

    package var names: [String] { stages.map { $0.name } }

    package func stage(named name: String) -> (any StageDeclaration.Type)? { stages.first { $0.name == name } }
}
