// The statements of files about their colors.
import Testing

@testable import Pipeline

@Suite struct FileColorTests {
    private func nclx(_ primaries: Int, _ transfer: Int) -> [UInt8] {
        HEIFBuilder.box(
            "colr",
            Array("nclx".utf8) + SmallFiles.big(primaries, 2) + SmallFiles.big(transfer, 2) + SmallFiles.big(1, 2) + [
                0x80
            ])
    }

    /// The configuration of an AV1 whose header states code points.
    private func configuration(_ primaries: Int, _ transfer: Int, isStill: Bool) -> [UInt8] {
        var bits: [Int] = []
        func add(_ value: Int, _ count: Int) { bits += (0..<count).reversed().map { value >> $0 & 1 } }
        // Profile 0, and a header of its own kind for stills.
        add(0, 3)
        add(1, 1)
        add(isStill ? 1 : 0, 1)
        if isStill {
            add(8, 5)
        } else {
            // No times, one operating point of level 8 with a tier.
            add(0, 2)
            add(0, 5)
            add(0, 12)
            add(8, 5)
            add(0, 1)
        }
        add(8, 4)
        add(7, 4)
        add(299, 9)
        add(199, 8)
        if !isStill { add(0, 1) }
        add(0, 3)
        if !isStill {
            // Tools, an order of frames of 7 bits with two tools, and no tools for screens.
            add(0, 4)
            add(1, 1)
            add(0, 2)
            add(0, 2)
            add(6, 3)
        }
        add(0, 3)
        // Ten bits in color, and what they mean.
        add(1, 1)
        add(0, 1)
        add(1, 1)
        add(primaries, 8)
        add(transfer, 8)
        add(9, 8)
        while bits.count % 8 != 0 { bits.append(0) }
        let header = stride(from: 0, to: bits.count, by: 8).map { place in
            UInt8(bits[place..<place + 8].reduce(0) { $0 << 1 | $1 })
        }
        return HEIFBuilder.box("av1C", [0x81, 8, 0x40, 0, 0x0A, UInt8(header.count)] + header)
    }

    @Test(arguments: [true, false])
    func `without nclx, the header of AV1 says the colors`(isStill: Bool) throws {
        let own = configuration(9, 16, isStill: isStill)
        #expect(try color([own]) == StatedColor(CodedColor(.bt2020, .pq), by: .header))
        #expect(try color([own, nclx(12, 13)]) == StatedColor(.displayP3, by: .nclx))
        #expect(try color([configuration(2, 2, isStill: isStill)]) == nil)
    }

    private func color(_ properties: [[UInt8]]) throws -> StatedColor? {
        var builder = HEIFBuilder()
        builder.properties = [HEIFBuilder.extent(300, 200)] + properties
        return try HEIFStructure.statedColor(of: 1, in: ByteSource(builder.file()))
    }

    @Test func `a HEIF says its colors by nclx, and its light by clli, or by the screen it was made on`() throws {
        #expect(try color([]) == nil)
        #expect(try color([nclx(12, 13)]) == StatedColor(.displayP3, by: .nclx))
        let profile = HEIFBuilder.box("colr", Array("prof".utf8) + [1, 2, 3])
        #expect(try color([profile, nclx(1, 13)]) == StatedColor(.standard, by: .nclx))
        let pq = CodedColor(.bt2020, .pq)
        let screen = HEIFBuilder.box(
            "mdcv", Array(repeating: 0, count: 16) + SmallFiles.big(10_000_000, 4) + SmallFiles.big(50, 4))
        #expect(try color([nclx(9, 16), screen]) == StatedColor(pq, by: .nclx, peak: 1000))
        let brightest = HEIFBuilder.box("clli", SmallFiles.big(1600, 2) + SmallFiles.big(400, 2))
        #expect(try color([screen, nclx(9, 16), brightest]) == StatedColor(pq, by: .nclx, peak: 1600))
        let unknown = HEIFBuilder.box("clli", SmallFiles.big(0, 2) + SmallFiles.big(0, 2))
        #expect(try color([screen, nclx(9, 16), unknown])?.peak == 1000)
        #expect(try color([nclx(2, 2)]) == nil)
    }
}
