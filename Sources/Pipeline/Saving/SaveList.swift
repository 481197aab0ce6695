// `save` of a rendition: one format, several, or that of the source.

/// One way to save a rendition.
struct SaveWay: Sendable {
    let settings: SaveSettings
    /// As it would be written alone.
    let node: YAMLNode
    /// With `format: same`, the way for each format of a source; else empty.
    var sameFormat: [OutputFormat: SaveWay] = [:]
}

/// All ways to save a rendition.
struct SaveList: ParameterValue {
    let ways: [SaveWay]

    static var expectation: String { "a mapping such as { format: jpeg, quality: 82 }, or a list of them" }
    static var placeholder: SaveList {
        SaveList(ways: [
            SaveWay(settings: .placeholder, node: YAMLNode(text: "", position: Position(line: 1, column: 1)))
        ])
    }
    var written: String { ways.map(\.settings.written).joined(separator: ", ") }

    static var schema: JSONValue {
        let formats: JSONValue = [
            "type": "array", "minItems": 1, "uniqueItems": true, "items": SaveFormat.schema,
            "description": "A rendition for each format.",
        ]
        let options = SaveFormat.allCases.flatMap { SaveSettings.descriptions(of: $0) }.map {
            ($0.key, [:] as JSONValue)
        }
        let properties = Dictionary(options) { first, _ in first }.merging(["format": formats]) { $1 }
        let several: JSONValue = [
            "type": "object", "additionalProperties": false, "properties": .object(properties), "required": ["format"],
        ]
        let one: JSONValue = ["anyOf": [SaveSettings.schema, several]]
        return ["anyOf": [SaveSettings.schema, several, ["type": "array", "minItems": 1, "items": one]]]
    }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> SaveList? {
        switch node.content {
        case .mapping: return SaveList(ways: ways(node, &log))
        case .list(let items): return items.isEmpty ? nil : SaveList(ways: items.flatMap { ways($0, &log) })
        case .scalar(let text, _):
            let remedy = SaveFormat(word: text).map { "; write { format: \($0.rawValue) }" } ?? node.missingSpace
            log.problem(node.position, "'save' expects \(expectation), found \(node.found)\(remedy)")
            return nil
        }
    }

    private static func ways(_ node: YAMLNode, _ log: inout ReadingLog) -> [SaveWay] {
        guard case .mapping(let entries) = node.content else {
            let remedy =
                node.text.flatMap { SaveFormat(word: $0) }.map { "; write { format: \($0.rawValue) }" } ?? ""
            log.problem(
                node.position,
                "'save' expects a list of mappings such as { format: jpeg }, found \(node.found)\(remedy)")
            return []
        }
        guard let format = entries.first(where: { $0.key == "format" })?.value, case .list(let formats) = format.content
        else {
            return way(node, &log).map { [$0] } ?? []
        }
        if formats.isEmpty { log.problem(format.position, "'format' is an empty list: nothing would be written") }
        var ways: [SaveWay] = []
        for (index, item) in formats.enumerated() {
            guard let text = item.text else {
                log.problem(item.position, "expected \(SaveFormat.expectation), found \(item.found)")
                continue
            }
            let isSame = { (other: String?) in
                other == text || SaveFormat(word: text).map { $0 == other.flatMap(SaveFormat.init(word:)) } ?? false
            }
            if formats[..<index].contains(where: { isSame($0.text) }) {
                log.problem(item.position, "duplicate format '\(text)'; remove one of them")
                continue
            }
            let alone = entries.map { $0.key == "format" ? $0.with(item) : $0 }
            var trial = ReadingLog(catalogue: log.catalogue)
            ways += way(YAMLNode(content: .mapping(alone), position: node.position), &trial).map { [$0] } ?? []
            // A mistake that several formats share is reported once.
            for problem in trial.problems where !log.problems.contains(problem) {
                log.problem(problem.position, problem.message)
            }
        }
        return ways
    }

    private static func way(_ node: YAMLNode, _ log: inout ReadingLog) -> SaveWay? {
        let problemsBefore = log.problems.count
        guard let settings = SaveSettings.read(node, &log) else { return nil }
        guard case .mapping(let entries) = node.content, log.problems.count == problemsBefore,
            entries.contains(where: { $0.key == "format" && $0.value.text == SaveFormat.same.rawValue })
        else { return SaveWay(settings: settings, node: node) }
        var ways: [OutputFormat: SaveWay] = [:]
        for format in OutputFormat.allCases {
            let kept = entries.filter { $0.key != "quality" || format.declaration.isRatedByQuality }
            let alone = YAMLNode(content: .mapping(kept), position: node.position).replacing(
                "format", with: format.rawValue)
            ways[format] = SaveSettings.read(alone, &log).map { SaveWay(settings: $0, node: alone) }
        }
        return SaveWay(settings: settings, node: node, sameFormat: ways)
    }
}

/// The parameters of `save` with `format: same`.
struct SameFormatGroup: ParameterGroup {
    init(_ p: inout Parameters) {
        let _: SaveFormat = p.required(
            "format", "That of the source; HEIC becomes JPEG, or PNG if it has an alpha channel.")
        let _: Int? = p.optional(
            "quality", in: 1...100,
            "How good the picture is, if it is \(alternatives(OutputFormat.ratedByQuality.compactMap(\.asSource?.title))); default: the format's own."
        )
        _ = CommonSaveOptions(&p)
    }
}
