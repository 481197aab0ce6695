import Testing

@testable import Pipeline

struct CompletenessTests {
    private func check(_ format: SourceFormat, _ bytes: [UInt8]) -> Completeness {
        completeness(of: format, in: ByteSource(bytes))
    }

    @Test(arguments: SmallFiles.all)
    func `a whole file is complete`(file: SmallFile) {
        #expect(file.completeness == .complete)
    }

    @Test(arguments: SmallFiles.all)
    func `every beginning of a whole file is incomplete`(file: SmallFile) {
        for length in file.bytes.indices {
            #expect(check(file.format, Array(file.bytes[..<length])) == .incomplete, "at \(length)")
        }
    }

    @Test(arguments: SmallFiles.all.filter { !$0.isBuilt(like: .heic) })
    func `bytes after the end do not count`(file: SmallFile) {
        #expect(check(file.format, file.bytes + [0xFF, 0x00, 0xFF, 0xD8, 0x12]) == .complete)
    }

    @Test(arguments: SmallFiles.all, SourceFormat.allCases)
    func `a file of another format is unknown`(file: SmallFile, format: SourceFormat) {
        #expect(check(format, file.bytes) == (file.isBuilt(like: format) ? .complete : .unknown))
    }

    @Test(arguments: SmallFiles.all.filter { [.jpeg, .png, .gif].contains($0.format) })
    func `a file of its full size that is zero from some place on is not complete`(file: SmallFile) {
        for length in 8..<file.bytes.count - 4 {
            let rest = [UInt8](repeating: 0, count: file.bytes.count - length)
            #expect(check(file.format, file.bytes[..<length] + rest) == .incomplete, "at \(length)")
        }
    }

    // MARK: JPEG

    @Test func `an end marker inside a segment is not the end`() {
        #expect(check(.jpeg, [0xFF, 0xD8] + SmallFiles.segment(0xFE, [0xFF, 0xD9])) == .incomplete)
    }

    @Test(arguments: ForwardReader.blockSize - 40...ForwardReader.blockSize + 1)
    func `a long scan is followed across blocks`(length: Int) {
        let scan = [UInt8](repeating: 0x42, count: length - 2) + [0xFF, 0x00]
        let bytes = SmallFiles.jpeg(scan: scan)
        #expect(check(.jpeg, bytes) == .complete)
        #expect(check(.jpeg, Array(bytes.dropLast())) == .incomplete)
    }

    @Test
    func `a JPEG that lists another picture is waited for once that has begun`()
        throws
    {
        let picture = SmallFiles.jpeg(scan: [UInt8](repeating: 0x42, count: 40))
        let whole = try #require(JPEGGainMapFile.joined(picture, picture, GainMapMetadata(packet: nil, iso: nil)))
        let second = whole.count - picture.count
        #expect(check(.jpeg, whole) == .complete)
        for length in 4..<whole.count {
            // If nothing of the second one is there, that may be for good.
            let isCut = length < second || length >= second + 2
            #expect(check(.jpeg, Array(whole[..<length])) == (isCut ? .incomplete : .unknown), "at \(length)")
        }
    }

    @Test func `a segment that is shorter than its own length is unknown`() {
        #expect(check(.jpeg, [0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 0xFF, 0xD9]) == .unknown)
    }

    // MARK: PNG

    @Test func `a PNG chunk with a name that is no word is unknown`() {
        #expect(check(.png, SmallFiles.pngSignature + SmallFiles.chunk("IH?R", [])) == .unknown)
    }

    @Test func `a PNG is not over before the checksum of its last chunk`() {
        #expect(check(.png, Array(SmallFiles.png().dropLast(4))) == .incomplete)
    }

    // MARK: GIF

    @Test func `zeros between the blocks of a GIF are passed over`() {
        #expect(check(.gif, SmallFiles.gif(between: [0, 0, 0])) == .complete)
    }

    @Test func `a block of no known kind is unknown`() {
        #expect(check(.gif, SmallFiles.gif(between: [0x99])) == .unknown)
    }

    @Test func `a GIF without a trailer is incomplete`() {
        #expect(check(.gif, Array(SmallFiles.gif().dropLast())) == .incomplete)
    }

    // MARK: WebP

    @Test func `the last chunk of a WebP may lack the byte that makes it even`() {
        #expect(check(.webp, SmallFiles.webp(Array(SmallFiles.riffChunk("VP8L", [1, 2, 3]).dropLast()))) == .complete)
    }

    @Test func `a WebP of no chunks is one whose length is not written yet`() {
        #expect(check(.webp, SmallFiles.webp([])) == .incomplete)
    }

    @Test func `a chunk that runs over its RIFF is unknown`() {
        var bytes = SmallFiles.webp(SmallFiles.losslessWebP())
        bytes[16] = 200
        #expect(check(.webp, bytes + [UInt8](repeating: 1, count: 300)) == .unknown)
    }

    // MARK: TIFF

    @Test(arguments: [ByteOrder.little, .big], [false, true])
    func `a TIFF is complete with all its pages, and not before`(order: ByteOrder, isBig: Bool) {
        let bytes = TIFFBuilder(order: order, isBig: isBig, strips: [4, 4, 4, 4, 4], pages: 3).file()
        #expect(check(.tiff, bytes) == .complete)
        for length in bytes.indices { #expect(check(.tiff, Array(bytes[..<length])) == .incomplete, "at \(length)") }
    }

    @Test func `a TIFF whose header does not lead to a page yet is incomplete`() {
        #expect(check(.tiff, TIFFBuilder(order: .little).header + [1, 2, 3]) == .incomplete)
    }

    @Test func `tiles are looked for as strips are`() {
        let builder = TIFFBuilder(order: .little)
        let tiles = { (lengths: [Int]) in
            let fields: [TIFFBuilder.Field] = [.init(324, 4, [8, 8]), .init(325, 4, lengths)]
            return [0x49, 0x49, 42, 0, 8, 0, 0, 0] + builder.directory(fields, at: 8, isLast: true)
        }
        #expect(check(.tiff, tiles([5, 6])) == .complete)
        #expect(check(.tiff, tiles([5, 600])) == .incomplete)
    }

    @Test func `a strip that was left out is not missing`() {
        let builder = TIFFBuilder(order: .little)
        let directory = builder.directory(
            [.init(273, 4, [0, 9_000_000]), .init(279, 4, [0, 0])], at: 8, isLast: true)
        #expect(check(.tiff, [0x49, 0x49, 42, 0, 8, 0, 0, 0] + directory) == .complete)
    }

    @Test func `a first page without strips or tiles is unknown`() {
        let directory = TIFFBuilder(order: .little).directory([.init(256, 3, [9])], at: 8, isLast: true)
        #expect(check(.tiff, [0x49, 0x49, 42, 0, 8, 0, 0, 0] + directory) == .unknown)
    }

    @Test(arguments: [330, 34_665, 34_853])
    func `directories that belong to a page must be there too`(tag: Int) {
        let builder = TIFFBuilder(order: .little)
        let exif = builder.directory([.init(271, 2, Array(0..<20))], at: 0, isLast: true)
        let whole = { (offset: Int) in builder.file(extra: [.init(tag, 4, [offset])]) }
        #expect(check(.tiff, whole(whole(0).count)) == .incomplete)
        var bytes = whole(whole(0).count)
        bytes += builder.directory([.init(271, 2, Array(0..<20))], at: bytes.count, isLast: true)
        #expect(check(.tiff, bytes) == .complete)
        for length in bytes.count - exif.count..<bytes.count {
            #expect(check(.tiff, Array(bytes[..<length])) == .incomplete, "at \(length)")
        }
    }

    // MARK: HEIF

    @Test(arguments: HEIFBuilder.MediaDataSize.allCases, [0, 1, 2])
    func `a HEIF is complete with the pixels that it lists, and not before`(
        size: HEIFBuilder.MediaDataSize, version: Int
    ) {
        let bytes = HEIFBuilder(locationVersion: version, mediaDataSize: size).file()
        #expect(check(.heic, bytes) == .complete)
        for length in bytes.indices { #expect(check(.heic, Array(bytes[..<length])) == .incomplete, "at \(length)") }
    }

    @Test func `a box after the pixels must be whole too`() {
        let bytes = HEIFBuilder().file() + HEIFBuilder.box("free", [1, 2, 3])
        #expect(check(.heic, bytes) == .complete)
        #expect(check(.heic, Array(bytes.dropLast())) == .incomplete)
    }

    @Test func `a sequence without items needs its media data`() {
        let fileType = HEIFBuilder.box("ftyp", Array("hevc\0\0\0\0hevc".utf8))
        let tracks = HEIFBuilder.box("moov", [1, 2])
        let mediaData = HEIFBuilder.box("mdat", [3])
        #expect(check(.heic, fileType + tracks + mediaData) == .complete)
        #expect(check(.heic, fileType + mediaData + tracks) == .complete)
        #expect(check(.heic, fileType + tracks) == .incomplete)
        #expect(check(.heic, fileType + mediaData) == .incomplete)
    }

    @Test func `a box that is smaller than its own header is unknown`() {
        #expect(check(.heic, HEIFBuilder().file() + [0, 0, 0, 7] + Array("free".utf8)) == .unknown)
    }
}
