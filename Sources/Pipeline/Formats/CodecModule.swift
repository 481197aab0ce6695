/// A module of libvips: codecs in a library of their own, which is loaded when it is needed.
package enum CodecModule: String, Codable, Sendable {
    /// HEIC and AVIF. Loading it takes some milliseconds.
    case heif
    case jxl
    /// PDF.
    case poppler
}
