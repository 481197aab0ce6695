// The texts of a PNG, and what they state by their keywords. https://www.w3.org/TR/png-3/#11textinfo

/// The texts and the EXIF of a PNG, from before and after its pixels.
package struct PNGFacts: Hashable, Sendable {
    package var texts: [PNGText] = []
    package var exif: [UInt8]?

    package init() {}

    /// The blocks of metadata in it, with the first of each kind that is a text.
    /// - Parameters:
    ///   - known: blocks that are not wanted.
    ///   - unpacked: the texts of compressed chunks, by their keywords.
    /// - Returns: also the texts without those that are such blocks.
    package func blocks(
        without known: Set<MetadataBlock>, unpacked: [(keyword: String, text: String)]
    ) -> (blocks: [MetadataBlock: [UInt8]], texts: [PNGText]) {
        var blocks: [MetadataBlock: [UInt8]] = [:]
        blocks[.exif] = known.contains(.exif) ? nil : exif
        var others: [PNGText] = []
        var tried: Set<String> = []
        for text in texts {
            guard text.isBlock, tried.insert(text.keyword).inserted,
                let words = text.text ?? unpacked.first(where: { $0.keyword == text.keyword })?.text,
                let (block, bytes) = text.block(in: words), !known.contains(block), blocks[block] == nil
            else {
                others.append(text)
                continue
            }
            blocks[block] = bytes
        }
        return (blocks, others)
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

    /// The block of metadata that the text is.
    /// - Parameter words: the text, unpacked.
    fileprivate func block(in words: String) -> (MetadataBlock, [UInt8])? {
        if isXMP { return (.xmp, Array(words.utf8)) }
        guard let bytes = Self.bytes(ofProfile: words) else { return nil }
        switch keyword.lowercased().split(separator: " ").last {
        case "exif": return (.exif, bytes)
        case "xmp": return (.xmp, bytes)
        // The content of a JPEG's segment of that number.
        case "app1" where bytes.starts(with: Array("Exif\0\0".utf8)): return (.exif, bytes)
        case "iptc", "8bim":
            let isResource = bytes.starts(with: Array("8BIM".utf8))
            return (.iptc, (isResource ? Array("Photoshop 3.0\0".utf8) : []) + bytes)
        default: return nil
        }
    }

    /// The bytes of a profile that ImageMagick has written: its name and its length in lines of their own, and then
    /// hexadecimal digits in lines.
    private static func bytes(ofProfile text: String) -> [UInt8]? {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count == 3, let length = Int(String(decoding: lines[1], as: UTF8.self).filter { $0 != " " }),
            (1...longestProfile).contains(length), length <= lines[2].count / 2
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        var half: UInt8?
        for byte in lines[2] where byte != UInt8(ascii: "\n") {
            guard bytes.count < length, let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            if let first = half {
                bytes.append(first << 4 | UInt8(digit))
                half = nil
            } else {
                half = UInt8(digit)
            }
        }
        return bytes.count == length && half == nil ? bytes : nil
    }

    /// Nobody has more EXIF, XMP or IPTC than that.
    private static let longestProfile = 4 << 20
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
