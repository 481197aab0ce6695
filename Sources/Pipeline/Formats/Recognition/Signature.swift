// The formats that fixed bytes at fixed places give away. TIFF, ISO media and text have files of their own.
// Most are in https://www.garykessler.net/library/file_sigs.html; the rest in the formats' specifications.

/// Bytes that all files of a format have.
package struct Signature: Sendable {
    let guess: FormatGuess
    let marks: [Mark]

    /// Bytes, and how many others come before them.
    package struct Mark: Sendable {
        let offset: Int
        let bytes: [UInt8]
    }

    func matches(_ head: [UInt8]) -> Bool {
        marks.allSatisfy { head.dropFirst($0.offset).starts(with: $0.bytes) }
    }

    private init(_ guess: FormatGuess, _ marks: [Mark]) {
        self.guess = guess
        self.marks = marks
    }

    private static func reads(_ formats: [SourceFormat]) -> [Signature] {
        formats.flatMap { format in format.declaration.signatures.map { Signature(.readable(format), $0) } }
    }

    private static func knows(_ name: String, _ marks: Mark...) -> Signature {
        Signature(.recognised(name), marks)
    }

    private static func isRaw(_ name: String, _ marks: Mark...) -> Signature { Signature(.cameraRaw(name), marks) }

    private static func isNone(_ name: String, _ marks: Mark...) -> Signature {
        Signature(.noPicture(name), marks)
    }

    /// In this order: the first that matches is taken, so that a longer mark goes before a shorter one.
    static let all: [Signature] =
        reads(SourceFormat.alwaysRead) + profiles + reads(SourceFormat.onRequest.filter { !$0.declaration.isDocument })
        + otherPictures + bitmaps + icons + portableMaps + cameraFiles
        + reads(SourceFormat.onRequest.filter { $0.declaration.isDocument }) + documents + archives + soundAndVideo

    private static let profiles = [isNone("ICC profile", mark("acsp", at: 36))]

    private static let otherPictures = [
        knows("JPEG XR", mark(0x49, 0x49, 0xBC)),
        knows("Photoshop PSD", mark("8BPS")),
        knows("GIMP XCF", mark("gimp xcf")),
        knows("OpenEXR", mark(0x76, 0x2F, 0x31, 0x01)),
        knows("Radiance HDR", mark("#?RADIANCE")),
        knows("Radiance HDR", mark("#?RGBE")),
        knows("FITS", mark("SIMPLE  =")),
        knows("DICOM", mark("DICM", at: 128)),
        knows("DirectDraw surface", mark("DDS ")),
        knows("QOI", mark("qoif")),
        knows("BPG", mark(0x42, 0x50, 0x47, 0xFB)),
        knows("MNG", mark(0x8A, 0x4D, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A)),
        knows("JNG", mark(0x8B, 0x4A, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A)),
        knows("libvips image", mark(0x08, 0xF2, 0xA6, 0xB6)),
        knows("libvips image", mark(0xB6, 0xA6, 0xF2, 0x08)),
        knows("DjVu", mark("AT&TFORM")),
        knows("Apple icon", mark("icns")),
        knows("Windows metafile", mark(0xD7, 0xCD, 0xC6, 0x9A)),
        knows("Windows metafile", mark(1, 0, 0, 0), mark(" EMF", at: 40)),
    ]

    /// `BM` alone is any text that begins so. The size of the second header, at 14, tells the versions apart.
    private static let bitmaps = [12, 16, 40, 52, 56, 64, 108, 124].map {
        knows("BMP", mark("BM"), mark($0, 0, 0, 0, at: 14))
    }

    /// Reserved 0, then 1 for icons and 2 for cursors, then how many there are; byte 9 is 0 again.
    private static let icons =
        // Truevision's colors and greys, packed or not, have no mark: what a cursor must count is 0 here, and the bits
        // of a pixel follow.
        [(2, [16, 24, 32]), (3, [8]), (10, [16, 24, 32]), (11, [8])].flatMap { kind, bits in
            bits.map { knows("TGA", mark(0, 0, kind, 0, 0, 0, 0, 0), mark($0, at: 16)) }
        } + [
            knows("Windows icon", mark(0, 0, 1, 0), mark(0, at: 5), mark(0, at: 9)),
            knows("Windows cursor", mark(0, 0, 2, 0), mark(0, at: 5), mark(0, at: 9)),
        ]

    private static let portableMaps = ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "PF", "Pf"].flatMap { kind in
        ["\n", "\r", " ", "\t"].map { knows("PNM", mark(kind + $0)) }
    }

    private static let cameraFiles = [
        isRaw("RAW: Canon CRW", mark("HEAPCCDR", at: 6)),
        isRaw("RAW: Fujifilm RAF", mark("FUJIFILMCCD-RAW")),
        isRaw("RAW: Minolta MRW", mark("\0MRM")),
        isRaw("RAW: Olympus ORF", mark("IIRO")),
        isRaw("RAW: Olympus ORF", mark("IIRS")),
        isRaw("RAW: Olympus ORF", mark("MMOR")),
        isRaw("RAW: Panasonic RW2", mark("IIU\0")),
        isRaw("RAW: Sigma X3F", mark("FOVb")),
    ]

    private static let documents = [
        knows("PostScript", mark("%!PS")),
        knows("PostScript", mark(0xC5, 0xD0, 0xD3, 0xC6)),
        isNone("Microsoft Office document", mark(0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1)),
    ]

    private static let archives = [
        isNone("gzip", mark(0x1F, 0x8B)),
        isNone("ZIP archive", mark("PK\u{3}\u{4}")),
        isNone("ZIP archive", mark("PK\u{5}\u{6}")),
        isNone("RAR archive", mark("Rar!\u{1A}\u{7}")),
        isNone("7-Zip archive", mark(0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C)),
        isNone("bzip2", mark("BZh")),
        isNone("XZ", mark(0xFD, 0x37, 0x7A, 0x58, 0x5A, 0)),
        isNone("Zstandard", mark(0x28, 0xB5, 0x2F, 0xFD)),
        isNone("tar archive", mark("ustar", at: 257)),
    ]

    private static let soundAndVideo = [
        isNone("AVI video", mark("RIFF"), mark("AVI ", at: 8)),
        isNone("WAV audio", mark("RIFF"), mark("WAVE", at: 8)),
        isNone("Matroska video", mark(0x1A, 0x45, 0xDF, 0xA3)),
        isNone("MPEG video", mark(0, 0, 1, 0xBA)),
        isNone("MPEG video", mark(0, 0, 1, 0xB3)),
        isNone("MP3 audio", mark("ID3")),
        isNone("FLAC audio", mark("fLaC")),
        isNone("Ogg", mark("OggS")),
    ]
}

func mark(_ bytes: UInt8..., at offset: Int = 0) -> Signature.Mark {
    Signature.Mark(offset: offset, bytes: bytes)
}

/// For ASCII: others than those would become two bytes each.
func mark(_ text: String, at offset: Int = 0) -> Signature.Mark {
    Signature.Mark(offset: offset, bytes: Array(text.utf8))
}
