// Writes statements as XMP: as a packet of their own, or into one that is there.
// https://developer.adobe.com/xmp/docs/xmp-specifications/ part 1 (RDF form).

/// The header and the trailer of every packet.
let (xmpHeader, xmpTrailer) = (
    "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>", "<?xpacket end=\"w\"?>"
)

/// A packet with a description and nothing else, as UTF-8.
/// - Parameter description: its lines.
func xmpPacket(of description: [String]) -> [UInt8] {
    let opening = [
        xmpHeader,
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">",
        "<rdf:RDF xmlns:rdf=\"\(XMPNamespace.rdf.rawValue)\">",
    ]
    let closing = ["</rdf:RDF>", "</x:xmpmeta>", xmpTrailer]
    return Array((opening + description + closing).joined(separator: "\n").utf8)
}

extension Statements {
    /// A minimal packet with these statements and nothing else, as UTF-8. It is valid, if pointless, when they are empty.
    package func xmpPacket() -> [UInt8] { Pipeline.xmpPacket(of: description()) }

    /// The same of at most so many bytes: of what is longer the rights alone, or nothing.
    func xmpPacket(atMost most: Int) -> [UInt8]? {
        [self, Statements(rights: rights)].lazy.map { $0.xmpPacket() }.first { $0.count <= most }
    }

    /// A packet with these statements, or at least the rights of them, besides what it says already.
    /// - Returns: nil if they cannot be added to it, or it would have more than so many bytes.
    func added(toXMP packet: [UInt8], most: Int) -> [UInt8]? {
        [self, Statements(rights: rights)].lazy.compactMap { $0.added(toXMP: packet) }.first { $0.count <= most }
    }

    /// A packet with these statements besides what it says already; a value that it has stays.
    /// - Returns: nil if nothing can be added to it, because it is not XMP as programs write it, or has one of the
    ///   properties without a value: programs refuse a packet that has a property twice.
    package func added(toXMP packet: [UInt8]) -> [UInt8]? {
        let present = Statements(xmp: packet)
        let missing = lacking(in: present)
        guard packet.count <= Self.largestToAdd, let end = closingTag(in: packet),
            !missing.xmpProperties().contains(where: { $0.isNamed(in: packet) })
        else { return nil }
        let lines = missing.description(declaresRDF: true).joined(separator: "\n") + "\n"
        let result = packet[..<end] + Array(lines.utf8) + packet[end...]
        // Whoever reads it must find them.
        return Statements(xmp: Array(result)) == present.merged(over: self) ? Array(result) : nil
    }

    /// Bytes of a packet beyond which it is not worth the time to add to it.
    private static let largestToAdd = 1 << 20

    /// Where the last tag of the kind `</rdf:RDF>` begins, whatever its prefix is.
    private func closingTag(in packet: [UInt8]) -> Int? {
        let name = Array(":RDF".utf8)
        for colon in packet.indices.dropLast(name.count).reversed() where packet[colon...].starts(with: name) {
            let prefix = packet[..<colon].suffix(32)
            guard let slash = prefix.lastIndex(of: UInt8(ascii: "/")), slash > 0, packet[slash - 1] == UInt8(ascii: "<")
            else { continue }
            return slash - 1
        }
        return nil
    }
}

/// One property of a packet, as XML.
private struct XMPLine {
    var namespace: XMPNamespace
    var xml: String

    /// Whether a packet names the property at all, with whatever prefix and in whatever form.
    func isNamed(in packet: [UInt8]) -> Bool {
        // `<dc:creator>…` and `<cc:license …/>`
        let name = xml.drop { $0 != ":" }.prefix { $0 != ">" && $0 != " " }
        let ends = [">", " ", "/", "=", "\n", "\t", "\r"].map { Array((name + $0).utf8) }
        return ends.contains { packet.firstRange(of: $0) != nil }
    }
}

extension Statements {
    /// The lines of an element that describes the picture.
    /// - Parameter declaresRDF: the prefix `rdf` may mean something else where it goes.
    private func description(declaresRDF: Bool = false) -> [String] {
        let properties = xmpProperties()
        let used = XMPNamespace.written.filter { written in properties.contains { $0.namespace == written.namespace } }
        let declarations =
            (declaresRDF ? " xmlns:rdf=\"\(XMPNamespace.rdf.rawValue)\"" : "") + used.map(\.declaration).joined()
        return ["<rdf:Description rdf:about=\"\"\(declarations)>"] + properties.map(\.xml) + ["</rdf:Description>"]
    }

    /// The properties that have a value once it is cleaned, in the order of the packet.
    private func xmpProperties() -> [XMPLine] {
        let creators = rights.creator.compactMap(Rights.cleaned).prefix(Rights.mostCreators)
        let keywords = keywords.compactMap(Rights.cleaned).prefix(Self.mostKeywords)
        return [
            title.flatMap(Rights.cleaned).map { XMPLine(namespace: .dublinCore, xml: alternatives("dc:title", $0)) },
            caption.flatMap(Rights.cleaned).map {
                XMPLine(namespace: .dublinCore, xml: alternatives("dc:description", $0))
            },
            keywords.isEmpty ? nil : XMPLine(namespace: .dublinCore, xml: list("Bag", of: "dc:subject", keywords)),
            creators.isEmpty ? nil : XMPLine(namespace: .dublinCore, xml: list("Seq", of: "dc:creator", creators)),
            rights.copyright.flatMap(Rights.cleaned).map {
                XMPLine(namespace: .dublinCore, xml: alternatives("dc:rights", $0))
            },
            rights.credit.flatMap(Rights.cleaned).map {
                XMPLine(namespace: .photoshop, xml: element("photoshop:Credit", $0))
            },
            rights.usageTerms.flatMap(Rights.cleaned).map {
                XMPLine(namespace: .xmpRights, xml: alternatives("xmpRights:UsageTerms", $0))
            },
            rights.webStatement.flatMap(Rights.cleanedAddress).map {
                XMPLine(namespace: .xmpRights, xml: element("xmpRights:WebStatement", $0))
            },
            rights.licence.flatMap(Rights.cleanedAddress).map(licenceLine),
        ].compactMap(\.self)
    }

    private func licenceLine(_ address: String) -> XMPLine {
        guard rights.licenceNamesLicensor else {
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

private func list(_ kind: String, of name: String, _ values: some Sequence<String>) -> String {
    "<\(name)><rdf:\(kind)>" + values.map { element("rdf:li", $0) }.joined() + "</rdf:\(kind)></\(name)>"
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
