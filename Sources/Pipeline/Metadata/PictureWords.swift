// The words in a picture's metadata that texts may show: title, caption, artist, copyright.

/// Title, caption, artist and copyright, as plain text that has been through `Rights.cleaned`.
package struct PictureWords: Hashable, Sendable, Codable {
    /// XMP `dc:title`, IPTC object name.
    package var title: String?
    /// XMP `dc:description`, IPTC caption, EXIF ImageDescription.
    package var caption: String?
    package var artist: String?
    package var copyright: String?

    package init(title: String? = nil, caption: String? = nil, artist: String? = nil, copyright: String? = nil) {
        (self.title, self.caption, self.artist, self.copyright) = (title, caption, artist, copyright)
    }

    /// Reads the blocks of a picture. What XMP says counts more than what IPTC says, and that more than EXIF.
    package init(xmp: [UInt8]?, exif: [UInt8]?, iptc: [UInt8]?) {
        let blocks = [
            xmp.map { PictureWords(xmp: $0) }, iptc.map { PictureWords(iptc: $0) }, exif.map { PictureWords(exif: $0) },
        ].compactMap(\.self)
        title = blocks.lazy.compactMap(\.title).first
        caption = blocks.lazy.compactMap(\.caption).first
        let rights = [xmp.map { Rights(xmp: $0) }, exif.map { Rights(exif: $0) }, iptc.map { Rights(iptc: $0) }]
            .compactMap(\.self).reduce(Rights()) { $0.merged(over: $1) }
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
