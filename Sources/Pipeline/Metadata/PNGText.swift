// The texts of a PNG, and what they state by their keywords. https://www.w3.org/TR/png-3/#11textinfo

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
