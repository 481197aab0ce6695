// The fields of a picture's metadata that parameters can take their values from, by the names that photographers'
// programs give them.

/// A field of metadata: `xmp:dc:description`, `iptc:Headline`, `exif:ImageDescription`, or `xmp:regions`.
package struct MetadataField: Hashable, Sendable, Codable {
    /// As the pipeline has it.
    package let written: String
    let place: Place

    enum Place: Hashable, Sendable {
        case xmp(XMPName)
        /// The middle of a region: the one in focus, or the largest.
        case region
        /// A dataset of record 2.
        case iptc(Int)
        case exif(TIFFTag)
    }

    package init?(_ written: String) {
        let (block, name) = Self.parted(written)
        let place: Place? =
            switch block {
            case "xmp" where name == "regions": .region
            case "xmp": Self.xmpName(name).map(Place.xmp)
            case "iptc": Self.datasets[name].map(Place.iptc)
            case "exif": Self.tags[name].map(Place.exif)
            default: nil
            }
        guard let place else { return nil }
        (self.written, self.place) = (written, place)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let field = MetadataField(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no field of metadata")
        }
        self = field
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(written)
    }

    /// A place in the picture, not a text.
    package var isPoint: Bool { place == .region }

    /// `block:rest`.
    private static func parted(_ text: String) -> (String, String) {
        guard let colon = text.firstIndex(of: ":") else { return (text, "") }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    private static func xmpName(_ name: String) -> XMPName? {
        let (prefix, local) = parted(name)
        guard let namespace = XMPNamespace.usual[prefix], !local.isEmpty,
            local.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) })
        else { return nil }
        return XMPName(namespace: namespace, local: local)
    }

    /// The names of ExifTool.
    private static let datasets = [
        "ObjectName": 5, "Category": 15, "Keywords": 25, "SpecialInstructions": 40, "By-line": 80, "By-lineTitle": 85,
        "City": 90, "Sub-location": 92, "Province-State": 95, "Country-PrimaryLocationName": 101,
        "OriginalTransmissionReference": 103, "Headline": 105, "Credit": 110, "Source": 115, "CopyrightNotice": 116,
        "Contact": 118, "Caption-Abstract": 120, "Writer-Editor": 122,
    ]

    private static let tags: [String: TIFFTag] = [
        "ImageDescription": .imageDescription, "Make": .make, "Model": .model, "Software": .software,
        "Artist": .artist, "Copyright": .copyright, "UserComment": .userComment, "LensModel": .lensModel,
        "BodySerialNumber": .bodySerialNumber, "CameraOwnerName": .cameraOwnerName, "XPTitle": .windowsTitle,
        "XPComment": .windowsComment, "XPAuthor": .windowsAuthor, "XPKeywords": .windowsKeywords,
        "XPSubject": .windowsSubject,
    ]

    /// All names but those of XMP, of which there is no end.
    package static let names =
        ["xmp:regions"] + datasets.keys.sorted().map { "iptc:\($0)" } + tags.keys.sorted().map { "exif:\($0)" }

    /// The prefixes of XMP that are known.
    static let prefixes: [String] = XMPNamespace.usual.keys.sorted()
}

extension MetadataField: ParameterValue {
    package static var expectation: String {
        "a field of metadata, such as xmp:dc:description, iptc:Headline, exif:ImageDescription or xmp:regions"
    }
    package static var schema: JSONValue {
        let prefixes = prefixes.map(\.patternEscaped).joined(separator: "|")
        return [
            "anyOf": [
                ["enum": .array(names.map { .string($0) })],
                ["type": "string", "pattern": .string("^xmp:(\(prefixes)):[A-Za-z0-9_.-]+$")],
            ]
        ]
    }
    package static var placeholder: MetadataField {
        MetadataField(written: "xmp:dc:description", place: .xmp(XMPName(namespace: .dublinCore, local: "description")))
    }

    private init(written: String, place: Place) { (self.written, self.place) = (written, place) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> MetadataField? {
        guard let text = node.text else { return nil }
        if let field = MetadataField(text) { return field }
        let (block, name) = parted(text)
        let hint = suggestion(for: text, among: names)
        switch block {
        case "xmp" where hint.isEmpty:
            let prefix = parted(name).0
            guard XMPNamespace.usual[prefix] == nil else { return nil }
            log.problem(
                node.position, "no prefix of XMP is called '\(prefix)'; known are \(listed(prefixes))")
        case "iptc", "exif", "xmp":
            let known = names.filter { $0.hasPrefix(block + ":") }
            log.problem(
                node.position, "no field is called '\(text)'\(hint.isEmpty ? "; known are \(listed(known))" : hint)")
        default: return nil
        }
        return placeholder
    }
}

extension String {
    fileprivate var patternEscaped: String { replacing("-", with: "\\-") }
}

/// A field of a picture's metadata, and what it says.
package struct MetadataValue: Hashable, Sendable, Codable {
    package let field: MetadataField
    /// Plain text that has been through `Rights.cleaned`.
    package let text: String

    package init(_ field: MetadataField, _ text: String) { (self.field, self.text) = (field, text) }

    /// Whether it is cleaned text, since it comes from a worker.
    var isPlausible: Bool { Rights.cleaned(text) == text }
}
