// An XMP packet as a tree, for properties that somebody asks for by name.
// https://developer.adobe.com/xmp/docs/xmp-specifications/ part 1 (RDF form).

/// An element of a packet with the names that its prefixes stand for. Never fails: what is malformed is ignored.
struct XMPElement {
    let name: XMPName
    fileprivate let attributes: [(name: XMPName, value: String)]
    fileprivate var text = ""
    private(set) var children: [XMPElement] = []

    /// Elements below this depth, or after so many, are ignored.
    private static let (deepest, most) = (32, 20_000)

    /// An element around all others, without a name.
    init(packet: [UInt8]) {
        var scopes = XMPScopes()
        var open = [(written: "", element: XMPElement(name: XMPName(namespace: .other, local: ""), attributes: []))]
        var (ignored, count) = (0, 0)
        func close(from index: Int, _ open: inout [(written: String, element: XMPElement)]) {
            while open.count > index {
                let last = open.removeLast().element
                open[open.count - 1].element.children.append(last)
            }
        }
        for token in XMLTokens(packet) {
            switch token {
            case .start(let written, let attributes):
                guard ignored == 0, open.count <= Self.deepest, count < Self.most else {
                    ignored += 1
                    continue
                }
                count += 1
                scopes.open(attributes)
                let named = attributes.map { (name: scopes.resolved($0.name, isAttribute: true), value: $0.value) }
                let name = scopes.resolved(written, isAttribute: false)
                open.append((written, XMPElement(name: name, attributes: named)))
            case .end(let written):
                if ignored > 0 {
                    ignored -= 1
                } else if let index = open.lastIndex(where: { $0.written == written }), index > 0 {
                    close(from: index, &open)
                    scopes.close(allBut: index - 1)
                }
            case .text(let more):
                guard ignored == 0 else { continue }
                let count = open[open.count - 1].element.text.utf8.count
                if count < XMLTokens.longestValueInBytes { open[open.count - 1].element.text += more }
            }
        }
        close(from: 1, &open)
        self = open[0].element
    }

    private init(name: XMPName, attributes: [(name: XMPName, value: String)]) {
        (self.name, self.attributes) = (name, attributes)
    }

    // MARK: - Properties

    /// The value of a property that the packet states about the picture: of alternatives that in the default language,
    /// of a list all of them.
    func property(_ name: XMPName) -> String? {
        for node in nodes {
            if let value = node.attribute(name).flatMap(Rights.cleaned) { return value }
            for child in node.children where child.name == name {
                if let value = child.value { return value }
            }
        }
        return nil
    }

    /// The elements that state something about the picture: children of `rdf:RDF`.
    private var nodes: [XMPElement] { (first { $0.name.isRDF("RDF") }?.children ?? []) }

    private func first(where isWanted: (XMPElement) -> Bool) -> XMPElement? {
        if isWanted(self) { return self }
        for child in children { if let found = child.first(where: isWanted) { return found } }
        return nil
    }

    private func attribute(_ name: XMPName) -> String? { attributes.first { $0.name == name }?.value }

    /// The text of a property.
    private var value: String? {
        for child in children where child.name.namespace == .rdf {
            let items = child.children.filter { $0.name.isRDF("li") }
            switch child.name.local {
            case "Alt": return (items.first(where: \.isDefault) ?? items.first)?.value
            case "Seq", "Bag":
                let words = items.prefix(Statements.mostKeywords).compactMap(\.value)
                return words.isEmpty ? nil : words.joined(separator: ", ")
            case "value": return child.value
            default: continue
            }
        }
        return Rights.cleaned(attributes.first { $0.name.isRDF("resource") }?.value ?? text)
    }

    private var isDefault: Bool {
        attributes.contains { $0.name == XMPName(namespace: .xml, local: "lang") && $0.value == "x-default" }
    }

    // MARK: - Structures

    /// A field of a structure, whose text is an attribute or an element, maybe of a node in between.
    private func field(_ name: XMPName) -> String? {
        attribute(name) ?? part(name)?.value ?? node?.field(name)
    }

    /// A field of a structure that is one itself.
    private func part(_ name: XMPName) -> XMPElement? { children.first { $0.name == name } ?? node?.part(name) }

    private var node: XMPElement? { children.first { $0.name.isRDF("Description") } }

    /// The middle of the region that is in focus, or of the largest one that is no code.
    /// - Returns: its place as a part of width and height, and the size of the picture that it was made for.
    func region() -> (x: Double, y: Double, size: PixelSize?)? {
        func named(_ local: String, in namespace: XMPNamespace = .regions) -> XMPName {
            XMPName(namespace: namespace, local: local)
        }
        guard let info = nodes.lazy.compactMap({ $0.part(named("Regions")) }).first else { return nil }
        let dimensions = info.part(named("AppliedToDimensions"))
        func side(_ local: String) -> Double? {
            dimensions?.field(named(local, in: .dimensions)).flatMap(Double.init).flatMap { $0 >= 1 ? $0 : nil }
        }
        let size = side("w").flatMap { width in side("h").map { PixelSize(Int(clamping: width), Int(clamping: $0)) } }
        let items = info.part(named("RegionList"))?.children.first { $0.name.namespace == .rdf }?.children ?? []
        let regions = items.compactMap { item -> (isFocus: Bool, x: Double, y: Double, area: Double)? in
            let type = item.field(named("Type"))?.lowercased() ?? ""
            guard let area = item.part(named("Area")), type != "barcode" else { return nil }
            func number(_ local: String, per whole: Int?) -> Double? {
                guard let number = area.field(named(local, in: .area)).flatMap(Double.init) else { return nil }
                if area.field(named("unit", in: .area)) != "pixel" { return number }
                return whole.map { number / Double($0) }
            }
            guard let x = number("x", per: size?.width), let y = number("y", per: size?.height),
                (0...1).contains(x), (0...1).contains(y)
            else { return nil }
            let (width, height) = (number("w", per: size?.width) ?? 0, number("h", per: size?.height) ?? 0)
            return (type == "focus", x, y, width > 0 && height > 0 ? width * height : 0)
        }
        let found = regions.first(where: \.isFocus) ?? regions.max { $0.area < $1.area }
        return found.map { ($0.x, $0.y, size) }
    }
}

extension XMPName {
    fileprivate func isRDF(_ local: String) -> Bool { namespace == .rdf && self.local == local }
}

extension Int {
    fileprivate init(clamping value: Double) { self = Int(Swift.min(Swift.max(value, 0), 1e9)) }
}
