import Stages
import Testing

@testable import Pipeline

struct PlanDrawingTests {
    private func outline(
        _ stages: [String], shared: [String] = [], measurements: [Planner.StagePath: Measurement] = [:]
    ) throws -> RenditionOutline {
        let plan = try plan(onePipeline(stages, shared: shared), .jpeg(400, 200), measurements: measurements)
        return try #require(plan.outlines.first)
    }

    /// The smallest box around points: left, top, right, bottom.
    private func box(_ polygon: Polygon) -> [Double] {
        let (x, y) = (polygon.points.map(\.x), polygon.points.map(\.y))
        return [x.min(), y.min(), x.max(), y.max()].compactMap { $0.map { ($0 * 100).rounded() / 100 } }
    }

    @Test func `a crop is a box on the source, also after scaling`() throws {
        let outline = try outline([
            "resize: { size: 200x }", "crop: { width: 50, height: 50, anchor: bottom-trailing }",
        ])
        #expect(box(outline.kept) == [300, 100, 400, 200])
        #expect(!outline.isPadded && outline.anchors == [PlanePoint(400, 200)])
    }

    @Test func `room beside the picture is no part of it, and what was cut before does not come back`() throws {
        let outline = try outline(["crop: { width: 100, height: 100 }", "inset: { all: 10, background: white }"])
        #expect(box(outline.kept) == [150, 50, 250, 150])
        #expect(outline.isPadded && box(outline.frame) == [140, 40, 260, 160])
    }

    @Test func `shared stages come first, and a mirrored picture is cut on the other side`() throws {
        let outline = try outline(
            ["crop: { width: 100, height: 100%, anchor: leading }"], shared: ["flip: { axis: horizontal }"])
        #expect(box(outline.kept) == [300, 0, 400, 200])
    }

    @Test func `a turned picture has a turned frame`() throws {
        let outline = try outline(["rotate: { angle: 90 }", "crop: { width: 100%, height: 100, anchor: top }"])
        #expect(box(outline.kept) == [0, 0, 100, 200])
        let slanted = try self.outline(["rotate: { angle: 30 }"])
        #expect(box(slanted.kept) == [0, 0, 400, 200] && slanted.isPadded && slanted.frame.points.count == 4)
    }

    @Test func `a part that shows nothing of the picture is said to`() throws {
        let outline = try outline(["viewport: { width: 6, height: 6, content-inset: { leading: 6 } }"])
        #expect(outline.kept.points.isEmpty && outline.notes == ["nothing of the picture is seen"])
    }

    @Test func `what was measured is drawn, and what was not is called a guess`() throws {
        let path = Planner.StagePath(rendition: 0, stage: 0)
        let found = Measurement.box(left: 0.25, top: 0.5, width: 0.5, height: 0.25)
        let trimmed = try outline(["trim"], measurements: [path: found])
        #expect(box(trimmed.kept) == [100, 100, 300, 150] && trimmed.notes.isEmpty)
        #expect(try outline(["trim"]).notes == ["a guess: the content decides"])
        let smart = try outline(["crop: { width: 100, height: 100, anchor: attention }"], measurements: [path: found])
        #expect(box(smart.kept) == [150, 75, 250, 175] && smart.anchors == [PlanePoint(200, 125)])
    }

    @Test func `stages that cannot be drawn are named, with those after them`() throws {
        let outline = try outline(["tile: { width: 900, height: 900 }", "grayscale", "crop: { width: 9, height: 9 }"])
        #expect(
            outline.notes == ["'tile' repeats the picture, which is not drawn", "'crop' after 'tile' is not drawn"])
        #expect(box(outline.kept) == [0, 0, 400, 200])
    }

    @Test func `an overlay is a box on the source, cut by what comes after it`() throws {
        let assets = ["mark/a.png": AssetFacts(size: PixelSize(50, 20), pixelsPerPoint: 1, isGrey: false)]
        func drawings(_ stages: [String], scale: String = "1") throws -> [[Footprint.Drawing]] {
            try plan(onePipeline(stages, scale: scale), .jpeg(400, 200), assets: assets).outlines.map(\.drawings)
        }
        let overlay = "overlay: { image: mark/a.png, anchor: bottom-trailing, offset: { x: 10, y: 10 } }"
        let found = try drawings(["resize: { size: 200x }", overlay])
        #expect(found.first?.map(\.name) == ["a.png"] && found.first.map { box($0[0].area) } == [280, 140, 380, 180])
        #expect(
            try drawings(["resize: { size: 200x }", overlay, "crop: { width: 50%, height: 100%, anchor: trailing }"])
                .first?.map { box($0.area) } == [
                    [280, 140, 380, 180]
                ])
        #expect(
            try drawings(["resize: { size: 200x }", overlay, "crop: { width: 20, height: 100%, anchor: trailing }"])
                .first?.map { box($0.area) } == [
                    [360, 140, 380, 180]
                ])
        #expect(try drawings([overlay, "crop: { width: 20, height: 20, anchor: top-leading }"]) == [[]])
        #expect(try drawings(["resize: { size: 100x }", overlay], scale: "[1, 2]").count == 1)
    }

    @Test func `an overlay that is repeated is drawn once, and said to be everywhere`() throws {
        let assets = ["a.png": AssetFacts(size: PixelSize(50, 20), pixelsPerPoint: 1, isGrey: false)]
        let outline = try #require(
            try plan(onePipeline(["overlay: { image: a.png, tile: true }"]), .jpeg(400, 200), assets: assets).outlines
                .first)
        #expect(
            outline.drawings.count == 1
                && outline.notes == ["'overlay' repeats 'a.png' over all of the picture; one of them is drawn"])
    }

    @Test func `of a set the first picture is drawn up to the stage that joins them`() throws {
        let text = onePipeline(
            ["crop: { width: 50%, height: 50% }", "stitch: { direction: horizontal }"], head: "source: set")
        let planner = Planner(pipeline: try pipeline(text), assets: [:], limits: Limits())
        let members = ["a.jpg", "b.jpg"].map { MemberFacts(name: BytePath($0), facts: .jpeg(400, 200)) }
        let outline = try #require(try planner.plan(set: members).outlines.first)
        #expect(box(outline.kept) == [100, 50, 300, 150])
        #expect(
            outline.notes == ["'stitch' joins the pictures of the set, which is not drawn; this is the first of them"])
    }

    @Test func `renditions that are alike are one outline`() throws {
        let plan = try plan(onePipeline(["frame: { width: 60, height: 60 }"], scale: "[1, 2, 3]"), .jpeg(400, 200))
        #expect(plan.outlines.map(\.titles) == [["one 60×60", "one@2x 120×120", "one@3x 180×180"]])
    }

    @Test func `scales that differ by no more than their rounding are one outline`() throws {
        let first = try plan(
            onePipeline(["frame: { width: 44, height: 44, mode: aspect-fill }"], scale: "[1, 2, 3]"), .png(1024, 768))
        #expect(first.outlines.count == 1)
        let other = try plan(
            onePipeline(["resize: { size: 100x }", "crop: { width: 60, height: 60 }"], scale: "[1, 2]"), .png(400, 300))
        #expect(other.outlines.count == 1)
    }
}
