// Plan and render agree, for every stage on every kind of picture.
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// One use of each stage, or several where a stage takes different ways.
let everyStage = [
    "resize: { size: 37x23! }", "resize: { size: 50x50 }", "resize: { size: 30% }",
    "resize: { size: 19x19!, linear: true }",
    "resize: { size: 9x9!, kernel: nearest }",
    "frame: { width: 30, height: 20 }", "frame: { width: 30, height: 20, mode: aspect-fill, background: '#ff000080' }",
    "frame: { width: 17, height: 31, mode: center, background: '#336699' }",
    "frame: { width: 17, height: 31, mode: top-left, opaque: true }",
    "frame: { width: 12, height: 13, alpha: 0.5, mode: scale-to-fill }",
    "frame: { width: 12, height: 13, alpha: 0.5, background: '#80808080' }",
    "crop: { width: 60%, height: 40%, anchor: bottom-trailing }", "crop: { width: 5, height: 7, x: 0, y: 0 }",
    "inset: { all: 3 }", "inset: { all: 10%, background: red }",
    "inset: { top: 4, leading: -20%, bottom: -20%, background: '#fff' }",
    "rotate: { angle: 90 }", "rotate: { angle: 180 }", "rotate: { angle: -90 }", "rotate: { angle: 33 }",
    "rotate: { angle: 200, background: '#808080' }", "rotate: { angle: 5, background: '#ff000080' }",
    "flip: { axis: horizontal }", "flip: { axis: vertical }",
    "flatten: { background: white }", "flatten: { background: '#123456' }",
    "opacity: { alpha: 0.5 }", "opacity: { alpha: 1 }",
    "mask: { corner-radius: 5 }", "mask: { corner-radius: 50% }", "mask: { shape: circle }",
    "overlay: { image: colour }", "overlay: { image: grey, anchor: top-trailing, alpha: 0.5 }",
    "overlay: { image: colour, blend: xor }",
    "nine-slice: { width: 300, height: 300, cap-insets: { all: 0 } }",
    "nine-slice: { width: 200, cap-insets: { leading: 10% }, mode: tile }",
    "tile: { width: 30, height: 20, offset: { x: 3, y: -4 } }", "viewport: { width: 30, height: 20 }",
    "viewport: { width: 30, height: 20, content-inset: { all: 10% }, background: red }",
    "viewport: { width: 9, height: 9, content-inset: { leading: 9 }, reveal: { x: 20, y: 20, width: 3, height: 3 } }",
    "composite: { layers: [ { source: true }, { image: colour, anchor: top } ] }",
    "composite: { width: 30, height: 20, background: red, layers: [ { color: '#80808080', width: 9, height: 9 }, { source: true, alpha: 0.5 } ] }",
    "composite: { layers: [ { source: true }, { layers: [ { image: grey, stages: [ { resize: { size: 3x3 } } ] } ], blend: multiply } ] }",
    "overlay: { image: colour, tile: true }",
    "overlay: { image: grey, stages: [ { frame: { width: 5, height: 5 } }, { mask: { shape: circle } } ] }",
    "mask: { image: colour }", "mask: { image: grey }",
    "border: { width: 1, grow: true }", "border: { width: 10%, color: '#ff000080', grow: true, corner-radius: 4 }",
    "border: { width: 3, color: white, grow: true, corner-radius: 50% }",
    "adjust: { exposure: 0.5, contrast: 1.2 }", "adjust: { saturation: 0.3, gamma: 1.4 }", "adjust: { gamma: 1 }",
    "adjust: { temperature: 4000, levels: { black: 20 } }", "lut: { file: look }", "lut: { file: look, strength: 0.3 }",
    "shadow: { blur: 4, offset: { x: 3, y: -9 } }", "shadow: { blur: 60, color: '#ff000080' }",
    "shadow: { blur: 0, color: white, offset: { x: 20% } }",
    "gradient: { stops: [ transparent, black ] }",
    "gradient: { angle: 30, stops: [ red, { color: '#00ff0080', at: 40% }, blue ] }",
    "gradient: { kind: radial, center: { x: 20%, y: 100% }, fade: true, stops: [ black, transparent ] }",
    "gradient: { fade: true, stops: [ black, red ] }",
    "frame: { ratio: 4:5 }", "frame: { ratio: 16:9, background: blur }", "crop: { ratio: '4:5', anchor: top }",
    "crop: { ratio: 1.5 }", "frame: { width: 30, height: 40, background: edge }",
    "frame: { width: 30, height: 40, background: average, alpha: 0.5 }",
    "frame: { width: 90, height: 80, enlarge: false, background: white }",
    "frame: { width: 60, height: 20, mode: aspect-fill, enlarge: false }",
    "frame: { width: 100% + 8, height: 150% - 0.25 }",
    "mask: { corner-radius: { all: 6, top-leading: 0 } }",
    "mask: { corner-radius: { top-leading: 100%, bottom-trailing: 100% } }",
    "duotone: { dark: '#102040', light: white }", "duotone: { dark: white, light: black }",
    "text: { text: Hi, size: 9 }",
    "text: { text: Hi, size: 50%, color: '#ff000080', background: '#80808040', padding: 2 }",
    "text: { text: 'H {width}', size: 8, tile: true, outline: { width: 1, color: '#00ff00' }, shadow: { blur: 1 } }",
    "caption: { text: Hi, size: 8 }", "caption: { text: Hi, strip: '#ff000080', color: '#00ff00', edge: top }",
    "composite: { layers: [ { source: true }, { text: { text: Hi, color: red } } ] }",
    "overlay: { image: colour, stages: [ { text: { text: Hi } } ] }",
    "sharpen", "blur: { sigma: 2 }", "grayscale", "tint: { color: '#0a84ff' }", "tint: { color: '#80808080' }",
]

/// A cube of two colors a side: red becomes orange, blue darker, and black a dark blue.
let warmLook = """
    TITLE "warm"
    LUT_3D_SIZE 2
    0.0 0.05 0.1
    1.0 0.3 0.0
    0.1 1.0 0.0
    1.0 1.0 0.1
    0.0 0.1 0.7
    0.9 0.2 0.8
    0.2 0.9 0.9
    1.0 0.95 0.9
    """

/// Stages that look at the picture first.
let everyMeasuringStage = [
    "adjust: { auto: levels }", "crop: { ratio: 1:2, anchor: entropy }",
    "trim", "trim: { threshold: 40, background: white }", "crop: { width: 40%, height: 40%, anchor: attention }",
    "frame: { width: 8, height: 8, mode: aspect-fill, anchor: entropy }",
]

/// Landscape, portrait, square, one pixel wide or high, primes.
let everySize = [
    PixelSize(40, 25), PixelSize(24, 41), PixelSize(31, 31), PixelSize(1, 37), PixelSize(43, 1), PixelSize(1, 1),
    PixelSize(97, 13),
]

extension TestAssets {
    static func small() throws -> TestAssets {
        TestAssets(
            images: [
                "colour": try TestPicture.coded(width: 6, height: 5, kind: PictureKind(hasAlpha: true)),
                "grey": try TestPicture.coded(width: 5, height: 7, kind: PictureKind(isGrey: true)),
            ], tables: ["look": try ColorTable(cube: Array(warmLook.utf8))])
    }
}

/// The name of the stage in a use of it.
func stageName(_ use: String) -> String { String(use.prefix { $0 != ":" }) }

@Suite(.quietVips)
struct AgreementTests {
    @Test func `every stage for single pictures is used`() {
        let stages = StageCatalogue.all.stages.filter { !($0 is any JoiningStage.Type) }.map { $0.name }
        #expect(Set((everyStage + everyMeasuringStage).map(stageName)) == Set(stages))
    }

    @Test(arguments: everyStage + everyMeasuringStage)
    func `what is rendered has the planned size, bands and depth`(stage: String) throws {
        let assets = try TestAssets.small()
        for kind in PictureKind.all {
            for size in everySize {
                try render(stage, TestPicture.coded(width: size.width, height: size.height, kind: kind), assets: assets)
            }
        }
    }

    @Test(arguments: everyStage, [2, 3])
    func `the same at scales above one`(stage: String, scale: Int) throws {
        let assets = try TestAssets.small()
        for size in everySize {
            let picture = try TestPicture.coded(
                width: size.width, height: size.height, kind: PictureKind(hasAlpha: size.width > 40))
            try render(stage, picture, scale: scale, pixelsPerPoint: size.height % 2 + 1, assets: assets)
        }
    }

    @Test(arguments: everyStage + everyMeasuringStage)
    func `colors that are kept are rendered as planned, or refused by the plan`(stage: String) throws {
        let assets = try TestAssets.small()
        for image in try Self.keptColours(width: 31, height: 23) {
            do {
                try render(stage, image, assets: assets, profile: "keep")
            } catch let error as PlanFailure {
                #expect(error.failure.code == .unsupportedColour, "\(error)")
                #expect(error.failure.message.hasSuffix("colors; remove 'profile: keep'"))
            }
        }
    }

    /// CMYK with a profile and without, Lab in floating point and packed, with alpha and without, and RGB and gray that
    /// have a profile.
    private static func keptColours(width: Int, height: Int) throws -> [Image] {
        let plain = try TestPicture.coded(width: width, height: height)
        let clear = try TestPicture.coded(width: width, height: height, kind: PictureKind(hasAlpha: true))
        let press = try plain.iccTransform(to: .cmyk, input: .srgb)
        let deepPress = try plain.iccTransform(to: .cmyk, input: .srgb, depth: 16)
        let alpha = try clear.extractBands(from: 3, count: 1)
        return [
            press, try press.removingMetadata(["icc-profile-data"]), deepPress,
            try press.bandjoin(alpha).copy(interpretation: .cmyk),
            try plain.colourspace(.lab), try plain.colourspace(.labs), try plain.colourspace(.labq),
            try clear.colourspace(.lab), try plain.iccTransform(to: .p3, input: .srgb),
            try plain.iccTransform(to: .p3, input: .srgb, depth: 16),
        ]
    }

    @Test(arguments: everyStage)
    func `three frames stay three frames of the planned size`(stage: String) throws {
        let assets = try TestAssets.small()
        let images = try (1...3).map { index in
            try TestPicture.make(width: 20, height: 30, bands: 4) { x, y in
                [UInt8(x * index), UInt8(y), UInt8(index * 50), 200]
            }
        }
        let step = try #require(try steps(stage, for: images, assets: assets).last)
        let rendered = try step.render(
            Frames(images.map { try Picture(decoded: $0) }, delays: [40, 50, 60], repeatCount: 2),
            in: RenderContext(assets: assets))
        #expect(rendered.pictures.count == 3)
        #expect(step.output.frames == 3)
        #expect(rendered.delays == [40, 50, 60])
        #expect(rendered.repeatCount == 2)
        for picture in rendered.pictures { expectAgreement(picture, step) }
        let first = try render(stage, images[0], assets: assets).pixels
        #expect(try PixelGrid(rendered.pictures[0].image) == first, "a frame is what the picture alone would be")
    }

    @Test func `no stage leaves a libvips object behind`() throws {
        func all() throws {
            let assets = try TestAssets.small()
            for kind in PictureKind.all {
                for stage in everyStage {
                    try render(stage, TestPicture.coded(width: 20, height: 17, kind: kind), assets: assets)
                }
            }
        }
        try all()
        let before = VipsLibrary.liveObjects
        try all()
        #expect(VipsLibrary.liveObjects == before)
    }
}
