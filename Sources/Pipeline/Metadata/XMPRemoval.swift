// Takes properties out of an XMP packet.

/// The properties that are taken out.
struct XMPRemoval {
    /// The properties that say where the picture was taken.
    var location = false
    /// Those that are stated anew.
    var properties: Set<XMPProperty> = []
    /// The properties about other pictures in the file.
    var otherPictures = false
    /// All properties but those of the map that the packet belongs to.
    var allButMap = false

    private static let deepestElement = 64

    /// A packet without them. Comments and whatever is no XML go too.
    /// - Returns: nil if the packet is not well-formed, and nobody can say what is in it.
    func applied(to packet: [UInt8]) -> [UInt8]? {
        // The declarations of a document type would be unknown without it.
        guard String(validating: packet, as: UTF8.self) != nil, packet.firstRange(of: Array("<!DOCTYPE".utf8)) == nil
        else { return nil }
        var (tokens, scopes, open): (_, _, [String]) = (XMLTokens(packet), XMPScopes(), [])
        var result = Array((xmpHeader + "\n").utf8)
        // How many elements are open in `rdf:RDF`, and in the one that is being taken out.
        var (rdf, removed): (Int?, Int?)
        while let token = tokens.next() {
            switch token {
            case .start(let name, let attributes):
                guard attributes.count < XMLTokens.mostAttributes, open.count < Self.deepestElement,
                    name.utf8.count < XMLTokens.longestNameInBytes
                else { return nil }
                open.append(name)
                scopes.open(attributes)
                guard removed == nil else { continue }
                let resolved = scopes.resolved(name, isAttribute: false)
                if resolved.namespace == .rdf, resolved.local == "RDF" { rdf = rdf ?? open.count }
                if isRemoved(resolved, isProperty: open.count - 2 == rdf) {
                    removed = open.count
                    continue
                }
                let isNode = open.count - 1 == rdf
                let kept = zip(attributes, tokens.attributeRanges).filter { attribute, _ in
                    // A prefix may be needed by what stays, or be all that is left of what does not.
                    attribute.name.hasPrefix("xmlns")
                        ? !otherPictures || !XMPName.isOfOtherPictures(XMPNamespace(rawValue: attribute.value))
                        : !isRemoved(scopes.resolved(attribute.name, isAttribute: true), isProperty: isNode)
                }
                result += [UInt8(ascii: "<")] + name.utf8
                for (_, range) in kept { result += [UInt8(ascii: " ")] + packet[range] }
                result += packet[tokens.range].suffix(2).first == UInt8(ascii: "/") ? Array("/>".utf8) : Array(">".utf8)
            case .end(let name):
                guard open.popLast() == name else { return nil }
                scopes.close(allBut: open.count)
                if let depth = removed {
                    if open.count < depth { removed = nil }
                } else if !tokens.range.isEmpty {
                    result += "</\(name)>".utf8
                }
            case .text:
                if removed == nil, !open.isEmpty { result += packet[tokens.range] }
            }
        }
        guard open.isEmpty, rdf != nil, !tokens.isMalformed, !scopes.isFull else { return nil }
        return result + Array(("\n" + xmpTrailer).utf8)
    }

    private func isRemoved(_ name: XMPName, isProperty: Bool) -> Bool {
        if location, name.isOfLocation { return true }
        if otherPictures, name.isOfOtherPicture { return true }
        if allButMap, isProperty, !name.isOfMap { return true }
        return isProperty && (name.property ?? name.twin).map(properties.contains) ?? false
    }
}

extension XMPName {
    /// The property that an element or an attribute states.
    fileprivate var property: XMPProperty? {
        namespace == .plus && local == "Licensor" ? .licensorURL : XMPProperty(self)
    }

    /// The property whose value programs write here once more.
    fileprivate var twin: XMPProperty? {
        switch (namespace, local) {
        case (.tiff, "Artist"): .creator
        case (.tiff, "Copyright"), (.xmpRights, "Owner"): .copyright
        case (.tiff, "ImageDescription"): .caption
        case (.microsoft, "LastKeywordXMP"), (.lightroom, "hierarchicalSubject"): .keywords
        default: nil
        }
    }

    /// Whether it speaks of another picture in the file, or of a film.
    fileprivate var isOfOtherPicture: Bool {
        Self.isOfOtherPictures(namespace)
            || namespace == .googleCamera && (local.hasPrefix("MotionPhoto") || local.hasPrefix("MicroVideo"))
    }

    /// Whether all names of a namespace speak of them.
    fileprivate static func isOfOtherPictures(_ namespace: XMPNamespace?) -> Bool {
        switch namespace {
        case .gainMap, .container, .containerItem, .appleGainMap, .applePixels: true
        default: false
        }
    }

    /// Whether it is part of what a gain map says of itself.
    fileprivate var isOfMap: Bool {
        [.gainMap, .appleGainMap, .applePixels, .rdf, .xml].contains(namespace)
    }

    /// Whether it says where the picture was taken, in whatever namespace (`exif:GPSLatitude`, `photoshop:City`,
    /// `Iptc4xmpCore:Location`, `Iptc4xmpExt:LocationShown`, `drone-dji:AbsoluteAltitude`), or may do so.
    fileprivate var isOfLocation: Bool {
        [.geo, .smallPictures, .googlePictures].contains(namespace) || saysLocation(local)
    }
}

/// A packet without words about other pictures and films in the source's file, which no rendition has: programs would
/// look for them. Of one that is not well-formed, only statements stay.
/// - Returns: also whether everything else is in it.
func xmpOfOnePicture(_ packet: [UInt8]) -> (packet: [UInt8], isWhole: Bool) {
    let addresses: [XMPNamespace] = [.gainMap, .container, .appleGainMap, .applePixels, .googleCamera]
    guard addresses.contains(where: { $0.isNamed(in: packet) }) else {
        return (packet, true)
    }
    guard let rest = XMPRemoval(otherPictures: true).applied(to: packet) else {
        return (Statements(xmp: packet).xmpPacket(), false)
    }
    return (rest, true)
}

/// The packet of a gain map with nothing but what it says of itself: it has a place, and an author, as pictures have.
/// - Returns: nil if it is not well-formed.
func xmpOfMap(_ packet: [UInt8]) -> [UInt8]? { XMPRemoval(allButMap: true).applied(to: packet) }

/// Whether a name of metadata says where a picture was taken.
package func saysLocation(_ name: String) -> Bool {
    // Keywords of texts may have several words, or a prefix: `photoshop:City`, `Country Code`.
    let parts = name.split { ":. ".contains($0) }
    if parts.count > 1 { return saysLocation(parts.joined()) || parts.contains { saysLocation(String($0)) } }
    let name = name.lowercased().filter { $0 != "_" && $0 != "-" }
    return [
        "gps", "latitude", "longitude", "longtitude", "latlong", "latlon", "altitude", "location", "coordinates",
        "postalcode", "zipcode",
    ].contains { name.contains($0) }
        || [
            "city", "state", "country", "countrycode", "countryname", "provincestate", "province", "worldregion", "lat",
            "long", "lon", "lng", "sublocality", "locality", "coverage", "spatial", "place", "placename", "address",
        ].contains(name)
}
