// The statements of a picture's metadata in words, as far as they are read and written here.

/// Rights, title, caption and keywords of a picture. Each value is plain text that has been through `Rights.cleaned`.
package struct Statements: Equatable, Sendable {
    package var rights: Rights
    /// XMP `dc:title`, IPTC object name.
    package var title: String?
    /// XMP `dc:description`, IPTC caption, EXIF ImageDescription.
    package var caption: String?
    /// XMP `dc:subject`, IPTC keywords.
    package var keywords: [String]

    package init(rights: Rights = Rights(), title: String? = nil, caption: String? = nil, keywords: [String] = []) {
        (self.rights, self.title, self.caption, self.keywords) = (rights, title, caption, keywords)
    }

    /// The statements of all blocks together, and of the file itself, in a tag or a text of its format, which has no
    /// block. XMP counts most and the file least. EXIF knows more of the owner than IPTC, and IPTC more of the rest.
    package init(_ stated: [MetadataBlock?: Statements]) {
        self.init()
        let order: [MetadataBlock?] = [.xmp, .iptc, .photoshop, .exif, nil]
        self = order.compactMap { stated[$0] }.reduce(self) { $0.merged(over: $1) }
        let owners: [MetadataBlock?] = [.xmp, .exif, .iptc, .photoshop, nil]
        rights = owners.compactMap { stated[$0]?.rights }.reduce(Rights()) { $0.merged(over: $1) }
    }

    /// True when nothing is said.
    package var isEmpty: Bool { self == Statements() }

    /// A list of keywords is cut after this many.
    static let mostKeywords = 1000

    /// These, with each value they lack taken from `other`. Lists are not mixed.
    package func merged(over other: Statements) -> Statements {
        Statements(
            rights: rights.merged(over: other.rights), title: title ?? other.title, caption: caption ?? other.caption,
            keywords: keywords.isEmpty ? other.keywords : keywords)
    }

    /// The values that `other` has not.
    package func lacking(in other: Statements) -> Statements {
        Statements(
            rights: rights.lacking(in: other.rights), title: other.title == nil ? title : nil,
            caption: other.caption == nil ? caption : nil, keywords: other.keywords.isEmpty ? keywords : [])
    }

    /// The statements that others do not make alike, as they are called in sentences.
    package func titles(besides other: Statements = Statements()) -> [String] {
        let all = [
            (rights == other.rights, ["copyright", "artist", "licence"]), (title == other.title, ["title"]),
            (caption == other.caption, ["caption"]), (keywords == other.keywords, ["keywords"]),
        ]
        return all.filter { !$0.0 }.flatMap(\.1)
    }
}
