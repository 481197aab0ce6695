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
    case other = ""
}

/// A name with its prefix replaced by what the prefix stands for.
struct XMPName {
    var namespace: XMPNamespace
    var local: String
}

enum XMPProperty {
    case creator, copyright, credit, usageTerms, webStatement, licence, licensorURL, title, caption

    init?(_ name: XMPName) {
        switch (name.namespace, name.local) {
        case (.dublinCore, "creator"): self = .creator
        case (.dublinCore, "rights"): self = .copyright
        case (.dublinCore, "title"): self = .title
        case (.dublinCore, "description"): self = .caption
        case (.photoshop, "Credit"): self = .credit
        case (.xmpRights, "UsageTerms"): self = .usageTerms
        case (.xmpRights, "WebStatement"): self = .webStatement
        case (.creativeCommons, "license"), (.oldCreativeCommons, "license"): self = .licence
        case (.plus, "LicensorURL"): self = .licensorURL
        default: return nil
        }
    }
}
