// Artist and Copyright of EXIF 2.3 §4.6.4, read from the block itself: libexif translates both to ASCII and adds words
// of its own.

extension Rights {
    /// Reads the owner out of an EXIF block, with or without `Exif\0\0` in front. Empty if there is none, or the block
    /// is damaged.
    package init(exif: [UInt8]) {
        self.init()
        let mark = Array("Exif\0\0".utf8)
        let block = ByteSource(exif.starts(with: mark) ? Array(exif.dropFirst(mark.count)) : exif)
        guard let layout = try? TIFFLayout(of: block), let offset = try? layout.firstDirectory(in: block),
            let directory = try? TIFFDirectory(at: offset, in: block, layout)
        else { return }
        creator = directory.fields[.artist].flatMap { Self.texts($0, block) } ?? []
        // The photographer's and the editor's copyright, parted by a NUL.
        copyright = directory.fields[.copyright].flatMap { Self.texts($0, block) }?.joined(separator: ", ")
    }

    private static func texts(_ field: TIFFField, _ block: ByteSource) -> [String]? {
        guard let bytes = field.text(in: block, limit: 4 * longestValue) else { return nil }
        let texts = bytes.split(separator: 0).prefix(2).compactMap { cleaned(decoded(Array($0))) }
        return texts.isEmpty ? nil : texts
    }

    /// UTF-8 if that is valid, else Latin-1, as old cameras write.
    private static func decoded(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
