// The texts that thumbnails have about their source: https://specifications.freedesktop.org/thumbnail-spec
import Messages
import Pipeline

extension ThumbnailFacts {
    /// The texts of the PNG, by the keys of the specification.
    var texts: [(key: String, text: String)] {
        [
            ("Thumb::URI", uri), ("Thumb::MTime", String(modified)), ("Thumb::Size", String(bytes)),
            ("Thumb::Mimetype", format.declaration.mediaType), ("Software", "Imagemill"),
        ]
    }
}
