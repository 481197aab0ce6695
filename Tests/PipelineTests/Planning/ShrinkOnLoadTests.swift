import Stages
import Testing

@testable import Pipeline

struct ShrinkOnLoadTests {
    /// A JPEG of 6000×4000 through the stages, saved.
    struct Case: Sendable, CustomTestStringConvertible {
        var shared: [String] = []
        var stages: [String] = []
        var save = "{ format: jpeg, quality: 80 }"
        let factor: Int
        var testDescription: String { "\(shared + stages) \(save)" }
    }

    private static func sized(_ side: Int, _ save: String, _ factor: Int) -> Case {
        Case(stages: ["resize: { size: \(side) }"], save: save, factor: factor)
    }

    static let qualities = [
        // The rest of the scaling must be by 2 at least, or by 1.3 after a factor of 2 if the encoder hides it.
        sized(1000, "{ format: jpeg, quality: 80 }", 2), sized(1500, "{ format: jpeg, quality: 80 }", 2),
        sized(750, "{ format: jpeg, quality: 80 }", 4), sized(751, "{ format: jpeg, quality: 80 }", 2),
        sized(375, "{ format: jpeg, quality: 80 }", 8), sized(376, "{ format: jpeg, quality: 80 }", 4),
        sized(20, "{ format: jpeg, quality: 80 }", 8),
        sized(2307, "{ format: jpeg, quality: 80 }", 2), sized(2308, "{ format: jpeg, quality: 80 }", 1),
        sized(2307, "{ format: jpeg, quality: 90 }", 2), sized(2307, "{ format: jpeg, quality: 91 }", 1),
        sized(1500, "{ format: jpeg, quality: 91 }", 2), sized(1501, "{ format: jpeg, quality: 91 }", 1),
        sized(2307, "{ format: webp, quality: 90 }", 2), sized(2307, "{ format: webp, lossless: true }", 1),
        sized(2307, "{ format: avif, quality: 75 }", 2), sized(2307, "{ format: avif, quality: 76 }", 1),
        sized(2307, "{ format: png }", 1), sized(1500, "{ format: png }", 2), sized(1500, "{ format: tiff }", 2),
        sized(1500, "{ format: gif }", 2),
        sized(8000, "{ format: jpeg }", 1), sized(6000, "{ format: jpeg }", 1),
    ]

    static let small = "resize: { size: 300 }"

    static let stages = [
        Case(factor: 1),
        // Stages that treat all pixels alike keep it.
        Case(stages: ["flip: { axis: horizontal }", small], factor: 8),
        Case(stages: ["flip: { axis: vertical }", small], factor: 8),
        Case(stages: ["rotate: { angle: 90 }", small], factor: 8),
        Case(stages: ["rotate: { angle: 180 }", "rotate: { angle: -90 }", small], factor: 8),
        Case(stages: ["flatten", "opacity: { alpha: 0.5 }", "grayscale", small], factor: 8),
        Case(shared: ["grayscale"], stages: [small], factor: 8),
        Case(shared: [small], factor: 8),
        // A shared stage scales for savers that hide nothing too, which may come to be beside this one.
        Case(shared: ["resize: { size: 2000 }"], stages: [small], factor: 1),
        Case(shared: ["resize: { size: 1400 }"], stages: [small], factor: 2),
        // Stages that count in pixels of the source prevent it.
        Case(stages: ["crop: { width: 50%, height: 50% }", small], factor: 1),
        Case(stages: ["inset: { all: 2% }", small], factor: 1),
        Case(stages: ["blur: { sigma: 2 }", small], factor: 1),
        Case(stages: ["sharpen", small], factor: 1),
        Case(stages: ["rotate: { angle: 5 }", small], factor: 1),
        Case(stages: ["mask: { shape: circle }", small], factor: 1),
        Case(shared: ["inset: { all: 2% }"], stages: [small], factor: 1),
        // Stages after the scaling do not matter.
        Case(stages: [small, "crop: { width: 50%, height: 50% }", "blur: { sigma: 2 }"], factor: 8),
        Case(stages: ["resize: { size: 300, linear: true }"], factor: 1),
        Case(stages: ["resize: { size: 300, kernel: nearest }"], factor: 1),
        Case(stages: ["resize: { size: 300, kernel: mitchell }"], factor: 8),
        // The side that shrinks least decides.
        Case(stages: ["resize: { size: 300x2500! }"], factor: 1),
        Case(stages: ["frame: { width: 300, height: 300 }"], factor: 8),
        Case(stages: ["frame: { width: 300, height: 300, mode: aspect-fill }"], factor: 4),
        Case(stages: ["frame: { width: 300, height: 300, mode: center }"], factor: 1),
    ]

    @Test(arguments: qualities)
    func `how far loading shrinks depends on what is left to do and on what the encoder hides`(item: Case) throws {
        #expect(try factor(item, .jpeg(6000, 4000)) == item.factor)
    }

    @Test(arguments: stages)
    func `every stage before the first scaling one must treat all pixels alike`(item: Case) throws {
        #expect(try factor(item, .jpeg(6000, 4000)) == item.factor)
    }

    @Test(
        arguments: [
            (.jpeg, 1, 8), (.webp, 1, 8), (.webp, 5, 1), (.png, 1, 1), (.gif, 1, 1), (.tiff, 1, 1), (.heic, 1, 1),
            (.avif, 1, 1),
        ] as [(SourceFormat, Int, Int)])
    func `only decoders that can shrink are asked to`(format: SourceFormat, frames: Int, factor: Int) throws {
        let source = SourceFacts(format: format, size: PixelSize(6000, 4000), frames: frames)
        #expect(try self.factor(Case(stages: [Self.small], factor: factor), source) == factor)
    }

    @Test(arguments: 1...8)
    func `the orientation of the source is applied before the sides are compared`(orientation: Int) throws {
        let source = SourceFacts(format: .jpeg, size: PixelSize(6000, 4000), orientation: orientation)
        #expect(try factor(Case(stages: [Self.small], factor: 8), source) == 8)
        #expect(
            try factor(Case(stages: ["resize: { size: 300x2000! }"], factor: 8), source) == (orientation >= 5 ? 2 : 1))
    }

    @Test
    func `of several renditions the one that needs most decides`() throws {
        let text = """
            renditions:
              small: { stages: [resize: { size: 300 }], save: { format: jpeg } }
              large: { stages: [resize: { size: 1600 }], save: { format: jpeg } }
            """
        #expect(try plan(text, .jpeg(6000, 4000)).load.shrink == 2)
        let scales = onePipeline([Self.small], save: "{ format: jpeg }", scale: "[1, 2]")
        #expect(try plan(scales, .jpeg(6000, 4000)).load.shrink == 4)
    }

    private func factor(_ item: Case, _ source: SourceFacts) throws -> Int {
        try plan(onePipeline(item.stages, shared: item.shared, save: item.save), source).load.shrink
    }

    @Test
    func `sides that do not divide keep whole pixels unless the decoded picture itself is scaled`() throws {
        // 1/2 of 6001 is 3001, of which the last stands for half a pixel.
        #expect(try factor(Case(stages: [Self.small], factor: 8), .jpeg(6001, 4003)) == 8)
        #expect(
            try factor(Case(stages: ["flip: { axis: horizontal }", Self.small], factor: 1), .jpeg(6001, 4003)) == 1)
        #expect(
            try factor(Case(stages: ["flip: { axis: horizontal }", Self.small], factor: 2), .jpeg(6002, 4006)) == 2)
        #expect(try factor(Case(shared: [Self.small], factor: 1), .jpeg(6001, 4003)) == 1)
    }

    @Test
    func `a file that spends many bits on a pixel is decoded by the stricter rule`() throws {
        var source = SourceFacts.jpeg(6000, 4000)
        source.bytes = 9_000_000
        #expect(try factor(Self.sized(2307, "{ format: jpeg, quality: 80 }", 2), source) == 2)
        source.bytes = 9_000_001
        #expect(try factor(Self.sized(2307, "{ format: jpeg, quality: 80 }", 1), source) == 1)
        #expect(try factor(Self.sized(1500, "{ format: jpeg, quality: 80 }", 2), source) == 2)
    }
}
