import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct TrimTests {
    /// The box that the stage finds, in pixels (left, top, width, height), and the picture that it makes.
    private func trimmed(_ parameters: String, _ images: [Image]) throws -> (box: [Int], image: PixelGrid) {
        let text =
            "renditions:\n  a:\n    stages:\n      - trim: { \(parameters) }\n    save: { format: \(images.count > 1 ? "webp" : "png") }\n"
        let planner = Planner(
            pipeline: try PipelineFile(text: text, file: "t.yaml", catalogue: .all), assets: [:], limits: Limits())
        let facts = SourceFacts(
            format: images.count > 1 ? .webp : .png, size: PixelSize(images[0].width, images[0].height),
            frames: images.count,
            hasAlpha: images[0].hasAlpha, colour: images[0].bands <= 2 ? .grey : .rgb,
            depth: images[0].format == .ushort ? .sixteen : .eight)
        let context = RenderContext(assets: TestAssets())
        let bound = try planner.plan(facts, pixelsPerPoint: 1)
        #expect(bound.renditions[0].output.certainty == .atMost)
        let (path, before, step) = try #require(planner.firstUnmeasured(in: bound, [:]))
        #expect(before.isEmpty)
        let measurement = try #require(try step.measure(Frames(images.map { try Picture(decoded: $0) }), in: context))
        let exact = try planner.plan(facts, pixelsPerPoint: 1, measurements: [path: measurement]).renditions[0].steps[0]
        #expect(exact.output.certainty == .exact)
        let result = try exact.render(Frames(images.map { try Picture(decoded: $0) }), in: context).pictures[0]
        expectAgreement(result, exact)
        let box = try #require((exact.plan as? Trim.Plan)?.box)
        return ([box.offset.x, box.offset.y, box.size.width, box.size.height], try PixelGrid(result.image))
    }

    /// A box of one colour on a ground of another.
    private func picture(_ kind: PictureKind, box: [Int] = [5, 3, 11, 7], ground: [Int], inside: [Int]) throws -> Image
    {
        try TestPicture.make(width: 40, height: 30, kind: kind) { x, y in
            (box[0]..<box[0] + box[2]).contains(x) && (box[1]..<box[1] + box[3]).contains(y) ? inside : ground
        }
    }

    @Test(arguments: PictureKind.all.filter(\.isGrey))
    func `a grey picture has no border of a colour`(kind: PictureKind) throws {
        let alpha = kind.hasAlpha ? [kind.maximum] : []
        for ground in [0, kind.maximum] {
            let picture = try picture(kind, ground: [ground] + alpha, inside: [kind.maximum / 2] + alpha)
            for color in ["#0000ff", "#ff0000"] {
                #expect(try trimmed("background: \"\(color)\"", [picture]).box == [0, 0, 40, 30], "\(color)")
            }
        }
    }

    @Test(arguments: PictureKind.all)
    func `the border is removed to the pixel`(kind: PictureKind) throws {
        let ground = Array(repeating: kind.maximum, count: kind.bands)
        let inside = Array(repeating: kind.maximum / 2, count: kind.colours) + (kind.hasAlpha ? [kind.maximum] : [])
        let image = try picture(kind, ground: ground, inside: inside)
        let result = try trimmed("", [image])
        #expect(result.box == [5, 3, 11, 7])
        #expect(result.image == (try PixelGrid(image)).part(left: 5, top: 3, width: 11, height: 7))
    }

    @Test func `a thin line is no noise`() throws {
        let image = try picture(PictureKind(), box: [20, 0, 1, 30], ground: [255, 255, 255], inside: [0, 0, 0])
        #expect(try trimmed("", [image]).box == [20, 0, 1, 30])
    }

    @Test func `what is transparent around the picture is border, whatever colour it hides`() throws {
        let image = try TestPicture.make(width: 20, height: 20, bands: 4) { x, y in
            (4..<9).contains(x) && (6..<8).contains(y) ? [9, 9, 9, 255] : [UInt8(x * 10), UInt8(y * 10), 77, 0]
        }
        #expect(try trimmed("", [image]).box == [4, 6, 5, 2])
    }

    @Test func `the threshold says what is still border`() throws {
        let image = try picture(PictureKind(), ground: [200, 200, 200], inside: [220, 200, 200])
        #expect(try trimmed("threshold: 19", [image]).box == [5, 3, 11, 7])
        #expect(try trimmed("threshold: 20", [image]).box == [0, 0, 40, 30])
    }

    @Test func `a border of a named colour is removed, others stay`() throws {
        let image = try picture(PictureKind(), ground: [255, 0, 0], inside: [0, 0, 255])
        #expect(try trimmed("background: red", [image]).box == [5, 3, 11, 7])
        #expect(try trimmed("background: white", [image]).box == [0, 0, 40, 30])
    }

    /// The box as the program would find it in a picture that keeps its colours.
    private func kept(_ parameters: String, _ image: Image) throws -> [Int] {
        let result = try render("trim: { \(parameters) }", image, profile: "keep")
        return try #require((result.step.plan as? Trim.Plan)?.box).numbers
    }

    /// White with a red box.
    private func redOnWhite(alpha: Bool = false) throws -> Image {
        try picture(
            PictureKind(hasAlpha: alpha), ground: [255, 255, 255] + (alpha ? [255] : []),
            inside: [200, 0, 0] + (alpha ? [255] : []))
    }

    @Test(arguments: ["", "background: white"])
    func `in CMYK that is kept the border is removed, with a profile and without`(parameters: String) throws {
        let press = try redOnWhite().iccTransform(to: .cmyk, input: .srgb)
        #expect(try kept(parameters, press) == [5, 3, 11, 7])
        #expect(try kept(parameters, press.removingMetadata(["icc-profile-data"])) == [5, 3, 11, 7])
        #expect(try kept("background: black", press) == [0, 0, 40, 30])
    }

    @Test(arguments: [Interpretation.lab, .labs], [false, true])
    func `in Lab that is kept the border is removed`(space: Interpretation, alpha: Bool) throws {
        guard !(alpha && space == .labs) else { return }
        let lab = try redOnWhite(alpha: alpha).colourspace(space)
        #expect(try kept("", lab) == [5, 3, 11, 7])
        #expect(try kept("background: white", lab) == [5, 3, 11, 7])
        #expect(try kept("background: black", lab) == [0, 0, 40, 30])
    }

    @Test(arguments: [Interpretation.lab, .labs])
    func `in Lab that is kept the threshold counts steps of 255`(space: Interpretation) throws {
        // Lightness from 0 to 100: 60 on 50, ten of a hundred, which is 25.5 of 255.
        let lab = try picture(PictureKind(isGrey: true), ground: [50], inside: [60]).cast(.float)
            .bandjoin(constants: [0, 0]).copy(interpretation: .lab).colourspace(space)
        #expect(try kept("threshold: 24", lab) == [5, 3, 11, 7])
        #expect(try kept("threshold: 27", lab) == [0, 0, 40, 30])
    }

    @Test func `a picture that is all border stays whole`() throws {
        #expect(try trimmed("", [TestPicture.solid([1, 2, 3], width: 8, height: 9)]).box == [0, 0, 8, 9])
    }

    @Test func `of an animation stays what is in any frame`() throws {
        let left = try picture(PictureKind(), box: [5, 10, 4, 4], ground: [0, 0, 0], inside: [255, 255, 255])
        let right = try picture(PictureKind(), box: [30, 12, 3, 9], ground: [0, 0, 0], inside: [255, 255, 255])
        #expect(try trimmed("", [left, right]).box == [5, 10, 28, 11])
    }
}

extension PixelBox {
    /// Left, top, width, height.
    fileprivate var numbers: [Int] { [offset.x, offset.y, size.width, size.height] }
}
