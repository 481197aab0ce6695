import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct SmartAnchorTests {
    @Test(arguments: [
        ("{ x: 0%, y: 0% }", [0, 0]), ("{ x: 50%, y: 50% }", [30, 20]), ("{ x: 100%, y: 100% }", [60, 40]),
        ("{ x: 30%, y: 70% }", [10, 36]),
        ("{ x: 25%, y: 25% }", [5, 0]),
    ])
    func `a focus point is kept in the middle as far as the picture goes`(point: String, corner: [Int]) throws {
        let picture = try TestPicture.coded(width: 100, height: 80)
        let result = try render("crop: { width: 40, height: 40, anchor: \(point) }", picture).pixels
        #expect(try result == PixelGrid(picture).part(left: corner[0], top: corner[1], width: 40, height: 40))
        // The frame is filled at the picture's own size, so that the same part is seen.
        let wide = try TestPicture.coded(width: 100, height: 40)
        let framed = try render("frame: { width: 40, height: 40, mode: aspect-fill, anchor: \(point) }", wide).pixels
        #expect(try framed == PixelGrid(wide).part(left: corner[0], top: 0, width: 40, height: 40))
    }

    @Test(arguments: PictureKind.all.filter { $0.hasAlpha && !$0.isGrey })
    func `what is transparent is seen on white`(kind: PictureKind) throws {
        let factor = kind.maximum / 255
        // Dark and busy: on black there would be nothing to see.
        let picture = try TestPicture.make(width: 300, height: 120, kind: kind) { x, y in
            guard (230..<260).contains(x), (40..<80).contains(y) else { return [0, 0, 0, 0] }
            return ((x / 3 + y / 3) % 2 == 0 ? [60, 0, 0, 255] : [0, 0, 0, 255]).map { $0 * factor }
        }
        let part = try Picture(decoded: picture).part(of: PixelSize(80, 120), by: Anchor(.attention))
        guard case .box(let left, _, let width, _) = part else { return #expect(Bool(false)) }
        #expect(left * 300 <= 230 && (left + width) * 300 >= 260, "from \(left * 300), \(width * 300) wide")
    }

    @Test(arguments: ["attention", "entropy"], [(10, 10), (150, 20), (30, 120), (160, 130)])
    func `what is worth seeing is found and kept`(anchor: String, place: (x: Int, y: Int)) throws {
        // A flat ground with one busy, colourful spot of 30×30.
        let picture = try TestPicture.make(width: 200, height: 170) { x, y in
            guard (place.x..<place.x + 30).contains(x), (place.y..<place.y + 30).contains(y) else {
                return [120, 120, 120]
            }
            return (x / 3 + y / 3) % 2 == 0 ? [255, 30, 20] : [20, 40, 250]
        }
        for stage in [
            "crop: { width: 60, height: 60, anchor: \(anchor) }",
            "frame: { width: 85, height: 170, mode: aspect-fill, anchor: \(anchor) }",
        ] {
            let text = "renditions:\n  a:\n    stages:\n      - \(stage)\n    save: { format: png }\n"
            let planner = Planner(
                pipeline: try PipelineFile(text: text, file: "t.yaml", catalogue: .all), assets: [:], limits: Limits())
            let facts = SourceFacts(format: .png, size: PixelSize(200, 170))
            let context = RenderContext(assets: TestAssets())
            let (path, _, step) = try #require(planner.firstUnmeasured(in: planner.plan(facts, pixelsPerPoint: 1), [:]))
            let measurement = try #require(try step.measure(Frames([Picture(decoded: picture)]), in: context))
            let exact = try planner.plan(facts, pixelsPerPoint: 1, measurements: [path: measurement]).renditions[0]
                .steps[0]
            let result = try PixelGrid(exact.render(Frames([Picture(decoded: picture)]), in: context).pictures[0].image)
            let seen = result.values.indices.filter { $0 % 3 == 0 && abs(result.values[$0] - 120) > 20 }.count
            #expect(seen > 30 * 30 * 3 / 4, "\(stage): \(seen) of 900 pixels are seen")
        }
    }
}
