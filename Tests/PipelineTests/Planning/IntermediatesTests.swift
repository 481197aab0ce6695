import Stages
import Testing

@testable import Pipeline

/// The pictures that stages hold in memory, and their effect on limits and bytes.
struct IntermediatesTests {
    private static let assets = [
        "red.png": AssetFacts(size: PixelSize(64, 32), pixelsPerPoint: 1, isGrey: false),
        "huge.png": AssetFacts(
            size: PixelSize(6000, 4000), pixelsPerPoint: 1, isGrey: false, decoding: 10 * 24_000_000),
        // 24.4 by 11.7 points.
        "mark.svg": AssetFacts(size: PixelSize(1562, 749), pixelsPerPoint: 64, isGrey: false, isVector: true),
    ]

    private func step(
        _ stage: String, _ source: SourceFacts = .png(400, 300), limits: Limits = Limits()
    ) throws -> PlannedStage {
        try #require(
            try plan(onePipeline([stage], save: "{ format: webp }"), source, assets: Self.assets, limits: limits)
                .renditions[0].steps.last)
    }

    @Test(arguments: [
        ("resize: { size: 100 }", ["100×75 in rgb"]),
        ("resize: { size: 100, linear: true }", ["100×75 in rgb, floating point"]),
        ("resize: { size: 100, kernel: nearest }", ["100×75 in rgb"]),
        ("frame: { width: 300, height: 300, mode: aspect-fill }", []),
        ("frame: { width: 50, height: 600, mode: aspect-fill, background: '#f008' }", ["800×600 in rgb"]),
        ("crop: { width: 10, height: 10 }", []), ("rotate: { angle: 90 }", []),
        ("rotate: { angle: 20 }", ["478×419 in rgb with alpha"]),
        ("flatten", []),
        ("blur: { sigma: 4 }", []), ("blur: { sigma: 80 }", ["40×30 in rgb", "40×30 in rgb"]),
        ("mask: { corner-radius: 5 }", ["400×300 in gray", "400×300 in gray"]),
        ("mask: { image: red.png }", ["400×300 in rgb with alpha"]),
        ("tile: { width: 9, height: 9 }", ["400×300 in rgb"]),
        ("nine-slice: { width: 500, height: 600, cap-insets: { all: 5 } }", ["400×300 in rgb", "500×600 in rgb"]),
        ("overlay: { image: red.png, width: 10 }", ["10×5 in rgb with alpha"]),
        (
            "overlay: { image: red.png, stages: [ { resize: { size: 200% } }, { crop: { width: 8, height: 8 } } ], width: 20 }",
            [
                "64×32 in rgb with alpha", "128×64 in rgb with alpha", "8×8 in rgb with alpha",
                "20×20 in rgb with alpha",
            ]
        ),
        (
            "composite: { layers: [ { source: true }, { color: '#888', width: 9, height: 8 } ] }",
            ["400×300 in rgb with alpha", "9×8 in gray with alpha"]
        ),
        (
            "composite: { layers: [ { layers: [ { image: red.png } ], width: 30, height: 20 } ] }",
            [
                "64×32 in rgb with alpha", "30×20 in rgb with alpha",
            ]
        ),
    ])
    func `each stage lists what it holds`(stage: String, expected: [String]) throws {
        #expect(try step(stage).plan.intermediates.map { "\($0.size) in \($0.pixels)" } == expected)
    }

    @Test(arguments: [
        ("overlay: { image: mark.svg }", ["24×12"], ["24×12"]),
        ("overlay: { image: mark.svg, width: 244 }", ["244×117"], ["244×117"]),
        ("overlay: { image: mark.svg, height: 10% }", ["63×30"], ["63×30"]),
        // Its stages begin with whole pixels, and with more of them if what they make would be enlarged.
        (
            "overlay: { image: mark.svg, stages: [ { opacity: { alpha: 0.5 } } ], width: 40 }", ["49×23"],
            ["49×23", "49×23", "40×19"]
        ),
        (
            "overlay: { image: mark.svg, stages: [ { resize: { size: 100x } } ] }", ["122×59"],
            ["122×59", "100×50", "100×50"]
        ),
        (
            "composite: { layers: [ { image: mark.svg, width: 244 }, { layers: [ { image: mark.svg } ] } ] }",
            ["244×117", "24×12"], ["244×117", "24×12", "400×300"]
        ),
        // One that is stretched is drawn so large that neither side is enlarged.
        ("mask: { image: mark.svg }", ["626×300"], ["400×300", "626×300"]),
        ("overlay: { image: red.png }", [], ["64×32"]),
    ])
    func `each stage lists the sizes in which it has vector assets drawn`(
        stage: String, drawings: [String], held: [String]
    ) throws {
        let plan = try step(stage).plan
        #expect(plan.drawings.map(\.description) == drawings)
        #expect(plan.intermediates.map { "\($0.size)" } == held)
    }

    @Test func `a drawing counts as an SVG source does while it is drawn, and its asset for nothing`() throws {
        func memory(_ stage: String) throws -> Int {
            try plan(
                onePipeline([stage], save: "{ format: webp }"), .png(400, 300),
                assets: ["mark.svg": try #require(Self.assets["mark.svg"])]
            ).memory
        }
        let (small, large) = (
            try memory("overlay: { image: mark.svg, width: 500 }"),
            try memory("overlay: { image: mark.svg, width: 1000 }")
        )
        let more = 1000 * 479 - 500 * 240
        #expect((20 * more..<30 * more).contains(large - small), "\(Double(large - small) / Double(more))")
    }

    @Test func `each frame of an animation has pictures of its own`() throws {
        let source = SourceFacts(format: .webp, size: PixelSize(40, 30), frames: 5, hasAlpha: true)
        for stage in [
            "resize: { size: 10 }", "mask: { shape: circle }",
            "composite: { layers: [ { source: true, stages: [ { blur: { sigma: 2 } } ] } ] }",
        ] {
            #expect(try step(stage, source).plan.intermediates.allSatisfy { $0.frames == 5 }, "\(stage)")
        }
        // A picture that is the same on each frame is made once.
        for stage in ["text: { text: Hi }", "composite: { layers: [ { color: red } ] }"] {
            let intermediates = try step(stage, source).plan.intermediates
            #expect(!intermediates.isEmpty && intermediates.contains { $0.frames == 1 }, "\(stage)")
        }
    }

    @Test(arguments: [
        (
            "overlay: { image: red.png, stages: [ { frame: { width: 1, height: 60000, mode: aspect-fill } } ] }",
            "overlay", "120000×60000"
        ),
        ("overlay: { image: red.png, width: 200000 }", "overlay", "200000×100000"),
        (
            "composite: { layers: [ { layers: [ { source: true, stages: [ { resize: { size: 50000x } } ] } ], width: 9, height: 9 } ] }",
            "composite",
            "50000×37500"
        ),
    ])
    func `the limit holds for every one of them, those of nested stages and layers too`(
        stage: String, name: String, size: String
    ) throws {
        let failure = try planFailure(onePipeline([stage]), .png(400, 300), assets: Self.assets)
        let words = "'\(name)' would make a picture of \(size) pixels; the limit is 100000000 (max-pixels)"
        #expect(failure == Failure(.tooManyPixels, stage: name, words))
    }

    @Test func `memory counts every one of them, and the assets themselves`() throws {
        func memory(_ stage: String, assets: [String: AssetFacts]) throws -> Int {
            try plan(onePipeline([stage], save: "{ format: png }"), .png(400, 300), assets: assets).memory
        }
        let none = try memory("crop: { width: 90%, height: 90% }", assets: [:])
        // The memory that the decoder of 24 megapixels may take, less the memory that the picture takes afterwards.
        let huge = try memory("overlay: { image: huge.png, width: 10 }", assets: ["huge.png": Self.assets["huge.png"]!])
        #expect(huge - none >= 9 * 24_000_000)
        let small = ["red.png": Self.assets["red.png"]!]
        let nested = try memory(
            "overlay: { image: red.png, stages: [ { resize: { size: 5000x5000! } } ], width: 10 }", assets: small)
        #expect(nested - none >= 100_000_000)
    }
}
