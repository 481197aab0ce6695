import Testing

@testable import Pipeline

struct HeaderSizeTests {
    private func size(_ format: SourceFormat, _ bytes: [UInt8]) -> String? {
        headerSize(of: format, in: ByteSource(bytes)).map { "\($0.width)×\($0.height)" }
    }

    @Test(arguments: SmallFiles.all)
    func `the size is read from the header`(file: SmallFile) {
        #expect(size(file.format, file.bytes) == "300×200")
    }

    @Test(arguments: SmallFiles.all, SourceFormat.allCases)
    func `a header of another format has no size`(file: SmallFile, format: SourceFormat) {
        #expect((size(format, file.bytes) == nil) != file.isBuilt(like: format))
    }

    // MARK: JPEG

    @Test(arguments: [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF] as [UInt8])
    func `all kinds of JPEG frames have a size`(code: UInt8) {
        #expect(size(.jpeg, SmallFiles.jpeg(frame: code)) == "300×200")
    }

    @Test(arguments: [0xC4, 0xC8, 0xCC] as [UInt8])
    func `tables among the codes of frames are no frames`(code: UInt8) {
        #expect(size(.jpeg, SmallFiles.jpeg(frame: code)) == nil)
    }

    @Test func `a thumbnail inside a segment is not the picture`() {
        let thumbnail = SmallFiles.segment(
            0xE1, [0xFF, 0xD8] + SmallFiles.segment(0xC0, [8, 0, 1, 0, 1, 1, 1, 0x11, 0]) + [0xFF, 0xD9])
        #expect(size(.jpeg, [0xFF, 0xD8] + thumbnail + SmallFiles.jpeg().dropFirst(2)) == "300×200")
    }

    @Test func `fill bytes and rubbish between segments are passed over as libjpeg does`() {
        #expect(size(.jpeg, [0xFF, 0xD8, 0xFF, 0xFF, 0xFF] + SmallFiles.jpeg().dropFirst(3)) == "300×200")
        #expect(size(.jpeg, [0xFF, 0xD8, 1, 2, 3] + SmallFiles.jpeg().dropFirst(2)) == "300×200")
    }

    @Test func `a frame that is shorter than a size has none`() {
        #expect(size(.jpeg, [0xFF, 0xD8] + SmallFiles.segment(0xC0, [8, 0, 1, 0, 1])) == nil)
    }

    @Test func `a picture without pixels has no size`() {
        #expect(size(.jpeg, [0xFF, 0xD8] + SmallFiles.segment(0xC0, [8, 0, 0, 0, 9, 1, 1, 0x11, 0])) == nil)
        #expect(size(.gif, Array("GIF89a".utf8) + [0, 0, 0, 0, 0, 0, 0]) == nil)
    }

    // MARK: JPEG XL

    /// Sides in all ways to write them, and sizes by libjxl in a codestream and in a container.
    @Test(
        arguments: [
            ([0xFF, 0x0A, 0xFB, 0x06], "320×240"), ([0xFF, 0x0A, 0x41, 0xC0], "8×8"),
            ([0xFF, 0x0A, 0, 0x10], "1×1"), ([0xFF, 0x0A, 0xE8, 0x06, 0x02, 0x0E], "258×222"),
            ([0xFF, 0x0A, 0xE8], nil), ([0xFF, 0x0B, 0xFB, 0x06], nil),
            (
                [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10, 0, 0, 0, 20] + Array("ftypjxl ".utf8)
                    + [0, 0, 0, 0] + Array("jxl ".utf8) + [0, 0, 0, 9] + Array("jxll".utf8) + [10, 0, 0, 0, 0]
                    + Array("jxlc".utf8) + [0xFF, 0x0A, 0xFB, 0x06], "320×240"
            ),
        ] as [([UInt8], String?)])
    func `a JPEG XL has its size in the codestream`(bytes: [UInt8], expected: String?) {
        #expect(size(.jxl, bytes) == expected)
    }

    // MARK: PNG

    @Test func `the largest PNG is read as it is`() {
        let header = SmallFiles.chunk("IHDR", [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 8, 0, 0, 0, 0])
        #expect(size(.png, SmallFiles.pngSignature + header) == "2147483647×1")
    }

    @Test func `a PNG that begins with another chunk has no size`() {
        let rest = Array(SmallFiles.png().dropFirst(8))
        #expect(size(.png, SmallFiles.pngSignature + SmallFiles.chunk("CgBI", [0, 0, 0, 0]) + rest) == nil)
    }

    // MARK: WebP

    @Test func `the largest canvas of a WebP is 16 million wide`() {
        let canvas = SmallFiles.riffChunk("VP8X", [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0])
        #expect(size(.webp, SmallFiles.webp(canvas)) == "16777216×1")
    }

    @Test func `a WebP that does not begin with a key frame has no size`() {
        var bytes = SmallFiles.webp(SmallFiles.lossyWebP())
        bytes[20] |= 1
        #expect(size(.webp, bytes) == nil)
        #expect(size(.webp, SmallFiles.webp(SmallFiles.riffChunk("ALPH", [0]) + SmallFiles.lossyWebP())) == nil)
    }

    // MARK: TIFF

    @Test func `of several pages the first one counts`() {
        #expect(size(.tiff, TIFFBuilder(order: .big, pages: 3).file()) == "300×200")
    }

    @Test func `of a field that is there twice the first one counts`() {
        let twice = TIFFBuilder(order: .little).file(extra: [.init(256, 3, [9]), .init(257, 3, [9])])
        #expect(size(.tiff, twice) == "300×200")
    }

    @Test func `sizes of other types than whole numbers are not taken`() {
        let builder = TIFFBuilder(order: .little)
        for (type, expected) in [(1, "9×9"), (3, "9×9"), (4, "9×9"), (2, nil), (6, nil), (11, nil), (99, nil)] {
            let directory = builder.directory([.init(256, type, [9]), .init(257, type, [9])], at: 8, isLast: true)
            #expect(size(.tiff, [0x49, 0x49, 42, 0, 8, 0, 0, 0] + directory) == expected, "type \(type)")
        }
    }

    @Test func `the size is read though other values of the page are not there yet`() {
        let bytes = TIFFBuilder(order: .little, strips: [1, 2, 3]).file()
        #expect(size(.tiff, Array(bytes.dropLast())) == "300×200")
    }

    // MARK: HEIF

    @Test(
        arguments: [
            ("the extent alone", [HEIFBuilder.extent(300, 200)], "300×200"),
            ("turned once", [HEIFBuilder.extent(300, 200), HEIFBuilder.rotation(quarterTurns: 1)], "200×300"),
            ("turned twice", [HEIFBuilder.extent(300, 200), HEIFBuilder.rotation(quarterTurns: 2)], "300×200"),
            ("cropped", [HEIFBuilder.extent(300, 200), HEIFBuilder.crop(597, 398)], "299×199"),
            (
                "cropped, then turned",
                [HEIFBuilder.extent(300, 200), HEIFBuilder.crop(100, 60), HEIFBuilder.rotation(quarterTurns: 3)],
                "30×50"
            ),
            ("cropped to more than there is", [HEIFBuilder.extent(300, 200), HEIFBuilder.crop(9999, 9999)], "300×200"),
            ("something else between", [HEIFBuilder.box("colr", [1, 2]), HEIFBuilder.extent(300, 200)], "300×200"),
            ("no extent", [HEIFBuilder.rotation(quarterTurns: 0)], nil),
            (
                "a crop by nothing",
                [HEIFBuilder.extent(300, 200), HEIFBuilder.box("clap", [UInt8](repeating: 0, count: 32))], nil
            ),
        ] as [(String, [[UInt8]], String?)])
    func `a HEIF has the size of its finished primary picture`(what: String, properties: [[UInt8]], expected: String?) {
        for hasLongIndices in [false, true] {
            #expect(
                size(.heic, HEIFBuilder(properties: properties, hasLongIndices: hasLongIndices).file()) == expected,
                "\(what)")
        }
    }
}
