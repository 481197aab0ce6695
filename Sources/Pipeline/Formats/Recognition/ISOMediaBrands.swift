// ISO media files (HEIF, AVIF, MP4, …) say what they are by the brands in their first box, `ftyp`.
// ISO/IEC 14496-12 §4.3; the brands are registered at https://mp4ra.org/registered-types/brands.

/// The format of an ISO media file by its brands; nil if it is none.
func guessISOMedia(_ head: [UInt8]) -> FormatGuess? {
    let source = ByteSource(head)
    guard head.dropFirst(4).starts(with: "ftyp".utf8), let major = source.text(at: 8),
        let size = source.integer(at: 0, bytes: 4)
    else { return nil }
    if let kind = otherKinds[major] { return kind }
    let compatible = stride(from: 16, to: min(size, head.count), by: 4).compactMap { source.text(at: $0) }
    let pictures = ([major] + compatible).compactMap { pictureFormats[$0] }
    if let format = pictures.first { return .readable(format) }
    let isPicture = major == "mif1" || major == "msf1" || compatible.contains("mif1")
    return isPicture ? .recognised("HEIF that is coded neither as HEVC nor as AV1") : .noPicture("MP4 video")
}

/// `mif1` and `msf1` are not here: they say that it is a HEIF, but not how its pictures are coded.
private let pictureFormats = Dictionary(
    uniqueKeysWithValues: SourceFormat.allCases.flatMap { format in format.declaration.brands.map { ($0, format) } })

private let otherKinds: [String: FormatGuess] = [
    "crx ": .cameraRaw("RAW: Canon CR3"),
    "jp2 ": .recognised("JPEG 2000"),
    "jpx ": .recognised("JPEG 2000"),
    "jxl ": .recognised("JPEG XL"),
    "qt  ": .noPicture("QuickTime video"),
    "M4A ": .noPicture("MPEG-4 audio"),
    "M4B ": .noPicture("MPEG-4 audio"),
]

extension ByteSource {
    /// Four bytes as text, one character each; nil past the end.
    fileprivate func text(at offset: Int) -> String? {
        let bytes = read(offset, 4)
        return bytes.count == 4 ? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) : nil
    }
}
