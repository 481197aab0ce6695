// The words in a picture's metadata that texts may show: title, caption, artist, copyright.

/// Title, caption, artist and copyright, as plain text that has been through `Rights.cleaned`.
package struct PictureWords: Hashable, Sendable, Codable {
    package var title: String?
    package var caption: String?
    package var artist: String?
    package var copyright: String?

    package init(title: String? = nil, caption: String? = nil, artist: String? = nil, copyright: String? = nil) {
        (self.title, self.caption, self.artist, self.copyright) = (title, caption, artist, copyright)
    }

    /// Reads the blocks of a picture. What XMP says counts more than what IPTC says, and that more than EXIF.
    package init(xmp: [UInt8]?, exif: [UInt8]?, iptc: [UInt8]?) {
        let (xmp, exif, iptc) = (
            xmp.map { Statements(xmp: $0) }, exif.map { Statements(exif: $0) }, iptc.map { Statements(iptc: $0) }
        )
        let words = [xmp, iptc, exif].compactMap(\.self).reduce(Statements()) { $0.merged(over: $1) }
        (title, caption) = (words.title, words.caption)
        // EXIF knows more of the owner than IPTC.
        let rights = [xmp, exif, iptc].compactMap(\.self?.rights).reduce(Rights()) { $0.merged(over: $1) }
        artist = rights.creator.isEmpty ? nil : rights.creator.joined(separator: ", ")
        copyright = rights.copyright
    }

    /// Whether a header can say this. It comes from a worker.
    var isPlausible: Bool {
        [title, caption, artist, copyright].compactMap(\.self).allSatisfy {
            $0.utf8.count <= 4 * Rights.longestValue * Rights.mostCreators
        }
    }
}
