/// The word after `format:` in `save`.
package enum SaveFormat: String, ParameterWord {
    case jpeg, png, webp, avif, tiff, gif
    /// The source's own.
    case same

    /// Its name, and the usual file extension.
    package var words: [String] {
        switch self {
        case .jpeg: ["jpeg", "jpg"]
        case .tiff: ["tiff", "tif"]
        case .png, .webp, .avif, .gif, .same: [rawValue]
        }
    }
}

/// A format that renditions are saved in.
package enum OutputFormat: String, ParameterWord, Codable {
    case jpeg, png, webp, avif, tiff, gif

    /// `{ext}` in names.
    package var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .webp: "webp"
        case .avif: "avif"
        case .tiff: "tif"
        case .gif: "gif"
        }
    }

    /// The format of a source, if it can be written; else PNG for a drawing and for a picture with an alpha channel,
    /// and JPEG for one without.
    package init(sameAs source: SourceFacts) {
        self =
            switch source.format {
            case .jpeg: .jpeg
            case .png: .png
            case .webp: .webp
            case .avif: .avif
            case .tiff: .tiff
            case .gif: .gif
            case .heic, .jxl, .jp2: source.hasAlpha ? .png : .jpeg
            // Drawings have sharp edges.
            case .svg, .pdf: .png
            }
    }

    package var supportsAnimation: Bool {
        switch self {
        case .webp, .gif: true
        case .jpeg, .png, .avif, .tiff: false
        }
    }

    package func supports(_ colour: ColourModel) -> Bool {
        switch (self, colour) {
        case (_, .grey), (_, .rgb), (.jpeg, .cmyk), (.tiff, .cmyk), (.tiff, .lab): true
        case (.png, _), (.webp, _), (.avif, _), (.gif, _), (.jpeg, .lab): false
        }
    }

    /// The longest side in pixels that the format can hold.
    package var maximumSide: Int {
        switch self {
        // The format counts up to 65,535, libjpeg a little less.
        case .jpeg: 65_500
        case .gif: 65_535
        case .webp: 16_383
        case .avif: 16_384
        case .png, .tiff: maximumCoordinate
        }
    }

    /// The same format as a source, for reading a result back.
    package var asSource: SourceFormat {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif: .avif
        case .tiff: .tiff
        case .gif: .gif
        }
    }
}
