// `documents`: JSON files beside the renditions, such as the contents of an asset catalog or the manifest of a web app.

/// A JSON file that is written beside the renditions of a source, and may name them.
package struct DocumentFile: Sendable {
    /// Its name in the pipeline.
    package let name: String
    let file: NameTemplate
    let content: DocumentContent
    let position: Position

    package var needsHash: Bool { file.needsHash || texts.contains(where: \.needsHash) }
    var texts: [TextTemplate] { content.texts }

    /// A file of a source's renditions that a document names.
    struct Reference: Hashable, Sendable {
        let rendition: String
        let scale: Int
        /// Escaped for an address.
        let isAddress: Bool

        /// The text for it: `{file:icon@2x}`, `{url:icon@2x}`.
        var written: String { "{\(isAddress ? "url" : "file"):\(rendition)\(scaleSuffix(scale))}" }

        /// - Returns: nil for any other text.
        init?(_ text: String) {
            guard text.hasPrefix("{"), text.hasSuffix("}"), let colon = text.firstIndex(of: ":"),
                ["{file", "{url"].contains(text[..<colon])
            else { return nil }
            let words = text[text.index(after: colon)...].dropLast()
            let parts = words.split(separator: "@", omittingEmptySubsequences: false)
            let last = parts.last ?? ""
            if parts.count > 1, last.hasSuffix("x"), let scale = Int(last.dropLast()) {
                (rendition, self.scale) = (parts.dropLast().joined(separator: "@"), scale)
            } else {
                (rendition, scale) = (String(words), 1)
            }
            isAddress = text.hasPrefix("{url")
        }
    }
}

/// The documents of one source, when it is known which renditions it has.
package struct PlannedDocuments: Sendable {
    private let documents: [DocumentFile]
    private let renditions: [(name: String, scale: Int)]
    private let fields: TextFields
    private let size: PixelSize

    /// - Parameter values: for the fields in texts.
    package init(_ pipeline: PipelineFile, _ plan: SourcePlan, _ values: TextValues?) {
        let renditions = plan.renditions.map { (name: $0.rendition.name, scale: $0.scale) }
        func isMade(_ reference: DocumentFile.Reference) -> Bool {
            renditions.contains { $0 == (reference.rendition, reference.scale) }
        }
        documents = pipeline.documents.filter { document in
            let references = document.content.references
            return references.isEmpty || references.contains(where: isMade)
        }
        self.renditions = renditions
        fields = values.map { TextFields($0, rendition: nil, scale: 1) } ?? TextFields()
        size = plan.decoded.size
    }

    /// The names that they have in the pipeline.
    package var titles: [String] { documents.map(\.name) }

    /// The names of their files after those of the renditions.
    /// - Parameter version: as that of the renditions.
    /// - Throws: `PlanFailure` if a name cannot be used, or two files would have one.
    package func adding(
        to renditions: [RenditionName], for facts: NamingFacts, version: Int
    ) throws(PlanFailure) -> [RenditionName] {
        var names = renditions
        for document in documents {
            let own = RenditionFacts(name: document.name, scale: 1, fileExtension: "json", size: size)
            let name = try document.file.name(of: own, for: facts, version: version)
            if names.contains(where: { $0.path == name.path }) {
                throw PlanFailure(
                    .nameTaken, stage: "publish",
                    "the document '\(document.name)' would have the name of another file, '\(name.path.printable)'; change its 'file'"
                )
            }
            names.append(name)
        }
        try names.checkFolders()
        return names
    }

    /// The contents of the documents.
    /// - Parameter names: of the renditions, then of the documents.
    package func contents(named names: [RenditionName]) -> [JSONValue] {
        zip(documents, names.dropFirst(renditions.count)).map { document, name in
            let folder = BytePath("/").appending(name.path.directory)
            return document.content.filled { part in
                switch part {
                case .text(let template): return .string(template.stated(fields, on: size).text)
                case .file(let reference):
                    let place = renditions.firstIndex { $0 == (reference.rendition, reference.scale) }
                    return place.map { place in
                        let path = BytePath("/").appending(names[place].path).relative(to: folder)
                        return .string(reference.isAddress ? path.percentEncoded : path.text)
                    }
                }
            } ?? .object([:])
        }
    }
}

/// A JSON value with fields in its texts.
indirect enum DocumentContent: Sendable {
    case plain(JSONValue)
    case part(Part)
    case list([DocumentContent])
    case mapping([(key: String, value: DocumentContent)])

    /// A part that only the source decides.
    enum Part: Sendable {
        case text(TextTemplate)
        case file(DocumentFile.Reference)
    }

    var parts: [Part] {
        switch self {
        case .plain: []
        case .part(let part): [part]
        case .list(let items): items.flatMap(\.parts)
        case .mapping(let entries): entries.flatMap(\.value.parts)
        }
    }

    var references: [DocumentFile.Reference] {
        parts.compactMap { if case .file(let reference) = $0 { reference } else { nil } }
    }
    var texts: [TextTemplate] { parts.compactMap { if case .text(let text) = $0 { text } else { nil } } }

    /// The value with everything filled in. What names a file that is not made is left out: the item of a list with all
    /// that is in it, else the key alone.
    /// - Returns: nil if it names one itself.
    func filled(_ value: (Part) -> JSONValue?) -> JSONValue? {
        switch self {
        case .plain(let plain): return plain
        case .part(let part): return value(part)
        case .list(let items):
            return .array(items.compactMap { $0.isWhole(value) ? $0.filled(value) : nil })
        case .mapping(let entries):
            var members: [String: JSONValue] = [:]
            for entry in entries { members[entry.key] = entry.value.filled(value) }
            return .object(members)
        }
    }

    /// Whether every part outside of lists has a value.
    private func isWhole(_ value: (Part) -> JSONValue?) -> Bool {
        switch self {
        case .plain, .list: true
        case .part(let part): value(part) != nil
        case .mapping(let entries): entries.allSatisfy { $0.value.isWhole(value) }
        }
    }
}

extension DocumentContent: ParameterValue {
    static var expectation: String { "a mapping or a list, which is written as JSON" }
    static var schema: JSONValue { ["type": ["object", "array"]] }
    static var placeholder: DocumentContent { .mapping([]) }
    var written: String { "{ … }" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> DocumentContent? {
        if case .scalar = node.content { return nil }
        return value(node, &log)
    }

    private static func value(_ node: YAMLNode, _ log: inout ReadingLog) -> DocumentContent? {
        switch node.content {
        case .list(let items): return .list(items.compactMap { value($0, &log) })
        case .mapping(let entries): return .mapping(entries.map { ($0.key, value($0.value, &log) ?? .plain(.null)) })
        case .scalar(let text, let isQuoted):
            if !isQuoted {
                if node.isNull { return .plain(.null) }
                if let isTrue = Bool.read(node, &log) { return .plain(.bool(isTrue)) }
                if let whole = Int(text) { return .plain(.int(whole)) }
                // A whole number that is too large for that would lose digits.
                let isWhole = text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "-") }
                if let number = finiteNumber(text), !isWhole { return .plain(.double(number)) }
            }
            if text.isEmpty { return .plain(.string("")) }
            if let reference = DocumentFile.Reference(text) { return .part(.file(reference)) }
            return TextTemplate.read(node, &log).map { .part(.text($0)) }
        }
    }
}

/// `documents`: a name for each, with its file and what is in it.
struct DocumentMap: ParameterValue {
    let documents: [DocumentFile]

    static var expectation: String { "a mapping from names to documents" }
    static var schema: JSONValue { ["type": "object", "additionalProperties": Group.mappingSchema()] }
    static var placeholder: DocumentMap { DocumentMap(documents: []) }
    var written: String { "{}" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> DocumentMap? {
        guard case .mapping(let entries) = node.content else { return nil }
        return DocumentMap(
            documents: entries.compactMap { entry in
                Parameters.read(Group.self, from: entry.value, owner: "document '\(entry.key)'", &log).map {
                    DocumentFile(name: entry.key, file: $0.file, content: $0.content, position: entry.keyPosition)
                }
            })
    }

    private struct Group: ParameterGroup {
        let file: NameTemplate
        let content: DocumentContent

        init(_ p: inout Parameters) {
            file = p.required("file", "The file name, such as \"{stem}.imageset/Contents.json\".")
            content = p.required(
                "content",
                "What is in it. A text can have fields; one that is `{file:NAME}` or `{file:NAME@2x}` is the path of that rendition's file from here, and `{url:NAME}` the same for an address."
            )
            if file.namesSize || file.needsContents {
                p.problem(at: "file", "'\(file.text)': a document has no size and no {content-hash}")
            }
        }
    }
}

extension DocumentMap {
    /// Notes files that no rendition is written to, or several are.
    func check(_ p: inout Parameters, _ renditions: [Rendition]) {
        for document in documents {
            for reference in document.content.references {
                let known = renditions.filter { $0.name == reference.rendition }
                guard !known.isEmpty else {
                    let names = renditions.map(\.name)
                    p.problem(
                        position: document.position,
                        "'\(document.name)' names \(reference.written), and there is no rendition '\(reference.rendition)'\(suggestion(for: reference.rendition, among: names))"
                    )
                    continue
                }
                if known.count > 1 {
                    p.problem(
                        position: document.position,
                        "'\(document.name)' names \(reference.written), and the rendition has several files: write one for each width and format"
                    )
                } else if !known[0].scales.contains(reference.scale) {
                    p.problem(
                        position: document.position,
                        "'\(document.name)' names \(reference.written), and the rendition has no scale \(reference.scale)"
                    )
                }
            }
        }
    }
}
