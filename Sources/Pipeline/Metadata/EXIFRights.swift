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
        guard let first = exifDirectories(exif).first else { return }
        self.init(first.directory, in: first.block)
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

/// The first directory of an EXIF block, and that of the camera; none if the block is damaged.
private func exifDirectories(_ exif: [UInt8]) -> [(directory: TIFFDirectory, block: ByteSource)] {
    let mark = Array("Exif\0\0".utf8)
    let block = ByteSource(exif.starts(with: mark) ? Array(exif.dropFirst(mark.count)) : exif)
    guard let layout = try? TIFFLayout(of: block), let offset = try? layout.firstDirectory(in: block),
        let first = try? TIFFDirectory(at: offset, in: block, layout)
    else { return [] }
    var numbers = try? first.fields[.exifDirectory]?.numbers(in: block)
    let camera = (try? numbers?.next()).flatMap { try? TIFFDirectory(at: $0, in: block, layout) }
    return [first, camera].compactMap { directory in directory.map { ($0, block) } }
}

/// The text of a tag in an EXIF block.
func exifText(_ tag: TIFFTag, in exif: [UInt8]) -> String? {
    let limit = 4 * Rights.longestValue
    for (directory, block) in exifDirectories(exif) {
        guard let field = directory.fields[tag] else { continue }
        if let bytes = field.text(in: block, limit: limit) {
            return Rights.cleaned(String(utf8OrLatin1: bytes.prefix { $0 != 0 }))
        }
        guard let bytes = field.bytes(in: block, limit: limit) else { return nil }
        if tag == .userComment { return userComment(bytes) }
        // Windows' own tags are in UTF-16.
        return Rights.cleaned(utf16(bytes, bigEndian: false))
    }
    return nil
}

/// A comment whose first eight bytes name its encoding.
private func userComment(_ bytes: [UInt8]) -> String? {
    let (code, text) = (bytes.prefix(8), bytes.dropFirst(8))
    guard code.starts(with: Array("UNICODE".utf8)) else {
        return Rights.cleaned(String(utf8OrLatin1: text.prefix { $0 != 0 }))
    }
    // In the byte order of the block, or another: a Latin letter has its zero first or second.
    return Rights.cleaned(utf16(Array(text), bigEndian: text.first == 0))
}

private func utf16(_ bytes: [UInt8], bigEndian: Bool) -> String {
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { place in
        let (one, other) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
        return bigEndian ? one << 8 | other : other << 8 | one
    }
    return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
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
