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

    private func color(_ properties: [[UInt8]]) throws -> StatedColor? {
        var builder = HEIFBuilder()
        builder.properties = [HEIFBuilder.extent(300, 200)] + properties
        return try HEIFStructure.statedColor(in: ByteSource(builder.file()))
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
