// Reads the rights out of an XMP packet.
// https://developer.adobe.com/xmp/docs/xmp-specifications/ part 1 (RDF form).

extension Rights {
    /// The rights that an XMP packet states about the picture itself. What it says of ingredients or of the picture's
    /// history does not count. Never fails: what is malformed is ignored, and a packet in UTF-16 states nothing.
    package init(xmp: [UInt8]) {
        self = Statements(xmp: xmp).rights
    }
}

extension Statements {
    /// The statements of an XMP packet about the picture, by the same rules.
    package init(xmp: [UInt8]) {
        self = XMPReader(xmp).statements
    }
}

/// The role of an open element. Rights are read only from the places that the XMP specification gives them.
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
    }

    private struct Value {
        var text: String
        var isDefault: Bool
    }

    private(set) var statements = Statements()
    private var open: [Element] = []
    private var scopes = XMPScopes()
    private var ignoredDepth = 0
    /// The text of the innermost property or item so far, and the finished values of the open property.
    private var text = ""
    private var values: [Value] = []

    init(_ packet: [UInt8]) {
        for token in XMLTokens(packet) { read(token) }
    }

    private mutating func read(_ token: XMLToken) {
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
        open.append(Element(name: name, role: .irrelevant))
        scopes.open(attributes)
        let role = parent.child(scopes.resolved(name, isAttribute: false))
        open[open.count - 1].role = role
        if role.readsAttributes {
            begin(role, attributes.map { (name: scopes.resolved($0.name, isAttribute: true), value: $0.value) })
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
        scopes.close(allBut: index)
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
        if let clean = Rights.cleaned(text), values.count < Statements.mostKeywords {
            values.append(Value(text: clean, isDefault: isDefault))
        }
        text = ""
    }

    private var rights: Rights {
        get { statements.rights }
        set { statements.rights = newValue }
    }

    private mutating func state(_ property: XMPProperty, _ text: String) {
        guard let clean = Rights.cleaned(text) else { return }
        state(property, [Value(text: clean, isDefault: true)])
    }

    private mutating func state(_ property: XMPProperty, _ values: [Value]) {
        guard let value = (values.first(where: \.isDefault) ?? values.first)?.text else { return }
        switch property {
        case .creator: if rights.creator.isEmpty { rights.creator = values.prefix(Rights.mostCreators).map(\.text) }
        case .copyright: rights.copyright = rights.copyright ?? value
        case .credit: rights.credit = rights.credit ?? value
        case .usageTerms: rights.usageTerms = rights.usageTerms ?? value
        case .webStatement: rights.webStatement = rights.webStatement ?? Rights.cleanedAddress(value)
        case .licence: stateLicence(value, namesLicensor: false)
        case .licensorURL: stateLicence(value, namesLicensor: true)
        case .title: statements.title = statements.title ?? value
        case .caption: statements.caption = statements.caption ?? value
        case .keywords: if statements.keywords.isEmpty { statements.keywords = values.map(\.text) }
        }
    }

    /// A licence that is granted counts more than a place to ask for one, wherever the two are in the packet.
    private mutating func stateLicence(_ value: String, namesLicensor: Bool) {
        guard let address = Rights.cleanedAddress(value) else { return }
        guard rights.licence == nil || (rights.licenceNamesLicensor && !namesLicensor) else { return }
        rights.licence = address
        rights.licenceNamesLicensor = namesLicensor
    }
}

extension XMPReader {
    private func isDefaultLanguage(_ name: XMPName, _ value: String) -> Bool {
        name.namespace == .xml && name.local == "lang" && value == "x-default"
    }
}
