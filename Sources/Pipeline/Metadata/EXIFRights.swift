// Artist and Copyright of EXIF 2.3 §4.6.4, read from the block itself: libexif translates both to ASCII and adds words
// of its own.

extension Rights {
    /// Reads the owner out of an EXIF block, with or without `Exif\0\0` in front. Empty if there is none, or the block
    /// is damaged.
    package init(exif: [UInt8]) {
        self.init()
        let texts = EXIFTexts(exif)
        creator = texts[.artist]
        // The photographer's and the editor's copyright, parted by a NUL.
        let notices = texts[.copyright]
        copyright = notices.isEmpty ? nil : notices.joined(separator: ", ")
    }

    /// An EXIF block with the owner, with `Exif\0\0` in front; nil if there is none.
    package var exif: [UInt8]? {
        let texts = exifTexts
        guard !texts.isEmpty else { return nil }
        var block = EXIFBlock()
        return block.state(texts) ? block.marked : nil
    }

    /// The owner as EXIF names it.
    var exifTexts: [TIFFTag: String] {
        var texts: [TIFFTag: String] = [:]
        texts[.artist] = creator.isEmpty ? nil : creator.joined(separator: "; ")
        texts[.copyright] = copyright
        return texts.filter { $1.isSafeInEXIF }
    }
}

extension Statements {
    /// What an EXIF block states about the picture.
    package init(exif: [UInt8]) {
        self.init(rights: Rights(exif: exif), caption: EXIFTexts(exif)[.imageDescription].first)
    }
}

/// The texts of an EXIF block.
private struct EXIFTexts {
    private let block: ByteSource
    private let fields: [TIFFTag: TIFFField]

    init(_ exif: [UInt8]) {
        let mark = Array("Exif\0\0".utf8)
        block = ByteSource(exif.starts(with: mark) ? Array(exif.dropFirst(mark.count)) : exif)
        guard let layout = try? TIFFLayout(of: block), let offset = try? layout.firstDirectory(in: block),
            let directory = try? TIFFDirectory(at: offset, in: block, layout)
        else {
            fields = [:]
            return
        }
        fields = directory.fields
    }

    /// The texts of a field, which are parted by a NUL; none if the block is damaged.
    subscript(tag: TIFFTag) -> [String] {
        guard let bytes = fields[tag]?.text(in: block, limit: 4 * Rights.longestValue) else { return [] }
        return bytes.split(separator: 0).prefix(2).compactMap { Rights.cleaned(Self.decoded(Array($0))) }
    }

    /// UTF-8 if that is valid, else Latin-1, as old cameras write.
    private static func decoded(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension String {
    /// libvips cuts a text after some 250 bytes when it reads EXIF, twice in a row, and writes nonsense in place of one
    /// that is cut within a letter. XMP has it whole.
    var isSafeInEXIF: Bool { utf8.count <= 110 || utf8.count == unicodeScalars.count }
}
