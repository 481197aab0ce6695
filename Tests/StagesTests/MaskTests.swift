import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct MaskTests {
    @Test(arguments: PictureKind.all)
    func `corners become transparent and the middle stays`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 40, height: 30, kind: kind)
        let original = try PixelGrid(picture)
        for parameters in ["corner-radius: 10", "corner-radius: 50%", "shape: circle"] {
            let result = try render("mask: { \(parameters) }", picture).pixels
            for (x, y) in [(0, 0), (39, 0), (0, 29), (39, 29)] {
                #expect(result[x, y, kind.colours] == 0, "\(parameters) at \(x), \(y)")
            }
            #expect(result[20, 15] == (kind.hasAlpha ? original[20, 15] : original[20, 15] + [kind.maximum]))
            let places = (0..<40 * 30).map { ($0 % 40, $0 / 40) }
            let keepsColours = places.allSatisfy { place in
                (0..<kind.colours).allSatisfy { result[place.0, place.1, $0] == original[place.0, place.1, $0] }
            }
            #expect(keepsColours, "a mask changes alpha only")
        }
    }

    @Test(arguments: [
        ("corner-radius: 3", 3.0), ("corner-radius: 7.5", 7.5), ("corner-radius: 12", 12), ("corner-radius: 25%", 10),
        ("corner-radius: 50%", 20), ("corner-radius: 1000", 20), ("corner-radius: 0.5", 0.5), ("corner-radius: 1", 1),
    ])
    func `the area is that of the rounded rectangle`(parameters: String, radius: Double) throws {
        let result = try render("mask: { \(parameters) }", TestPicture.solid([9, 9, 9], width: 61, height: 40)).pixels
        let area = Double(result.alpha.reduce(0, +)) / 255
        let exact = 61 * 40 - (4 - Double.pi) * radius * radius
        // Half a step of 255 for each pixel on the edges.
        #expect(abs(area - exact) <= 0.01 + 0.02 * radius, "\(area) instead of \(exact)")
    }

    @Test(arguments: [[40, 40], [61, 40], [40, 61], [33, 33], [100, 21], [7, 50]])
    func `a circle is the largest in the middle`(size: [Int]) throws {
        let result = try render(
            "mask: { shape: circle }", TestPicture.solid([9, 9, 9], width: size[0], height: size[1])
        ).pixels
        let side = min(size[0], size[1])
        let area = Double(result.alpha.reduce(0, +)) / 255
        let exact = Double.pi * Double(side * side) / 4
        #expect(abs(area - exact) <= 0.01 + 0.02 * Double(side), "\(area) instead of \(exact)")
        let box = [(size[0] - side) / 2, (size[1] - side) / 2, side, side]
        #expect(result.boundingBox { $0[3] > 0 } == box)
    }

    /// The share of a pixel inside the circle, by counting 128 × 128 points.
    @Test(arguments: [1, 5, 9.5, 16])
    func `each pixel is covered as much as the circle covers it`(radius: Double) throws {
        let side = Int(radius * 2)
        let result = try render("mask: { shape: circle }", TestPicture.solid([9], width: side, height: side)).pixels
        var worst = 0.0
        for y in 0..<side {
            for x in 0..<side {
                worst = max(worst, abs(share(x, y, radius) - Double(result[x, y, 1]) / 255))
            }
        }
        #expect(worst <= 1.5 / 255, "\(worst * 255) of 255")
    }

    private func share(_ x: Int, _ y: Int, _ radius: Double) -> Double {
        var inside = 0
        for index in 0..<128 * 128 {
            let dx = Double(x) + (Double(index % 128) + 0.5) / 128 - radius
            let dy = Double(y) + (Double(index / 128) + 0.5) / 128 - radius
            if dx * dx + dy * dy <= radius * radius { inside += 1 }
        }
        return Double(inside) / (128 * 128)
    }

    @Test(
        arguments: ["corner-radius: 9", "corner-radius: 7.3", "corner-radius: 50%", "shape: circle"],
        [[40, 40], [41, 30], [30, 41], [1, 9], [9, 2], [1, 1]])
    func `coverage is the same from all sides`(parameters: String, size: [Int]) throws {
        let result = try render(
            "mask: { \(parameters) }", TestPicture.solid([200, 100, 0], width: size[0], height: size[1])
        ).pixels
        let places = (0..<size[0] * size[1]).map { ($0 % size[0], $0 / size[0]) }
        // A circle may be half a pixel from the middle where the sides differ by an odd number.
        let isCentred = parameters != "shape: circle" || (size[0] - size[1]) % 2 == 0
        if isCentred || size[0] < size[1] {
            #expect(places.allSatisfy { result[$0, $1] == result[size[0] - 1 - $0, $1] })
        }
        if isCentred || size[1] < size[0] {
            #expect(places.allSatisfy { result[$0, $1] == result[$0, size[1] - 1 - $1] })
        }
        if size[0] == size[1] { #expect(places.allSatisfy { result[$0, $1] == result[$1, $0] }) }
    }

    @Test func `the radius is in points, a percentage of the shorter side`() throws {
        let picture = try TestPicture.solid([9], width: 60, height: 40)
        let doubled = try render("mask: { corner-radius: 5 }", picture, pixelsPerPoint: 2).pixels
        #expect(doubled == (try render("mask: { corner-radius: 10 }", picture).pixels))
        #expect(doubled == (try render("mask: { corner-radius: 25% }", picture, scale: 2).pixels))
    }

    @Test func `alpha that was there is multiplied`() throws {
        for (kind, half) in [(PictureKind(hasAlpha: true), 128), (PictureKind(hasAlpha: true, isDeep: true), 32_896)] {
            let plain = try TestPicture.make(width: 30, height: 30, kind: PictureKind(isDeep: kind.isDeep)) { _, _ in
                [9, 9, 9]
            }
            let faint = try TestPicture.make(width: 30, height: 30, kind: kind) { _, _ in [9, 9, 9, half] }
            let coverage = try render("mask: { corner-radius: 11 }", plain).pixels.alpha
            let result = try render("mask: { corner-radius: 11 }", faint).pixels.alpha
            let worst =
                zip(result, coverage).map { abs(Double($0) - Double($1) * Double(half) / Double(kind.maximum)) }.max()
                ?? 9
            #expect(worst <= 0.5 + 1e-6)
        }
    }

    @Test func `another picture gives its alpha, stretched over this one`() throws {
        let picture = try TestPicture.solid([10, 20, 30], width: 20, height: 10)
        // The left half stays, a quarter of the rest.
        let shape = try TestPicture.make(width: 20, height: 1, bands: 4) { x, _ in [0, 0, 0, x < 10 ? 255 : 64] }
        let result = try render("mask: { image: shape }", picture, assets: TestAssets(images: ["shape": shape])).pixels
        #expect(result[0, 5] == [10, 20, 30, 255] && result[19, 5] == [10, 20, 30, 64])
    }

    @Test func `a picture without alpha masks by its lightness, and alphas multiply`() throws {
        let picture = try TestPicture.solid([10, 20, 30, 128], width: 8, height: 8)
        let shape = try TestPicture.solid([128, 128, 128], width: 8, height: 8)
        let result = try render("mask: { image: shape }", picture, assets: TestAssets(images: ["shape": shape])).pixels
        #expect(abs(result[4, 4][3] - 64) <= 1)
    }

    private static let corners: [(written: String, radii: [Double])] = [
        ("{ all: 10, top-leading: 0 }", [0, 10, 10, 10]),
        ("{ top-leading: 4.5, bottom-trailing: 13 }", [4.5, 0, 0, 13]),
        // As in CSS, all are made smaller by the factor by which the largest two are too large for their side.
        ("{ top-leading: 60, top-trailing: 20, bottom-leading: 10 }", [180.0 / 7, 60.0 / 7, 30.0 / 7, 0]),
        ("{ top-leading: 100%, bottom-trailing: 100% }", [30, 0, 0, 30]),
    ]

    /// The share of each pixel in a shape with four radii, by counting 64 × 64 points.
    @Test(arguments: corners)
    func `each corner has a radius of its own`(written: String, radii: [Double]) throws {
        let (width, height) = (40, 30)
        let result = try render(
            "mask: { corner-radius: \(written) }", TestPicture.solid([9, 9, 9], width: width, height: height)
        ).pixels
        func isInside(_ x: Double, _ y: Double) -> Bool {
            let corners = [(x, y), (40 - x, y), (x, 30 - y), (40 - x, 30 - y)]
            return zip(corners, radii).allSatisfy { corner, radius in
                let (dx, dy) = (radius - corner.0, radius - corner.1)
                return dx <= 0 || dy <= 0 || dx * dx + dy * dy <= radius * radius
            }
        }
        var worst = 0.0
        for y in 0..<height {
            for x in 0..<width {
                let points = (0..<64 * 64).filter {
                    isInside(Double(x) + (Double($0 % 64) + 0.5) / 64, Double(y) + (Double($0 / 64) + 0.5) / 64)
                }.count
                worst = max(worst, abs(Double(points) / (64 * 64) - Double(result[x, y, 3]) / 255))
            }
        }
        #expect(worst <= 1.5 / 255, "\(worst * 255) of 255")
    }

    @Test func `one radius for all corners is the same as one written for each`() throws {
        let picture = try TestPicture.coded(width: 41, height: 30)
        for radius in ["3", "7.5", "50%", "100"] {
            let each = ["top-leading", "top-trailing", "bottom-leading", "bottom-trailing"].map { "\($0): \(radius)" }
            let one = try render("mask: { corner-radius: \(radius) }", picture).pixels
            #expect(try render("mask: { corner-radius: { all: \(radius) } }", picture).pixels == one)
            #expect(
                try render("mask: { corner-radius: { \(each.joined(separator: ", ")) } }", picture).pixels == one)
        }
    }
}
