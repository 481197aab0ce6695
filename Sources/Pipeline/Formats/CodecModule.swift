/// Codecs in a library of their own, which is loaded when it is needed: a module of libvips, or LibRaw.
package enum CodecModule: String, Codable, Sendable {
    /// HEIC and AVIF. Loading it takes some milliseconds.
    case heif
    case jxl
    /// PDF.
    case poppler
    /// LibRaw.
    case raw
}
