// Codecs that are packages of their own in Debian 13, Ubuntu 24.04 and newer, and may be missing beside libvips.

extension OutputFormat {
    /// What to do if pictures cannot be saved in this format.
    package var missingEncoder: String {
        "libvips on this system cannot write \(rawValue)" + (declaration.separateEncoder.map { "; \($0.remedy)" } ?? "")
    }
}

extension SourceFormat {
    /// The package with the decoder; nil if there is none of that name.
    package var decoderPackage: String? {
        switch self {
        case .heic: "libheif-plugin-libde265"
        case .avif: "libheif-plugin-dav1d"
        case .jpeg, .png, .webp, .gif, .tiff, .svg, .pdf, .jxl, .jp2: nil
        }
    }

    /// libvips may come without what decodes it.
    package var mayBeMissing: Bool { decoderPackage != nil || isOnRequest }

    /// What to do if pictures of this format cannot be read.
    package var missingDecoder: String {
        let package = decoderPackage.map { "; install the package \($0)" } ?? ""
        return "libvips on this system cannot read \(rawValue)" + package
    }
}
