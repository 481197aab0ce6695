// `parameters`: values that a pipeline leaves open, used in it as "${name}".

/// A value that a pipeline leaves open.
package struct PipelineParameter: Sendable {
    package let name: String
    package let kind: Kind
    /// The field of a picture's metadata that has its value.
    package let field: MetadataField?
    let choices: [String]
    fileprivate(set) var fallback: YAMLNode
    let position: Position

    /// The type of its values.
    package enum Kind: String, ParameterWord {
        case text, number, length, color, point, file, choice
    }
}

/// A parameter with the value that it has.
package struct ParameterSetting: Sendable, Equatable, Codable {
    /// Each is stronger than the one before.
    package enum Origin: String, Sendable, Codable, CaseIterable {
        /// The pipeline's own value.
        case pipeline
        /// The field of the picture's metadata that the pipeline names.
        case metadata
        /// `--set`, or `set` of an inbox.
        case set
        /// `_imagemill.yaml` of the picture's folder, or of the nearest folder above it that has one.
        case folder
        /// The picture's own sidecar.
        case sidecar
    }

    package let name: String
    /// As a user would write it.
    package let value: String
    package let origin: Origin
}

extension PipelineParameter {
    /// A value of another kind is noted.
    /// - Parameter title: what the value is, for messages.
    /// - Returns: the value as it stands for the parameter.
    func checked(_ written: YAMLNode, _ title: String, _ log: inout ReadingLog) -> YAMLNode {
        let node = kind == .point ? written.asPoint : written
        var trial = ReadingLog(catalogue: log.catalogue)
        let isRight: Bool =
            switch kind {
            case .text: String.read(node, &trial) != nil
            case .number: Double.read(node, &trial) != nil
            case .length: Length.read(node, &trial) != nil
            case .color: Color.read(node, &trial) != nil
            case .point: PointAnchor.read(node, &trial) != nil
            case .file: node.text.map { !$0.isEmpty && !$0.utf8.contains(0) } ?? false
            case .choice: choices.isEmpty || node.text.map(choices.contains) ?? false
            }
        if !isRight || !trial.problems.isEmpty {
            let near = kind == .choice ? suggestion(for: node.text ?? "", among: choices) : ""
            let found = kind == .point && node.text == nil ? "'\(node.flow.prefix(80))'" : node.found
            log.problem(node.position, "\(title) expects \(expectation), found \(found)\(near)")
        }
        // A text that looks like a number stays a text.
        guard isText, let text = node.text else { return node }
        return YAMLNode(content: .scalar(text, quoted: true), position: node.position)
    }

    private var isText: Bool { [.text, .color, .file, .choice].contains(kind) }

    private var expectation: String {
        switch kind {
        case .text: String.expectation
        case .number: Double.expectation
        case .length: Length.expectation
        case .color: Color.expectation
        case .point: "a point such as { x: 30%, y: 70% }, or 30% 70%"
        case .file: "the path of a file, relative to the pipeline file"
        case .choice: "one of \(listed(choices, by: "or"))"
        }
    }

    /// A value as it is written in an option or in a mill file.
    fileprivate func node(_ written: String) -> YAMLNode {
        guard !isText else { return YAMLNode(content: .scalar(written, quoted: true), position: position) }
        return YAMLNode(text: written, position: position)
    }
}

/// `parameters: { side: { type: length, default: 64 } }`.
struct PipelineParameterList: ParameterValue {
    let parameters: [PipelineParameter]

    static var expectation: String { "a mapping from names to parameters" }
    static var schema: JSONValue {
        [
            "type": "object", "additionalProperties": Declaration.mappingSchema(),
            "propertyNames": ["pattern": "^[A-Za-z][A-Za-z0-9_-]*$"],
        ]
    }
    static var placeholder: PipelineParameterList { PipelineParameterList(parameters: []) }
    var written: String { "{}" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PipelineParameterList? {
        guard case .mapping(let entries) = node.content else { return nil }
        return PipelineParameterList(parameters: entries.compactMap { parameter($0, &log) })
    }

    private static func parameter(_ entry: YAMLNode.Entry, _ log: inout ReadingLog) -> PipelineParameter? {
        let name = entry.key
        if !name.isParameterName {
            log.problem(
                entry.keyPosition, "a parameter is named by letters, digits, '-' and '_', found '\(name)'")
        }
        guard let written = Parameters.read(Declaration.self, from: entry.value, owner: "the parameter '\(name)'", &log)
        else { return nil }
        var parameter = PipelineParameter(
            name: name, kind: written.kind, field: written.field, choices: written.choices?.words ?? [],
            fallback: written.fallback.node, position: entry.keyPosition)
        parameter.fallback = parameter.checked(written.fallback.node, "'default' of '\(name)'", &log)
        return parameter
    }

    private struct Declaration: ParameterGroup {
        let kind: PipelineParameter.Kind
        let fallback: AnyValue
        let field: MetadataField?
        let choices: TextList?

        init(_ p: inout Parameters) {
            kind = p.required("type", "What its values are.")
            fallback = p.required("default", "The value if none is given.")
            field = p.optional(
                "from",
                "The field of a picture's metadata that has its value, if the picture has one: `xmp:dc:description`, `iptc:Headline`, `exif:ImageDescription`, or `xmp:regions` for the middle of the region that is in focus."
            )
            // For whoever reads the file.
            _ = p.optional("about", "What it is for, in a sentence.") as String?
            choices = p.optional("choices", "The values of a choice.")
            if let field, p.has("type"), field.isPoint != (kind == .point) {
                p.problem(
                    at: "from",
                    field.isPoint
                        ? "'\(field.written)' is a point; expected 'type: point'"
                        : "a point comes from xmp:regions, found \(field.written)")
            }
            if p.has("type"), (kind == .choice) != (choices != nil) {
                p.problem(
                    at: "choices",
                    kind == .choice
                        ? "a choice needs 'choices', a list of its values" : "only a choice has 'choices'; remove it")
            }
        }
    }
}

/// A value whose type another one says.
private struct AnyValue: ParameterValue {
    let node: YAMLNode

    static var expectation: String { "a value of its type" }
    static var schema: JSONValue { [:] }
    static var placeholder: AnyValue { AnyValue(node: YAMLNode(text: "", position: Position(line: 1, column: 1))) }
    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> AnyValue? { AnyValue(node: node) }
    var written: String { node.text ?? "" }
}

/// `[a, b]`.
private struct TextList: ParameterValue {
    let words: [String]

    static var expectation: String { "a list of texts" }
    static var schema: JSONValue { ["type": "array", "items": ["type": ["string", "number"]], "minItems": 1] }
    static var placeholder: TextList { TextList(words: []) }
    var written: String { "[" + words.joined(separator: ", ") + "]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> TextList? {
        guard case .list(let items) = node.content, !items.isEmpty else { return nil }
        let words = items.compactMap(\.text)
        return words.count == items.count ? TextList(words: words) : nil
    }
}

extension String {
    fileprivate var isParameterName: Bool {
        guard let first, first.isASCII, first.isLetter else { return false }
        return allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }
}

/// The parameters of a pipeline with their values, and what they are put into.
struct ParameterSubstitution {
    private let values: [String: (parameter: PipelineParameter, node: YAMLNode)]
    let settings: [ParameterSetting]
    /// Those that have no other value than the pipeline's own, and may have one of the picture's metadata.
    let open: [PipelineParameter]
    /// Every mistake in the first sidecar that has some.
    let sidecarMistakes: Diagnostics?

    /// - Parameters:
    ///   - given: values that are stronger than the pipeline's own, by name.
    ///   - metadata: values that a picture has for those that none is given for.
    ///   - sidecars: values that are stronger than all others, the weaker ones first.
    ///   - place: of `parameters` in the file.
    init(
        _ parameters: [PipelineParameter], _ given: [String: String], _ metadata: [MetadataValue],
        _ sidecars: [SidecarValues], at place: Position, _ log: inout ReadingLog
    ) {
        sidecarMistakes = sidecars.lazy.compactMap(\.mistakes).first
        open = parameters.filter { given[$0.name] == nil && $0.field != nil }
        let names = parameters.map(\.name)
        for name in given.keys.sorted() where !names.contains(name) {
            log.problem(place, noParameter(name, among: names))
        }
        var values: [String: (parameter: PipelineParameter, node: YAMLNode)] = [:]
        settings = parameters.map { parameter in
            if let sidecar = sidecars.last(where: { $0.nodes[parameter.name] != nil }),
                let node = sidecar.nodes[parameter.name]
            {
                values[parameter.name] = (parameter, parameter.kind == .text ? node.asValue : node)
                return ParameterSetting(name: parameter.name, value: node.flow, origin: sidecar.origin)
            }
            let found = metadata.first { $0.field == parameter.field }
            let (said, origin): (String?, ParameterSetting.Origin) =
                if let set = given[parameter.name] { (set, .set) } else { (found?.text, .metadata) }
            let isOfPicture = said != nil && origin == .metadata
            // Programs differ in how they write a word.
            let word = isOfPicture ? parameter.choices.first { $0.lowercased() == said?.lowercased() } : nil
            let written = word ?? said
            let place = origin == .metadata ? found.map { " (\($0.field.written))" } ?? "" : ""
            let node =
                written.map { parameter.checked(parameter.node($0), "the value of '\(parameter.name)'\(place)", &log) }
                ?? parameter.fallback
            values[parameter.name] = (parameter, isOfPicture && parameter.kind == .text ? node.asValue : node)
            return ParameterSetting(
                name: parameter.name, value: written ?? node.flow, origin: written == nil ? .pipeline : origin)
        }
        self.values = values
    }

    /// Notes the parts of a pipeline that are the same for all pictures and have the value of one.
    func checkGeneral(_ root: YAMLNode, _ log: inout ReadingLog) {
        for parameter in open {
            guard let entry = root.generalPart(using: parameter.name) else { continue }
            log.problem(
                entry.value.position,
                "'\(entry.key)' is the same for all pictures, and '\(parameter.name)' comes from each one's metadata")
        }
    }

    /// A node with its parameters replaced.
    func applied(to node: YAMLNode, _ log: inout ReadingLog) -> YAMLNode {
        switch node.content {
        case .scalar(let text, let quoted):
            guard text.contains("${") else { return node }
            return applied(to: text, quoted: quoted, node.position, &log)
        case .list(let items):
            return YAMLNode(content: .list(items.map { applied(to: $0, &log) }), position: node.position)
        case .mapping(let entries):
            return YAMLNode(
                content: .mapping(entries.map { $0.with(applied(to: $0.value, &log)) }), position: node.position)
        }
    }

    private func applied(
        to text: String, quoted: Bool, _ position: Position, _ log: inout ReadingLog
    ) -> YAMLNode {
        var (plain, template) = ("", "")
        var rest = text[...]
        while let dollar = rest.firstRange(of: "${") {
            let before = rest[..<dollar.lowerBound]
            guard !before.hasSuffix("$") else {
                // `$${` is written for what is no parameter.
                plain += before
                template += before
                plain.removeLast()
                template.removeLast()
                plain += "${"
                template += "${{"
                rest = rest[dollar.upperBound...]
                if let close = rest.firstIndex(of: "}") {
                    plain += rest[...close]
                    template += rest[..<close] + "}}"
                    rest = rest[rest.index(after: close)...]
                }
                continue
            }
            plain += before
            template += before
            guard let close = rest[dollar.upperBound...].firstIndex(of: "}") else {
                log.problem(position, "'${' has no partner in '\(text)'; write $${ if it is no parameter")
                return YAMLNode(content: .scalar(text, quoted: quoted), position: position)
            }
            let name = String(rest[dollar.upperBound..<close])
            rest = rest[rest.index(after: close)...]
            guard let (_, value) = values[name] else {
                let hint = suggestion(for: name, among: Array(values.keys))
                let known =
                    "; \(values.isEmpty ? "declare it in 'parameters'" : "it knows \(listed(values.keys.sorted()))")"
                log.problem(position, "no parameter is called '\(name)'\(hint.isEmpty ? known : hint)")
                return YAMLNode(content: .scalar(text, quoted: quoted), position: position)
            }
            if plain.isEmpty, template.isEmpty, rest.isEmpty { return value.moved(to: position) }
            guard let words = value.text else {
                log.problem(position, "'${\(name)}' is a point, which has a place of its own and none within a text")
                return YAMLNode(content: .scalar(text, quoted: quoted), position: position)
            }
            plain += words
            template += value.template ?? words.replacing("{", with: "{{").replacing("}", with: "}}")
        }
        var node = YAMLNode(content: .scalar(plain + rest, quoted: quoted), position: position)
        node.template = template + rest
        return node
    }
}

/// The message about a value for a parameter that there is not.
func noParameter(_ name: String, among names: [String]) -> String {
    let hint = suggestion(for: name, among: names)
    let known = names.isEmpty ? "; the pipeline has none" : "; it knows \(listed(names))"
    return "no parameter is called '\(name)', which has a value\(hint.isEmpty ? known : hint)"
}

extension YAMLNode {
    /// The part of a pipeline that is the same for all pictures and uses a parameter; nil if none does.
    func generalPart(using parameter: String) -> Entry? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first {
            ["source", "limits", "policy", "tolerate", "preview", "raw"].contains($0.key) && $0.value.uses(parameter)
        }
    }

    /// `30% 70%` as the mapping that it stands for.
    fileprivate var asPoint: YAMLNode {
        guard let sides = text?.split(separator: " ").map(String.init), sides.count == 2,
            sides.allSatisfy({ $0.hasSuffix("%") })
        else { return self }
        let entries = zip(["x", "y"], sides).map {
            Entry(key: $0, keyPosition: position, value: YAMLNode(text: $1, position: position))
        }
        return YAMLNode(content: .mapping(entries), position: position)
    }

    fileprivate func uses(_ parameter: String) -> Bool {
        switch content {
        case .scalar(let text, _): text.contains("${\(parameter)}")
        case .list(let items): items.contains { $0.uses(parameter) }
        case .mapping(let entries): entries.contains { $0.value.uses(parameter) }
        }
    }

    /// The same at another place of the file.
    fileprivate func moved(to position: Position) -> YAMLNode {
        switch content {
        case .scalar(let text, _):
            var node = YAMLNode(content: content, position: position)
            node.template = template ?? text.replacing("{", with: "{{").replacing("}", with: "}}")
            return node
        case .list(let items):
            return YAMLNode(content: .list(items.map { $0.moved(to: position) }), position: position)
        case .mapping(let entries):
            return YAMLNode(
                content: .mapping(
                    entries.map { Entry(key: $0.key, keyPosition: position, value: $0.value.moved(to: position)) }),
                position: position)
        }
    }

    /// A text of a picture for whoever draws it: as the value of a field, which is no markup.
    fileprivate var asValue: YAMLNode {
        guard let text else { return self }
        var node = self
        node.template = TextTemplate.marked(text)
        return node
    }

    /// As it could be written in one line.
    fileprivate var flow: String {
        switch content {
        case .scalar(let text, _): text
        case .list(let items): "[" + items.map(\.flow).joined(separator: ", ") + "]"
        case .mapping(let entries): "{ " + entries.map { "\($0.key): \($0.value.flow)" }.joined(separator: ", ") + " }"
        }
    }
}
