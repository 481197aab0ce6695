// Reads the rights out of an XMP packet, and writes a packet that holds nothing else.
// https://developer.adobe.com/xmp/docs/xmp-specifications/ part 1 (RDF form) and part 2 (dc, xmpRights, photoshop),
// https://ns.useplus.org/LDF/ldf-XMPReference (plus), https://wiki.creativecommons.org/wiki/XMP (cc).

extension Rights {
    /// The rights that an XMP packet states about the picture itself. What it says of ingredients or of the picture's
    /// history does not count. Never fails: what is malformed is ignored, and a packet in UTF-16 states nothing.
    package init(xmp: [UInt8]) {
        var reader = XMPReader()
        for token in XMLTokens(xmp) { reader.read(token) }
        self = reader.rights
    }

    /// A minimal packet with these rights and nothing else, as UTF-8. It is valid, if pointless, when they are empty.
    package func xmpPacket() -> [UInt8] {
        let properties = xmpProperties()
        let used = XMPNamespace.written.filter { written in properties.contains { $0.namespace == written.namespace } }
        let opening = [
            "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>",
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">",
            "<rdf:RDF xmlns:rdf=\"\(XMPNamespace.rdf.rawValue)\">",
            "<rdf:Description rdf:about=\"\"\(used.map(\.declaration).joined())>",
        ]
        let closing = ["</rdf:Description>", "</rdf:RDF>", "</x:xmpmeta>", "<?xpacket end=\"w\"?>"]
        return Array((opening + properties.map(\.xml) + closing).joined(separator: "\n").utf8)
    }
}

// MARK: Names

/// The namespaces that rights are written in, by address; the prefix is the file's choice.
private enum XMPNamespace: String {
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
private struct XMPName {
    var namespace: XMPNamespace
    var local: String
}

private enum XMPProperty {
    case creator, copyright, credit, usageTerms, webStatement, licence, licensorURL

    init?(_ name: XMPName) {
        switch (name.namespace, name.local) {
        case (.dublinCore, "creator"): self = .creator
        case (.dublinCore, "rights"): self = .copyright
        case (.photoshop, "Credit"): self = .credit
        case (.xmpRights, "UsageTerms"): self = .usageTerms
        case (.xmpRights, "WebStatement"): self = .webStatement
        case (.creativeCommons, "license"), (.oldCreativeCommons, "license"): self = .licence
        case (.plus, "LicensorURL"): self = .licensorURL
        default: return nil
        }
    }
}

// MARK: Reading

/// What an open element is to us. Rights are read only from the places that the XMP specification gives them.
private enum XMPRole {
    /// Around `rdf:RDF`.
    case outside
    case rdf
    /// A child of `rdf:RDF`: usually `rdf:Description`, in old Creative Commons packets `cc:Work`.
    case node
    case property(XMPProperty)
    /// `rdf:Alt`, `rdf:Seq` or `rdf:Bag`.
    case list
    case item(isDefault: Bool)
    /// `rdf:value`, which holds the text when a value has qualifiers.
    case value
    /// `plus:Licensor` and the list and structures inside it.
    case licensor
    case irrelevant

    func child(_ name: XMPName) -> XMPRole {
        switch (self, name.namespace, name.local) {
        case (.outside, .rdf, "RDF"): .rdf
        case (.outside, _, _): .outside
        case (.rdf, _, _): .node
        case (.node, .plus, "Licensor"), (.licensor, .rdf, _): .licensor
        case (.node, _, _): XMPProperty(name).map(XMPRole.property) ?? .irrelevant
        case (.licensor, .plus, "LicensorURL"): .property(.licensorURL)
        case (.property, .rdf, "Alt"), (.property, .rdf, "Seq"), (.property, .rdf, "Bag"): .list
        case (.list, .rdf, "li"): .item(isDefault: false)
        case (.property, .rdf, "value"), (.item, .rdf, "value"): .value
        default: .irrelevant
        }
    }

    var holdsText: Bool {
        switch self {
        case .property, .item, .value: true
        case .outside, .rdf, .node, .list, .licensor, .irrelevant: false
        }
    }

    var readsAttributes: Bool {
        switch self {
        case .node, .licensor, .property, .item, .value: true
        case .outside, .rdf, .list, .irrelevant: false
        }
    }
}

/// Follows the tokens of a packet and keeps the rights it meets. The first statement of each property counts.
private struct XMPReader {
    /// Elements below this depth are counted but not looked at. The deepest of ours, plus:LicensorURL, is the eighth.
    static let deepestElement = 32

    private struct Element {
        var name: String
        var role: XMPRole
        var namespaces: [String: XMPNamespace]
    }

    private struct Value {
        var text: String
        var isDefault: Bool
    }

    private(set) var rights = Rights()
    private var open: [Element] = []
    private var ignoredDepth = 0
    /// The text of the innermost property or item so far, and the finished values of the open property.
    private var text = ""
    private var values: [Value] = []

    mutating func read(_ token: XMLToken) {
        switch token {
        case .start(let name, let attributes): start(name, attributes)
        case .end(let name): end(name)
        case .text(let more): append(more)
        }
    }

    private mutating func start(_ name: String, _ attributes: [XMLAttribute]) {
        guard ignoredDepth == 0, open.count < Self.deepestElement else {
            ignoredDepth += 1
            return
        }
        let parent = open.last?.role ?? .outside
        open.append(Element(name: name, role: .irrelevant, namespaces: declarations(in: attributes)))
        let role = parent.child(resolved(name, isAttribute: false))
        open[open.count - 1].role = role
        if role.readsAttributes {
            begin(role, attributes.map { (name: resolved($0.name, isAttribute: true), value: $0.value) })
        }
    }

    /// Takes what an element says in its attributes.
    private mutating func begin(_ role: XMPRole, _ attributes: [(name: XMPName, value: String)]) {
        switch role {
        case .node:
            for (name, value) in attributes { if let property = XMPProperty(name) { state(property, value) } }
        case .licensor:
            for (name, value) in attributes where XMPProperty(name) == .licensorURL { state(.licensorURL, value) }
        case .property:
            values = []
            beginText(attributes)
        case .item:
            open[open.count - 1].role = .item(isDefault: attributes.contains(where: isDefaultLanguage))
            beginText(attributes)
        case .value:
            beginText(attributes)
        case .outside, .rdf, .list, .irrelevant:
            break
        }
    }

    private mutating func beginText(_ attributes: [(name: XMPName, value: String)]) {
        text = attributes.first { $0.name.namespace == .rdf && $0.name.local == "resource" }?.value ?? ""
    }

    private mutating func append(_ more: String) {
        guard ignoredDepth == 0, open.last?.role.holdsText == true else { return }
        if text.utf8.count < XMLTokens.longestValueInBytes { text += more }
    }

    /// Closes the innermost element of this name. Those inside it were never closed, and so are not believed.
    private mutating func end(_ name: String) {
        guard ignoredDepth == 0 else {
            ignoredDepth -= 1
            return
        }
        guard let index = open.lastIndex(where: { $0.name == name }) else { return }
        if index < open.count - 1 { text = "" }
        let role = open[index].role
        open.removeSubrange(index...)
        finish(role)
    }

    private mutating func finish(_ role: XMPRole) {
        switch role {
        case .item(let isDefault):
            finishValue(isDefault: isDefault)
        case .property(let property):
            finishValue(isDefault: false)
            state(property, values)
        case .outside, .rdf, .node, .list, .value, .licensor, .irrelevant:
            break
        }
    }

    private mutating func finishValue(isDefault: Bool) {
        if let clean = Rights.cleaned(text), values.count < Rights.mostCreators {
            values.append(Value(text: clean, isDefault: isDefault))
        }
        text = ""
    }

    private mutating func state(_ property: XMPProperty, _ text: String) {
        guard let clean = Rights.cleaned(text) else { return }
        state(property, [Value(text: clean, isDefault: true)])
    }

    private mutating func state(_ property: XMPProperty, _ values: [Value]) {
        guard let value = (values.first(where: \.isDefault) ?? values.first)?.text else { return }
        switch property {
        case .creator: if rights.creator.isEmpty { rights.creator = values.map(\.text) }
        case .copyright: rights.copyright = rights.copyright ?? value
        case .credit: rights.credit = rights.credit ?? value
        case .usageTerms: rights.usageTerms = rights.usageTerms ?? value
        case .webStatement: rights.webStatement = rights.webStatement ?? Rights.cleanedAddress(value)
        case .licence: stateLicence(value, namesLicensor: false)
        case .licensorURL: stateLicence(value, namesLicensor: true)
        }
    }

    /// A licence that is granted counts more than a place to ask for one, wherever the two stand in the packet.
    private mutating func stateLicence(_ value: String, namesLicensor: Bool) {
        guard let address = Rights.cleanedAddress(value) else { return }
        guard rights.licence == nil || (rights.licenceNamesLicensor && !namesLicensor) else { return }
        rights.licence = address
        rights.licenceNamesLicensor = namesLicensor
    }
}

// Namespaces in XML: https://www.w3.org/TR/xml-names/
extension XMPReader {
    private func declarations(in attributes: [XMLAttribute]) -> [String: XMPNamespace] {
        var namespaces: [String: XMPNamespace] = [:]
        for attribute in attributes where attribute.name.hasPrefix("xmlns") {
            let (prefix, local) = split(attribute.name)
            guard prefix == "xmlns" || attribute.name == "xmlns" else { continue }
            namespaces[prefix.isEmpty ? "" : local] = XMPNamespace(rawValue: attribute.value) ?? .other
        }
        return namespaces
    }

    /// A default namespace holds for elements, not for attributes.
    private func resolved(_ name: String, isAttribute: Bool) -> XMPName {
        let (prefix, local) = split(name)
        if prefix.isEmpty && isAttribute { return XMPName(namespace: .other, local: local) }
        return XMPName(namespace: namespace(prefix), local: local)
    }

    private func namespace(_ prefix: String) -> XMPNamespace {
        if prefix == "xml" { return .xml }
        return open.reversed().lazy.compactMap { $0.namespaces[prefix] }.first ?? .other
    }

    private func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.firstIndex(of: ":") else { return ("", name) }
        return (String(name[..<colon]), String(name[name.index(after: colon)...]))
    }

    private func isDefaultLanguage(_ name: XMPName, _ value: String) -> Bool {
        name.namespace == .xml && name.local == "lang" && value == "x-default"
    }
}

// MARK: Writing

/// One property of a packet, as XML.
private struct XMPLine {
    var namespace: XMPNamespace
    var xml: String
}

extension Rights {
    /// The properties that have a value once it is cleaned, in the order of the packet.
    private func xmpProperties() -> [XMPLine] {
        let creators = creator.compactMap(Rights.cleaned).prefix(Rights.mostCreators)
        return [
            creators.isEmpty ? nil : XMPLine(namespace: .dublinCore, xml: sequence("dc:creator", Array(creators))),
            copyright.flatMap(Rights.cleaned).map { XMPLine(namespace: .dublinCore, xml: alternatives("dc:rights", $0)) },
            credit.flatMap(Rights.cleaned).map { XMPLine(namespace: .photoshop, xml: element("photoshop:Credit", $0)) },
            usageTerms.flatMap(Rights.cleaned).map {
                XMPLine(namespace: .xmpRights, xml: alternatives("xmpRights:UsageTerms", $0))
            },
            webStatement.flatMap(Rights.cleanedAddress).map {
                XMPLine(namespace: .xmpRights, xml: element("xmpRights:WebStatement", $0))
            },
            licence.flatMap(Rights.cleanedAddress).map(licenceLine),
        ].compactMap(\.self)
    }

    private func licenceLine(_ address: String) -> XMPLine {
        guard licenceNamesLicensor else {
            return XMPLine(namespace: .creativeCommons, xml: "<cc:license rdf:resource=\"\(escaped(address))\"/>")
        }
        let licensor = "<rdf:li rdf:parseType=\"Resource\">\(element("plus:LicensorURL", address))</rdf:li>"
        return XMPLine(namespace: .plus, xml: "<plus:Licensor><rdf:Seq>\(licensor)</rdf:Seq></plus:Licensor>")
    }
}

extension XMPNamespace {
    fileprivate struct Prefixed {
        var namespace: XMPNamespace
        var prefix: String
        var declaration: String { " xmlns:\(prefix)=\"\(namespace.rawValue)\"" }
    }

    /// The namespaces of the packets we write, with their customary prefixes.
    fileprivate static let written = [
        Prefixed(namespace: .dublinCore, prefix: "dc"),
        Prefixed(namespace: .photoshop, prefix: "photoshop"),
        Prefixed(namespace: .xmpRights, prefix: "xmpRights"),
        Prefixed(namespace: .creativeCommons, prefix: "cc"),
        Prefixed(namespace: .plus, prefix: "plus"),
    ]
}

private func element(_ name: String, _ value: String) -> String {
    "<\(name)>\(escaped(value))</\(name)>"
}

private func sequence(_ name: String, _ values: [String]) -> String {
    "<\(name)><rdf:Seq>" + values.map { element("rdf:li", $0) }.joined() + "</rdf:Seq></\(name)>"
}

private func alternatives(_ name: String, _ value: String) -> String {
    "<\(name)><rdf:Alt><rdf:li xml:lang=\"x-default\">\(escaped(value))</rdf:li></rdf:Alt></\(name)>"
}

/// Good for text and for attributes, where a literal tab or line feed would be read back as a space.
private func escaped(_ value: String) -> String {
    value.unicodeScalars.map { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&apos;"
        case "\t", "\n": "&#\(scalar.value);"
        default: String(scalar)
        }
    }.joined()
}
