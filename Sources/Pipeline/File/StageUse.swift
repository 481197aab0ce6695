// The `stages` of a pipeline file: a list of one-key mappings, each a stage of the catalogue.

/// One stage as a pipeline uses it.
package struct StageUse: Sendable {
    package let stage: any StageDeclaration
    package let position: Position
    /// The condition that a source must meet; nil if the stage is used for all sources.
    package let condition: Condition?
    /// Its settings without the condition, as one text, equal for all uses that say the same.
    let canonical: String

    package var name: String { type(of: stage).name }
}

/// An ordered list of stages.
package struct StageList: ParameterValue {
    package let uses: [StageUse]

    package init(_ uses: [StageUse]) { self.uses = uses }

    package static var expectation: String { "a list of stages, each written as '- name: { parameters }'" }
    package static var schema: JSONValue { ["$ref": "#/$defs/stages"] }
    package static var placeholder: StageList { StageList([]) }
    package var written: String { "[]" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> StageList? {
        if node.isNull { return StageList([]) }
        guard case .list(let items) = node.content else { return nil }
        return StageList(items.compactMap { use($0, &log) })
    }

    private static func use(_ item: YAMLNode, _ log: inout ReadingLog) -> StageUse? {
        guard let (name, position, written) = parts(of: item, &log) else { return nil }
        let (parameters, when) = written.taking("when")
        let condition = when.flatMap { readCondition($0, &log) }
        guard let type = log.catalogue.stage(named: name) else {
            let hint = suggestion(for: name, among: log.catalogue.names)
            let list = "; the stages are \(log.catalogue.names.joined(separator: ", "))"
            let word = String(name.prefix { $0 != " " && $0 != "{" })
            let colon = log.catalogue.stage(named: word) == nil ? nil : "; write a colon after '\(word)'"
            log.problem(position, "unknown stage '\(name)'\(colon ?? (hint.isEmpty ? list : hint))")
            if let meant = nearestWord(to: name, among: log.catalogue.names).flatMap(log.catalogue.stage),
                parameters.hasOnlyKeys(of: meant)
            {
                _ = read(meant, from: parameters, &log)
            }
            return nil
        }
        if let when, type is any JoiningStage.Type {
            log.problem(when.keyPosition, "a set is joined whatever it is; put 'when' on the rendition")
        }
        let stage = log.withinStage { read(type, from: parameters, &$0) }
        return stage.map {
            StageUse(
                stage: $0, position: position, condition: condition,
                canonical: name + ":" + parameters.canonical)
        }
    }

    private static func readCondition(_ when: YAMLNode.Entry, _ log: inout ReadingLog) -> Condition? {
        if log.isWithinStage {
            log.problem(
                when.keyPosition,
                "'when' has its place at the stages of the pipeline and of a rendition, and not at stages within a stage"
            )
        }
        return Condition.read(when.value, &log)
    }

    private static func read<Stage: StageDeclaration>(
        _ type: Stage.Type, from node: YAMLNode, _ log: inout ReadingLog
    ) -> (any StageDeclaration)? {
        Parameters.read(type, from: node, owner: "stage '\(Stage.name)'", &log)
    }

    /// `- name: { … }`, or just `- name` for a stage that needs no parameters.
    private static func parts(of item: YAMLNode, _ log: inout ReadingLog) -> (
        name: String, position: Position, parameters: YAMLNode
    )? {
        switch item.content {
        case .scalar(let name, _):
            return (name, item.position, YAMLNode(content: .mapping([]), position: item.position))
        case .mapping(let entries):
            if entries.count == 1 { return (entries[0].key, entries[0].keyPosition, entries[0].value) }
            guard entries.count > 1, entries[0].value.isNull else {
                log.problem(
                    item.position,
                    "a stage is one name with its parameters; found \(entries.count) keys, start each with a '-' of its own"
                )
                return nil
            }
            let message =
                "'\(entries[1].key)' belongs to '\(entries[0].key)': indent it further than '\(entries[0].key)'"
            log.problem(entries[1].keyPosition, message)
        case .list: log.problem(item.position, "expected a stage, found a list")
        }
        return nil
    }
}

extension YAMLNode {
    /// Whether it is a mapping with at least one key, and the type knows all of its keys.
    fileprivate func hasOnlyKeys(of type: any ParameterGroup.Type) -> Bool {
        guard case .mapping(let entries) = content, !entries.isEmpty else { return false }
        let known = Parameters.describe(type).map(\.key)
        return entries.allSatisfy { known.contains($0.key) }
    }
}

extension StageCatalogue {
    /// The JSON Schema of a list of these stages.
    package var listSchema: JSONValue {
        let items = stages.map { stage -> JSONValue in
            let named: JSONValue = [
                "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
            ]
            let parameters = stage.mappingSchema(catalogue: self).merging(["description": .string(stage.summary)])
            let usable =
                stage is any JoiningStage.Type ? parameters : parameters.adding(property: "when", Condition.schema)
            return named.merging(["properties": .object([stage.name: usable])])
        }
        let bare: JSONValue = ["enum": .array(names.map { .string($0) })]
        return ["type": "array", "items": ["anyOf": .array(items + [bare])]]
    }
}
