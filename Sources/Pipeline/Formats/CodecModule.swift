/// A module of libvips: codecs in a library of their own, which is loaded when it is needed.
package enum CodecModule: String, Codable, Sendable {
    /// HEIC and AVIF. Loading it takes some milliseconds.
    case heif
    case jxl
    /// PDF.
    case poppler
}

extension SourceFormat {
    /// The module with the decoder; nil if it is in libvips itself.
    package var module: CodecModule? {
        switch self {
        case .heic, .avif: .heif
        case .pdf: .poppler
        case .jxl: .jxl
        case .jpeg, .png, .webp, .gif, .tiff, .svg, .jp2: nil
        }
    }
}
