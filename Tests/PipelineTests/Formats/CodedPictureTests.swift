import Testing

@testable import Pipeline

@Suite struct CodedPictureTests {
    /// The configuration of an AV1 picture of 300×200, with its sequence header.
    /// - Parameter samples: the third byte, which has flags for the depth and the chroma.
    private func av1(_ samples: UInt8) -> [UInt8] {
        // A reduced header of a still: profile, two flags and the level, the width of two numbers, and these.
        let bits = "000" + "1" + "1" + "01000" + "1000" + "1000" + binary(299, 9) + binary(199, 9) + "0000"
        let header = stride(from: 0, to: bits.count, by: 8).map { start in
            UInt8(bits.dropFirst(start).prefix(8), radix: 2)!
        }
        return HEIFBuilder.box("av1C", [0x81, 0, samples, 0, 0x0A, UInt8(header.count)] + header)
    }

    private func binary(_ number: Int, _ width: Int) -> String {
        let digits = String(number, radix: 2)
        return String(repeating: "0", count: width - digits.count) + digits
    }

    private func coded(_ properties: [[UInt8]]) -> CodedPicture? {
        let file = HEIFBuilder(brand: "avif", properties: [HEIFBuilder.extent(300, 200)] + properties).file()
        return try? HEIFStructure.codedPicture(in: ByteSource(file))
    }

    @Test(
        arguments: [
            (0b0000_1100, .eight, false), (0b0100_1100, .sixteen, false), (0b0110_0000, .sixteen, true),
            (0b0000_0000, .eight, true), (0b0000_1000, .eight, false), (0b0001_1100, .eight, false),
        ] as [(UInt8, BitDepth, Bool)])
    func `depth and chroma are those of the codec's configuration`(
        samples: UInt8, depth: BitDepth, hasFullChroma: Bool
    ) throws {
        let picture = try #require(coded([av1(samples)]))
        #expect(picture.size == PixelSize(300, 200))
        #expect(picture.depth == depth && picture.hasFullChroma == hasFullChroma)
    }

    @Test
    func `of several configurations the finest counts`() throws {
        let picture = try #require(coded([av1(0b0100_1100), av1(0), av1(0b0001_1100)]))
        #expect(picture.depth == .sixteen && picture.hasFullChroma)
    }

    @Test
    func `a configuration that ends early says nothing`() {
        #expect(coded([HEIFBuilder.box("av1C", [0x81, 0])]) == nil)
        #expect(coded([HEIFBuilder.box("hvcC", [UInt8](repeating: 0, count: 17))]) == nil)
    }
}
