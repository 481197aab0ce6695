/// A format that renditions are saved in, as plans, messages, reports and caches have it: the word for a declaration.
package struct OutputFormat: ParameterWord, Codable, Hashable {
    package let declaration: any OutputFormatDeclaration.Type

    init(_ declaration: any OutputFormatDeclaration.Type) { self.declaration = declaration }

    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    package var rawValue: String { declaration.name }
}

extension OutputFormat {
    /// Every format, in the order in which the documentation and messages name them.
    package static let allCases: [OutputFormat] = [jpeg, png, webp, avif, tiff, gif, jxl, ico, tiles]

    /// The formats whose `quality` alone decides how good a picture is.
    package static let ratedByQuality = allCases.filter { $0.declaration.isRatedByQuality }

    /// The words for the formats with more than 8 bits a channel.
    static let withSixteenBits = words { $0.depth(of: .sixteen) == .sixteen }
    static let animated = words { type(of: $0).animation != nil }

    private static func words(_ isWanted: (any OutputFormatDeclaration) -> Bool) -> [String] {
        allCases.filter { isWanted(usual($0.declaration)) }.map(\.rawValue).sorted()
    }

    private static func usual<Format: OutputFormatDeclaration>(
        _ type: Format.Type
    ) -> any OutputFormatDeclaration { Parameters.usual(type) }

    /// The format of a source, if it can be written; else PNG for a drawing and for a picture with an alpha channel,
    /// and JPEG for one without. Drawings have sharp edges.
    package init(sameAs source: SourceFacts) {
        self =
            Self.allCases.first { $0.asSource == source.format }
            ?? (source.hasAlpha || source.format.isVector ? .png : .jpeg)
    }

    /// `{ext}` in names.
    package var fileExtension: String { declaration.fileExtension }

    /// The same format as a source; nil if nothing here reads it.
    package var asSource: SourceFormat? { declaration.sourceFormat }

    /// The problem, and its remedy, if pictures cannot be saved in this format.
    package var missingEncoder: String {
        "libvips on this system cannot write \(rawValue)" + (declaration.separateEncoder.map { "; \($0.remedy)" } ?? "")
    }

    package var supportsAnimation: Bool { declaration.animation != nil }

    package func supports(_ colour: ColourModel) -> Bool { declaration.colorModels.contains(colour) }

    /// The longest side in pixels that the format can hold.
    package var maximumSide: Int { declaration.longestSide }
}

/// The word after `format:` in `save`.
package enum SaveFormat: ParameterWord, Hashable {
    case format(OutputFormat)
    /// The source's own.
    case same

    package static let allCases = OutputFormat.allCases.map(SaveFormat.format) + [same]

    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    package var rawValue: String {
        switch self {
        case .format(let format): format.rawValue
        case .same: "same"
        }
    }

    /// All words that mean it, such as `jpeg` and `jpg`.
    package var words: [String] {
        switch self {
        case .format(let format): [format.rawValue] + format.declaration.otherNames
        case .same: [rawValue]
        }
    }
}
