// The names of XMP that state rights, and what is in the picture.
// https://developer.adobe.com/xmp/docs/xmp-specifications/ part 2 (dc, xmpRights, photoshop),
// https://ns.useplus.org/LDF/ldf-XMPReference (plus), https://wiki.creativecommons.org/wiki/XMP (cc).

/// The namespaces that rights are written in, by address; the prefix is the file's choice.
enum XMPNamespace: String {
    case xml = "http://www.w3.org/XML/1998/namespace"
    case rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    case dublinCore = "http://purl.org/dc/elements/1.1/"
    case photoshop = "http://ns.adobe.com/photoshop/1.0/"
    case xmpRights = "http://ns.adobe.com/xap/1.0/rights/"
    case creativeCommons = "http://creativecommons.org/ns#"
    /// The same vocabulary at its earlier address.
    case oldCreativeCommons = "http://web.resource.org/cc/"
    case plus = "http://ns.useplus.org/ldf/xmp/1.0/"
    case tiff = "http://ns.adobe.com/tiff/1.0/"
    case microsoft = "http://ns.microsoft.com/photo/1.0/"
    case lightroom = "http://ns.adobe.com/lightroom/1.0/"
    /// A place: `geo:lat`, `geo:lat_long`.
    case geo = "http://www.w3.org/2003/01/geo/wgs84_pos#"
    /// Pictures within the packet, which may have metadata of their own.
    case smallPictures = "http://ns.adobe.com/xap/1.0/g/img/"
    case googlePictures = "http://ns.google.com/photos/1.0/image/"
    case xmp = "http://ns.adobe.com/xap/1.0/"
    case exif = "http://ns.adobe.com/exif/1.0/"
    case lenses = "http://ns.adobe.com/exif/1.0/aux/"
    case iptcCore = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
    case iptcExtension = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
    case digiKam = "http://www.digikam.org/ns/1.0/"
    /// Parts of the picture: https://www.exiftool.org/TagNames/MWG.html
    case regions = "http://www.metadataworkinggroup.com/schemas/regions/"
    case area = "http://ns.adobe.com/xmp/sType/Area#"
    case dimensions = "http://ns.adobe.com/xap/1.0/sType/Dimensions#"
    /// Other pictures in the file: a map for HDR, by Adobe, Google and Apple, and the film of a living picture.
    case gainMap = "http://ns.adobe.com/hdr-gain-map/1.0/"
    case container = "http://ns.google.com/photos/1.0/container/"
    case containerItem = "http://ns.google.com/photos/1.0/container/item/"
    case appleGainMap = "http://ns.apple.com/HDRGainMap/1.0/"
    case applePixels = "http://ns.apple.com/pixeldatainfo/1.0/"
    case googleCamera = "http://ns.google.com/photos/1.0/camera/"
    case other = ""

    /// Whether a packet names it, and so may have properties of it.
    func isNamed(in packet: [UInt8]) -> Bool { packet.firstRange(of: Array(rawValue.utf8)) != nil }

    /// Those whose properties a pipeline can name, by the prefix that everybody gives them.
    static let usual: [String: XMPNamespace] = [
        "dc": .dublinCore, "photoshop": .photoshop, "xmp": .xmp, "xmpRights": .xmpRights, "cc": .creativeCommons,
        "plus": .plus, "tiff": .tiff, "exif": .exif, "aux": .lenses, "lr": .lightroom, "MicrosoftPhoto": .microsoft,
        "Iptc4xmpCore": .iptcCore, "Iptc4xmpExt": .iptcExtension, "digiKam": .digiKam,
    ]
}

/// A name with its prefix replaced by what the prefix stands for.
struct XMPName: Hashable {
    var namespace: XMPNamespace
    var local: String
}

enum XMPProperty {
    case creator, copyright, credit, usageTerms, webStatement, licence, licensorURL, title, caption, keywords

    init?(_ name: XMPName) {
        switch (name.namespace, name.local) {
        case (.dublinCore, "creator"): self = .creator
        case (.dublinCore, "rights"): self = .copyright
        case (.dublinCore, "title"): self = .title
        case (.dublinCore, "description"): self = .caption
        case (.dublinCore, "subject"): self = .keywords
        case (.photoshop, "Credit"): self = .credit
        case (.xmpRights, "UsageTerms"): self = .usageTerms
        case (.xmpRights, "WebStatement"): self = .webStatement
        case (.creativeCommons, "license"), (.oldCreativeCommons, "license"): self = .licence
        case (.plus, "LicensorURL"): self = .licensorURL
        default: return nil
        }
    }
}

/// The namespaces for the prefixes of names, in the elements that are open.
/// Namespaces in XML: https://www.w3.org/TR/xml-names/
struct XMPScopes {
    /// Each has the prefixes of those around it too.
    private var scopes: [[String: XMPNamespace]] = []
    /// There are more prefixes than any program writes, and the last are not known.
    private(set) var isFull = false

    private static let mostPrefixes = 1000

    mutating func open(_ attributes: [XMLAttribute]) {
        var namespaces = scopes.last ?? [:]
        for attribute in attributes where attribute.name.hasPrefix("xmlns") {
            let (prefix, local) = split(attribute.name)
            guard prefix == "xmlns" || attribute.name == "xmlns" else { continue }
            guard namespaces.count < Self.mostPrefixes else {
                isFull = true
                break
            }
            namespaces[prefix.isEmpty ? "" : local] = XMPNamespace(rawValue: attribute.value) ?? .other
        }
        scopes.append(namespaces)
    }

    /// Closes all but the outermost ones.
    mutating func close(allBut count: Int) { scopes.removeSubrange(count...) }

    /// A default namespace holds for elements, not for attributes.
    func resolved(_ name: String, isAttribute: Bool) -> XMPName {
        let (prefix, local) = split(name)
        if prefix.isEmpty && isAttribute { return XMPName(namespace: .other, local: local) }
        return XMPName(namespace: namespace(prefix), local: local)
    }

    private func namespace(_ prefix: String) -> XMPNamespace {
        if prefix == "xml" { return .xml }
        return scopes.last?[prefix] ?? .other
    }

    private func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.firstIndex(of: ":") else { return ("", name) }
        return (String(name[..<colon]), String(name[name.index(after: colon)...]))
    }
}
