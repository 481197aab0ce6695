import Stages
import Testing

@testable import Pipeline

/// The plans of every stage of the catalogue, worked out by hand.
struct StagePlanTests {
    /// One stage on one picture. `expected` is "size, what the picture is, sizeDependence, and what else there is to
    /// say".
    struct Row: Sendable, CustomTestStringConvertible {
        let stage: String
        var picture = PictureInfo(size: PixelSize(400, 300))
        var scale = 1.0
        let expected: String
        var testDescription: String { "\(stage) on \(picture.size) at \(scale)" }
    }

    private static let rgb = PictureInfo(size: PixelSize(400, 300))
    private static let retina = PictureInfo(size: PixelSize(400, 300), pixelsPerPoint: 2)
    private static let clear = PictureInfo(size: PixelSize(400, 300), hasAlpha: true)
    private static let grey = PictureInfo(size: PixelSize(400, 300), colour: .grey)
    private static let greyClear = PictureInfo(size: PixelSize(400, 300), hasAlpha: true, colour: .grey)
    private static let ownGrey = PictureInfo(size: PixelSize(400, 300), colour: .grey, hasProfile: true)
    private static let small = PictureInfo(size: PixelSize(40, 30))

    private static let assets = [
        "red.png": AssetFacts(size: PixelSize(64, 32), pixelsPerPoint: 1, isGrey: false),
        "mark@2x.png": AssetFacts(size: PixelSize(64, 32), pixelsPerPoint: 2, isGrey: true),
    ]

    static let resize = [
        Row(stage: "resize: { size: 200x200 }", expected: "200×150 rgb @1, to 200×150"),
        Row(stage: "resize: { size: 200x200 }", scale: 2, expected: "400×300 rgb @2, to 400×300"),
        Row(stage: "resize: { size: 100 }", scale: 3, expected: "300×225 rgb @3, to 300×225"),
        Row(stage: "resize: { size: 100x }", expected: "100×75 rgb @1, to 100×75"),
        Row(stage: "resize: { size: x100 }", expected: "133×100 rgb @1, to 133×100"),
        Row(stage: "resize: { size: 50% }", picture: retina, scale: 3, expected: "200×150 rgb @2, to 200×150"),
        Row(stage: "resize: { size: 200x200! }", picture: clear, expected: "200×200 rgb+alpha @1, to 200×200"),
        Row(stage: "resize: { size: 200x200^ }", expected: "267×200 rgb @1, to 267×200"),
        Row(stage: "resize: { size: '800x800>' }", picture: retina, expected: "400×300 rgb @2, to 400×300"),
        // As many pixels as there are, for as many points as at scale 1.
        Row(stage: "resize: { size: '300x300>' }", scale: 2, expected: "400×300 rgb @1.3333333333333333, to 400×300"),
        Row(stage: "resize: { size: '300x300<' }", scale: 2, expected: "600×450 rgb @1.5, to 600×450, enlarges"),
        Row(stage: "resize: { size: '800x800>' }", picture: retina, scale: 3, expected: "400×300 rgb @2, to 400×300"),
        Row(
            stage: "resize: { width: 100, height: 50%, mode: scale-to-fill }", scale: 2,
            expected: "200×300 rgb @2, to 200×300"),
        Row(stage: "resize: { size: '200x200<' }", expected: "400×300 rgb @1, to 400×300"),
        Row(stage: "resize: { size: '800x800<' }", expected: "800×600 rgb @1, to 800×600, enlarges"),
        Row(stage: "resize: { width: 800 }", expected: "800×600 rgb @1, to 800×600, enlarges"),
        Row(stage: "resize: { width: 800, enlarge: false }", expected: "400×300 rgb @1, to 400×300"),
        Row(stage: "resize: { width: 100, height: 100, mode: aspect-fill }", expected: "133×100 rgb @1, to 133×100"),
        Row(stage: "resize: { width: 25%, height: 100%, mode: scale-to-fill }", expected: "100×300 rgb @1, to 100×300"),
        Row(stage: "resize: { size: 100, linear: true }", expected: "100×75 rgb @1"),
        Row(stage: "resize: { size: 100, kernel: nearest }", expected: "100×75 rgb @1"),
        Row(stage: "resize: { size: 100, kernel: cubic }", picture: grey, expected: "100×75 gray @1, to 100×75"),
    ]

    static let frame = [
        Row(
            stage: "frame: { width: 200, height: 200 }",
            expected: "200×200 rgb+alpha @1, to 200×150, drawn 200×150 at (0, 25)"),
        Row(
            stage: "frame: { width: 100, height: 100, anchor: top }", scale: 2,
            expected: "200×200 rgb+alpha @2, to 200×150, drawn 200×150 at (0, 0)"),
        Row(
            stage: "frame: { width: 200, height: 200, opaque: true }", picture: clear,
            expected: "200×200 rgb @1, to 200×150, drawn 200×150 at (0, 25)"),
        Row(
            stage: "frame: { width: 200, height: 200, background: red }", picture: grey,
            expected: "200×200 rgb @1, to 200×150, drawn 200×150 at (0, 25)"),
        Row(
            stage: "frame: { width: 200, height: 200, background: '#888' }", picture: greyClear,
            expected: "200×200 gray @1, to 200×150, drawn 200×150 at (0, 25)"),
        Row(
            stage: "frame: { width: 200, height: 150, background: red }", picture: grey,
            expected: "200×150 gray @1, to 200×150, drawn 200×150 at (0, 0)"),
        Row(
            stage: "frame: { width: 200, height: 150, background: red }", picture: greyClear,
            expected: "200×150 rgb @1, to 200×150, drawn 200×150 at (0, 0)"),
        Row(
            stage: "frame: { width: 200, height: 150, background: white, alpha: 0.5 }",
            expected: "200×150 rgb+alpha @1, to 200×150, drawn 200×150 at (0, 0)"),
        Row(
            stage: "frame: { width: 200, height: 150, alpha: 0.5, opaque: true }",
            expected: "200×150 rgb @1, to 200×150, drawn 200×150 at (0, 0)"),
        Row(
            stage: "frame: { width: 200, height: 200, mode: aspect-fill }",
            expected: "200×200 rgb @1, to 267×200, drawn 267×200 at (-34, 0)"),
        Row(
            stage: "frame: { width: 200, height: 200, mode: scale-to-fill }",
            expected: "200×200 rgb @1, to 200×200, drawn 200×200 at (0, 0)"),
        Row(
            stage: "frame: { width: 500, height: 500, mode: scale-to-fill }",
            expected: "500×500 rgb @1, to 500×500, enlarges, drawn 500×500 at (0, 0)"),
        Row(
            stage: "frame: { width: 100, height: 100, mode: center }",
            expected: "100×100 rgb @1, to 400×300, drawn 400×300 at (-150, -100)"),
        Row(
            stage: "frame: { width: 100, height: 100, mode: center }", picture: retina,
            expected: "100×100 rgb @1, to 200×150, drawn 200×150 at (-50, -25)"),
        Row(
            stage: "frame: { width: 300, height: 300, mode: bottom-right }", scale: 2,
            expected: "600×600 rgb @2, to 800×600, enlarges, drawn 800×600 at (-200, 0)"),
        Row(
            stage: "frame: { width: 301, height: 301, mode: bottom-right }", picture: retina, scale: 2,
            expected: "602×602 rgb+alpha @2, to 400×300, drawn 400×300 at (202, 302)"),
        Row(
            stage: "frame: { width: 50%, height: 50% }", scale: 2,
            expected: "200×150 rgb @1, to 200×150, drawn 200×150 at (0, 0)"),
    ]

    static let cuts = [
        Row(stage: "crop: { width: 100, height: 50 }", expected: "100×50 rgb @1, cut at (150, 125)"),
        Row(
            stage: "crop: { width: 100, height: 50, anchor: bottom-right }", scale: 2,
            expected: "100×50 rgb @1, cut at (300, 250)"),
        Row(
            stage: "crop: { width: 100, height: 50, anchor: bottom-right }", picture: retina,
            expected: "200×100 rgb @2, cut at (200, 200)"),
        Row(stage: "crop: { width: 1000, height: 50 }", expected: "400×50 rgb @1, cut at (0, 125)"),
        Row(stage: "crop: { width: 101, height: 101 }", expected: "101×101 rgb @1, cut at (149, 99)"),
        Row(stage: "crop: { width: 100, height: 50, x: 10 }", expected: "100×50 rgb @1, cut at (10, 0)"),
        Row(stage: "crop: { width: 100, height: 50, x: 350, y: 10% }", expected: "50×50 rgb @1, cut at (350, 30)"),
        Row(stage: "crop: { width: 100, height: 50, x: -50, y: -10 }", expected: "50×40 rgb @1, cut at (0, 0)"),
        Row(stage: "crop: { width: 25%, height: 0.1% }", scale: 3, expected: "100×1 rgb @1, cut at (150, 149)"),
        Row(
            stage: "inset: { all: 10 }", picture: retina,
            expected: "440×340 rgb+alpha @2, picture of 400×300 at (20, 20)"),
        Row(
            stage: "inset: { all: 10%, background: white }", picture: grey,
            expected: "480×360 gray @1, picture of 400×300 at (40, 30)"),
        Row(
            stage: "inset: { top: 5, background: red }", picture: grey,
            expected: "400×305 rgb @1, picture of 400×300 at (0, 5)"),
        Row(
            stage: "inset: { all: 5, top: 0 }", picture: clear,
            expected: "410×305 rgb+alpha @1, picture of 400×300 at (5, 0)"),
        Row(
            stage: "inset: { leading: -100, trailing: 20 }",
            expected: "320×300 rgb+alpha @1, picture of 300×300 at (0, 0)"),
        Row(stage: "inset: { all: -10% }", expected: "320×240 rgb @1, picture of 320×240 at (0, 0)"),
        Row(stage: "inset: { all: 0 }", picture: grey, expected: "400×300 gray @1, picture of 400×300 at (0, 0)"),
    ]

    static let turns = [
        Row(stage: "rotate: { angle: 90 }", picture: retina, expected: "300×400 rgb @2, any size, held"),
        Row(stage: "rotate: { angle: -90 }", expected: "300×400 rgb @1, any size, held"),
        Row(stage: "rotate: { angle: 180 }", expected: "400×300 rgb @1, any size, held"),
        Row(stage: "rotate: { angle: 270 }", expected: "300×400 rgb @1, any size, held"),
        // 400·cos 30° + 300·sin 30° = 496.4; 400·sin 30° + 300·cos 30° = 459.8.
        Row(stage: "rotate: { angle: 30 }", picture: grey, expected: "496×460 gray+alpha @1, held"),
        Row(stage: "rotate: { angle: -30 }", picture: grey, expected: "496×460 gray+alpha @1, held"),
        Row(stage: "rotate: { angle: 45, background: red }", picture: grey, expected: "495×495 rgb @1, held"),
        Row(stage: "rotate: { angle: 45, background: '#f008' }", expected: "495×495 rgb+alpha @1, held"),
        Row(stage: "flip: { axis: horizontal }", picture: retina, expected: "400×300 rgb @2, any size"),
        Row(stage: "flip: { axis: vertical }", picture: clear, expected: "400×300 rgb+alpha @1, any size, held"),
    ]

    static let painting = [
        Row(stage: "flatten", expected: "400×300 rgb @1, any size"),
        Row(stage: "flatten: { background: red }", picture: grey, expected: "400×300 gray @1, any size"),
        Row(stage: "flatten: { background: red }", picture: greyClear, expected: "400×300 rgb @1, any size"),
        Row(stage: "flatten: { background: white }", picture: greyClear, expected: "400×300 gray @1, any size"),
        Row(stage: "opacity: { alpha: 0.5 }", picture: grey, expected: "400×300 gray+alpha @1, any size"),
        Row(stage: "opacity: { alpha: 1 }", expected: "400×300 rgb @1, any size"),
        Row(
            stage: "mask: { corner-radius: 12 }", picture: grey, scale: 2, expected: "400×300 gray+alpha @1, radius 12"),
        Row(stage: "mask: { corner-radius: 12 }", picture: retina, expected: "400×300 rgb+alpha @2, radius 24"),
        Row(stage: "mask: { corner-radius: 12.5% }", expected: "400×300 rgb+alpha @1, radius 37.5"),
        Row(stage: "mask: { corner-radius: 1000 }", expected: "400×300 rgb+alpha @1, radius 150"),
        Row(stage: "mask: { shape: circle }", expected: "400×300 rgb+alpha @1, radius 150"),
        Row(stage: "sharpen", picture: grey, expected: "400×300 gray @1"),
        Row(stage: "blur: { sigma: 4 }", picture: clear, expected: "400×300 rgb+alpha @1"),
        Row(stage: "grayscale", picture: clear, expected: "400×300 gray+alpha @1, any size"),
        Row(stage: "tint: { color: '#888' }", picture: greyClear, expected: "400×300 gray+alpha @1, any size"),
        Row(stage: "tint: { color: red }", picture: grey, expected: "400×300 rgb @1, any size"),
        Row(stage: "tint: { color: '#ff000080' }", expected: "400×300 rgb+alpha @1, any size"),
        // With a profile of its own a grey picture stays grey: the colour is converted into it.
        Row(stage: "tint: { color: red }", picture: ownGrey, expected: "400×300 gray @1, any size"),
    ]

    static let overlay = [
        Row(stage: "overlay: { image: red.png }", expected: "400×300 rgb @1, overlay 64×32 at (168, 134)"),
        Row(
            stage: "overlay: { image: red.png }", picture: retina,
            expected: "400×300 rgb @2, overlay 128×64 at (136, 118)"),
        Row(
            stage: "overlay: { image: mark@2x.png }", picture: grey,
            expected: "400×300 gray @1, overlay 32×16 at (184, 142)"),
        Row(
            stage: "overlay: { image: mark@2x.png }", picture: retina, scale: 3,
            expected: "400×300 rgb @2, overlay 64×32 at (168, 134)"),
        Row(
            stage: "overlay: { image: red.png, anchor: top-trailing, offset: { x: 8, y: 8 }, width: 32 }",
            expected: "400×300 rgb @1, overlay 32×16 at (360, 8)"),
        Row(
            stage: "overlay: { image: red.png, anchor: bottom-leading, offset: { x: 1%, y: 1% }, height: 10% }",
            scale: 2,
            expected: "400×300 rgb @1, overlay 60×30 at (4, 267)"),
        Row(
            stage: "overlay: { image: red.png, width: 100, height: 100 }",
            expected: "400×300 rgb @1, overlay 100×50 at (150, 125)"),
        Row(
            stage: "overlay: { image: red.png, width: 200% }",
            expected: "400×300 rgb @1, overlay 800×400 at (-200, -50)"),
        Row(
            stage: "overlay: { image: red.png, blend: multiply }", picture: clear,
            expected: "400×300 rgb+alpha @1, overlay 64×32 at (168, 134)"),
        Row(
            stage: "overlay: { image: red.png, blend: dest-in }",
            expected: "400×300 rgb+alpha @1, overlay 64×32 at (168, 134)"),
    ]

    @Test(arguments: resize + frame)
    func `scaling stages plan sizes, alpha, colours, points and sizeDependence`(row: Row) throws { try check(row) }

    @Test(arguments: cuts + turns)
    func `cutting and turning stages plan sizes, alpha, colours, points and sizeDependence`(row: Row) throws {
        try check(row)
    }

    @Test(arguments: painting + overlay)
    func `painting stages plan sizes, alpha, colours, points and sizeDependence`(row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        let stage = try stage(row.stage)
        let plan = try plan(stage, row.picture, PlanContext(scale: row.scale, assets: Self.assets))
        #expect(summary(plan) == row.expected)
    }

    // MARK: - Impossible plans

    @Test(
        arguments: [
            (
                "crop: { width: 10, height: 10, x: 400 }",
                "the cut of 10×10 at (400, 0) lies outside the picture of 400×300; nothing would be left"
            ),
            (
                "crop: { width: 10, height: 10, y: -10 }",
                "the cut of 10×10 at (0, -10) lies outside the picture of 400×300; nothing would be left"
            ),
            ("inset: { all: -150 }", "the margins cut all of the picture of 400×300; nothing would be left"),
            (
                "inset: { leading: -60%, trailing: -40% }",
                "the margins cut all of the picture of 400×300; nothing would be left"
            ),
        ])
    func `a stage that leaves nothing says so`(text: String, message: String) throws {
        let stage = try stage(text)
        let failure = failure(stage, Self.rgb)
        #expect(failure?.code == .emptyResult)
        #expect(failure?.stage == type(of: stage).name)
        #expect(failure?.message == message)
    }

    @Test(
        arguments: [
            "frame: { width: 500, height: 500 }", "inset: { all: 5 }", "rotate: { angle: 5 }", "tint: { color: white }",
            "overlay: { image: mark@2x.png }",
        ])
    func `what draws cannot be done in colours that are neither RGB nor grey`(text: String) throws {
        let stage = try stage(text)
        for colour in [ColourModel.cmyk, .lab] {
            let failure = failure(stage, PictureInfo(size: PixelSize(400, 300), colour: colour, hasProfile: true))
            let name = type(of: stage).name
            let words = "'\(name)' draws, which cannot be done in \(colour.rawValue) colors; remove 'profile: keep'"
            #expect(failure == Failure(.unsupportedColour, stage: name, words))
        }
    }

    @Test(
        arguments: [
            "resize: { size: 100 }", "crop: { width: 10, height: 10 }", "flip: { axis: vertical }",
            "rotate: { angle: 90 }",
            "inset: { all: -5 }",
            "flatten", "frame: { width: 100, height: 100, mode: aspect-fill }",
        ])
    func `what draws nothing can be done in any colours`(text: String) throws {
        let picture = PictureInfo(size: PixelSize(400, 300), colour: .cmyk, hasProfile: true)
        let plan = try plan(try stage(text), picture, PlanContext(scale: 1))
        #expect(plan.output.colour == .cmyk)
        #expect(plan.output.hasProfile)
    }

    @Test
    func `without colours the profile of colours is gone, and the profile of a grey picture stays`() throws {
        let grayscale = try stage("grayscale")
        let rgb = try plan(grayscale, PictureInfo(size: PixelSize(4, 3), hasProfile: true), PlanContext(scale: 1))
        #expect(!rgb.output.hasProfile)
        #expect(try plan(grayscale, Self.ownGrey, PlanContext(scale: 1)).output.hasProfile)
    }

    @Test
    func `frames, depth and certainty flow through every stage`() throws {
        var picture = PictureInfo(size: PixelSize(400, 300), frames: 7, depth: .sixteen)
        picture.certainty = .atMost
        for type in StageCatalogue.all.stages where !(type is any JoiningStage.Type) {
            let stage = try stage(String(type.example.dropFirst(2)))
            let assets = ["assets/badge.png": AssetFacts(size: PixelSize(8, 8), pixelsPerPoint: 1, isGrey: true)]
            let output = try plan(stage, picture, PlanContext(scale: 1, assets: assets)).output
            #expect(output.frames == 7 && output.depth == .sixteen, "\(type.name)")
        }
    }

    @Test
    func `stages that join a set keep depth and certainty of its members`() throws {
        var picture = PictureInfo(size: PixelSize(400, 300), depth: .sixteen)
        picture.certainty = .atMost
        let members = (1...12).map { SetMember(name: BytePath("\($0).png"), geometry: picture) }
        for type in StageCatalogue.all.stages where type is any JoiningStage.Type {
            let text = onePipeline([String(type.example.dropFirst(2))], save: "{ format: webp }", head: type.head)
            let stage = try #require(try pipeline(text).renditions.first?.stages.first?.stage as? any JoiningStage)
            let output = try joined(stage, members)
            // The cells of a contact sheet have a size of their own.
            #expect(
                output.depth == .sixteen && output.certainty == (type.name == "contact-sheet" ? .exact : .atMost),
                "\(type.name)")
        }
    }

    // MARK: -

    private func joined<Stage: JoiningStage>(_ stage: Stage, _ members: [SetMember]) throws -> PictureInfo {
        try stage.plan(members, in: PlanContext(scale: 1)).output
    }

    private func stage(_ text: String) throws -> any StageDeclaration {
        try #require(try pipeline(onePipeline([text])).renditions.first?.stages.first).stage
    }

    private func plan<Stage: StageDeclaration>(
        _ stage: Stage, _ picture: PictureInfo, _ context: PlanContext
    ) throws -> any StagePlan {
        try stage.plan(picture, in: context)
    }

    private func failure(_ stage: any StageDeclaration, _ picture: PictureInfo) -> Failure? {
        do {
            _ = try plan(stage, picture, PlanContext(scale: 1, assets: Self.assets))
            return nil
        } catch {
            return (error as? PlanFailure)?.failure
        }
    }

    private func summary(_ plan: any StagePlan) -> String {
        let output = plan.output
        var parts = [
            "\(output.size) \(output.colour.rawValue)\(output.hasAlpha ? "+alpha" : "") @\(writtenNumber(output.pixelsPerPoint))"
        ]
        switch plan.sizeDependence {
        case .anySize: parts.append("any size")
        case .scales(let size, _): parts.append("to \(size)")
        case .sourcePixels: break
        }
        if !plan.isStreaming { parts.append("held") }
        if plan.isEnlarging { parts.append("enlarges") }
        if !plan.note.isEmpty { parts.append(plan.note) }
        return parts.joined(separator: ", ")
    }
}
