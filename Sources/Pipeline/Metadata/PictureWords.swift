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

    package init(_ stated: Statements) {
        let creator = stated.rights.creator
        self.init(
            title: stated.title, caption: stated.caption,
            artist: creator.isEmpty ? nil : creator.joined(separator: ", "), copyright: stated.rights.copyright)
    }

    /// Whether a header can say this. It comes from a worker.
    var isPlausible: Bool {
        [title, caption, artist, copyright].compactMap(\.self).allSatisfy {
            $0.utf8.count <= 4 * Rights.longestValue * Rights.mostCreators
        }
    }
}
