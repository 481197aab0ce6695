import Testing

@testable import Pipeline

/// Cuts away what a measurement found to be empty, as `trim` will.
private struct Shave: StageDeclaration {
    static let name = "shave"
    static let summary = "Cuts away what is empty."
    static let example = "- shave"

    init(_ p: inout Parameters) {}

    struct Plan: StagePlan {
        let output: PictureInfo
        var isStreaming: Bool { false }
    }

    func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        guard case .box(_, _, let width, let height)? = context.measurement else {
            output.certainty = .atMost
            return Plan(output: output)
        }
        output.size = PixelSize(rounded(Double(input.size.width) * width), rounded(Double(input.size.height) * height))
        return Plan(output: output)
    }
}

/// Makes the picture half as large.
private struct Halve: StageDeclaration {
    static let name = "halve"
    static let summary = "Makes the picture half as large at scale 1."
    static let example = "- halve"

    init(_ p: inout Parameters) {}

    var sizesInPoints: Bool { true }

    struct Plan: StagePlan {
        let output: PictureInfo
    }

    func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        Plan(
            output: input.resized(
                to: PixelSize(input.size.width / 2 * Int(context.scale), input.size.height / 2 * Int(context.scale))))
    }
}

struct MeasurementTests {
    private static let catalogue = StageCatalogue([Shave.self, Halve.self])
    private static let box = Measurement.box(left: 0.25, top: 0.1, width: 0.5, height: 0.8)

    @Test
    func `a size that depends on pixels is a bound until it is measured`() throws {
        let text = onePipeline(["shave", "halve"])
        let bound = try #require(try plan(text, .png(400, 300), catalogue: Self.catalogue).renditions.first?.output)
        #expect(bound.certainty == .atMost)
        #expect(bound.description == "≤ 200×150")

        let measured = [Planner.StagePath(rendition: 0, stage: 0): Self.box]
        let exact = try #require(
            try plan(text, .png(400, 300), catalogue: Self.catalogue, measurements: measured).renditions.first?.output)
        #expect(exact.certainty == .exact)
        #expect(exact.description == "100×120")
    }

    @Test
    func `a measurement is for one stage of one rendition, and for all its scales`() throws {
        let text = """
            stages: [shave]
            renditions:
              a: { stages: [shave], save: { format: png } }
              b: { scale: [1, 2], stages: [shave, halve], save: { format: png } }
            """
        let measured = [
            Planner.StagePath(rendition: nil, stage: 0): Self.box,
            Planner.StagePath(rendition: 1, stage: 0): Measurement.box(left: 0, top: 0, width: 1, height: 0.5),
        ]
        let plan = try plan(text, .png(400, 300), catalogue: Self.catalogue, measurements: measured)
        #expect(plan.shared.map(\.output.description) == ["200×240"])
        #expect(plan.renditions.map(\.output.description) == ["≤ 200×240", "100×60", "200×120"])
    }

    @Test
    func `memory is bounded before the measurement by what is needed after it`() throws {
        let text = onePipeline(["shave", "halve"])
        let measured = [Planner.StagePath(rendition: 0, stage: 0): Self.box]
        let before = try plan(text, .png(4000, 3000), catalogue: Self.catalogue)
        let after = try plan(text, .png(4000, 3000), catalogue: Self.catalogue, measurements: measured)
        #expect(before.memory >= after.memory)
        #expect(before.load.beginning == .held)
    }

    @Test
    func `a catalogue knows no other stages`() {
        let words = mistakes(onePipeline(["resize: { size: 10 }"]), catalogue: Self.catalogue)
        #expect(words == ["7:9 unknown stage 'resize'; the stages are shave, halve"])
    }
}
