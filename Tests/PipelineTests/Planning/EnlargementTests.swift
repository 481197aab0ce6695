import Stages
import Testing

@testable import Pipeline

@Suite struct EnlargementTests {
    private func plan(
        _ stages: [String], scale: String = "1", shared: String = "[]", format: SourceFormat = .svg,
        size: PixelSize = PixelSize(24, 24),
        _ limits: Limits = Limits()
    ) throws -> SourcePlan {
        let list = stages.map { "[\($0)]" }.enumerated().map {
            "  r\($0): { scale: \(scale), stages: \($1), save: { format: png }, file: '{stem}-\($0)-{scale}.{ext}' }"
        }
        let text = "stages: \(shared)\nrenditions:\n" + list.joined(separator: "\n")
        let pipeline = try PipelineFile(text: text, file: "p.yaml", catalogue: .all)
        let facts = SourceFacts(format: format, size: size, hasAlpha: true)
        return try Planner(pipeline: pipeline, assets: [:], limits: limits).plan(facts, pixelsPerPoint: 1)
    }

    @Test
    func `a vector picture is drawn as large as its largest rendition, without a warning of enlarged pixels`() throws {
        let one = try plan(["resize: { size: 600 }"])
        #expect(one.load.enlargement == 25 && one.renditions[0].output.size == PixelSize(600, 600))
        #expect(one.warnings.isEmpty)
        #expect(try plan(["resize: { size: 600 }", "resize: { size: 100 }"]).load.enlargement == 25)
        #expect(try plan(["resize: { size: 40 }"], scale: "[1, 2, 3]").drawings.map(\.load.factor) == [2, 4, 6])
        #expect(try plan(["resize: { size: 100 }"], shared: "[grayscale]").load.enlargement == 5)
        #expect(try plan(["frame: { width: 120, height: 60, mode: aspect-fill }"]).load.enlargement == 5)
    }

    @Test
    func `one that is smaller than its file says is drawn smaller, and one that is used as it is in its own size`()
        throws
    {
        let small = try plan(["resize: { size: 100 }"], size: PixelSize(1000, 1000)).load
        #expect(small.enlargement == 1 && small.shrink == 4)
        #expect(try plan([""]).load.enlargement == 1)
        #expect(try plan(["inset: { all: 10% }, resize: { size: 600 }"]).load.enlargement == 1)
    }

    @Test func `each of several renditions is drawn in the size that it needs, whatever the others do`() throws {
        func sizes(_ stages: [String], scale: String = "1") throws -> [Int] {
            try plan(stages, scale: scale).drawings.map { Int($0.load.factor) }
        }
        #expect(try sizes(["", "resize: { size: 600 }"]) == [1, 25])
        // A frame of the picture's own size at the first scale.
        #expect(try sizes(["frame: { width: 24, height: 24 }"], scale: "[1, 2, 3]") == [1, 2, 3])
        for stage in [
            "viewport: { width: 9, height: 9 }", "tile: { width: 90, height: 90 }",
            "frame: { width: 9, height: 9, mode: center }",
            "composite: { width: 24, height: 24, layers: [{ source: true }] }",
        ] {
            let plan = try plan([stage], scale: "[1, 2, 3]")
            #expect(plan.drawings.map(\.load.factor) == [1, 2, 3], "\(stage)")
            #expect(plan.warnings.isEmpty, "\(stage): \(plan.warnings)")
        }
        let small = try plan(["resize: { size: 100 }", "resize: { size: 500 }"], size: PixelSize(1000, 1000))
        #expect(small.drawings.map(\.load.shrink) == [4, 1])
        #expect(small.memory == small.drawings.map(\.memory).max())
        #expect(try plan(["resize: { size: 600 }"]).drawings.isEmpty)
        #expect(try plan(["", "resize: { size: 60 }"], format: .png).drawings.isEmpty)
    }

    @Test
    func `a vector picture has as many pixels to a point as the scale of each rendition, whatever the first stage is`()
        throws
    {
        let stages = [
            "crop: { x: 2, y: 2, width: 20, height: 20 }, tile: { width: 40, height: 40 }",
            "mask: { shape: circle }, frame: { width: 24, height: 24 }",
            "inset: { all: 2 }, frame: { width: 28, height: 28 }",
            "nine-slice: { width: 40, height: 30, cap-insets: { leading: 8, trailing: 8, top: 8, bottom: 8 } }",
            "crop: { x: 2, y: 2, width: 20, height: 20 }, resize: { width: 20 }",
            "resize: { size: 50% }, frame: { width: 12, height: 12 }", "resize: { width: 24, linear: true }",
            "rotate: { angle: 45 }, resize: { width: 20 }",
        ]
        for stage in stages {
            let plan = try plan([stage], scale: "[1, 2, 3]")
            #expect(plan.drawings.map(\.load.scale) == [1, 2, 3], "\(stage)")
            #expect(plan.warnings.isEmpty, "\(stage): \(plan.warnings)")
            let sizes = plan.renditions.map(\.output.size)
            let one = sizes[0]
            for (size, scale) in zip(sizes, [1, 2, 3]) {
                #expect(size == PixelSize(one.width * scale, one.height * scale), "\(stage)")
            }
        }
        // A picture that is looked at first is drawn in its own size, and so is one that would be too large.
        let trimmed = try plan(["trim: {}, frame: { width: 9, height: 9 }"], scale: "[1, 2]")
        #expect(trimmed.drawings.map(\.load.scale) == [1, 1])
        let large = try plan(
            ["frame: { width: 9, height: 9 }"], scale: "[1, 2]", size: PixelSize(6_000, 6_000))
        #expect(large.drawings.map(\.load.scale) == [1, 1])
    }

    @Test func `pictures of pixels are never enlarged while they are loaded`() throws {
        let plan = try plan(["resize: { size: 600 }"], format: .png)
        #expect(plan.load.enlargement == 1 && plan.warnings.map(\.code) == [.upscaled])
    }

    @Test func `the limit of pixels holds for what is drawn`() throws {
        var limits = Limits()
        limits.maximumPixels = 1_000_000
        // 1000 × 10 from a source of 3 × 24 would be 1002 × 8016.
        let plan = try plan(["resize: { size: '1000x10!' }"], size: PixelSize(3, 24), limits)
        #expect(plan.load.enlargement == 117)
        #expect(plan.memory > CostModel.base)
    }
}
