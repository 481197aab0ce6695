import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct BlurTests {
    @Test(arguments: PictureKind.all, [0.5, 1, 3, 8.5])
    func `the mean stays`(kind: PictureKind, sigma: Double) throws {
        // Flat at the edges, so that nothing is lost there.
        let picture = try TestPicture.make(width: 90, height: 90, kind: kind) { x, y in
            let isInside = (30..<60).contains(x) && (30..<60).contains(y)
            let level = (isInside ? 50 + (x * 37 + y * 91) % 200 : 20) * (kind.maximum / 255)
            return Array(repeating: level, count: kind.colours) + (kind.hasAlpha ? [kind.maximum] : [])
        }
        let before = try mean(PixelGrid(picture))
        let after = try mean(render("blur: { sigma: \(sigma) }", picture).pixels)
        #expect(abs(before - after) <= 0.6 * Double(kind.maximum) / 255, "\(before) became \(after)")
    }

    @Test(arguments: PictureKind.all, [0.3, 1, 2.2, 5, 8.5, 28])
    func `an even color stays what it is`(kind: PictureKind, sigma: Double) throws {
        for level in [0, 1, 127, 200, 254, 255] {
            let picture = try TestPicture.make(width: 70, height: 60, kind: kind) { _, _ in
                Array(repeating: level * (kind.maximum / 255), count: kind.colours)
                    + (kind.hasAlpha ? [kind.maximum] : [])
            }
            let result = try render("blur: { sigma: \(sigma) }", picture).pixels
            #expect(result.largestDifference(to: try PixelGrid(picture)) == 0, "\(level)")
        }
    }

    private func mean(_ grid: PixelGrid) -> Double {
        let values = grid.band(0)
        return Double(values.reduce(0, +)) / Double(values.count)
    }

    /// Within what is left out: the parts of the curve below a fiftieth of its height.
    @Test(arguments: [1.0, 2, 5])
    func `an edge becomes the integral of a Gaussian`(sigma: Double) throws {
        let picture = try TestPicture.make(width: 80, height: 60, bands: 1) { x, _ in [x < 40 ? 0 : 255] }
        let result = try render("blur: { sigma: \(sigma) }", picture).pixels
        let errors = (0..<80).map { x in
            abs(Double(result[x, 30, 0]) / 255 - 0.5 * (1 + erf((Double(x) - 39.5) / sigma / 2.0.squareRoot())))
        }
        #expect((errors.max() ?? 1) < 0.015, "\(errors.max() ?? 1)")
    }

    @Test(arguments: [2, 3, 7])
    func `a narrow picture is blurred as widely as any`(width: Int) throws {
        let picture = try TestPicture.make(width: width, height: 3000, bands: 1) { _, y in [y < 1500 ? 0 : 255] }
        let result = try render("blur: { sigma: 100 }", picture).pixels
        for distance in [-400, -200, -100, 0, 100, 200, 400] {
            let expected = 255 * 0.5 * (1 + erf((Double(distance) + 0.5) / 100 / 2.0.squareRoot()))
            #expect(abs(Double(result[width / 2, 1500 + distance, 0]) - expected) <= 8, "\(distance) from the edge")
        }
    }

    @Test(arguments: PictureKind.all.filter(\.hasAlpha))
    func `an edge of alpha has no fringe`(kind: PictureKind) throws {
        let picture = try TestPicture.make(width: 40, height: 40, kind: kind) { x, _ in
            Array(repeating: x < 20 ? kind.maximum : 0, count: kind.bands)
        }
        let result = try render("blur: { sigma: 3 }", picture).pixels
        let alpha = result.alpha
        let visible = alpha.indices.filter { alpha[$0] > 2 * (kind.maximum / 255) }
        let levels = visible.map { result.values[$0 * result.bands] }
        #expect((levels.min() ?? 0) >= kind.maximum - kind.maximum / 255)
        #expect(result[19, 20, kind.colours] < kind.maximum * 3 / 4)
        #expect(result[20, 20, kind.colours] > kind.maximum / 4)
    }

    @Test func `points are those of the picture, a percentage is of the shorter side`() throws {
        let picture = try TestPicture.coded(width: 100, height: 50)
        let expected = try render("blur: { sigma: 4 }", picture).pixels
        #expect(try render("blur: { sigma: 2 }", picture, pixelsPerPoint: 2).pixels == expected)
        #expect(try render("blur: { sigma: 8% }", picture, scale: 2).pixels == expected)
    }

    @Test func `less than a fifth of a pixel changes nothing`() throws {
        let picture = try TestPicture.coded(width: 20, height: 20)
        #expect(try render("blur: { sigma: 0.19 }", picture).pixels == PixelGrid(picture))
    }

    @Test func `any sigma works on any size`() throws {
        for size in everySize {
            let picture = try TestPicture.solid([70, 80, 90, 200], width: size.width, height: size.height)
            for sigma in ["0.2", "7", "20"] {
                let result = try render("blur: { sigma: \(sigma) }", picture).pixels
                #expect(result.largestDifference(to: try PixelGrid(picture)) ?? 9 <= 1, "\(sigma) on \(size)")
            }
        }
    }
}
