// The helpers that many of these tests share: pipelines and plans from a few words.
import Stages

@testable import Pipeline

/// Reads a pipeline that may name the real stages.
func pipeline(_ text: String, catalogue: StageCatalogue = .all) throws(Diagnostics) -> PipelineFile {
    try PipelineFile(text: text, file: "test.yaml", catalogue: catalogue)
}

/// The text of a pipeline with one rendition, `one`.
func onePipeline(
    _ stages: [String], shared: [String] = [], save: String = "{ format: png }", scale: String = "1", head: String = ""
)
    -> String
{
    """
    \(head)
    stages: \(list(shared, indent: "  "))
    renditions:
      one:
        scale: \(scale)
        stages: \(list(stages, indent: "      "))
        save: \(save)
    """
}

extension StageDeclaration {
    /// The lines at the top of a pipeline that uses the stage.
    static var head: String { self is any JoiningStage.Type ? "source: set" : "" }
}

private func list(_ stages: [String], indent: String) -> String {
    stages.map { "\n\(indent)- \($0)" }.joined()
}

/// The plan of a pipeline for a source.
func plan(
    _ text: String, _ source: SourceFacts, pixelsPerPoint: Int = 1, assets: [String: AssetFacts] = [:],
    limits: Limits = Limits(),
    catalogue: StageCatalogue = .all, measurements: [Planner.StagePath: Measurement] = [:]
) throws -> SourcePlan {
    let planner = Planner(pipeline: try pipeline(text, catalogue: catalogue), assets: assets, limits: limits)
    return try planner.plan(source, pixelsPerPoint: pixelsPerPoint, measurements: measurements)
}

/// Why a pipeline cannot be planned for a source; nil if it can.
func planFailure(
    _ text: String, _ source: SourceFacts, assets: [String: AssetFacts] = [:], limits: Limits = Limits()
) throws -> Failure? {
    do {
        _ = try plan(text, source, assets: assets, limits: limits)
        return nil
    } catch let error as PlanFailure {
        return error.failure
    }
}

/// The mistakes of a text, each as `line:column message`.
func mistakes(_ text: String, catalogue: StageCatalogue = .all) -> [String] {
    do throws(Diagnostics) {
        _ = try pipeline(text, catalogue: catalogue)
        return []
    } catch {
        return error.items.map { "\($0.position.line):\($0.position.column) \($0.message)" }
    }
}

/// Reads one value as a parameter would.
func read<Value: ParameterValue>(
    _ type: Value.Type, _ text: String, quoted: Bool = false
) -> (value: Value?, log: ReadingLog) {
    var log = ReadingLog(catalogue: StageCatalogue([]))
    let value = Value.read(
        YAMLNode(content: .scalar(text, quoted: quoted), position: Position(line: 1, column: 1)), &log)
    return (value, log)
}

extension SourceFacts {
    static func jpeg(_ width: Int, _ height: Int) -> SourceFacts {
        SourceFacts(format: .jpeg, size: PixelSize(width, height))
    }
    static func png(_ width: Int, _ height: Int) -> SourceFacts {
        SourceFacts(format: .png, size: PixelSize(width, height))
    }
    static func gif(_ width: Int, _ height: Int, frames: Int) -> SourceFacts {
        SourceFacts(format: .gif, size: PixelSize(width, height), frames: frames)
    }
}
