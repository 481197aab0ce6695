// Everything that a report can warn of. The list is closed: reports, scripts and the documentation rely on the words.

/// A fact that a user may want to know about a source that was processed.
package enum WarningCode: String, CaseIterable, Sendable, Codable {
    case alphaFlattened = "alpha-flattened"
    case upscaled
    case targetMissed = "target-missed"
    case scaleWithoutEffect = "scale-without-effect"
    case cropBeyondEdge = "crop-beyond-edge"
    case tintWithoutShape = "tint-without-shape"
    case animationSlowed = "animation-slowed"
    case nothingApplies = "nothing-applies"
    case duplicateSkipped = "duplicate-skipped"
    case noProfile = "no-profile"
    case badProfile = "bad-profile"
    case profileConverted = "profile-converted"
    case wideGamutClipped = "wide-gamut-clipped"
    case colorConflict = "color-conflict"
    case hdrToneMapped = "hdr-tone-mapped"
    case hdrDropped = "hdr-dropped"
    case animationDropped = "animation-dropped"
    case pagesDropped = "pages-dropped"
    case channelsDropped = "channels-dropped"
    case depthReduced = "depth-reduced"
    case metadataRemoved = "metadata-removed"
    case metadataLost = "metadata-lost"
    case linkNotFollowed = "link-not-followed"
    case sourceTruncated = "source-truncated"
    case sourceDamaged = "source-damaged"
    case extensionMismatch = "extension-mismatch"
    case nameShortened = "name-shortened"
    case nameVersioned = "name-versioned"
    case nameOverwritten = "name-overwritten"
    case overlapNotFound = "overlap-not-found"
    case overlapAmbiguous = "overlap-ambiguous"
    case emptyText = "empty-text"
    case textCut = "text-cut"
    case missingGlyphs = "missing-glyphs"
    case fontReplaced = "font-replaced"
    case badMarkup = "bad-markup"

    /// One sentence for the documentation.
    package var explanation: String {
        switch self {
        case .alphaFlattened: "The format has no transparency; the picture was drawn on `save.background`."
        case .targetMissed:
            "No quality makes a rendition as small as `max-bytes`, or as like the picture as `quality` asks for. A failure unless `policy` says otherwise."
        case .upscaled: "The picture was enlarged, so it shows no more detail than before."
        case .scaleWithoutEffect: "A file for a larger scale has no more pixels than the one for the scale before it."
        case .cropBeyondEdge: "A `crop` reaches beyond the picture, so that its result is smaller than was asked for."
        case .tintWithoutShape:
            "The picture has no transparency, which is what `tint` draws, so that all of it has one color now."
        case .animationSlowed:
            "Frames are shown for longer than asked: what is faster, browsers play at a tenth of a second."
        case .nothingApplies:
            "No rendition's `when` holds for the picture, so that nothing was made of it. `imagemill plan` says why."
        case .duplicateSkipped:
            "Another source of the inbox, which the message names, had the same bytes; `duplicates: skip` makes nothing of a second one."
        case .noProfile: "The picture has CMYK colors but no profile; a common press profile was assumed."
        case .badProfile:
            "The embedded color profile cannot be used; sRGB (for CMYK a common press profile) was assumed."
        case .profileConverted:
            "The format cannot hold the profile that `profile` asks for; the colors were converted to sRGB."
        case .wideGamutClipped:
            "The picture's profile holds colors that the rendition's does not have; they were moved to the nearest."
        case .colorConflict:
            "The file describes its colors in two ways that differ; the message says which one was used."
        case .hdrToneMapped:
            "The picture has light beyond the white of paper (PQ or HLG), which was compressed into what other screens show."
        case .hdrDropped:
            "The picture has a gain map for HDR, which the rendition has not: its format or a stage leaves no place for it. `hdr: drop` says that this is wanted."
        case .animationDropped:
            "The format has no animation, or animations of the source's kind are not read; only the first frame was used."
        case .pagesDropped: "The file has several pages; only the first was used."
        case .channelsDropped:
            "The file has channels that are neither colors nor alpha, such as saved selections; they were left out."
        case .depthReduced: "The format that `format: same` chose has 8 bits a channel, the source more."
        case .metadataRemoved:
            "Metadata was removed, all but copyright, artist and licence; the message says which."
        case .metadataLost:
            "The format cannot hold metadata that was to be kept; the message says which, and where copyright, artist and licence are."
        case .linkNotFollowed:
            "The SVG shows a picture that is in another file; no other file is read, so that it is missing. Embed it."
        case .sourceTruncated: "The file ends before the picture does; `tolerate: truncated` let it pass."
        case .sourceDamaged:
            "The decoder found damage and went on; the message has its words. Look at the rendition before you rely on it."
        case .extensionMismatch: "The name's extension is that of another format; the content decides."
        case .nameShortened: "The output name was longer than 255 bytes and was shortened."
        case .nameVersioned:
            "The output name belongs to another source, or to a file that Imagemill did not write; this source has a numbered one."
        case .nameOverwritten:
            "Another source had the output name; `--collision overwrite` has put this source's rendition in its place."
        case .overlapAmbiguous:
            "Two captures fit together in two places about equally well, or only what they show elsewhere too is the same; the message names both places."
        case .emptyText:
            "A field of a text has no value in this picture and no default, so that nothing is drawn or written for it."
        case .textCut:
            "A text does not fit: lines were left out, it reaches beyond the picture, or only the beginning of a very long value is drawn."
        case .missingGlyphs:
            "The font of a text lacks characters; the message names them, and the fonts that they are drawn in, if any has them."
        case .fontReplaced:
            "The font family of a text, or one that its markup asks for, is not installed; another one was used."
        case .badMarkup: "The markup of a text cannot be read; it was drawn as it is written."
        case .overlapNotFound: "No overlap was found between two captures; they were put one after the other."
        }
    }
}

/// One warning of one source.
package struct Warning: Hashable, Sendable, Codable {
    package let code: WarningCode
    package let message: String
    /// The source has a version because of a file that was edited or that something else wrote, and not because of
    /// another source. Reports do not have it.
    package var isOfForeignFile = false

    private enum CodingKeys: CodingKey {
        case code, message
    }

    package init(_ code: WarningCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameters:
    ///   - fields: the fields in a text that have neither a value nor a default; nil comes of none.
    ///   - place: the stage, or what else has the text.
    package init?(emptyFields fields: [String], in place: String) {
        guard !fields.isEmpty else { return nil }
        self.init(
            .emptyText,
            "'\(place)': \(fields.joined(separator: ", ")) \(fields.count == 1 ? "has" : "have") no value; write a default after a bar, as in {title|untitled}"
        )
    }

    /// Whether the decoder says that the source is damaged, and has given what it could read of it.
    package var isOfDamage: Bool { code == .sourceDamaged || code == .sourceTruncated }
}
