import Testing

@testable import Pipeline

struct FormatGuessTests {
    @Test(arguments: SmallFiles.all)
    func `each format that we read is recognized by its first bytes`(file: SmallFile) {
        #expect(guessFormat(file.bytes) == .readable(file.format))
    }

    @Test func `every format whose structure we read to its end has a small file`() {
        #expect(SourceFormat.alwaysRead.allSatisfy { format in SmallFiles.all.contains { $0.format == format } })
    }

    @Test(
        arguments: [
            ("BM\0\0\0\0\0\0\0\0\0\0\0\0\u{28}\0\0\0", .recognised("BMP")),
            ("\0\0\u{1}\0\u{3}\0\u{20}\u{20}\0\0", .recognised("Windows icon")),
            ("8BPS\0\u{1}", .recognised("Photoshop PSD")),
            ("v/1\u{1}", .recognised("OpenEXR")),
            ("#?RADIANCE\n", .recognised("Radiance HDR")),
            ("P6\n2 2\n255\n", .recognised("PNM")),
            ("%!PS-Adobe-3.0 EPSF-3.0", .recognised("PostScript")),
            ("PK\u{3}\u{4}", .noPicture("ZIP archive")),
            ("\0\0\0\u{C}JXL \r\n", nil),
            ("RIFF\0\0\0\0WAVE", .noPicture("WAV audio")),
            ("RIFF\0\0\0\0", nil),
            ("BM is a text that begins like a bitmap", nil),
            ("GIF88a", nil),
            ("just words", nil),
            ("", nil),
        ] as [(String, FormatGuess?)])
    func `other formats are called by name, and the rest is unknown`(head: String, guess: FormatGuess?) {
        #expect(guessFormat(Array(head.utf8)) == guess ?? .unknown)
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 8], .noPicture("gzip")),
            ([0xC5, 0xD0, 0xD3, 0xC6], .recognised("PostScript")),
        ] as [([UInt8], FormatGuess)])
    func `formats with marks that are no text are called by name`(head: [UInt8], guess: FormatGuess) {
        #expect(guessFormat(head) == guess)
    }

    @Test(
        arguments: [
            (Array("%PDF-1.7".utf8), .pdf),
            ([0xFF, 0x0A], .jxl),
            ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
            ([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jp2),
            ([0xFF, 0x4F, 0xFF, 0x51], .jp2),
        ] as [([UInt8], SourceFormat)])
    func `formats on request are recognized by their first bytes`(head: [UInt8], format: SourceFormat) {
        #expect(guessFormat(head) == .readable(format) && format.isOnRequest)
    }

    @Test func `an ICC profile is recognized by its mark in the middle, whatever its size looks like`() {
        let profile = { (size: [UInt8]) in size + [UInt8](repeating: 0, count: 32) + Array("acsp".utf8) }
        #expect(guessFormat(profile([0, 0, 2, 0xA0])) == .noPicture("ICC profile"))
        #expect(guessFormat(profile([0, 0, 1, 0])) == .noPicture("ICC profile"))
    }

    @Test func `camera files built on TIFF are not taken for pictures`() {
        #expect(
            guessFormat([0x49, 0x49, 42, 0, 16, 0, 0, 0] + Array("CR\u{2}\0".utf8)) == .cameraRaw("RAW: Canon CR2"))
        let version = TIFFBuilder.Field(50_706, 1, [1, 4, 0, 0])
        for order in [ByteOrder.little, .big] {
            #expect(guessFormat(TIFFBuilder(order: order).file(extra: [version])) == .cameraRaw("RAW: DNG"))
        }
    }

    @Test(arguments: [ByteOrder.little, .big])
    func `a small picture before what a sensor has measured is not taken for the photo`(order: ByteOrder) {
        func file(_ fields: [TIFFBuilder.Field], pages: Int = 1) -> [UInt8] {
            var builder = TIFFBuilder(order: order)
            builder.pages = pages
            return builder.file(extra: fields)
        }
        let make = { (name: String) in TIFFBuilder.Field(271, 2, name.utf8.map(Int.init) + [0]) }
        let (reduced, below) = (TIFFBuilder.Field(254, 4, [1]), TIFFBuilder.Field(330, 4, [40, 60]))
        #expect(guessFormat(file([reduced, make("NIKON CORPORATION"), below])) == .cameraRaw("RAW: Nikon NEF"))
        #expect(guessFormat(file([reduced, make("SONY"), below])) == .cameraRaw("RAW: Sony ARW"))
        #expect(guessFormat(file([reduced, make("Somebody"), below])) == .cameraRaw("RAW"))
        // The sensor's numbers as the first page, and as the second.
        let sensor = TIFFBuilder.Field(262, 3, [32_803])
        #expect(guessFormat(file([sensor, make("PENTAX")])) == .cameraRaw("RAW: Pentax PEF"))
        #expect(guessFormat(file([sensor], pages: 2)) == .cameraRaw("RAW"))
        // Pyramids, and pages of scanners that tell who made them, are pictures.
        #expect(guessFormat(file([below])) == .readable(.tiff))
        #expect(guessFormat(file([TIFFBuilder.Field(254, 4, [0]), make("Nikon"), below])) == .readable(.tiff))
        #expect(guessFormat(file([make("NIKON CORPORATION")], pages: 3)) == .readable(.tiff))
    }

    @Test func `directories in a circle end`() {
        var file = TIFFBuilder(order: .little).file(extra: [TIFFBuilder.Field(330, 4, [27])])
        #expect(CameraRaw.name(of: ByteSource(file)) == nil)
        for place in 8..<file.count {
            file[place] ^= 0xFF
            _ = CameraRaw.name(of: ByteSource(file))
            file[place] ^= 0xFF
        }
    }

    @Test func `what is beyond the beginning is found in the whole file`() {
        var builder = TIFFBuilder(order: .little)
        builder.strips = [5000]
        let file = builder.file(extra: [TIFFBuilder.Field(262, 3, [32_803])])
        #expect(guessFormat(file) == .readable(.tiff))
        #expect(CameraRaw.name(of: ByteSource(file)) == "RAW")
    }

    @Test func `a BigTIFF with another width of offsets is none`() {
        #expect(guessFormat([0x49, 0x49, 43, 0, 8, 0, 0, 0]) == .readable(.tiff))
        #expect(guessFormat([0x49, 0x49, 43, 0, 4, 0, 0, 0]) == .unknown)
    }

    @Test func `the first 4096 bytes decide`() {
        let late = [UInt8](repeating: 0x20, count: 4096) + Array("<svg>".utf8)
        #expect(guessFormat(Array(late.dropFirst(5))) == .readable(.svg))
        #expect(guessFormat(late) == .unknown)
    }

    @Test(arguments: SmallFiles.all)
    func `a shorter beginning is either the same format or nothing, but never another one`(file: SmallFile) {
        let shared: [FormatGuess] = [.readable(file.format), .unknown, .noPicture("MP4 video")]
        for length in file.bytes.indices {
            #expect(shared.contains(guessFormat(Array(file.bytes[..<length]))), "at \(length)")
        }
    }
}
