// Alpha and light against a reference in floating point that shares no code with the stages.
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// A background as written and as numbers from 0 to 1.
private struct Background: CustomTestStringConvertible {
    let text: String
    let red, green, blue, alpha: Double

    init(_ text: String, _ red: Int, _ green: Int, _ blue: Int, _ alpha: Int = 255) {
        self.text = text
        self.red = Double(red) / 255
        self.green = Double(green) / 255
        self.blue = Double(blue) / 255
        self.alpha = Double(alpha) / 255
    }

    var testDescription: String { text }
    var isGrey: Bool { (red == green && green == blue) || alpha == 0 }

    static let all = [
        Background("transparent", 0, 0, 0, 0), Background("'#ffffff40'", 255, 255, 255, 0x40),
        Background("'#ff800080'", 255, 128, 0, 0x80),
        Background("'#10203001'", 16, 32, 48, 1), Background("'#333333fe'", 51, 51, 51, 0xFE),
        Background("white", 255, 255, 255),
        Background("'#808080'", 128, 128, 128), Background("'#1e90ff'", 30, 144, 255),
    ]
}

/// Source-over, then the view's alpha; all numbers from 0 to 1, nothing premultiplied outside.
private func composed(
    _ colour: [Double], alpha: Double, over background: Background, viewAlpha: Double
) -> (colour: [Double], alpha: Double) {
    let under = [background.red, background.green, background.blue]
    let covered = alpha + background.alpha * (1 - alpha)
    let mixed = zip(colour, under).map {
        covered == 0 ? 0 : ($0 * alpha + $1 * background.alpha * (1 - alpha)) / covered
    }
    return (mixed, covered * viewAlpha)
}

@Suite(.quietVips)
struct AlphaTests {
    private static let levels = [0, 1, 127, 254, 255]
    private static let greys = [0, 1, 100, 254, 255]

    /// Each column has a colour, each row an alpha.
    private func picture(_ kind: PictureKind) throws -> Image {
        let factor = kind.maximum / 255
        return try TestPicture.make(width: 5, height: 5, kind: kind) { x, y in
            let colour = kind.isGrey ? [Self.greys[x]] : [Self.greys[x], Self.greys[4 - x], Self.greys[(x * 2) % 5]]
            return (colour + (kind.hasAlpha ? [Self.levels[y]] : [])).map { $0 * factor }
        }
    }

    @Test(arguments: Background.all, PictureKind.all)
    private func `frame composes as the reference does`(background: Background, kind: PictureKind) throws {
        let source = try picture(kind)
        let original = try PixelGrid(source)
        for alpha in [0, 0.25, 0.5, 1] {
            for opaque in [false, true] where !opaque || background.alpha == 1 {
                let stage =
                    "frame: { width: 5, height: 5, background: \(background.text), alpha: \(alpha), opaque: \(opaque) }"
                let result = try render(stage, source).pixels
                let worst = largestError(result, original, kind, background, viewAlpha: opaque ? 1 : alpha)
                #expect(worst <= 1, "error \(worst) of \(kind.maximum) with alpha \(alpha), opaque \(opaque)")
                if opaque { #expect(result.bands <= 3) }
                if kind.isGrey && (background.isGrey || !kind.hasAlpha) {
                    #expect(result.bands <= 2, "grey stays grey")
                }
            }
        }
    }

    /// Where the picture does not cover the frame there is nothing but background.
    @Test(arguments: Background.all, PictureKind.all)
    private func `around the picture there is the background times the alpha`(background: Background, kind: PictureKind)
        throws
    {
        let source = try picture(kind)
        let empty = try TestPicture.make(width: 9, height: 9, kind: PictureKind(hasAlpha: true, isDeep: kind.isDeep)) {
            _, _ in
            [0, 0, 0, 0]
        }
        for alpha in [0.5, 1] {
            let result = try render(
                "frame: { width: 9, height: 9, mode: center, background: \(background.text), alpha: \(alpha) }", source
            )
            .pixels
            let reference = composed([0, 0, 0], alpha: 0, over: background, viewAlpha: alpha)
            let worst = error(of: result[0, 0], to: reference, bands: result.bands, maximum: kind.maximum)
            #expect(worst <= 1, "error \(worst)")
            let inner = result.part(left: 2, top: 2, width: 5, height: 5)
            let innerWorst = largestError(inner, try PixelGrid(source), kind, background, viewAlpha: alpha)
            #expect(innerWorst <= 1, "error \(innerWorst) inside")
            let alone = try render(
                "frame: { width: 9, height: 9, background: \(background.text), alpha: \(alpha) }", empty
            ).pixels
            #expect(error(of: alone[4, 4], to: reference, bands: alone.bands, maximum: kind.maximum) <= 1)
        }
    }

    /// The largest difference to the reference, in the picture's own steps.
    private func largestError(
        _ result: PixelGrid, _ original: PixelGrid, _ kind: PictureKind, _ background: Background, viewAlpha: Double
    ) -> Double {
        var worst = 0.0
        for y in 0..<original.height {
            for x in 0..<original.width {
                let values = original[x, y].map { Double($0) / Double(kind.maximum) }
                let colour = kind.isGrey ? [values[0], values[0], values[0]] : Array(values.prefix(3))
                let reference = composed(
                    colour, alpha: kind.hasAlpha ? values[kind.bands - 1] : 1, over: background, viewAlpha: viewAlpha)
                worst = max(worst, error(of: result[x, y], to: reference, bands: result.bands, maximum: kind.maximum))
            }
        }
        return worst
    }

    private func error(
        of pixel: [Int], to reference: (colour: [Double], alpha: Double), bands: Int, maximum: Int
    ) -> Double {
        let full = Double(maximum)
        let hasAlpha = bands == 2 || bands == 4
        var errors =
            hasAlpha ? [abs(Double(pixel[bands - 1]) - reference.alpha * full)] : [abs(reference.alpha - 1) * full]
        // The colour of an invisible pixel does not matter.
        guard !hasAlpha || pixel[bands - 1] > 0 else { return errors[0] }
        let colours = hasAlpha ? bands - 1 : bands
        errors += (0..<colours).map { abs(Double(pixel[$0]) - reference.colour[$0] * full) }
        return errors.max() ?? 0
    }

    @Test(arguments: Background.all.filter { $0.alpha == 1 }, PictureKind.all)
    private func `flatten composes as the reference does`(background: Background, kind: PictureKind) throws {
        let source = try picture(kind)
        let result = try render("flatten: { background: \(background.text) }", source).pixels
        #expect(result.bands == (kind.isGrey && (background.isGrey || !kind.hasAlpha) ? 1 : 3))
        let worst = largestError(result, try PixelGrid(source), kind, background, viewAlpha: 1)
        #expect(worst <= 1, "error \(worst) of \(kind.maximum)")
    }

    @Test(arguments: PictureKind.all)
    func `opacity multiplies alpha and leaves the colours`(kind: PictureKind) throws {
        let source = try picture(kind)
        let original = try PixelGrid(source)
        for alpha in [0, 0.003, 0.3, 0.5, 0.999, 1] {
            let result = try render("opacity: { alpha: \(alpha) }", source).pixels
            for y in 0..<5 {
                for x in 0..<5 {
                    let before = original[x, y]
                    #expect(Array(result[x, y].prefix(kind.colours)) == Array(before.prefix(kind.colours)))
                    guard result.bands > kind.colours else { continue }
                    let exact = Double(kind.hasAlpha ? before[kind.colours] : kind.maximum) * alpha
                    #expect(abs(Double(result[x, y, kind.colours]) - exact) <= 0.5)
                }
            }
        }
    }
}
