import Stages
import Testing

@testable import Pipeline

struct PlannerTests {
    private static let photo = SourceFacts.jpeg(6000, 4000)

    // MARK: - The picture from stage to stage

    @Test
    func `stages follow each other, each on the result of the one before`() throws {
        let plan = try plan(
            onePipeline(["resize: { size: 600 }", "crop: { width: 50%, height: 50% }", "rotate: { angle: 90 }"]),
            Self.photo)
        let rendition = try #require(plan.renditions.first)
        #expect(rendition.steps.map(\.name) == ["resize", "crop", "rotate"])
        #expect(rendition.steps.map(\.input.size.description) == ["6000×4000", "600×400", "300×200"])
        #expect(rendition.output.size == PixelSize(200, 300))
    }

    @Test
    func `shared stages work at scale 1, those of a rendition at its own`() throws {
        let text = onePipeline(["frame: { width: 60, height: 60 }"], shared: ["inset: { all: 10 }"], scale: "[1, 2, 3]")
        let plan = try plan(text, .png(100, 100))
        #expect(plan.shared.map(\.output.size) == [PixelSize(120, 120)])
        #expect(plan.renditions.map(\.output.size) == [PixelSize(60, 60), PixelSize(120, 120), PixelSize(180, 180)])
        #expect(plan.renditions.map(\.title) == ["one", "one@2x", "one@3x"])
        #expect(plan.renditions.map(\.scale) == [1, 2, 3])
    }

    @Test
    func `a shared resize in points leaves one pixel in a point, whatever the name says`() throws {
        let text = onePipeline(
            ["frame: { width: 10, height: 10, mode: top-left }"], shared: ["resize: { size: 50 }"], scale: "2")
        let plan = try plan(text, .png(100, 100), pixelsPerPoint: 2)
        #expect(plan.shared.first?.output.pixelsPerPoint == 1)
        #expect(plan.renditions.first?.steps.first?.plan.note == "drawn 100×100 at (0, 0)")
    }

    @Test(arguments: [(1, "drawn 100×80 at (0, 0)"), (2, "drawn 50×40 at (0, 0)"), (3, "drawn 33×27 at (0, 0)")])
    func `the @Nx of the source's name gives its natural size`(pixelsPerPoint: Int, note: String) throws {
        let text = onePipeline(["frame: { width: 200, height: 200, mode: top-left }"])
        let plan = try plan(text, .png(100, 80), pixelsPerPoint: pixelsPerPoint)
        #expect(plan.renditions.first?.steps.first?.plan.note == note)
    }

    @Test(arguments: 1...8)
    func `the orientation is applied before the first stage`(orientation: Int) throws {
        let source = SourceFacts(format: .jpeg, size: PixelSize(60, 40), orientation: orientation)
        #expect(
            try plan(onePipeline([]), source).decoded.size == (orientation >= 5 ? PixelSize(40, 60) : PixelSize(60, 40))
        )
    }

    @Test(
        arguments: [
            ("srgb", .rgb, .rgb), ("srgb", .grey, .grey), ("srgb", .cmyk, .rgb), ("srgb", .lab, .rgb),
            ("keep", .rgb, .rgb), ("keep", .grey, .grey), ("keep", .cmyk, .cmyk), ("keep", .lab, .lab),
        ] as [(String, ColourModel, ColourModel)])
    func `colours become sRGB, grey stays grey, and a kept profile keeps them`(
        profile: String, colour: ColourModel, decoded: ColourModel
    )
        throws
    {
        for hasProfile in [false, true] {
            let source = SourceFacts(format: .tiff, size: PixelSize(60, 40), colour: colour, hasProfile: hasProfile)
            let plan = try plan(onePipeline([], save: "{ format: tiff }", head: "profile: \(profile)"), source)
            #expect(plan.decoded.colour == decoded)
            #expect(plan.decoded.hasProfile == (profile == "keep" && hasProfile))
        }
    }

    @Test(
        arguments: [
            ("png", true, "sixteen"), ("tiff", true, "sixteen"), ("avif", true, "sixteen"), ("jxl", true, "sixteen"),
            ("webp", true, "eight"),
            ("gif", true, "eight"),
            ("jpeg", false, "eight"), ("tiff, compression: jpeg", false, "eight"),
        ])
    func `alpha and 16 bits stay where the format has them`(format: String, hasAlpha: Bool, depth: String) throws {
        let source = SourceFacts(format: .png, size: PixelSize(60, 40), hasAlpha: true, depth: .sixteen)
        let output = try #require(
            try plan(onePipeline([], save: "{ format: \(format) }"), source).renditions.first?.output)
        #expect(output.hasAlpha == hasAlpha)
        #expect(output.depth.rawValue == depth)
    }

    @Test
    func `a format without animation gets the first frame alone, beside one that gets all`() throws {
        let text = """
            stages: [flip: { axis: horizontal }]
            renditions:
              still: { save: { format: png } }
              moving: { save: { format: webp } }
            """
        let plan = try plan(text, .gif(40, 30, frames: 12))
        #expect(plan.load.loadsAllFrames)
        #expect(plan.shared.first?.output.frames == 12)
        #expect(plan.renditions.map(\.output.frames) == [1, 12])
    }

    @Test
    func `where no format has animation only the first frame is loaded`() throws {
        #expect(try !plan(onePipeline([]), .gif(40, 30, frames: 12)).load.loadsAllFrames)
    }

    // MARK: - Holding the picture

    struct Holding: Sendable, CustomTestStringConvertible {
        var stages: [String] = []
        var shared: [String] = []
        var scale = "1"
        var orientation = 1
        let beginning: Beginning
        var testDescription: String { "\(shared) \(stages) \(scale) \(orientation)" }
    }

    @Test(
        arguments: [
            Holding(stages: ["flip: { axis: horizontal }"], beginning: .streamed),
            Holding(stages: ["flip: { axis: vertical }"], beginning: .held),
            Holding(stages: ["rotate: { angle: 90 }"], beginning: .held),
            Holding(shared: ["rotate: { angle: 90 }"], beginning: .held),
            Holding(
                stages: ["crop: { width: 10, height: 10 }", "resize: { size: 5 }"], scale: "[1, 2]",
                beginning: .upright(isHeld: true, then: .held)),
            Holding(
                stages: ["crop: { width: 10, height: 10 }", "resize: { size: 5 }"], shared: ["inset: { all: 5 }"],
                scale: "[1, 2]", beginning: .upright(isHeld: false, then: .held)),
            Holding(orientation: 2, beginning: .streamed), Holding(orientation: 3, beginning: .held),
            Holding(orientation: 6, beginning: .held),
            // A picture that every rendition scales first is scaled while it is loaded, and turned when it is small.
            Holding(stages: ["resize: { size: 10 }"], beginning: .scaled(turnedLate: false)),
            Holding(stages: ["resize: { size: 10 }"], scale: "[1, 2]", beginning: .scaled(turnedLate: false)),
            Holding(
                stages: ["resize: { size: 10 }"], shared: ["inset: { all: 5 }"], scale: "[1, 2]",
                beginning: .upright(isHeld: false, then: .scaled)),
            Holding(
                stages: ["resize: { size: 10 }"], scale: "[1, 2]", orientation: 6,
                beginning: .scaled(turnedLate: true)),
            Holding(
                stages: ["resize: { size: 10 }"], shared: ["inset: { all: 5 }"], orientation: 6,
                beginning: .upright(isHeld: true, then: .scaled)),
            Holding(
                stages: ["resize: { size: 10, kernel: nearest }"], scale: "[1, 2]",
                beginning: .upright(isHeld: true, then: .held)),
        ])
    func `the decoded picture is held only where rows are needed again or out of order`(item: Holding) throws {
        let source = SourceFacts(format: .png, size: PixelSize(60, 40), orientation: item.orientation)
        let plan = try plan(onePipeline(item.stages, shared: item.shared, scale: item.scale), source)
        #expect(plan.load.beginning == item.beginning)
    }

    @Test
    func `an animation is held, since frames are cut out of one tall picture`() throws {
        #expect(try plan(onePipeline([], save: "{ format: webp }"), .gif(40, 30, frames: 2)).load.beginning.isHeld)
        #expect(
            try plan(onePipeline([], save: "{ format: png }"), .gif(40, 30, frames: 2)).load.beginning.isHeld == false)
    }

    // MARK: - Warnings

    @Test
    func `a crop in points cuts the same part at every scale, and as many pixels as the name says`() throws {
        let text = onePipeline(
            ["crop: { width: 300, height: 200 }", "frame: { width: 150, height: 100 }"], scale: "[1, 2]")
        let plain = try plan(text, .jpeg(1920, 1080))
        #expect(plain.renditions.map { $0.steps[0].plan.note } == ["cut at (810, 440)", "cut at (810, 440)"])
        #expect(plain.renditions.map { $0.steps[0].output.size } == [PixelSize(300, 200), PixelSize(300, 200)])
        #expect(plain.renditions.map { $0.output.size } == [PixelSize(150, 100), PixelSize(300, 200)])
        let double = try plan(text, .jpeg(1920, 1080), pixelsPerPoint: 2)
        #expect(double.renditions.map { $0.steps[0].output.size } == [PixelSize(600, 400), PixelSize(600, 400)])
    }

    @Test
    func `a picture that is enlarged is warned of, at every scale and in the shared stages`() throws {
        let text = onePipeline(["resize: { size: 90 }"], shared: ["resize: { size: 50 }"], scale: "[1, 2]")
        #expect(
            try plan(text, .png(40, 20)).warnings == [
                Warning(.upscaled, "the shared stages: 'resize' enlarges 40×20 to 50×25"),
                Warning(.upscaled, "'one': 'resize' enlarges 50×25 to 90×45"),
                Warning(.upscaled, "'one@2x': 'resize' enlarges 50×25 to 180×90"),
            ])
        #expect(try plan(onePipeline(["resize: { size: '90>' }"]), .png(40, 20)).warnings.isEmpty)
    }

    @Test func `what is to be said of several formats of one rendition is said once`() throws {
        let text = "renditions:\n  one: { stages: [{ resize: { size: 90 } }], save: { format: [jpeg, webp] } }\n"
        let plan = try plan(text, .png(40, 20))
        #expect(plan.renditions.count == 2)
        #expect(plan.warnings == [Warning(.upscaled, "'one': 'resize' enlarges 40×20 to 90×45")])
    }

    @Test
    func `the warning of a frame that enlarges names the size at which the picture is drawn`() throws {
        #expect(
            try plan(onePipeline(["frame: { width: 80, height: 80 }"]), .png(40, 20)).warnings == [
                Warning(.upscaled, "'one': 'frame' enlarges 40×20 to 80×40")
            ])
    }

    @Test
    func `an animation that is saved as one picture is warned of`() throws {
        let text = onePipeline([], save: "{ format: png }")
        #expect(
            try plan(text, .gif(40, 30, frames: 12)).warnings == [
                Warning(.animationDropped, "'one': png has no animation; only the first of 12 frames is used")
            ])
        #expect(try plan(text, .gif(40, 30, frames: 1)).warnings.isEmpty)
        #expect(try plan(onePipeline([], save: "{ format: gif }"), .gif(40, 30, frames: 12)).warnings.isEmpty)
    }

    @Test(arguments: [SourceFormat.tiff, .heic, .avif])
    func `pages that are not used are warned of, whatever the output`(format: SourceFormat) throws {
        let source = SourceFacts(format: format, size: PixelSize(60, 40), frames: 3)
        for output in ["png", "webp"] {
            let plan = try plan(onePipeline([], save: "{ format: \(output) }"), source)
            #expect(plan.warnings == [Warning(.pagesDropped, "the file has 3 pages; only the first is used")])
            #expect(plan.decoded.frames == 1)
        }
    }

    @Test
    func `a source that loses depth to the format that stands for its own is warned of`() throws {
        func warnings(_ format: SourceFormat, _ depth: BitDepth, alpha: Bool = false, save: String) throws -> [Warning]
        {
            let source = SourceFacts(format: format, size: PixelSize(60, 40), hasAlpha: alpha, depth: depth)
            return try plan(onePipeline([], save: save), source).warnings
        }
        let words = "'one': jpeg has 8 bits a channel, the heic has more; avif, jxl, png and tiff keep them"
        #expect(try warnings(.heic, .sixteen, save: "{ format: same }") == [Warning(.depthReduced, words)])
        #expect(try warnings(.jp2, .sixteen, save: "{ format: same }").map(\.code) == [.depthReduced])
        #expect(try warnings(.heic, .sixteen, alpha: true, save: "{ format: same }").isEmpty)
        #expect(try warnings(.heic, .eight, save: "{ format: same }").isEmpty)
        #expect(try warnings(.png, .sixteen, save: "{ format: same }").isEmpty)
        #expect(try warnings(.avif, .sixteen, save: "{ format: same }").isEmpty)
        // A user who writes `jpeg` knows what it holds.
        #expect(try warnings(.heic, .sixteen, save: "{ format: jpeg }").isEmpty)
    }

    // MARK: - Limits

    private static func limits(pixels: Int = 100_000_000, frames: Int = 500) -> Limits {
        var limits = Limits()
        limits.maximumPixels = pixels
        limits.maximumFrames = frames
        return limits
    }

    @Test
    func `a source with too many pixels is refused before anything else`() throws {
        let failure = try planFailure(onePipeline([]), .png(101, 100), limits: Self.limits(pixels: 10_000))
        let words = "the picture has 101×100 pixels; the limit is 10000 in all (max-pixels)"
        #expect(failure == Failure(.tooManyPixels, stage: "read", words))
        #expect(try planFailure(onePipeline([]), .png(100, 100), limits: Self.limits(pixels: 10_000)) == nil)
    }

    @Test
    func `a source is refused by the size that its codec's header gives, and its memory is that of the decoder`() throws
    {
        var source = SourceFacts(format: .avif, size: PixelSize(16, 16))
        let small = try plan(onePipeline([]), source).memory
        source.coded = CodedPicture(PixelSize(65_536, 65_536))
        let words =
            "the picture has 16×16 pixels, and its codec's header says 65536×65536; the limit is 100000000 in all (max-pixels)"
        #expect(try planFailure(onePipeline([]), source) == Failure(.tooManyPixels, stage: "read", words))
        source.coded = CodedPicture(PixelSize(8_000, 8_000))
        #expect(try plan(onePipeline([]), source).memory > small + 600_000_000)
    }

    @Test
    func `a source with more bands than the limit is refused`() throws {
        var limits = Limits()
        let source = SourceFacts(format: .tiff, size: PixelSize(6, 4), hasAlpha: true, colour: .cmyk)
        #expect(try planFailure(onePipeline([]), source, limits: limits) == nil)
        limits.maximumBands = 4
        let words = "the picture has 5 bands; the limit is 4 (max-bands)"
        #expect(
            try planFailure(onePipeline([]), source, limits: limits) == Failure(.tooManyBands, stage: "read", words))
    }

    @Test
    func `a page that the file does not have is refused, and one that it has is a still without a warning`() throws {
        let text = onePipeline([], save: "{ format: webp }", head: "page: 3")
        let words = "expected page 3, which the pipeline asks for ('page'); the file has 2 pages or frames"
        #expect(try planFailure(text, .gif(5, 5, frames: 2)) == Failure(.noSuchPage, stage: "read", words))
        #expect(try planFailure(text, .png(5, 5))?.message == words.replacing("2 pages or frames", with: "one"))
        var source = SourceFacts.gif(5, 5, frames: 3)
        source.page = 3
        let plan = try plan(text, source)
        #expect(
            plan.renditions[0].output.frames == 1 && !plan.load.loadsAllFrames && plan.warnings.isEmpty,
            "\(plan.warnings)")
    }

    @Test
    func `the pixels of all frames count where all are loaded`() throws {
        let source = SourceFacts.gif(50, 50, frames: 5)
        let moving = onePipeline([], save: "{ format: gif }")
        let words = "the picture has 5 frames of 50×50 pixels; the limit is 10000 in all (max-pixels)"
        #expect(
            try planFailure(moving, source, limits: Self.limits(pixels: 10_000))
                == Failure(.tooManyPixels, stage: "read", words))
        #expect(try planFailure(moving, source, limits: Self.limits(pixels: 12_500)) == nil)
        #expect(try planFailure(onePipeline([]), source, limits: Self.limits(pixels: 10_000)) == nil)
    }

    @Test
    func `a source whose pixels no number can hold is refused`() throws {
        let source = SourceFacts(format: .gif, size: PixelSize(10_000_000, 10_000_000), frames: 1_000_000)
        let failure = try planFailure(
            onePipeline([], save: "{ format: gif }"), source, limits: Self.limits(frames: 1_000_000))
        #expect(failure?.code == .tooManyPixels)
    }

    @Test
    func `an animation with too many frames is refused where all are loaded`() throws {
        let source = SourceFacts.gif(5, 5, frames: 11)
        let words = "the animation has 11 frames; the limit is 10 (max-frames)"
        let failure = try planFailure(
            onePipeline([], save: "{ format: webp }"), source, limits: Self.limits(frames: 10))
        #expect(failure == Failure(.tooManyFrames, stage: "read", words))
        #expect(try planFailure(onePipeline([]), source, limits: Self.limits(frames: 10)) == nil)
    }

    @Test(
        arguments: [
            ("resize: { size: 1000% }", "resize", "400×300"), ("inset: { all: 100 }", "inset", "240×230"),
            ("frame: { width: 101, height: 100 }", "frame", "101×100"),
        ])
    func `a stage that makes too many pixels is named`(stage: String, name: String, size: String) throws {
        let words = "'\(name)' would make a picture of \(size) pixels; the limit is 10000 (max-pixels)"
        let failure = try planFailure(onePipeline([stage]), .png(40, 30), limits: Self.limits(pixels: 10_000))
        #expect(failure == Failure(.tooManyPixels, stage: name, words))
        #expect(
            try planFailure(onePipeline([], shared: [stage]), .png(40, 30), limits: Self.limits(pixels: 10_000))
                == failure)
    }

    @Test(
        arguments: [
            ("jpeg", 65_500), ("gif", 65_535), ("webp", 16_383), ("avif", 16_384),
        ])
    func `a picture that the format cannot hold is refused`(format: String, longest: Int) throws {
        let text = onePipeline([], save: "{ format: \(format) }")
        #expect(try planFailure(text, .png(longest, 2)) == nil)
        let words = "'one' would be 2×\(longest + 1) pixels; \(format) holds up to \(longest) a side"
        #expect(try planFailure(text, .png(2, longest + 1)) == Failure(.tooLargeForFormat, stage: "save", words))
    }

    @Test(
        arguments: [
            ("jpeg", .cmyk, true), ("tiff", .cmyk, true), ("tiff", .lab, true), ("jpeg", .lab, false),
            ("png", .cmyk, false),
            ("webp", .cmyk, false),
            ("avif", .lab, false), ("gif", .lab, false),
        ] as [(String, ColourModel, Bool)])
    func `colours that the format cannot hold are refused`(format: String, colour: ColourModel, fits: Bool) throws {
        let source = SourceFacts(format: .tiff, size: PixelSize(60, 40), colour: colour)
        let failure = try planFailure(onePipeline([], save: "{ format: \(format) }", head: "profile: keep"), source)
        let words = "\(format) cannot hold \(colour.rawValue) colors; remove 'profile: keep' or save as tiff"
        #expect(failure == (fits ? nil : Failure(.unsupportedColour, stage: "save", words)))
    }

    @Test func `transparency that a JPEG of kept CMYK cannot hold is refused with what can be done`() throws {
        let source = SourceFacts(format: .tiff, size: PixelSize(60, 40), hasAlpha: true, colour: .cmyk)
        let words =
            "jpeg has no transparency, and 'background' cannot be drawn in cmyk colors; remove 'profile: keep' or save as tiff"
        let failure = try planFailure(onePipeline([], save: "{ format: jpeg }", head: "profile: keep"), source)
        #expect(failure == Failure(.unsupportedColour, stage: "save", words))
    }

    @Test
    func `a crop that misses the picture fails with what was asked and what was found`() throws {
        let words = "the cut of 10×10 at (100, 0) lies outside the picture of 60×40; nothing would be left"
        let failure = try planFailure(onePipeline(["crop: { width: 10, height: 10, x: 100 }"]), .png(60, 40))
        #expect(failure == Failure(.emptyResult, stage: "crop", words))
    }

    @Test
    func `an asset that was not opened is a mistake of ours, not of the user`() throws {
        let failure = try planFailure(onePipeline(["overlay: { image: a.png }"]), .png(60, 40))
        #expect(failure == Failure(.internal, stage: "overlay", "the asset 'a.png' was not opened"))
    }

    @Test(
        arguments: [
            (.jpeg, 1, false), (.gif, 2, true), (.webp, 2, true), (.gif, 1, false), (.tiff, 2, false),
            (.avif, 2, false),
        ] as [(SourceFormat, Int, Bool)])
    func `several frames are an animation only where they follow each other in time`(
        format: SourceFormat, frames: Int, animated: Bool
    ) {
        #expect(SourceFacts(format: format, size: PixelSize(1, 1), frames: frames).isAnimated == animated)
    }
}
