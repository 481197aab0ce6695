import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

private let modes = [
    "aspect-fit", "aspect-fill", "scale-to-fill", "center", "top", "bottom", "left", "right", "top-left", "top-right",
    "bottom-left",
    "bottom-right",
]
private let scalingModes = Array(modes.prefix(3))
private let placements = Array(modes.dropFirst(3))
private let anchors = [
    "center", "top", "bottom", "leading", "trailing", "top-leading", "top-trailing", "bottom-leading",
    "bottom-trailing",
]

/// Larger and smaller than the frames: landscape, portrait, square, one pixel wide or high.
private let sources = [
    PixelSize(90, 60), PixelSize(60, 90), PixelSize(70, 70), PixelSize(1, 80), PixelSize(80, 1), PixelSize(9, 6),
    PixelSize(5, 8),
    PixelSize(7, 7), PixelSize(1, 9), PixelSize(9, 1), PixelSize(1, 1), PixelSize(31, 11), PixelSize(30, 20),
]
private let frames = [PixelSize(30, 20), PixelSize(19, 31), PixelSize(13, 13), PixelSize(1, 7), PixelSize(7, 1)]

/// The content modes in floating point, written independently of the code: the size at which a mode draws, and where.
private func expectedBox(_ picture: PixelSize, _ frame: PixelSize, _ mode: String, anchor: String = "center") -> [Int] {
    let (w, h) = (Double(picture.width), Double(picture.height))
    let (frameWidth, frameHeight) = (Double(frame.width), Double(frame.height))
    let round = { (value: Double) in max(1, Int((value + 1e-9).rounded(.toNearestOrAwayFromZero))) }
    var drawn = (picture.width, picture.height)
    switch mode {
    case "aspect-fit":
        let s = min(frameWidth / w, frameHeight / h)
        drawn = (round(w * s), round(h * s))
    case "aspect-fill":
        let s = max(frameWidth / w, frameHeight / h)
        drawn = (max(frame.width, round(w * s)), max(frame.height, round(h * s)))
    case "scale-to-fill": drawn = (frame.width, frame.height)
    default: break
    }
    let place = scalingModes.contains(mode) ? anchor : mode
    let centred = { (outer: Int, inner: Int) in Int((Double(outer - inner) / 2).rounded(.down)) }
    let isLeft = place.hasSuffix("leading") || place.hasSuffix("left")
    let isRight = place.hasSuffix("trailing") || place.hasSuffix("right")
    let x = isLeft ? 0 : isRight ? frame.width - drawn.0 : centred(frame.width, drawn.0)
    let y =
        place.hasPrefix("top") ? 0 : place.hasPrefix("bottom") ? frame.height - drawn.1 : centred(frame.height, drawn.1)
    return [x, y, drawn.0, drawn.1]
}

/// The part of a box that a frame shows: left, top, width, height.
private func visible(_ box: [Int], in frame: PixelSize) -> [Int] {
    let (left, top) = (max(0, box[0]), max(0, box[1]))
    return [left, top, min(frame.width, box[0] + box[2]) - left, min(frame.height, box[1] + box[3]) - top]
}

private func stage(_ frame: PixelSize, _ mode: String, _ rest: String = "") -> String {
    "frame: { width: \(frame.width), height: \(frame.height), mode: \(mode)\(rest) }"
}

@Suite(.quietVips)
struct FrameTests {
    @Test(arguments: modes)
    func `a picture of one colour covers exactly its box on the background`(mode: String) throws {
        for source in sources {
            let picture = try TestPicture.solid([200, 30, 40], width: source.width, height: source.height)
            for frame in frames {
                let result = try render(stage(frame, mode, ", background: '#00ff00'"), picture)
                let plan = try #require(result.step.plan as? Frame.Plan)
                let box = [
                    plan.placement.offset.x, plan.placement.offset.y, plan.placement.drawn.width,
                    plan.placement.drawn.height,
                ]
                #expect(box == expectedBox(source, frame, mode), "plan of \(source) in \(frame)")
                let found = result.pixels.boundingBox { $0 == [200, 30, 40] }
                #expect(found == visible(box, in: frame), "pixels of \(source) in \(frame)")
                let colours = Set((0..<frame.area).map { result.pixels[$0 % frame.width, $0 / frame.width] })
                #expect(colours.isSubset(of: [[200, 30, 40], [0, 255, 0]]), "\(source) in \(frame) has \(colours)")
                let area = visible(box, in: frame)[2] * visible(box, in: frame)[3]
                #expect(
                    result.pixels.values.indices.filter { $0 % 3 == 0 && result.pixels.values[$0] == 200 }.count == area
                )
            }
        }
    }

    @Test(arguments: placements)
    func `a placement keeps the pixels of the right part unchanged`(mode: String) throws {
        for kind in PictureKind.all {
            for source in sources {
                let picture = try TestPicture.coded(width: source.width, height: source.height, kind: kind)
                let original = try PixelGrid(picture)
                for frame in frames {
                    let result = try render(stage(frame, mode), picture).pixels
                    let box = expectedBox(source, frame, mode)
                    let seen = visible(box, in: frame)
                    let kept = result.part(left: seen[0], top: seen[1], width: seen[2], height: seen[3])
                    let part = original.part(
                        left: seen[0] - box[0], top: seen[1] - box[1], width: seen[2], height: seen[3])
                    let colours = result.bands - kind.bands
                    let values = colours == 0 ? kept.values : droppingLast(kept)
                    #expect(values == part.values, "\(kind) \(source) in \(frame)")
                    if colours == 1 { #expect(kept.alpha.allSatisfy { $0 == kind.maximum }) }
                }
            }
        }
    }

    private func droppingLast(_ grid: PixelGrid) -> [Int] {
        grid.values.indices.filter { $0 % grid.bands != grid.bands - 1 }.map { grid.values[$0] }
    }

    @Test(arguments: anchors)
    func `aspect-fill keeps the part that the anchor names`(anchor: String) throws {
        for (source, frame) in [
            (PixelSize(60, 20), PixelSize(20, 20)), (PixelSize(20, 61), PixelSize(20, 20)),
            (PixelSize(33, 20), PixelSize(10, 20)),
        ] {
            let picture = try TestPicture.coded(width: source.width, height: source.height)
            let result = try render(stage(frame, "aspect-fill", ", anchor: \(anchor)"), picture).pixels
            let box = expectedBox(source, frame, "aspect-fill", anchor: anchor)
            #expect([box[2], box[3]] == [source.width, source.height], "this case needs no scaling")
            let part = try PixelGrid(picture).part(
                left: -box[0], top: -box[1], width: frame.width, height: frame.height)
            #expect(result == part, "\(source) in \(frame)")
        }
    }

    @Test(arguments: anchors)
    func `aspect-fit sits where the anchor says`(anchor: String) throws {
        for (source, frame) in [(PixelSize(60, 20), PixelSize(21, 30)), (PixelSize(13, 61), PixelSize(40, 21))] {
            let picture = try TestPicture.solid([0, 0, 200], width: source.width, height: source.height)
            let result = try render(stage(frame, "aspect-fit", ", anchor: \(anchor), background: white"), picture)
                .pixels
            #expect(
                result.boundingBox { $0 == [0, 0, 200] } == expectedBox(source, frame, "aspect-fit", anchor: anchor))
        }
    }

    @Test(arguments: scalingModes)
    func `the quadrants of a scaled picture stay where they were`(mode: String) throws {
        let colours: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]]
        let picture = try TestPicture.make(width: 80, height: 60) { x, y in colours[(x < 40 ? 0 : 1) + (y < 30 ? 0 : 2)]
        }
        for frame in [PixelSize(40, 40), PixelSize(200, 100), PixelSize(31, 77)] {
            let result = try render(stage(frame, mode, ", background: black"), picture).pixels
            let box = visible(expectedBox(PixelSize(80, 60), frame, mode), in: frame)
            for (index, colour) in colours.enumerated() {
                let x = box[0] + box[2] * (index % 2 == 0 ? 1 : 7) / 8
                let y = box[1] + box[3] * (index < 2 ? 1 : 7) / 8
                #expect(result[x, y] == colour.map { Int($0) }, "quadrant \(index) in \(frame)")
            }
        }
    }

    @Test func `a placement draws at natural size times scale`() throws {
        let picture = try TestPicture.solid([9, 9, 200], width: 20, height: 10)
        for (pixelsPerPoint, scale, box) in [
            (1, 1, [20, 15, 20, 10]), (1, 2, [40, 30, 40, 20]), (2, 1, [25, 17, 10, 5]), (2, 2, [50, 35, 20, 10]),
        ] {
            let result = try render(
                "frame: { width: 60, height: 40, mode: center, background: white }", picture, scale: scale,
                pixelsPerPoint: pixelsPerPoint)
            #expect(result.pixels.boundingBox { $0 == [9, 9, 200] } == box, "@\(pixelsPerPoint)x at scale \(scale)")
        }
    }

    @Test func `without a background the free part is transparent`() throws {
        let picture = try TestPicture.solid([200, 100, 50], width: 10, height: 10)
        let result = try render("frame: { width: 20, height: 10 }", picture).pixels
        #expect(result[0, 0] == [0, 0, 0, 0])
        #expect(result[5, 5] == [200, 100, 50, 255])
        #expect(result.boundingBox { $0[3] > 0 } == [5, 0, 10, 10])
    }

    @Test func `a picture that covers the frame on a transparent background gets no alpha`() throws {
        let picture = try TestPicture.coded(width: 30, height: 30)
        #expect(try render("frame: { width: 10, height: 10, mode: aspect-fill }", picture).pixels.bands == 3)
        #expect(try render("frame: { width: 10, height: 10, mode: center }", picture).pixels.bands == 3)
    }

    @Test(arguments: [
        ("4:5", [40, 30], [40, 50], [0, 10]), ("1:1", [40, 30], [40, 40], [0, 5]),
        ("2", [40, 30], [60, 30], [10, 0]),
        ("16:9", [30, 40], [71, 40], [20, 0]), ("4:3", [40, 30], [40, 30], [0, 0]),
    ])
    func `a ratio makes the smallest frame around the picture`(
        ratio: String, size: [Int], frame: [Int], place: [Int]
    ) throws {
        let picture = try TestPicture.coded(width: size[0], height: size[1])
        for scale in 1...3 {
            let result = try render("frame: { ratio: \(ratio), background: white }", picture, scale: scale).pixels
            #expect([result.width, result.height] == frame)
            let part = result.part(left: place[0], top: place[1], width: size[0], height: size[1])
            #expect(try part == PixelGrid(picture))
        }
    }

    @Test(arguments: scalingModes)
    func `without enlarging a small picture keeps its pixels`(mode: String) throws {
        let picture = try TestPicture.coded(width: 20, height: 14)
        let parameters = "width: 30, height: 30, mode: \(mode), enlarge: false, background: white"
        for scale in 1...2 {
            let result = try render("frame: { \(parameters) }", picture, scale: scale)
            #expect(!result.step.plan.isEnlarging)
            let (left, top) = ((30 * scale - 20) / 2, (30 * scale - 14) / 2)
            let part = result.pixels.part(left: left, top: top, width: 20, height: 14)
            #expect(try part == PixelGrid(picture))
        }
        // A picture that becomes smaller is the same without `enlarge: false`.
        let large = try TestPicture.coded(width: 80, height: 64)
        let usual = try render("frame: { width: 30, height: 30, mode: \(mode), background: white }", large).pixels
        #expect(try render("frame: { \(parameters) }", large).pixels == usual)
    }

    @Test(arguments: [(20, 90, 20, 40), (90, 30, 80, 30), (90, 90, 80, 40), (20, 30, 20, 30)])
    func `a picture that is to fill a frame without becoming larger is never cut`(
        width: Int, height: Int, drawnWidth: Int, drawnHeight: Int
    ) throws {
        let picture = try TestPicture.solid([200], width: 80, height: 40)
        let result = try render(
            "frame: { width: \(width), height: \(height), mode: scale-to-fill, enlarge: false, background: black }",
            picture)
        #expect(
            result.pixels.boundingBox { $0[0] > 100 }
                == [(width - drawnWidth) / 2, (height - drawnHeight) / 2, drawnWidth, drawnHeight])
        #expect(!result.step.plan.isEnlarging)
    }

    @Test func `the average of a checkerboard is the middle of sRGB's numbers, as resize has it`() throws {
        let board = try TestPicture.make(width: 40, height: 20, bands: 1) { x, y in [(x + y) % 2 == 0 ? 0 : 255] }
        let small = try render("resize: { size: 20x10, kernel: linear }", board).pixels
        for word in ["average", "edge"] {
            let result = try render("frame: { width: 40, height: 40, background: \(word) }", board).pixels
            #expect(result[0, 0] == [128])
            #expect(abs(result[0, 0, 0] - small[10, 5, 0]) <= 1)
        }
    }

    @Test func `a smart anchor without enlarging measures no more than the picture`() throws {
        let picture = try TestPicture.coded(width: 20, height: 14)
        let result = try render(
            "frame: { width: 30, height: 10, mode: aspect-fill, anchor: attention, enlarge: false }", picture)
        #expect(result.pixels.width == 30 && result.pixels.height == 10)
    }

    @Test(arguments: PictureKind.all)
    func `the average and the color of the edge are those of what is seen`(kind: PictureKind) throws {
        let (width, height) = (24, 16)
        let original = try PixelGrid(TestPicture.coded(width: width, height: height, kind: kind))
        let picture = try TestPicture.make(original)
        for (word, isCounted) in [
            ("average", { (_: Int, _: Int) in 1 }),
            // Each side by itself, so that corners count twice.
            ("edge", { x, y in (x == 0 || x == 23 ? 1 : 0) + (y == 0 || y == 15 ? 1 : 0) }),
        ] {
            var sums = [Double](repeating: 0, count: kind.colours)
            var weight = 0.0
            for y in 0..<height {
                for x in 0..<width {
                    let own = kind.hasAlpha ? Double(original[x, y, kind.colours]) / Double(kind.maximum) : 1
                    let share = Double(isCounted(x, y)) * own
                    weight += share
                    for band in 0..<kind.colours { sums[band] += share * Double(original[x, y, band]) }
                }
            }
            let result = try render("frame: { width: 24, height: 30, background: \(word) }", picture).pixels
            #expect(result.bands == kind.colours, "it is opaque")
            for band in 0..<kind.colours {
                let found = Double(result[3, 2, band])
                #expect(abs(found - sums[band] / weight) / Double(kind.maximum) <= 0.6 / 255, "\(word)")
            }
            #expect(result[0, 0] == result[23, 29])
        }
    }

    @Test func `a blurred background is the picture itself, covering and soft`() throws {
        // Red on the left, blue on the right.
        let picture = try TestPicture.make(width: 90, height: 60, bands: 3) { x, _ in
            x < 45 ? [250, 0, 0] : [0, 0, 250]
        }
        let result = try render("frame: { width: 90, height: 160, background: blur }", picture).pixels
        #expect(result.bands == 3)
        #expect(try result.part(left: 0, top: 50, width: 90, height: 60) == PixelGrid(picture))
        #expect(result[2, 5, 0] > 245 && result[2, 5, 2] < 5)
        #expect(result[87, 150, 2] > 245 && result[87, 150, 0] < 5)
        let middle = result[45, 20]
        #expect(abs(middle[0] - 125) < 25 && abs(middle[2] - 125) < 25)
    }

    @Test(arguments: ["blur", "average", "edge"])
    func `a picture of which nothing is seen is on white`(word: String) throws {
        let picture = try TestPicture.solid([10, 20, 30, 0], width: 20, height: 10)
        let result = try render("frame: { width: 20, height: 20, background: \(word) }", picture).pixels
        #expect(Set(result.values) == [255])
    }
}
