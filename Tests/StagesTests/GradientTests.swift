import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct GradientTests {
    private static let size = (width: 53, height: 31)

    /// A color with alpha, 0…1 each, not premultiplied.
    private struct Paint {
        var color: [Double]
        var alpha: Double

        /// Between two colors, by the rule of CSS: premultiplied numbers are mixed.
        func mixed(with other: Paint, _ share: Double) -> Paint {
            let alpha = alpha + (other.alpha - self.alpha) * share
            let color = zip(color, other.color).map { one, two in
                let mixed = one * self.alpha + (two * other.alpha - one * self.alpha) * share
                return alpha > 0 ? mixed / alpha : 0
            }
            return Paint(color: color, alpha: alpha)
        }
    }

    private static let red = Paint(color: [1, 0, 0], alpha: 1)
    private static let glass = Paint(color: [0, 0.2, 1], alpha: 0.4)
    private static let nothing = Paint(color: [0, 0, 0], alpha: 0)
    private static let written = "[ red, { color: '#0033ff66', at: 30% }, transparent ]"

    private func paint(_ way: Double) -> Paint {
        if way <= 0 { return Self.red }
        if way <= 0.3 { return Self.red.mixed(with: Self.glass, way / 0.3) }
        return way < 1 ? Self.glass.mixed(with: Self.nothing, (way - 0.3) / 0.7) : Self.nothing
    }

    /// How far along a line by the words of CSS: as far as the foot of the perpendicular from a point.
    private func way(_ x: Double, _ y: Double, angle: Double) -> Double {
        let (width, height) = (Double(Self.size.width), Double(Self.size.height))
        let radians = angle / 180 * .pi
        let length = abs(width * sin(radians)) + abs(height * cos(radians))
        return ((x - width / 2) * sin(radians) - (y - height / 2) * cos(radians)) / length + 0.5
    }

    private func compare(
        _ stage: String, _ kind: PictureKind, fades: Bool = false, _ way: (Double, Double) -> Double
    ) throws {
        let picture = try TestPicture.coded(width: Self.size.width, height: Self.size.height, kind: kind)
        let original = try PixelGrid(picture)
        let result = try render(stage, picture).pixels
        let full = Double(kind.maximum)
        let hasAlpha = fades || kind.hasAlpha
        let colors = fades ? kind.colours : 3
        #expect(result.bands == colors + (hasAlpha ? 1 : 0))
        var worst = 0.0
        for y in 0..<Self.size.height {
            for x in 0..<Self.size.width {
                let paint = paint(way(Double(x) + 0.5, Double(y) + 0.5))
                let own = (0..<3).map { Double(original[x, y, kind.isGrey ? 0 : $0]) / full }
                let ownAlpha = kind.hasAlpha ? Double(original[x, y, kind.colours]) / full : 1
                if fades {
                    worst = max(worst, abs(Double(result[x, y, colors]) / full - ownAlpha * paint.alpha))
                    #expect(result[x, y, 0] == original[x, y, 0])
                    continue
                }
                let alpha = paint.alpha + ownAlpha * (1 - paint.alpha)
                if hasAlpha { worst = max(worst, abs(Double(result[x, y, 3]) / full - alpha)) }
                // The color is rounded coarsely where it is hardly seen.
                guard alpha > 0.1 else { continue }
                for band in 0..<3 {
                    let seen = (paint.color[band] * paint.alpha + own[band] * ownAlpha * (1 - paint.alpha)) / alpha
                    worst = max(worst, abs(Double(result[x, y, band]) / full - seen))
                }
            }
        }
        #expect(worst <= 1 / 255, "\(stage): \(worst * 255) of 255")
    }

    @Test(arguments: [0.0, 90, 180, 270, 45, -30, 200], PictureKind.all)
    func `a linear gradient is what CSS says`(angle: Double, kind: PictureKind) throws {
        try compare("gradient: { angle: \(angle), stops: \(Self.written) }", kind) { way($0, $1, angle: angle) }
    }

    @Test(arguments: [("center", 0.5, 0.5), ("top-leading", 0, 0), ("{ x: 20%, y: 75% }", 0.2, 0.75)])
    func `a radial gradient is an ellipse to the farthest corner`(center: String, x: Double, y: Double) throws {
        let (width, height) = (Double(Self.size.width), Double(Self.size.height))
        let side = (max(x, 1 - x) * width, max(y, 1 - y) * height)
        for kind in PictureKind.all {
            try compare("gradient: { kind: radial, center: \(center), stops: \(Self.written) }", kind) {
                let (dx, dy) = (($0 - x * width) / side.0, ($1 - y * height) / side.1)
                return hypot(dx, dy) / 2.0.squareRoot()
            }
        }
    }

    @Test(arguments: PictureKind.all)
    func `a picture fades as the colors are transparent`(kind: PictureKind) throws {
        try compare("gradient: { fade: true, angle: 90, stops: \(Self.written) }", kind, fades: true) {
            way($0, $1, angle: 90)
        }
    }

    @Test func `places that are not named are between the others`() {
        func places(_ written: [Double?]) -> [Double] {
            GradientStop.places(of: written.map { GradientStop(color: .white, place: $0) })
        }
        #expect(places([nil, nil]) == [0, 1])
        #expect(places([nil, nil, nil]) == [0, 0.5, 1])
        #expect(places([0.2, nil, nil, 0.8]).map { ($0 * 100).rounded() } == [20, 40, 60, 80])
        // None is before the one before it.
        #expect(places([0.5, 0.2, nil]) == [0.5, 0.5, 1])
        #expect(places([0.5, 0.5]) == [0.5, 0.5])
    }

    @Test func `two colors at one place are an edge`() throws {
        let picture = try TestPicture.solid([9, 9, 9], width: 10, height: 4)
        let stops = "[ { color: white, at: 50% }, { color: black, at: 50% } ]"
        let result = try render("gradient: { angle: 90, stops: \(stops) }", picture).pixels
        #expect((0..<10).map { result[$0, 1, 0] } == [255, 255, 255, 255, 255, 0, 0, 0, 0, 0])
    }

    @Test func `gray stays gray while all colors are gray, and fading needs no color`() throws {
        let picture = try TestPicture.coded(width: 20, height: 20, kind: PictureKind(isGrey: true))
        #expect(try render("gradient: { stops: [ white, transparent ] }", picture).pixels.bands == 1)
        #expect(try render("gradient: { stops: [ white, blue ] }", picture).pixels.bands == 3)
        #expect(try render("gradient: { fade: true, stops: [ blue, transparent ] }", picture).pixels.bands == 2)
    }
}
