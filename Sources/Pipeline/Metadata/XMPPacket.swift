// Writes rights as XMP: as a packet of their own, or into one that is there.
// https://developer.adobe.com/xmp/docs/xmp-specifications/ part 1 (RDF form).

extension Rights {
    /// A minimal packet with these rights and nothing else, as UTF-8. It is valid, if pointless, when they are empty.
    package func xmpPacket() -> [UInt8] {
        let opening = [
            "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>",
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">",
            "<rdf:RDF xmlns:rdf=\"\(XMPNamespace.rdf.rawValue)\">",
        ]
        let closing = ["</rdf:RDF>", "</x:xmpmeta>", "<?xpacket end=\"w\"?>"]
        return Array((opening + description + closing).joined(separator: "\n").utf8)
    }

    /// A packet with these rights besides what it says already; a value that it has stays.
    /// - Returns: nil if nothing can be added to it, because it is not XMP as programs write it.
    package func added(toXMP packet: [UInt8]) -> [UInt8]? {
        let present = Rights(xmp: packet)
        guard let end = packet.ranges(of: Array("</rdf:RDF>".utf8)).last?.lowerBound else { return nil }
        let description = lacking(in: present).description.joined(separator: "\n") + "\n"
        let result = packet[..<end] + Array(description.utf8) + packet[end...]
        // Whoever reads it must find them.
        return Rights(xmp: Array(result)) == present.merged(over: self) ? Array(result) : nil
    }
}

/// One property of a packet, as XML.
private struct XMPLine {
    var namespace: XMPNamespace
    var xml: String
}

extension Rights {
    /// The lines of an element that describes the picture.
    private var description: [String] {
        let properties = xmpProperties()
        let used = XMPNamespace.written.filter { written in properties.contains { $0.namespace == written.namespace } }
        return ["<rdf:Description rdf:about=\"\"\(used.map(\.declaration).joined())>"] + properties.map(\.xml) + [
            "</rdf:Description>"
        ]
    }

    /// The properties that have a value once it is cleaned, in the order of the packet.
    private func xmpProperties() -> [XMPLine] {
        let creators = creator.compactMap(Rights.cleaned).prefix(Rights.mostCreators)
        return [
            creators.isEmpty ? nil : XMPLine(namespace: .dublinCore, xml: sequence("dc:creator", Array(creators))),
            copyright.flatMap(Rights.cleaned).map {
                XMPLine(namespace: .dublinCore, xml: alternatives("dc:rights", $0))
            },
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
