import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// The footprints of stages, compared with pixels whose colors say where they come from.
@Suite(.quietVips)
struct FootprintTests {
    private static let size = PixelSize(80, 60)

    /// Red says how far right a pixel is, green how far down; blue tells it from any background.
    private func chart() throws -> Image {
        try TestPicture.make(width: Self.size.width, height: Self.size.height, bands: 3) { x, y in
            [UInt8(x * 3), UInt8(y * 4), 255]
        }
    }

    @Test(arguments: [
        "resize: { size: 40x40! }", "resize: { size: 200% }", "resize: { size: 20x, kernel: nearest }",
        "crop: { width: 50%, height: 40%, anchor: bottom }",
        "crop: { width: 30, height: 30, x: 7, y: 11 }", "frame: { width: 50, height: 50 }",
        "frame: { width: 50, height: 20, mode: aspect-fill, anchor: top }",
        "frame: { width: 50, height: 50, mode: center }", "frame: { width: 100, height: 90, mode: bottom-right }",
        "inset: { all: 10 }",
        "inset: { top: -10, leading: 5, bottom: 3, trailing: -20 }", "rotate: { angle: 90 }", "rotate: { angle: 180 }",
        "rotate: { angle: 270 }",
        "rotate: { angle: 33 }", "rotate: { angle: -10 }", "flip: { axis: horizontal }", "flip: { axis: vertical }",
        "viewport: { width: 30, height: 20, offset: { x: 30, y: 25 } }",
        "viewport: { width: 30, height: 20, content-inset: { leading: 9, top: 4 }, background: red }",
        "composite: { width: 100, height: 90, layers: [ { source: true, width: 40, anchor: top-trailing } ] }",
    ])
    func `each pixel comes from the place that the footprint names`(stage: String) throws {
        let rendered = try render(stage, chart())
        let map = try #require(rendered.step.plan.footprint.map)
        var compared = 0
        for y in 0..<rendered.pixels.height {
            for x in 0..<rendered.pixels.width {
                let place = map(PlanePoint(Double(x) + 0.5, Double(y) + 0.5))
                // Near the picture's edge it is mixed with what is beside it.
                guard (4..<76).contains(place.x), (4..<56).contains(place.y) else { continue }
                let pixel = rendered.pixels[x, y]
                #expect(
                    abs(Double(pixel[0]) - (place.x - 0.5) * 3) <= 8
                        && abs(Double(pixel[1]) - (place.y - 0.5) * 4) <= 8, "(\(x), \(y)): \(pixel)")
                compared += 1
            }
        }
        #expect(compared > 20)
    }

    @Test func `stages that never say that something moves change no size`() throws {
        let assets = try TestAssets.small()
        let all = try everyStage.flatMap { stage in
            try everySize.map {
                try #require(
                    try steps(stage, for: [TestPicture.coded(width: $0.width, height: $0.height)], assets: assets).last)
            }
        }
        let moving = Set(all.filter { $0.plan.footprint.map != .identity }.map(\.name))
        for step in all where !moving.contains(step.name) {
            #expect(step.output.size == step.input.size, "\(step.name)")
        }
    }

    @Test func `every stage of one picture is tried`() {
        let tried = Set(everyStage.map { String($0.split(separator: ":")[0]) })
        #expect(Set(StageCatalogue.all.names).subtracting(tried) == ["trim", "stitch", "contact-sheet", "animate"])
    }

    @Test(arguments: [
        ("overlay: { image: mark, anchor: bottom-trailing, offset: { x: 6, y: 4 }, width: 16 }", [58, 50, 74, 56]),
        ("overlay: { image: mark, anchor: top }", [20, 0, 60, 15]),
        ("overlay: { image: mark, offset: { x: 30, y: 0 } }", [50, 22, 80, 37]),
        (
            "composite: { layers: [ { color: blue }, { source: true }, { image: mark, anchor: leading, width: 20 }, { color: red, width: 9, height: 9, anchor: top } ] }",
            [0, 0, 44, 34]
        ),
    ])
    func `what is drawn on the picture changes the pixels in its box, and no others`(stage: String, box: [Int]) throws {
        let assets = TestAssets(images: [
            "mark": try TestPicture.make(width: 40, height: 15, bands: 3) { _, _ in [200, 250, 0] }
        ])
        let before = try PixelGrid(chart())
        let rendered = try render(stage, chart(), assets: assets)
        let areas = rendered.step.plan.footprint.drawings.map { $0.area.clipped(to: Polygon(Self.size)) }
        let changed = (0..<60).flatMap { y in (0..<80).map { (x: $0, y: y) } }.filter {
            rendered.pixels[$0.x, $0.y].prefix(3) != before[$0.x, $0.y].prefix(3)
        }
        let inside = (0..<60).flatMap { y in (0..<80).map { (x: $0, y: y) } }.filter { place in
            areas.contains { area in
                let (x, y) = (area.points.map(\.x), area.points.map(\.y))
                return (x.min()!..<x.max()!).contains(Double(place.x) + 0.5)
                    && (y.min()!..<y.max()!).contains(Double(place.y) + 0.5)
            }
        }
        #expect(changed.map { [$0.x, $0.y] } == inside.map { [$0.x, $0.y] })
        let found = [
            changed.map(\.x).min(), changed.map(\.y).min(), changed.map { $0.x + 1 }.max(),
            changed.map { $0.y + 1 }.max(),
        ]
        #expect(found.compactMap(\.self) == box)
    }

    @Test func `cap insets are lines on the picture`() throws {
        let step = try #require(
            try steps(
                "nine-slice: { width: 200, height: 90, cap-insets: { leading: 10, trailing: 20, top: 5 } }",
                for: [chart()], pixelsPerPoint: 2
            )
            .last)
        #expect(step.plan.footprint.map == nil)
        // Two pixels in a point.
        #expect(step.plan.footprint.lines.map(\.start) == [PlanePoint(20, 0), PlanePoint(40, 0), PlanePoint(0, 10)])
    }

    @Test(arguments: [
        ("crop: { width: 10, height: 10, anchor: bottom-trailing }", PlanePoint(80, 60)),
        ("crop: { width: 10, height: 10, anchor: { x: 25%, y: 50% } }", PlanePoint(20, 30)),
        ("frame: { width: 10, height: 50, mode: aspect-fill }", PlanePoint(40, 30)),
    ])
    func `anchors are points of the picture`(stage: String, point: PlanePoint) throws {
        #expect(try steps(stage, for: [chart()]).last?.plan.footprint.anchor == point)
    }
}
