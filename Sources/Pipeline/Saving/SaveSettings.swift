// `save`: the format of a rendition and its options, checked per format.

/// How a rendition is saved.
package struct SaveSettings: Sendable {
    /// The format with its own options.
    package private(set) var encoding: any OutputFormatDeclaration
    /// The color that a format without alpha draws the picture on.
    package let background: Color
    package let metadata: MetadataPolicy
    /// Whether the source's own bytes are kept if they are fewer, and say the same.
    package let isNeverLarger: Bool
    /// Whether light beyond white stays, if the source has a map of it and the format can hold one.
    package let keepsHDR: Bool
    /// The facts about the look of the picture that are reported, to show before it is loaded.
    package let placeholders: Set<Placeholder>

    package var format: OutputFormat { type(of: encoding).format }

    /// The target that the quality is searched for; nil if it is given, or the format has none.
    package var target: QualityTarget? { (encoding as? any RatedOutput)?.rating.target }

    /// The texts among its options.
    var texts: [TextTemplate] { metadata.texts.all + encoding.texts }

    /// The same with the fields in the format's texts filled in.
    func filled(_ fields: TextFields, on size: PixelSize) -> SaveSettings {
        var filled = self
        filled.encoding = encoding.filled(fields, on: size)
        return filled
    }

    /// Whether a still is wanted in memory as a whole.
    func takesWhole(_ picture: PictureInfo) -> Bool {
        target != nil || !placeholders.isEmpty || encoding.takesWhole(picture)
    }

    /// Bytes that are allocated at most to save a picture, besides the picture.
    func memory(saving picture: PictureInfo) -> Int {
        let encoder = encoding.memory(saving: picture)
        guard let target else { return encoder }
        // The best file so far is kept, and each is read again to be compared.
        let written = target.leastSimilarity.flatMap { _ in sourceFacts(of: picture) }
        let reader = written.map { $0.decoderBytes(shrink: 1, to: picture.size) + picture.bytes } ?? 0
        return saturating(max(encoder, reader), picture.bytes)
    }

    private func sourceFacts(of picture: PictureInfo) -> SourceFacts? {
        format.asSource.map { format in
            SourceFacts(
                format: format, size: picture.size, frames: picture.frames, hasAlpha: picture.hasAlpha,
                colour: picture.colour, depth: picture.depth)
        }
    }

    /// Seconds for a megapixel, on a slow machine.
    var secondsPerMegapixel: Double {
        encoding.secondsPerMegapixel * Double(target == nil ? 1 : QualityTarget.mostTrials)
    }
}

/// The options that all formats share, then the format's own: one mapping in the file.
private struct SaveGroup<Format: OutputFormatDeclaration>: ParameterGroup {
    let settings: SaveSettings

    init(_ p: inout Parameters) {
        let _: SaveFormat = p.required("format", "The file format.")
        let encoding = Format(&p)
        let common = CommonSaveOptions(&p)
        settings = SaveSettings(
            encoding: encoding, background: common.background, metadata: common.metadata,
            isNeverLarger: common.isNeverLarger, keepsHDR: common.keepsHDR, placeholders: common.placeholders)
    }
}

/// The options that all formats share.
struct CommonSaveOptions {
    let background: Color
    let metadata: MetadataPolicy
    let isNeverLarger: Bool
    let keepsHDR: Bool
    let placeholders: Set<Placeholder>

    init(_ p: inout Parameters) {
        background =
            p.optional("background", OpaqueColor(.white), "What a format without alpha draws the picture on.").color
        metadata = p.optional(
            "metadata", MetadataPolicy(),
            "Which metadata stay: copyright, artist and licence; all but the location; all; or none. A mapping with `keep` and `set` states some anew."
        )
        isNeverLarger = p.optional(
            "never-larger", false,
            "Keeps the source's own bytes if they are fewer, nothing changes a pixel, and no metadata have to go.")
        keepsHDR =
            p.optional(
                "hdr", HDRPolicy.keep,
                "Whether the gain map of an HDR photo stays, or is dropped without a word: JPEG keeps it.") == .keep
        let wanted: PlaceholderList? = p.optional(
            "placeholder",
            "What the report says of the picture's look, for pages to show before it is loaded: [color, thumbhash].")
        placeholders = Set(wanted?.placeholders ?? [])
    }
}

private enum HDRPolicy: String, ParameterWord {
    case keep, drop
}

extension SaveSettings: ParameterValue {
    package static var expectation: String { "a mapping such as { format: jpeg, quality: 82 }" }
    package static var placeholder: SaveSettings {
        SaveSettings(
            encoding: Parameters.usual(JPEGOutput.self), background: .white, metadata: MetadataPolicy(),
            isNeverLarger: false, keepsHDR: true, placeholders: [])
    }
    package var written: String { "{ format: \(format.rawValue) }" }

    package static var schema: JSONValue {
        ["oneOf": .array(SaveFormat.allCases.map { schema(of: $0) })]
    }

    /// The parameters that `save` takes with one format.
    package static func descriptions(of format: SaveFormat) -> [ParameterDescription] {
        Parameters.describe(group(of: format))
    }

    private static func schema(of format: SaveFormat) -> JSONValue {
        guard case .object(var schema) = group(of: format).mappingSchema(),
            case .object(var properties)? = schema["properties"]
        else { return .null }
        let words = format.words.map { JSONValue.string($0) }
        properties["format"] = words.count == 1 ? ["const": words[0]] : ["enum": .array(words)]
        schema["properties"] = .object(properties)
        return .object(schema)
    }

    private static func group(of format: SaveFormat) -> any ParameterGroup.Type {
        switch format {
        case .format(let format): group(of: format.declaration)
        case .same: SameFormatGroup.self
        }
    }

    private static func group<Format: OutputFormatDeclaration>(of type: Format.Type) -> any ParameterGroup.Type {
        SaveGroup<Format>.self
    }

    /// Reads the settings for one format, which is not `same`; nil for what is not a mapping.
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> SaveSettings? {
        guard case .mapping(let entries) = node.content else { return nil }
        guard let written = entries.first(where: { $0.key == "format" })?.value else {
            // A misspelt key is one mistake, not two.
            if let entry = entries.first(where: { nearestWord(to: $0.key, among: ["format"]) != nil }) {
                log.problem(entry.keyPosition, "unknown key '\(entry.key)' in 'save'; did you mean 'format'?")
            } else {
                log.problem(node.position, "'save' needs 'format': \(SaveFormat.expectation)")
            }
            return nil
        }
        guard let format = SaveFormat.read(written, &log) else {
            // The other mistakes beside a format that is almost right are shown too.
            if let meant = written.text.flatMap({ nearestWord(to: $0, among: SaveFormat.allCases.map(\.rawValue)) }) {
                _ = read(node.replacing("format", with: meant), &log)
            }
            return nil
        }
        switch format {
        case .format(let format): return read(format.declaration, from: node, &log)
        case .same:
            _ = Parameters.read(SameFormatGroup.self, from: node, owner: "'save' with format 'same'", &log)
            return placeholder
        }
    }

    private static func read<Format: OutputFormatDeclaration>(
        _ type: Format.Type, from node: YAMLNode, _ log: inout ReadingLog
    ) -> SaveSettings? {
        Parameters.read(SaveGroup<Format>.self, from: node, owner: "'save' with format '\(type.name)'", &log)?.settings
    }
}
