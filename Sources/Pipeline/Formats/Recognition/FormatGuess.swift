// The format of a file, by its first bytes alone. Names and extensions are not asked: they are often wrong.

/// A guess at the format of a file from its first bytes.
package enum FormatGuess: Equatable, Sendable {
    case readable(SourceFormat)
    /// A format of pictures that we do not read; its name is for people, such as "BMP".
    case recognised(String)
    /// A raw file; its name is for people, such as "RAW: Canon CR3".
    case cameraRaw(String)
    /// Something that holds no picture, or is more than one: an HTML page, an archive, a video.
    case noPicture(String)
    case unknown
}

/// Guesses from the first bytes of a file, of which 4096 are looked at; fewer will do, and so will none.
package func guessFormat(_ head: [UInt8]) -> FormatGuess {
    let head = Array(head.prefix(4096))
    return guessISOMedia(head) ?? guessTIFF(head) ?? guessBySignature(head) ?? guessMarkup(head) ?? .unknown
}

private func guessBySignature(_ head: [UInt8]) -> FormatGuess? {
    Signature.all.first { $0.matches(head) }?.guess
}

/// TIFF, or one of the camera formats that are built on it, as far as the beginning tells.
private func guessTIFF(_ head: [UInt8]) -> FormatGuess? {
    let source = ByteSource(head)
    guard (try? TIFFLayout(of: source)) != nil else { return nil }
    return CameraRaw.name(of: source).map { .cameraRaw($0) } ?? .readable(.tiff)
}
