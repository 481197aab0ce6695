// The format of a file, by its first bytes alone. Names and extensions are not asked: they are often wrong.

/// A guess at the format of a file from its first bytes.
package enum FormatGuess: Equatable, Sendable {
    case readable(SourceFormat)
    /// A format of pictures that we do not read; its name is for people, such as "BMP" or "RAW: Canon CR3".
    case recognised(String)
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

/// TIFF, or one of the camera formats that are built on it and can be told apart.
private func guessTIFF(_ head: [UInt8]) -> FormatGuess? {
    let source = ByteSource(head)
    guard let layout = try? TIFFLayout(of: source) else { return nil }
    if head.dropFirst(8).starts(with: "CR\u{2}".utf8) { return .recognised("RAW: Canon CR2") }
    let directory = try? TIFFDirectory(at: layout.firstDirectory(in: source), in: source, layout)
    return directory?.fields[.digitalNegativeVersion] == nil ? .readable(.tiff) : .recognised("RAW: DNG")
}
