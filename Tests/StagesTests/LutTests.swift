import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct LutTests {
    /// Entries of a cube that nothing about is even, by the place of each.
    private static func entry(_ place: [Int], _ size: Int) -> [Double] {
        let (r, g, b) = (Double(place[0]), Double(place[1]), Double(place[2]))
        let last = Double(size - 1)
        return [
            pow(r / last, 0.7) * 0.9 + 0.05 * sin(b), g / last + 0.2 * sin(r * 2 + b), 1.2 - b / last - 0.1 * cos(g),
        ]
    }

    private static func cube(_ size: Int, domain: String = "") -> String {
        var lines = ["TITLE \"a look\"", "# made by a test", "LUT_3D_SIZE \(size)", domain]
        for blue in 0..<size {
            for green in 0..<size {
                for red in 0..<size {
                    lines.append(entry([red, green, blue], size).map { String($0) }.joined(separator: " "))
                }
            }
        }
        return lines.joined(separator: "\r\n")
    }

    /// By barycentric coordinates in the tetrahedron whose corners are found by sorting the axes.
    private func looked(_ color: [Double], _ size: Int, low: Double, high: Double) -> [Double] {
        let last = Double(size - 1)
        let exact = color.map { min(max(($0 - low) / (high - low), 0), 1) * last }
        let cell = exact.map { min(Int($0), size - 2) }
        let inside = zip(exact, cell).map { $0 - Double($1) }
        let axes = [0, 1, 2].sorted { inside[$0] > inside[$1] }
        var corner = cell
        var corners = [corner]
        for axis in axes {
            corner[axis] += 1
            corners.append(corner)
        }
        let steps = [1] + axes.map { inside[$0] } + [0]
        var sum = [0.0, 0, 0]
        for (index, corner) in corners.enumerated() {
            let entry = Self.entry(corner, size)
            for band in 0..<3 { sum[band] += entry[band] * (steps[index] - steps[index + 1]) }
        }
        return sum.map { min(max($0, 0), 1) }
    }

    @Test(arguments: PictureKind.all, [2, 5, 17])
    func `a cube gives what its tetrahedra say, and alpha stays`(kind: PictureKind, size: Int) throws {
        let picture = try TestPicture.coded(width: 61, height: 47, kind: kind)
        let original = try PixelGrid(picture)
        for (domain, low, high) in [
            ("", 0.0, 1.0), ("DOMAIN_MIN 0.1 0.1 0.1\nDOMAIN_MAX 0.8 0.8 0.8", 0.1, 0.8),
            ("LUT_3D_INPUT_RANGE 0.1 0.8", 0.1, 0.8),
        ] {
            let assets = TestAssets(tables: [
                "a.cube": try ColorTable(cube: Array(Self.cube(size, domain: domain).utf8))
            ])
            let result = try render("lut: { file: a.cube }", picture, assets: assets).pixels
            let half = try render("lut: { file: a.cube, strength: 0.5 }", picture, assets: assets).pixels
            let full = Double(kind.maximum)
            var worst = 0.0
            for y in 0..<47 {
                for x in 0..<61 {
                    let own = (0..<3).map { Double(original[x, y, kind.isGrey ? 0 : $0]) / full }
                    let expected = looked(own, size, low: low, high: high)
                    for band in 0..<3 {
                        worst = max(worst, abs(Double(result[x, y, band]) / full - expected[band]))
                        // Not with colors that were cut to the range.
                        guard (0.01..<0.99).contains(expected[band]) else { continue }
                        let between = (own[band] + expected[band]) / 2
                        worst = max(worst, abs(Double(half[x, y, band]) / full - between))
                    }
                    if kind.hasAlpha { #expect(result[x, y, 3] == original[x, y, kind.colours]) }
                }
            }
            #expect(worst <= 0.6 / 255, "\(domain): \(worst * 255) of 255")
        }
    }

    @Test(arguments: PictureKind.all)
    func `a curve is followed for each color by itself`(kind: PictureKind) throws {
        let curve = "LUT_1D_SIZE 3\n0 1 0.5\n0.25 0.5 0.5\n1 0 0.6\n"
        let assets = TestAssets(tables: ["a": try ColorTable(cube: Array(curve.utf8))])
        let picture = try TestPicture.coded(width: 31, height: 17, kind: kind)
        let original = try PixelGrid(picture)
        let result = try render("lut: { file: a }", picture, assets: assets).pixels
        let full = Double(kind.maximum)
        var worst = 0.0
        for y in 0..<17 {
            for x in 0..<31 {
                let own = (0..<3).map { Double(original[x, y, kind.isGrey ? 0 : $0]) / full }
                let expected = [
                    own[0] < 0.5 ? own[0] / 2 : 0.25 + (own[0] - 0.5) * 1.5, 1 - own[1],
                    own[2] < 0.5 ? 0.5 : 0.5 + (own[2] - 0.5) * 0.2,
                ]
                for band in 0..<3 {
                    worst = max(worst, abs(Double(result[x, y, band]) / full - expected[band]))
                }
            }
        }
        #expect(worst <= 0.6 / 255, "\(worst * 255) of 255")
    }

    @Test(arguments: [false, true])
    func `a cube that changes nothing gives the very same picture`(isDeep: Bool) throws {
        let lines = (0..<27).map { "\(Double($0 % 3) / 2) \(Double($0 / 3 % 3) / 2) \(Double($0 / 9) / 2)" }
        let table = try ColorTable(cube: Array(("LUT_3D_SIZE 3\n" + lines.joined(separator: "\n")).utf8))
        let picture = try TestPicture.coded(width: 64, height: 64, kind: PictureKind(isDeep: isDeep))
        let result = try render("lut: { file: a }", picture, assets: TestAssets(tables: ["a": table])).pixels
        #expect(try (result.largestDifference(to: PixelGrid(picture)) ?? 9) <= (isDeep ? 1 : 0))
    }

    @Test(arguments: [false, true])
    func `with profile keep the table is asked with the picture's own numbers, and the profile stays`(isDeep: Bool)
        throws
    {
        let kind = PictureKind(isDeep: isDeep)
        let plain = try TestPicture.coded(width: 20, height: 12, kind: kind)
        let profile = try #require(
            try plain.iccTransform(to: .p3, input: .srgb, depth: isDeep ? 16 : 8).blob("icc-profile-data"))
        let kept = try plain.editingMetadata { $0.set("icc-profile-data", blob: profile) }
        let table = TestAssets(tables: ["a.cube": try ColorTable(cube: Array(Self.cube(5).utf8))])
        let result = try render("lut: { file: a.cube }", kept, assets: table, profile: "keep")
        #expect(try result.pixels == render("lut: { file: a.cube }", plain, assets: table).pixels)
        #expect(result.image.blob("icc-profile-data") == profile)
        #expect(result.step.output.hasProfile)
    }

    @Test func `with profile keep, what is not RGB or gray is refused`() throws {
        let plain = try TestPicture.coded(width: 20, height: 12, kind: PictureKind())
        let table = TestAssets(tables: ["a.cube": try ColorTable(cube: Array(Self.cube(5).utf8))])
        for image in [try plain.iccTransform(to: .cmyk, input: .srgb), try plain.colourspace(.lab)] {
            let failure = #expect(throws: PlanFailure.self) {
                try render("lut: { file: a.cube }", image, assets: table, profile: "keep")
            }
            #expect(failure?.failure.code == .unsupportedColour)
        }
    }
}
