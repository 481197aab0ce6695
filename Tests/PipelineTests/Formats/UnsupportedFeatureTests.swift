// Sound files that no decoder here reads are distinguished from damaged ones.
import Testing

@testable import Pipeline

@Suite struct UnsupportedFeatureTests {
    /// A picture of 8×8 up to its frame header, with a process of T.81 table B.1.
    private func jpeg(_ process: UInt8, bits: UInt8 = 8) -> ByteSource {
        ByteSource([0xFF, 0xD8, 0xFF, process, 0, 11, bits, 0, 8, 0, 8, 1, 1, 0x11, 0])
    }

    private func unsupported(_ format: SourceFormat, in source: ByteSource) -> String? {
        try? format.declaration.structure.unsupportedFeature(in: source)
    }

    @Test(arguments: [0xC0, 0xC1, 0xC2, 0xC9, 0xCA] as [UInt8])
    func `ordinary JPEG has nothing that is not supported`(process: UInt8) {
        #expect(unsupported(.jpeg, in: jpeg(process)) == nil)
        #expect(unsupported(.jpeg, in: jpeg(process, bits: 12)) == "a JPEG of 12 bits a sample")
    }

    @Test(arguments: [0xC3, 0xC5, 0xC7, 0xCB, 0xCF] as [UInt8])
    func `lossless and hierarchical JPEG is not supported`(process: UInt8) {
        #expect(unsupported(.jpeg, in: jpeg(process)) == "a lossless or hierarchical JPEG")
        #expect(unsupported(.jpeg, in: ByteSource([0xFF, 0xD8])) == nil)
    }

    @Test(
        arguments: [ByteOrder.little, .big],
        [
            ([(258, [8, 8, 8]), (259, [1])], nil), ([(258, [12, 12, 12])], "a TIFF of 12 bits a sample"),
            ([(258, [16, 16, 16]), (339, [3, 3, 3])], "a TIFF of floating point of 16 bits"),
            ([(258, [16]), (339, [1])], nil), ([(258, [32]), (339, [3])], nil),
            ([(258, [8]), (259, [6])], "a TIFF with JPEG of the old kind inside"), ([(284, [2])], nil),
            (
                [(284, [2]), (324, [8])],
                "a TIFF whose tiles hold one color each; save it in strips, or with all colors of a pixel in one tile"
            ), ([(259, [])], nil),
        ] as [([(Int, [Int])], String?)])
    func `TIFF of 12 bits, of half floats, with old JPEG inside, or with tiles of one color each`(
        order: ByteOrder, kind: ([(Int, [Int])], String?)
    ) {
        let (fields, feature) = kind
        for isBig in [false, true] {
            let file = TIFFBuilder(order: order, isBig: isBig).file(
                extra: fields.map { TIFFBuilder.Field($0.0, 3, $0.1) })
            #expect(unsupported(.tiff, in: ByteSource(file)) == feature)
        }
    }

    @Test func `HEIF that is turned or cropped by its container, and sequences`() {
        let turned = HEIFBuilder(properties: [HEIFBuilder.extent(300, 200), HEIFBuilder.rotation(quarterTurns: 1)])
        #expect(unsupported(.avif, in: ByteSource(HEIFBuilder().file())) == nil)
        #expect(
            unsupported(.avif, in: ByteSource(turned.file()))
                == "a picture that its container turns, mirrors or crops")
        let sequence =
            HEIFBuilder.box("ftyp", Array("avis".utf8) + [0, 0, 0, 0]) + HEIFBuilder.box("moov", [0, 0, 0, 0])
        #expect(unsupported(.avif, in: ByteSource(sequence)) == "a sequence of pictures")
        #expect(unsupported(.heic, in: ByteSource([])) == nil)
    }

    @Test func `a Truevision picture is no cursor, and a cursor is no Truevision picture`() {
        let header: [UInt8] = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 16, 0]
        #expect(guessFormat(header + [24, 0] + [UInt8](repeating: 9, count: 40)) == .recognised("TGA"))
        #expect(guessFormat([0, 0, 10] + header.dropFirst(3) + [32, 8]) == .recognised("TGA"))
        #expect(guessFormat([0, 0, 3] + header.dropFirst(3) + [8, 0]) == .recognised("TGA"))
        #expect(
            guessFormat([0, 0, 2, 0, 1, 0, 32, 32, 0, 0, 0, 0, 0, 0, 1, 0, 24, 0]) == .recognised("Windows cursor"))
    }
}
