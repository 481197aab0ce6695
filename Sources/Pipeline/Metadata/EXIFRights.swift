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

    /// An EXIF block with the owner, with `Exif\0\0` in front; nil if there is none. Its texts are UTF-8, which EXIF 3.0
    /// allows and most programs have always written.
    package var exif: [UInt8]? {
        let texts = [
            (TIFFTag.artist, creator.isEmpty ? nil : creator.joined(separator: "; ")), (.copyright, copyright),
        ]
        let fields = texts.compactMap { tag, text in text.map { (tag: tag, text: Array($0.utf8) + [0]) } }
        guard !fields.isEmpty else { return nil }
        func number(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let (headerBytes, fieldBytes, ascii) = (8, 12, 2)
        var directory = number(fields.count, 2)
        var values: [UInt8] = []
        let start = headerBytes + 2 + fields.count * fieldBytes + 4
        for field in fields {
            // Up to four bytes are in the place of their offset.
            let isShort = field.text.count <= 4
            directory += number(field.tag.rawValue, 2) + number(ascii, 2) + number(field.text.count, 4)
            directory +=
                isShort
                ? field.text + Array(repeating: 0, count: 4 - field.text.count) : number(start + values.count, 4)
            if !isShort { values += field.text + (field.text.count % 2 == 0 ? [] : [0]) }
        }
        return Array("Exif\0\0II*\0".utf8) + number(headerBytes, 4) + directory + number(0, 4) + values
    }

}

extension PictureWords {
    /// The caption of an EXIF block.
    init(exif: [UInt8]) {
        self.init(caption: EXIFTexts(exif)[.imageDescription].first)
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
