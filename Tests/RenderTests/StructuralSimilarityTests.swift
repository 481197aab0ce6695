// The similarity is that of its paper, computed here pixel by pixel.
import Glibc
import TestSupport
import Testing
import Vips

@testable import Render

@Suite(.quietVips) struct StructuralSimilarityTests {
    /// The mean over windows within two pictures of one band.
    private func reference(_ one: [Double], _ other: [Double], width: Int, height: Int) -> Double {
        let weights = (0..<11).map { exp(-Double(($0 - 5) * ($0 - 5)) / 4.5) }
        let total = weights.reduce(0, +)
        var (sum, count) = (0.0, 0.0)
        for top in 0...height - 11 {
            for left in 0...width - 11 {
                var (m1, m2, s1, s2, s12) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for y in 0..<11 {
                    for x in 0..<11 {
                        let weight = weights[x] * weights[y] / (total * total)
                        let place = (top + y) * width + left + x
                        let (a, b) = (one[place], other[place])
                        m1 += weight * a
                        m2 += weight * b
                        s1 += weight * a * a
                        s2 += weight * b * b
                        s12 += weight * a * b
                    }
                }
                let (c1, c2) = (0.01 * 0.01 * 255 * 255, 0.03 * 0.03 * 255 * 255)
                sum +=
                    (2 * m1 * m2 + c1) * (2 * (s12 - m1 * m2) + c2)
                    / ((m1 * m1 + m2 * m2 + c1) * (s1 - m1 * m1 + s2 - m2 * m2 + c2))
                count += 1
            }
        }
        return sum / count
    }

    @Test(arguments: [1, 7, 30, 90])
    func `it agrees with sums over each window`(noise: Int) throws {
        let (width, height) = (37, 29)
        func level(_ x: Int, _ y: Int, _ band: Int) -> Int {
            128 + Int(60 * sin(Double(x) / 3 + Double(band)) + 50 * cos(Double(y * (band + 2)) / 7))
        }
        func disturbed(_ x: Int, _ y: Int, _ band: Int) -> Int {
            min(255, max(0, level(x, y, band) + (x * 7919 + y * 104_729 + band * 31) % (2 * noise + 1) - noise))
        }
        func luma(_ level: (Int, Int, Int) -> Int) -> [Double] {
            (0..<width * height).map { place in
                let (x, y) = (place % width, place / width)
                return 0.299 * Double(level(x, y, 0)) + 0.587 * Double(level(x, y, 1)) + 0.114 * Double(level(x, y, 2))
            }
        }
        func picture(_ level: (Int, Int, Int) -> Int) throws -> Image {
            try TestPicture.make(width: width, height: height) { x, y in (0..<3).map { UInt8(level(x, y, $0)) } }
        }
        let expected = reference(luma(level), luma(disturbed), width: width, height: height)
        let similarity = try StructuralSimilarity(to: picture(level).inMemory())
        let found = try #require(try similarity.similarity(of: picture(disturbed)))
        #expect(abs(found - expected) < 0.0005, "\(found), \(expected)")
        let equal = try similarity.similarity(of: picture(level)) ?? 0
        #expect(abs(equal - 1) < 1e-6)
        #expect(try similarity.similarity(of: TestPicture.solid([9, 9, 9], width: 5, height: 29)) == nil)
    }

    @Test func `small pictures, 16 bits and alpha are compared too`() throws {
        func similarity(_ one: Image, _ other: Image) throws -> Double {
            try StructuralSimilarity(to: one.inMemory()).similarity(of: other) ?? 0
        }
        let small = try TestPicture.solid([200, 10, 10], width: 3, height: 2)
        #expect(try abs(similarity(small, small) - 1) < 1e-6)
        let half = try TestPicture.solid([0, 0, 0, 128], width: 20, height: 20)
        let gray = try TestPicture.solid([127, 127, 127], width: 20, height: 20)
        #expect(try similarity(half, gray) > 0.999)
        let deep = try gray.linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16)
        #expect(try abs(similarity(gray, deep) - 1) < 1e-6)
    }
}
