// `metadata` of `save`: what of a source's metadata stays, and what is stated anew.

/// The part of a source's metadata that stays.
package enum KeptMetadata: String, ParameterWord {
    /// Copyright, artist and licence stay; GPS and the rest go.
    case copyright
    /// All but what says where the picture was taken.
    case allButLocation = "all-but-location"
    case all, none
}

/// The policy for the metadata of a rendition: what stays of the source's, and what is stated anew.
package struct MetadataPolicy: Sendable, Equatable {
    package var kept = KeptMetadata.copyright
    package var texts = MetadataTexts()

    /// As one word; the first is the default.
    package static let words: [(word: String, kept: KeptMetadata)] = [
        ("copyright", .copyright), ("all-but-location", .allButLocation), ("keep", .all), ("strip", .none),
    ]

    package init(_ kept: KeptMetadata = .copyright) { self.kept = kept }

    package init?(word: String) {
        guard let found = Self.words.first(where: { $0.word == word }) else { return nil }
        self.init(found.kept)
    }
}

extension MetadataPolicy: ParameterValue {
    package static var expectation: String {
        "one of \(words.map(\.word).joined(separator: ", ")), or a mapping such as \(example)"
    }
    private static var example: String { "{ keep: copyright, set: { credit: Example } }" }
    package static var placeholder: MetadataPolicy { MetadataPolicy() }
    package static var schema: JSONValue {
        ["anyOf": [["enum": .array(words.map { .string($0.word) })], Group.mappingSchema()]]
    }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> MetadataPolicy? {
        guard case .mapping = node.content else {
            guard let text = node.text else { return nil }
            if let policy = MetadataPolicy(word: text) { return policy }
            let words = words.map(\.word)
            let hint = suggestion(for: text, among: words)
            log.problem(
                node.position,
                "expected one of \(words.joined(separator: ", ")), or a mapping such as \(example), found \(node.found)\(hint)"
            )
            return nil
        }
        return Parameters.read(Group.self, from: node, owner: "'metadata'", &log)?.policy
    }

    package var written: String {
        guard texts.isEmpty else { return "{ keep: \(kept.rawValue), set: … }" }
        return Self.words.first { $0.kept == kept }?.word ?? ""
    }

    private struct Group: ParameterGroup {
        let policy: MetadataPolicy

        init(_ p: inout Parameters) {
            var policy = MetadataPolicy(
                p.optional(
                    "keep", .copyright,
                    "What stays of the source's: copyright, artist and licence; all but what says where it was taken; all; or none."
                ))
            policy.texts = p.optional("set", MetadataTexts(), "What is stated anew, whatever the source says.")
            self.policy = policy
        }
    }
}

/// The statements in the metadata of a rendition, as texts with fields.
package struct MetadataTexts: Sendable, Equatable {
    enum Field: String, CaseIterable {
        case title, caption, keywords, artist, copyright, credit
        case usageTerms = "usage-terms"
        case license
        case webStatement = "web-statement"

        fileprivate var summary: String {
            switch self {
            case .title: "The title (dc:title)."
            case .caption: "What is in the picture (dc:description)."
            case .keywords: "One keyword, or a list (dc:subject)."
            case .artist: "Who made the picture: one name, or a list (dc:creator)."
            case .copyright: "The copyright notice (dc:rights), such as \"© {year} Example\"."
            case .credit: "The credit line that is printed with the picture (photoshop:Credit)."
            case .usageTerms: "How the picture may be used, in words (xmpRights:UsageTerms)."
            case .license: "The address of the license (cc:license)."
            case .webStatement: "The address of a page that states the rights (xmpRights:WebStatement)."
            }
        }

        fileprivate var takesList: Bool { self == .keywords || self == .artist }
        fileprivate var isAddress: Bool { self == .license || self == .webStatement }
    }

    fileprivate(set) var texts: [Field: [TextTemplate]] = [:]

    package init() {}

    package var isEmpty: Bool { texts.isEmpty }
    var all: [TextTemplate] { Field.allCases.flatMap { texts[$0] ?? [] } }

    /// The statements of a rendition. A text that has a field with neither a value nor a default is not stated.
    func filled(_ fields: TextFields, on size: PixelSize) -> (statements: Statements, warnings: [Warning]) {
        var (empty, cuts): ([String], [Warning]) = ([], [])
        func values(_ field: Field) -> [String] {
            (texts[field] ?? []).compactMap { template in
                let stated = template.stated(fields, on: size)
                empty += stated.empty
                guard stated.empty.isEmpty else { return nil }
                if stated.isCut {
                    let cut =
                        field.isAddress
                        ? "has more than \(Rights.longestValue) characters and is left out"
                        : "is cut after \(Rights.longestValue) characters"
                    cuts.append(Warning(.textCut, "'metadata': '\(field.rawValue)' \(cut)"))
                }
                return Rights.cleaned(stated.text)
            }
        }
        let statements = Statements(
            rights: Rights(
                creator: Array(values(.artist).prefix(Rights.mostCreators)), copyright: values(.copyright).first,
                credit: values(.credit).first,
                usageTerms: values(.usageTerms).first,
                webStatement: values(.webStatement).first.flatMap(Rights.cleanedAddress),
                licence: values(.license).first.flatMap(Rights.cleanedAddress)),
            title: values(.title).first, caption: values(.caption).first,
            keywords: Array(values(.keywords).prefix(Statements.mostKeywords)))
        return (statements, cuts + [Warning(emptyFields: empty, in: "metadata")].compactMap(\.self))
    }
}

extension MetadataTexts: ParameterMapping {
    package static var owner: String { "'set' of 'metadata'" }
    package static var expectation: String { "a mapping such as { credit: Example, copyright: \"© {year} Example\" }" }
    package static var placeholder: MetadataTexts { MetadataTexts() }
    package var written: String { isEmpty ? "nothing" : "{ … }" }

    package init(_ p: inout Parameters) {
        for field in Field.allCases {
            if field.takesList {
                let list: TextTemplateList? = p.optional(field.rawValue, field.summary)
                texts[field] = list?.templates
            } else {
                let text: TextTemplate? = p.optional(field.rawValue, field.summary)
                texts[field] = text.map { [$0] }
                if field.isAddress, let text, !text.mayBeAddress {
                    p.problem(
                        inValueOf: field.rawValue,
                        "expected an address such as https://creativecommons.org/licenses/by/4.0/, found '\(text.text)'; what is no address goes into 'usage-terms'"
                    )
                }
            }
        }
    }
}

/// One text, or several.
struct TextTemplateList: ParameterValue {
    let templates: [TextTemplate]

    static var expectation: String { "a text, or a list of texts" }
    static var schema: JSONValue {
        ["anyOf": [TextTemplate.schema, ["type": "array", "minItems": 1, "items": TextTemplate.schema]]]
    }
    static var placeholder: TextTemplateList { TextTemplateList(templates: [.placeholder]) }
    var written: String { templates.map(\.written).joined(separator: ", ") }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> TextTemplateList? {
        guard case .list(let items) = node.content else {
            return TextTemplate.read(node, &log).map { TextTemplateList(templates: [$0]) }
        }
        let templates = items.compactMap { TextTemplate.read($0, &log) }
        return templates.count == items.count && !items.isEmpty ? TextTemplateList(templates: templates) : nil
    }
}
