/// A format that pictures are read from. `heic` is any HEIF whose pictures are coded with HEVC.
package enum SourceFormat: String, Codable, Sendable, CaseIterable {
    case jpeg, png, webp, gif, tiff, heic, avif
    /// Formats on request.
    case svg, pdf, jxl, jp2

    /// Its library is not meant for files from strangers, so it is read only if the user allows it, by workers that
    /// read nothing else.
    package var isOnRequest: Bool { Self.onRequest.contains(self) }

    package static let onRequest: [SourceFormat] = [.svg, .pdf, .jxl, .jp2]

    /// It has shapes instead of pixels, and is drawn in any size.
    package var isVector: Bool { self == .svg || self == .pdf }

    /// libheif reads it.
    package var isHEIF: Bool { self == .heic || self == .avif }

    /// As it is called in sentences.
    package var title: String {
        switch self {
        case .jpeg: "JPEG"
        case .png: "PNG"
        case .webp: "WebP"
        case .gif: "GIF"
        case .tiff: "TIFF"
        case .heic: "HEIC"
        case .avif: "AVIF"
        case .svg: "SVG"
        case .pdf: "PDF"
        case .jxl: "JPEG XL"
        case .jp2: "JPEG 2000"
        }
    }

    /// What names of such files end with, in small letters.
    package var fileExtensions: [String] {
        switch self {
        case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
        case .png: ["png", "apng"]
        case .webp: ["webp"]
        case .gif: ["gif"]
        case .tiff: ["tif", "tiff"]
        case .heic: ["heic", "heif", "hif"]
        case .avif: ["avif", "avifs", "heif"]
        case .svg: ["svg"]
        case .pdf: ["pdf"]
        case .jxl: ["jxl"]
        case .jp2: ["jp2", "j2k", "jpf", "jpx", "j2c", "jpc"]
        }
    }

    package var mediaType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .webp: "image/webp"
        case .gif: "image/gif"
        case .tiff: "image/tiff"
        case .heic: "image/heic"
        case .avif: "image/avif"
        case .svg: "image/svg+xml"
        case .pdf: "application/pdf"
        case .jxl: "image/jxl"
        case .jp2: "image/jp2"
        }
    }
}
