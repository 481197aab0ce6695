// The texts of a PNG, and what they state by their keywords. https://www.w3.org/TR/png-3/#11textinfo

/// What a PNG says of itself, before and after its pixels.
package struct PNGFacts: Hashable, Sendable {
    package var texts: [PNGText] = []
    package var exif: [UInt8]?

    package init() {}

    /// The blocks of metadata in it, with those that are texts.
    /// - Parameter unpacked: the texts of compressed chunks, by their keywords.
    package func blocks(unpacked: [(keyword: String, text: String)]) -> [MetadataBlock: [UInt8]] {
        var blocks: [MetadataBlock: [UInt8]] = [:]
        for text in texts where text.isBlock {
            guard let words = text.text ?? unpacked.first(where: { $0.keyword == text.keyword })?.text else { continue }
            guard !text.isXMP else {
                blocks[.xmp] = Array(words.utf8)
                continue
            }
            guard let bytes = PNGText.bytes(ofProfile: words) else { continue }
            switch text.profile {
            case "exif": blocks[.exif] = bytes
            case "xmp": blocks[.xmp] = bytes
            // What a JPEG has in a segment of that number.
            case "app1" where bytes.starts(with: Array("Exif\0\0".utf8)): blocks[.exif] = bytes
            case "iptc", "8bim":
                let isResource = bytes.starts(with: Array("8BIM".utf8))
                blocks[.iptc] = (isResource ? Array("Photoshop 3.0\0".utf8) : []) + bytes
            default: continue
            }
        }
        if let exif { blocks[.exif] = exif }
        return blocks
    }
}

/// A text of a PNG, as it is in the file.
package struct PNGText: Hashable, Sendable {
    package let keyword: String
    /// nil if it is compressed.
    package let text: String?
    /// `tEXt`, `zTXt` or `iTXt`, and what is in that chunk.
    package let type: String
    package let data: [UInt8]

    /// It has metadata of another kind: XMP, which is read as such, or a block that ImageMagick has written in
    /// hexadecimal (`Raw profile type exif`).
    package var isBlock: Bool { isXMP || keyword.lowercased().contains("profile") }
    package var isXMP: Bool { keyword == "XML:com.adobe.xmp" }
    /// `exif` of `Raw profile type exif`.
    fileprivate var profile: Substring? { keyword.lowercased().split(separator: " ").last }

    /// The bytes of a profile that ImageMagick has written: its name and its length in lines of their own, and then
    /// hexadecimal digits in lines.
    static func bytes(ofProfile text: String) -> [UInt8]? {
        let lines = text.split(separator: "\n", maxSplits: 2)
        guard lines.count == 3, let length = Int(lines[1].filter { $0 != " " }), length > 0 else { return nil }
        let digits = lines[2].utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * length else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// - Parameters:
    ///   - type: `tEXt`, `zTXt` or `iTXt`.
    ///   - data: what is in that chunk.
    /// - Returns: nil if it is not as it must be, and readers would stumble over it.
    init?(type: String, data: [UInt8]) {
        guard let end = data.firstIndex(of: 0), (1...79).contains(end), data[0] != UInt8(ascii: " "),
            data[end - 1] != UInt8(ascii: " "), data[..<end].allSatisfy({ $0 >= 32 && !(127...160).contains($0) })
        else { return nil }
        (self.type, self.data) = (type, data)
        keyword = String(utf8OrLatin1: data[..<end])
        let rest = data[(end + 1)...]
        switch type {
        case "tEXt":
            guard !rest.contains(0) else { return nil }
            text = String(utf8OrLatin1: rest)
        case "iTXt" where rest.first == 0:
            // Whether it is compressed and how, its language, and the keyword in that.
            let parts = rest.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            text = parts.count == 3 ? String(decoding: parts[2], as: UTF8.self) : nil
        default: text = nil
        }
    }
}

extension Statements {
    /// - Parameter texts: by keywords, of which others than the four that say something of the picture are passed over.
    package init(pngTexts texts: [(keyword: String, text: String)]) {
        func text(_ keyword: String) -> String? {
            texts.first { $0.keyword == keyword }.flatMap { Rights.cleaned($0.text) }
        }
        self.init(
            rights: Rights(creator: text("Author").map { [$0] } ?? [], copyright: text("Copyright")),
            title: text("Title"), caption: text("Description"))
    }

    /// Whether it states what the text of a keyword does.
    func states(pngKeyword keyword: String) -> Bool {
        switch keyword {
        case "Author", "Artist": !rights.creator.isEmpty
        case "Copyright": rights.copyright != nil
        case "Title": title != nil
        case "Description": caption != nil
        default: false
        }
    }
}
