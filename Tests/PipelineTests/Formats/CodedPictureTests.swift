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

    @Test
    func `a WebP without losses stores all colors, and an animation has no single picture`() throws {
        func coded(_ chunks: [UInt8]) -> CodedPicture? {
            try? WebPSource.structure.codedPicture(in: ByteSource(SmallFiles.webp(chunks)))
        }
        #expect(coded(SmallFiles.lossyWebP())?.hasFullChroma == false)
        #expect(coded(SmallFiles.losslessWebP())?.hasFullChroma == true)
        #expect(coded(SmallFiles.extendedWebP() + SmallFiles.losslessWebP())?.hasFullChroma == true)
        let frame = SmallFiles.riffChunk("ANMF", [UInt8](repeating: 0, count: 16))
        #expect(coded(SmallFiles.extendedWebP() + frame) == nil)
    }

    @Test(
        arguments: [
            (8, 0, [], false), (16, 6, [], false), (8, 2, [], false), (4, 0, [], true), (8, 3, [], true),
            (1, 3, [], true),
            (8, 2, SmallFiles.chunk("tRNS", [0, 1, 0, 2, 0, 3]), true),
        ] as [(UInt8, UInt8, [UInt8], Bool)])
    func `a PNG with a palette, with parts of bytes or with one transparent color is changed by libpng`(
        bits: UInt8, colorType: UInt8, chunks: [UInt8], isExpanded: Bool
    ) throws {
        let header = SmallFiles.big(300, 4) + SmallFiles.big(200, 4) + [bits, colorType, 0, 0, 0]
        let file = SmallFiles.pngSignature + SmallFiles.chunk("IHDR", header) + chunks
        let source = ByteSource(file + SmallFiles.chunk("IDAT", [1, 2, 3]) + SmallFiles.chunk("IEND", []))
        let picture = try #require(try PNGSource.structure.codedPicture(in: source))
        #expect(picture.isExpanded == isExpanded && picture.size == PixelSize(300, 200))
        #expect(picture.depth == (bits == 16 ? .sixteen : .eight))
    }

    @Test(arguments: [
        // A strip without a number of rows is the only one.
        ([], PixelSize(300, 200), false, false, false),
        ([(278, [16]), (259, [5])], PixelSize(300, 16), false, true, false),
        ([(278, [60_000]), (259, [1]), (284, [2])], PixelSize(300, 200), false, false, true),
        ([(322, [128]), (323, [64]), (259, [8])], PixelSize(128, 64), true, true, false),
    ])
    func `a TIFF says which parts it is stored in`(
        fields: [(Int, [Int])], size: PixelSize, areTiles: Bool, arePacked: Bool, haveOneBand: Bool
    ) throws {
        for order in [ByteOrder.little, .big] {
            let file = TIFFBuilder(order: order).file(extra: fields.map { TIFFBuilder.Field($0.0, 3, $0.1) })
            #expect(try TIFFSource.structure.unreadMetadata(of: 1, in: ByteSource(file)) == nil)
            let parts = try #require(try TIFFSource.structure.storedParts(of: 1, in: ByteSource(file)))
            #expect(
                parts
                    == StoredParts(size: size, areTiles: areTiles, arePacked: arePacked, haveOneBand: haveOneBand))
        }
    }

    @Test(arguments: [34_665, 34_853])
    func `a TIFF with EXIF in a directory of its own has metadata that nobody reads`(tag: Int) throws {
        let file = TIFFBuilder(order: .little).file(extra: [TIFFBuilder.Field(tag, 4, [8])])
        let words = try TIFFSource.structure.unreadMetadata(of: 1, in: ByteSource(file))
        #expect(words == "EXIF in directories of its own")
    }
}
