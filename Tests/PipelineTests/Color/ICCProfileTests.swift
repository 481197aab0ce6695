// Small profiles, and what they say of themselves. That other programs read them is tested with pictures.
import Testing

@testable import Pipeline

@Suite struct ICCProfileTests {
    @Test(arguments: [
        (CodedColor.displayP3, "Display P3"), (CodedColor(.bt2020, .pq), "BT.2020 PQ"),
        (CodedColor(.displayP3, .hlg), "Display P3 HLG"),
        (CodedColor(.standard, .power(1.8)), "sRGB primaries, gamma 1.8"),
        (CodedColor(.bt2020, .linear), "BT.2020, linear light"), (.standard, "sRGB"),
    ])
    func `a profile has its name, its colors and its code points`(color: CodedColor, name: String) throws {
        #expect(color.name == name)
        let profile = try #require(ICCProfile(color, peak: 1600))
        #expect(profile.name == name && profile.bytes.count < 640 && profile.bytes.count % 4 == 0)
        #expect(profile.codedColor == (color.isHDR ? color : nil))
        #expect(profile.peak == 1600)
        #expect(profile.agrees(with: color))
        #expect((profile.refusalAsTarget == nil) == !color.isHDR)
        #expect(!profile.agrees(with: CodedColor(Primaries(code: 8)!, color.curve)))
        #expect(profile.agrees(with: CodedColor(color.primaries, .pq)) == (color.curve == .pq))
    }

    /// The matrices of CSS Color 4 and of BT.2087.
    @Test func `light in one set of primaries becomes that in another`() throws {
        let matrices: [(Primaries, [[Double]])] = [
            (
                .displayP3,
                [[1.2249, -0.2249, 0], [-0.0420, 1.0420, 0], [-0.0197, -0.0786, 1.0979]]
            ),
            (
                .bt2020,
                [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
            ),
        ]
        for (primaries, expected) in matrices {
            let back = try #require(Primaries.standard.toProfileXYZ?.inverse)
            let matrix = back * (try #require(primaries.toProfileXYZ))
            for row in 0..<3 {
                for column in 0..<3 { #expect(abs(matrix.rows[row][column] - expected[row][column]) < 0.001) }
            }
        }
    }

    @Test func `primaries that mix no colors have no profile`() {
        let point = Chromaticity(0.3, 0.3)
        #expect(ICCProfile(CodedColor(Primaries(point, point, point, white: .d65), .standard)) == nil)
        #expect(ICCProfile(CodedColor(Primaries(point, point, point, white: Chromaticity(0, 0)), .standard)) == nil)
    }

    @Test func `no byte of a profile makes its reader fall over`() throws {
        let profile = try #require(ICCProfile(CodedColor(.bt2020, .pq), peak: 1000)).bytes
        for place in profile.indices {
            for byte: UInt8 in [0, 1, 0x7F, 0xFF] {
                var changed = profile
                changed[place] = byte
                for bytes in [changed, Array(changed.prefix(place))] {
                    let read = ICCProfile(bytes)
                    #expect((read.name ?? "").count <= ICCProfile.longestName)
                    _ = (read.codedColor, read.peak, read.refusalAsTarget, read.agrees(with: .displayP3))
                }
            }
        }
    }

    @Test(arguments: [
        ("RGB_D65_202_Rel_PeQ", CodedColor(.bt2020, .pq)), ("RGB_D65_DCI_Rel_HLG", CodedColor(.displayP3, .hlg)),
        ("RGB_D65_SRG_Rel_PeQ", CodedColor(.standard, .pq)), ("Gra_D65_Rel_PeQ", CodedColor(.standard, .pq)),
        ("RGB_D65_202_Rel_SRG", nil), ("RGB_DCI_DCI_Rel_PeQ", nil), ("PeQ", nil), ("Camera_HLG", nil),
    ])
    func `libjxl's profiles without code points tell PQ and HLG by their names`(name: String, color: CodedColor?) {
        let text = Array("desc\0\0\0\0".utf8) + [0, 0, 0, UInt8(name.utf8.count + 1)] + Array(name.utf8) + [0]
        let table = [0, 0, 0, 1] + Array("desc".utf8) + [0, 0, 0, 144, 0, 0, 0, UInt8(text.count)]
        #expect(ICCProfile([UInt8](repeating: 0, count: 128) + table + text).codedColor == color)
    }

    @Test func `of two code points, one that is reserved or unspecified leaves the other one its meaning`() {
        #expect(CodedColor(primaries: 2, transfer: 2) == nil)
        #expect(CodedColor(primaries: 3, transfer: 0) == nil)
        #expect(CodedColor(primaries: 12, transfer: 11) == .displayP3)
        #expect(CodedColor(primaries: 2, transfer: 16) == CodedColor(.bt2020, .pq))
        #expect(CodedColor(primaries: 12, transfer: 2) == .displayP3)
        #expect(CodedColor(primaries: 2, transfer: 13) == .standard)
    }
}
