import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct BorderTests {
    private static let size = (width: 40, height: 25)

    /// By plain arithmetic: a color over a color, both with their alpha.
    private func over(_ color: [Double], _ alpha: Double, _ below: [Double], _ belowAlpha: Double) -> [Double] {
        let whole = alpha + belowAlpha * (1 - alpha)
        let mixed = zip(color, below).map { whole == 0 ? 0 : ($0 * alpha + $1 * belowAlpha * (1 - alpha)) / whole }
        return mixed + [whole]
    }

    @Test(arguments: PictureKind.all, [false, true])
    func `the color is over the picture within the border, and the rest is as it was`(
        kind: PictureKind, grows: Bool
    ) throws {
        let picture = try TestPicture.coded(width: Self.size.width, height: Self.size.height, kind: kind)
        let original = try PixelGrid(picture)
        let top = Double(kind.maximum)
        for (written, color, alpha) in [
            ("'#c86432'", [200.0, 100, 50], 1.0), ("'#c8643280'", [200, 100, 50], 128 / 255),
        ] {
            let result = try render("border: { width: 3, color: \(written), grow: \(grows) }", picture).pixels
            let margin = grows ? 3 : 0
            #expect(result.width == Self.size.width + 2 * margin && result.height == Self.size.height + 2 * margin)
            #expect(result.bands == (kind.hasAlpha || (grows && alpha < 1) ? 4 : 3))
            var worst = 0.0
            for y in 0..<result.height {
                for x in 0..<result.width {
                    let isBorder = min(x, y, result.width - 1 - x, result.height - 1 - y) < 3
                    let (left, row) = (x - margin, y - margin)
                    let isOn = (0..<Self.size.width).contains(left) && (0..<Self.size.height).contains(row)
                    let below =
                        isOn
                        ? (0..<3).map { Double(original[left, row, kind.isGrey ? 0 : $0]) / top } : [0, 0, 0]
                    let belowAlpha = !isOn ? 0 : kind.hasAlpha ? Double(original[left, row, kind.colours]) / top : 1
                    let expected =
                        isBorder ? over(color.map { $0 / 255 }, alpha, below, belowAlpha) : below + [belowAlpha]
                    for band in 0..<result.bands {
                        worst = max(worst, abs(Double(result[x, y, band]) / top - expected[band]))
                    }
                }
            }
            #expect(worst <= 1 / 255, "\(written): \(worst * 255) of 255")
        }
    }

    @Test(arguments: [[5, 8], [9, 14]], [false, true])
    func `rounded corners are as a finer drawing has them`(sides: [Int], grows: Bool) throws {
        let (border, radius) = (Double(sides[0]), Double(sides[1]))
        let picture = try TestPicture.solid([10, 20, 30], width: 60, height: 44)
        let result = try render(
            "border: { width: \(sides[0]), color: white, corner-radius: \(sides[1]), grow: \(grows) }", picture
        ).pixels
        func isInside(_ x: Double, _ y: Double, from edge: Double, _ radius: Double) -> Bool {
            let (right, bottom) = (Double(result.width) - edge, Double(result.height) - edge)
            guard x >= edge, y >= edge, x <= right, y <= bottom else { return false }
            let dx = max(edge + radius - x, x - (right - radius), 0)
            let dy = max(edge + radius - y, y - (bottom - radius), 0)
            return hypot(dx, dy) <= radius
        }
        let steps = 32
        for y in 0..<result.height {
            for x in 0..<result.width {
                var (seen, own) = (0.0, 0.0)
                for row in 0..<steps {
                    for column in 0..<steps {
                        let (px, py) = (
                            Double(x) + (Double(column) + 0.5) / Double(steps),
                            Double(y) + (Double(row) + 0.5) / Double(steps)
                        )
                        if isInside(px, py, from: 0, radius) { seen += 1 }
                        if isInside(px, py, from: border, max(0, radius - border)) { own += 1 }
                    }
                }
                let share = own / Double(steps * steps)
                #expect(abs(Double(result[x, y, 3]) / 255 - seen / Double(steps * steps)) <= 1.5 / 255, "\(x), \(y)")
                guard seen == Double(steps * steps) else { continue }
                let expected = (20 * share + 255 * (1 - share)) / 255
                #expect(abs(Double(result[x, y, 1]) / 255 - expected) <= 1.5 / 255, "\(x), \(y)")
            }
        }
    }

    @Test func `gray stays gray while the border is gray`() throws {
        let picture = try TestPicture.coded(width: 20, height: 20, kind: PictureKind(isGrey: true))
        #expect(try render("border: { width: 2, color: white }", picture).pixels.bands == 1)
        #expect(try render("border: { width: 2, color: red }", picture).pixels.bands == 3)
    }

    @Test func `a border that leaves nothing of the picture is refused, and one around it is not`() throws {
        let picture = try TestPicture.solid([1, 2, 3], width: 20, height: 10)
        let failure = #expect(throws: PlanFailure.self) { try render("border: { width: 5 }", picture) }
        #expect(
            failure?.failure.message
                == "the border of 5 pixels covers all of the picture of 20×10; nothing would be left; make it narrower, or draw it around the picture with 'grow: true'"
        )
        let grown = try render("border: { width: 5, grow: true }", picture).pixels
        #expect(grown.width == 30 && grown.height == 20)
    }

    @Test func `lengths are points of the picture, or shares of its shorter side`() throws {
        let picture = try TestPicture.coded(width: 50, height: 40)
        let doubled = try render("border: { width: 2, corner-radius: 4 }", picture, pixelsPerPoint: 2).pixels
        #expect(doubled == (try render("border: { width: 10%, corner-radius: 20% }", picture).pixels))
    }
}
