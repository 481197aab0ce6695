// Artist and Copyright of EXIF 2.3 §4.6.4, read from the block itself: libexif translates both to ASCII and adds words
// of its own.

extension Rights {
    /// Reads the owner out of an EXIF block, with or without `Exif\0\0` in front. Empty if there is none, or the block
    /// is damaged.
    package init(exif: [UInt8]) {
        self.init()
        self = Statements(exif: exif).rights
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
    /// The statements of an EXIF block about the picture.
    package init(exif: [UInt8]) {
        self.init()
        let mark = Array("Exif\0\0".utf8)
        let block = ByteSource(exif.starts(with: mark) ? Array(exif.dropFirst(mark.count)) : exif)
        guard let layout = try? TIFFLayout(of: block), let offset = try? layout.firstDirectory(in: block),
            let directory = try? TIFFDirectory(at: offset, in: block, layout)
        else { return }
        self.init(directory, in: block)
    }

    /// Reads a directory of EXIF, or a page of a TIFF.
    init(_ directory: TIFFDirectory, in source: ByteSource) {
        /// The texts of a field, which are parted by a NUL; none if the file is damaged there.
        func texts(_ tag: TIFFTag) -> [String] {
            guard let bytes = directory.fields[tag]?.text(in: source, limit: 4 * Rights.longestValue) else { return [] }
            return bytes.split(separator: 0).prefix(2).compactMap { Rights.cleaned(String(utf8OrLatin1: $0)) }
        }
        // The photographer's and the editor's copyright, parted by a NUL.
        let notices = texts(.copyright)
        self.init(
            rights: Rights(
                creator: texts(.artist), copyright: notices.isEmpty ? nil : notices.joined(separator: ", ")),
            caption: texts(.imageDescription).first)
    }
}

extension String {
    /// UTF-8 if that is valid, else Latin-1, as old cameras and old programs write.
    package init(utf8OrLatin1 bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        let scalars = { bytes.map { Unicode.Scalar($0) } }
        self = String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(scalars()))
    }

    /// libvips cuts a text after some 250 bytes when it reads EXIF, twice in a row, and writes nonsense in place of one
    /// that is cut within a letter. XMP has it whole.
    var isSafeInEXIF: Bool { utf8.count <= 110 || utf8.count == unicodeScalars.count }
}
