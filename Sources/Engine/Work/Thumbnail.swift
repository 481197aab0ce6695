// Thumbnails as file managers look for them: https://specifications.freedesktop.org/thumbnail-spec
import Messages
import Pipeline
import System

extension ThumbnailFacts {
    /// - Returns: nil for a set, which is no file.
    init?(_ source: SourceFile, _ opened: OpenedInput) {
        guard case .picture(let picture) = opened else { return nil }
        self.init(
            uri: source.address.fileURI,
            modified: Int((Double(picture.status.modified) / 1_000_000_000).rounded(.down)),
            bytes: picture.bytes, format: picture.format)
    }

    /// The name of the thumbnail's file, without extension.
    var digest: String { Self.digest(of: uri) }

    static func digest(of uri: String) -> String { Digest.of(uri, .md5) }
}
