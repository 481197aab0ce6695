import Foundation
import TestSupport
import Testing
import Typesetting
import Vips

@testable import Pipeline
@testable import Stages

/// Characters that no font has.
private let manyUnknown = String(
    String.UnicodeScalarView((0..<30).compactMap { UnicodeScalar(0x10FF00 + $0) }))

/// The font of Tests/Fixtures/fonts: 0.928 above the baseline and 0.236 below it, and H 0.752 wide.
private let font = "font: test.ttf, size: 40, line-spacing: 1.25"

@Suite(.quietVips)
struct TextTests {
    private func gray(_ width: Int = 200, _ height: Int = 120) throws -> Image {
        try TestPicture.solid([0], width: width, height: height)
    }

    /// Where something is seen on black.
    private func drawn(_ rendered: Rendered) -> [Int]? { rendered.pixels.boundingBox { $0[0] > 0 } }

    @Test(arguments: [
        ("a", 20_000, false, nil), ("a", 20_001, false, "'text' has 20001 characters; at most 20000 are read"),
        ("a", 120_000, true, nil), ("a", 120_001, true, "'text' has 120001 characters; at most 120000 are read"),
        (" ", 3, false, "'text' is empty"), ("<b> </b>", 2, true, "'text' is empty"), ("<b>a</b>", 1, true, nil),
        ("<b> </b>", 1, false, nil),
    ])
    func `a text has something to draw, and no more than is read`(
        part: String, count: Int, isMarkup: Bool, mistake: String?
    ) {
        let text = String(repeating: part, count: count)
        let stage = "text: { text: '\(text)', font: test.ttf, markup: \(isMarkup) }"
        let pipeline = "renditions: { a: { stages: [ { \(stage) } ], save: { format: png } } }"
        do {
            _ = try PipelineFile(text: pipeline, file: "t.yaml", catalogue: .all)
            #expect(mistake == nil)
        } catch {
            let found = error.items.map(\.message)
            #expect(mistake.map { words in found.contains { $0.hasPrefix(words) } } == true, "\(found)")
        }
    }

    // H is 0.752 em wide with stems from 0.098 to 0.654, and 0.729 high: at 40 pixels its ink is 22.2 by 29.2.
    @Test(arguments: [
        ("top-left", 0, 0), ("top", 84, 0), ("top-right", 169, 0), ("left", 0, 35), ("center", 84, 35),
        ("bottom-left", 0, 70), ("bottom-right", 169, 70),
    ])
    func `the box of the lines sits at its anchor, to the pixel`(anchor: String, x: Int, y: Int) throws {
        let style = "text: { text: H, \(font), color: white, background: '#808080', anchor: \(anchor) }"
        let result = try render(style, gray())
        // 40 × 0.752 is 30.1, so that the box is 31 wide; a line is 50 high.
        #expect(result.pixels.boundingBox { $0[0] > 0 } == [x, y, 31, 50])
        let moved = try render(
            "text: { text: H, \(font), background: white, padding: 3, inset: { x: 20, y: 10% }, anchor: \(anchor) }",
            gray())
        let right = anchor.hasSuffix("right"), bottom = anchor.hasPrefix("bottom")
        #expect(drawn(moved) == [x + (right ? -20 : 20) - 3, y + (bottom ? -12 : 12) - 3, 37, 56])
    }

    @Test(arguments: [1, 2, 3])
    func `the letters are where the font says, at all scales`(scale: Int) throws {
        let image = try gray(200 * scale, 100 * scale)
        let result = try render(
            "text: { text: H, \(font), color: white, anchor: top-left }", image, scale: scale, pixelsPerPoint: scale)
        let ink = try #require(result.pixels.boundingBox { $0[0] > 127 })
        let em = 40.0 * Double(scale)
        // The baseline has half of what a line has besides ascent and descent above it.
        let baseline = (1.25 * em - 1.1641 * em) / 2 + 0.9282 * em
        #expect(abs(Double(ink[0]) - 0.0981 * em) <= 1 && abs(Double(ink[2]) - 0.5557 * em) <= 1.5, "\(ink)")
        #expect(abs(Double(ink[1] + ink[3]) - baseline) <= 1 && abs(Double(ink[3]) - 0.729 * em) <= 1.5, "\(ink)")
    }

    private static let bold = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"

    @Test(.enabled(if: FileManager.default.fileExists(atPath: bold), "DejaVu is not installed"))
    func `the font of a file is drawn, and not an installed one of the same family`() throws {
        func width(_ family: String?, weight: Int? = nil, file: String? = nil) throws -> Double {
            var style = TypesetStyle(family: family, size: 40, lineHeight: 50, width: 1000)
            style.weight = weight
            return try TypesetText("Hamburg", style, by: #require(FontLibrary(file: file))).width
        }
        let (book, bold) = (try width("DejaVu Sans"), try width("DejaVu Sans", weight: 700))
        #expect(bold > book + 5)
        #expect(try width(nil, file: Self.bold) == bold)
        // The others are still there beside it, under their names.
        #expect(try width("DejaVu Sans", file: Self.bold) == book)
    }

    @Test func `a percentage is of the shorter side`() throws {
        let points = try render("text: { text: Hi, font: test.ttf, size: 30, color: white }", gray(200, 120))
        let share = try render("text: { text: Hi, font: test.ttf, size: 25%, color: white }", gray(200, 120))
        #expect(points.pixels == share.pixels)
    }

    @Test func `lines break at max-width, and max-lines leaves out the rest`() throws {
        let base = "text: Hi Hi Hi Hi, \(font), background: white, anchor: top-left, max-width: 100"
        #expect(drawn(try render("text: { \(base) }", gray(200, 200)))?[3] == 100)
        #expect(drawn(try render("text: { \(base), max-lines: 1 }", gray(200, 200)))?[3] == 50)
        // One line by itself.
        let cut = try render("text: { \(base), overflow: ellipsis }", gray(200, 200))
        #expect(drawn(cut)?[3] == 50)
        let small = try render("text: { \(base), overflow: shrink }", gray(200, 200))
        let box = try #require(drawn(small))
        #expect(box[2] <= 100 && box[2] > 95 && box[3] < 35)
    }

    @Test func `words stay whole as long as a text can shrink`() throws {
        // Five H are 150 pixels wide at 40 pixels, and need letters of 26 for 100.
        let one = try render(
            "text: { text: HHHHH HH, \(font), background: white, anchor: top-left, max-width: 100, max-lines: 3, overflow: shrink }",
            gray(200, 200))
        let box = try #require(drawn(one))
        // Two lines, each 1.25 times 100 / (5 × 0.752).
        #expect(box[2] <= 100 && box[2] > 95 && abs(box[3] - 66) <= 1, "\(box)")
        // A word that would not fit in the smallest letters is broken after all, and is not cut.
        let long = try render(
            "text: { text: HHHHHHHHHHHHHHHHHHHHHHHHHHHHHH, \(font), background: white, anchor: top-left, max-width: 100, max-lines: 2, overflow: shrink }",
            gray(200, 200))
        let broken = try #require(drawn(long))
        #expect(broken[2] <= 100 && broken[2] > 80 && broken[3] <= 26, "\(broken)")
    }

    @Test(arguments: [("leading", 0), ("center", 1), ("trailing", 2)])
    func `a short line begins, has its middle or ends where the long one does`(align: String, place: Int) throws {
        let result = try render(
            "text: { text: \"HHHH\\nI\", \(font), color: white, anchor: top-left, align: \(align) }", gray(200, 120))
        let lower = result.pixels.part(left: 0, top: 52, width: 200, height: 48)
        let ink = try #require(lower.boundingBox { $0[0] > 127 })
        // I is 0.295 wide, and its stem in the middle of that.
        let middle = [0.1475, 2 * 0.752, 4 * 0.752 - 0.1475][place] * 40
        #expect(abs(Double(ink[0]) + Double(ink[2]) / 2 - middle) <= 1, "\(ink)")
    }

    @Test func `Hebrew begins on the right`() throws {
        let result = try render(
            "text: { text: \"שלום שלום\\nא\", \(font), color: white, anchor: top-left }", gray(250, 120))
        let upper = try #require(
            result.pixels.part(left: 0, top: 0, width: 250, height: 50).boundingBox { $0[0] > 127 })
        let lower = try #require(
            result.pixels.part(left: 0, top: 50, width: 250, height: 50).boundingBox { $0[0] > 127 })
        #expect(abs(lower[0] + lower[2] - upper[0] - upper[2]) <= 3 && lower[0] > 50)
    }

    @Test(arguments: PictureKind.all)
    func `only the pixels of the text change`(kind: PictureKind) throws {
        let base = try TestPicture.coded(width: 90, height: 60, kind: kind)
        let result = try render(
            "text: { text: Hi, font: test.ttf, size: 20, anchor: top-left, color: '#ff0000' }", base)
        let plain = try render("text: { text: Hi, font: test.ttf, size: 20, anchor: top-left, color: black }", base)
        let original = try PixelGrid(base)
        #expect(
            plain.pixels.part(left: 40, top: 0, width: 50, height: 60)
                == original.part(left: 40, top: 0, width: 50, height: 60))
        #expect(result.step.output.colour == .rgb && plain.pixels != original)
    }

    @Test func `a text of full coverage has exactly its color, in 8 and 16 bits`() throws {
        for (kind, factor) in [(PictureKind(), 1), (PictureKind(isDeep: true), 257)] {
            let base = try TestPicture.coded(width: 90, height: 60, kind: kind)
            let result = try render(
                "text: { text: H, font: test.ttf, size: 200%, color: '#123456', anchor: top-left, inset: { x: -25, y: -60 } }",
                base)
            #expect(result.pixels.values.chunked(3).contains([0x12 * factor, 0x34 * factor, 0x56 * factor]))
        }
    }

    @Test func `outline and shadow are below the letters and around them`() throws {
        let base = try TestPicture.solid([0, 0, 0], width: 200, height: 120)
        let style = "text: H, \(font), color: '#ff0000'"
        let letters = try render("text: { \(style) }", base).pixels
        let outlined = try render("text: { \(style), outline: { width: 3, color: '#00ff00' } }", base).pixels
        let shadowed = try render(
            "text: { \(style), shadow: { color: '#0000ff', offset: { x: 30, y: 5 }, blur: 0 } }", base
        ).pixels
        let box = try #require(letters.boundingBox { $0[0] > 127 })
        #expect(outlined.boundingBox { $0[0] > 127 } == box)
        let around = try #require(outlined.boundingBox { $0[1] > 127 })
        #expect(abs(around[0] - box[0] + 3) <= 1 && abs(around[2] - box[2] - 6) <= 1)
        #expect(shadowed.boundingBox { $0[2] > 127 } == [box[0] + 30, box[1] + 5, box[2], box[3]])
    }

    @Test func `a tile is the text with its padding, over all of the picture`() throws {
        let result = try render(
            "text: { text: H, font: test.ttf, size: 20, line-spacing: 1, padding: 2, color: white, tile: true, anchor: top-left, inset: { x: 2, y: 2 } }",
            gray(100, 96))
        // 20 × 0.752 is 15.04: a box of 16 by 20, and with the padding 20 by 24.
        let tile = result.pixels.part(left: 0, top: 0, width: 20, height: 24)
        for (x, y) in [(20, 0), (80, 72), (40, 24)] {
            #expect(result.pixels.part(left: x, top: y, width: 20, height: 24) == tile)
        }
        #expect(tile.values.contains { $0 > 127 })
    }

    @Test func `a layer is a text on the canvas`() throws {
        let base = try gray(200, 120)
        let text = "text: H, \(font), color: white, anchor: bottom-right"
        let alone = try render("text: { \(text) }", base).pixels
        let layer = try render(
            "composite: { background: black, layers: [ { source: true }, { text: { \(text) } } ] }", base)
        #expect(layer.pixels == alone)
    }

    @Test(arguments: ["top-left", "top", "top-right", "center", "bottom-left", "bottom-right"])
    func `a layer that is a text is placed by its own anchor and offset, as an overlay is`(anchor: String) throws {
        let base = try gray(200, 120)
        let own = "text: H, \(font), color: white"
        let alone = try render("text: { \(own), anchor: \(anchor), inset: { x: 7, y: 10% } }", base).pixels
        let layer = "text: { \(own) }, anchor: \(anchor), offset: { x: 7, y: 10% }"
        for place in [layer, "text: { \(own), anchor: \(anchor) }, offset: { x: 7, y: 10% }"] {
            let drawn = try render("composite: { background: black, layers: [ { source: true }, { \(place) } ] }", base)
            #expect(drawn.pixels == alone, "\(place)")
        }
        // In a layer of a size of its own, the words are where the layer is.
        let sized = try render(
            "composite: { background: black, layers: [ { source: true }, { \(layer), width: 100, height: 60 } ] }", base
        )
        #expect(sized.pixels == alone)
    }

    @Test func `the rows of a caption follow from size, line-spacing and max-lines`() throws {
        let base = try TestPicture.solid([9], width: 100, height: 50)
        let usual = try render("caption: { text: Hi, font: test.ttf, size: 20, padding: 4 }", base)
        #expect(usual.pixels.sides == [100, 50 + 25 + 8])
        #expect(usual.pixels.part(left: 0, top: 0, width: 100, height: 50) == (try PixelGrid(base)))
        let three = try render("caption: { text: Hi, font: test.ttf, size: 20, max-lines: 3, edge: top }", base)
        #expect(three.pixels.sides == [100, 125] && three.pixels[0, 0] == [255] && three.pixels[0, 75] == [9])
        let fixed = try render("caption: { text: Hi, font: test.ttf, size: 20, height: 20%, strip: '#ff0000' }", base)
        #expect(fixed.pixels.sides == [100, 60] && fixed.pixels[0, 59] == [255, 0, 0])
    }

    @Test(arguments: ["top", "bottom"], [1, 2])
    func `a caption of one line is in the middle of its strip, with the padding around it, to the pixel`(
        edge: String, scale: Int
    ) throws {
        let base = try TestPicture.solid([9], width: 100 * scale, height: 50 * scale)
        let style = "text: HH, font: test.ttf, size: 20, padding: 4, background: '#ff0000', edge: \(edge)"
        let result = try render("caption: { \(style) }", base, scale: scale, pixelsPerPoint: scale).pixels
        #expect(result.sides == [100 * scale, 83 * scale])
        let strip = edge == "top" ? 0 : 50 * scale
        // Two H of 0.752 em: 30.08 points, so that the box is 31 or 61 pixels wide.
        let width = scale == 1 ? 31 : 61
        let left = (100 * scale - width) / 2 - 4 * scale
        let red = result.boundingBox { $0[0] > 200 && $0[1] < 50 }
        #expect(red == [left, strip, width + 8 * scale, 33 * scale])
        #expect(
            result[0, strip] == [255, 255, 255] && result[100 * scale - 1, strip + 33 * scale - 1] == [255, 255, 255])
    }

    @Test func `what is drawn in CMYK or Lab is refused`() throws {
        let plain = try TestPicture.coded(width: 20, height: 20, kind: PictureKind())
        for base in [try plain.iccTransform(to: .cmyk, input: .srgb), try plain.colourspace(.lab)] {
            for stage in ["text", "caption"] {
                let failure = #expect(throws: PlanFailure.self) {
                    try render("\(stage): { text: Hi, font: test.ttf }", base, profile: "keep")
                }
                #expect(failure?.failure.code == .unsupportedColour)
            }
        }
    }

    // MARK: - Animations

    /// Counts how often fonts are asked for, which each text does once when it is laid out.
    private final class CountedFonts: AssetProvider {
        var assets = TestAssets()
        private(set) var texts = 0

        func picture(_ asset: AssetPath, size: PixelSize) throws -> Picture { try assets.picture(asset, size: size) }
        func picture(_ key: KeptPictureKey, make: () throws -> Picture) throws -> Picture {
            try assets.picture(key, make: make)
        }
        func table(_ path: ColorTablePath) throws -> ColorTable { try assets.table(path) }
        func fonts(_ file: AssetPath?) throws -> FontLibrary {
            texts += 1
            return try assets.fonts(file)
        }
    }

    @Test(arguments: [
        "text: { STYLE, anchor: top-left }", "text: { STYLE, tile: true, padding: 3 }", "caption: { STYLE }",
        "composite: { background: black, layers: [ { source: true }, { text: { STYLE } } ] }",
        "composite: { layers: [ { color: blue, stages: [ text: { STYLE } ] } ] }",
        "overlay: { image: a.png, stages: [ text: { STYLE } ] }",
    ])
    func `a text is laid out and drawn once for all frames, and looks on each as on a still`(stage: String) throws {
        let stage = stage.replacing("STYLE", with: "text: Hi, font: test.ttf, size: 20, color: '#ff8000'")
        let images = try (0..<4).map { try TestPicture.solid([UInt8(40 * $0), 30, 90], width: 60, height: 40) }
        let fonts = CountedFonts()
        fonts.assets.images = ["a.png": try TestPicture.solid([0, 90, 0], width: 30, height: 30)]
        let step = try #require(try steps(stage, for: images, assets: fonts.assets).first)
        let frames = Frames(try images.map { try Picture(decoded: $0) }, delays: [40, 40, 40, 40])
        let rendered = try step.render(frames, in: RenderContext(assets: fonts))
        let grids = try rendered.pictures.map { try PixelGrid($0.image) }
        #expect(fonts.texts == 1)
        for (image, grid) in zip(images, grids) {
            #expect(try render(stage, image, assets: fonts.assets).pixels == grid)
        }
    }

    @Test func `two texts of one step are two`() throws {
        let words = ["left", "right"].map {
            "{ text: { text: \($0), font: test.ttf, size: 12, color: white, anchor: \($0) } }"
        }
        let layers = "composite: { background: black, layers: [ \(words.joined(separator: ", ")) ] }"
        let result = try render(layers, gray()).pixels
        let one = try render("composite: { background: black, layers: [ \(words[0]) ] }", gray()).pixels
        #expect(
            result.part(left: 0, top: 0, width: 100, height: 120) == one.part(left: 0, top: 0, width: 100, height: 120))
        #expect(result != one)
    }

    // MARK: - Warnings

    private func warnings(_ stage: String) throws -> [Warning] {
        let base = try gray()
        let assets = TestAssets()
        let notes = RenderNotes()
        let step = try #require(try steps(stage, for: [base]).first)
        let picture = try Picture(decoded: base)
        _ = try step.render(Frames([picture]), in: RenderContext(assets: assets, notes: notes))
        return step.plan.warnings + notes.warnings
    }

    @Test(arguments: [
        ("text: { text: '{title}', font: test.ttf }", WarningCode.emptyText, "{title} has no value"),
        ("text: { text: '{title}{artist}', font: test.ttf }", .emptyText, "{title}, {artist} have no value"),
        (
            "text: { text: \"<span font_family='Nope'>H</span>i\", font: test.ttf, size: 20, markup: true }",
            .fontReplaced,
            "the font 'Nope' of its markup is not installed"
        ),
        (
            "text: { text: \"<span font='Nope Bold 12'>H</span>i\", font: test.ttf, size: 20, markup: true }",
            .fontReplaced, "the font 'Nope' of its markup is not installed"
        ),
        (
            "text: { text: Hi, font: 'Nope, None of These', size: 20 }", .fontReplaced,
            "the font 'Nope, None of These' is not installed"
        ),
        ("text: { text: '\(manyUnknown)', font: test.ttf, size: 4 }", .missingGlyphs, "and 10 more; boxes"),
        ("text: { text: Hi, font: No Such Family }", .fontReplaced, "the font 'No Such Family' is not installed"),
        ("text: { text: Hж, font: test.ttf }", .missingGlyphs, "'Imagemill Test' lacks ж"),
        ("text: { text: \"\u{10FFF0}\", font: test.ttf }", .missingGlyphs, "no font has"),
        ("text: { text: a b c d e f, font: test.ttf, size: 40, max-width: 60, max-lines: 1 }", .textCut, "more lines"),
        ("text: { text: H, font: test.ttf, size: 200 }", .textCut, "reaches beyond"),
        (
            "text: { text: '<span size=\"no\">H</span>', font: test.ttf, markup: true }", .badMarkup,
            "drawn as it is written"
        ),
    ])
    func `what a reader may not expect is a warning`(stage: String, code: WarningCode, words: String) throws {
        let found = try warnings(stage)
        #expect(found.count == 1 && found.first?.code == code, "\(found)")
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }

    @Test(arguments: ["DejaVu Sans", "Nope, DejaVu Sans", "DejaVu Sans,Nope", " dejavu sans , Nope"])
    func `a list of families is found if one of them is there`(family: String) throws {
        #expect(try warnings("text: { text: Hi, font: '\(family)', size: 20 }") == [])
        #expect(
            try warnings("text: { text: \"<span face='\(family)'>Hi</span>\", font: test.ttf, size: 20, markup: true }")
                == [])
    }

    @Test func `nothing is said of a text that is drawn as it should be`() throws {
        #expect(try warnings("text: { text: '{title|Hi} {width}<', font: test.ttf, size: 20 }") == [])
        #expect(try warnings("text: { text: 'a <b>b</b> {stem|&amp;}', font: test.ttf, size: 20, markup: true }") == [])
    }

    @Test func `what a check of a pipeline says of tags and entities, Pango says too`() throws {
        let library = try #require(FontLibrary())
        let style = TypesetStyle(family: "sans-serif", size: 10, lineHeight: 12, width: 100)
        let pieces = [
            "<b>", "</b>", "<i>", "</i >", "<u/>", "<span>", "</span>", "<span size='9' >", "<sub>", "</sub>", "<x>",
            "<B>", "< b>", "<",
            ">", "&amp;", "&", "&lt", "&#65;", "&#x41;", "&#0;", "&x;", "a", " ", "'", "\"", "<b a='1'>",
            "<span size=9>", "<!-- a -->",
            "<span size=\"9\"lang='a'>", "/", "=", "é", "\n",
        ]
        var random = SplitMix(state: 9)
        var wellFormed = 0
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            var markup = style
            markup.isMarkup = true
            var isRead = true
            do { _ = try TypesetText(text, markup, by: library) } catch { isRead = false }
            let problem = try TextTemplate(text).markupProblem
            #expect((problem == nil) == isRead, "\(text): \(problem ?? "well formed")")
            wellFormed += isRead ? 1 : 0
        }
        #expect(wellFormed > 200)
    }

    @Test func `markup is read only if that is asked for`() throws {
        let plain = try render("text: { text: '<b>H</b>', font: test.ttf, size: 20, color: white }", gray()).pixels
        let bold = try render(
            "text: { text: '<b>H</b>', font: test.ttf, size: 20, color: white, markup: true }", gray()
        ).pixels
        let letter = try render("text: { text: H, font: test.ttf, size: 20, color: white }", gray()).pixels
        #expect(plain != bold && bold != letter)
    }
}

extension [Int] {
    fileprivate func chunked(_ count: Int) -> [[Int]] {
        stride(from: 0, to: self.count - count + 1, by: count).map { Array(self[$0..<$0 + count]) }
    }
}
