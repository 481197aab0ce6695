// The declaration of parameters, made once and read in two modes.

/// The description of one parameter, for the schema, the docs and `imagemill stages`.
package struct ParameterDescription: Sendable {
    package let key: String
    package let text: String
    package let isRequired: Bool
    // Worked out when they are asked for: reading a file, which every start does, needs the keys alone.
    fileprivate let makeExpectation: @Sendable () -> String
    fileprivate let makeSchema: @Sendable () -> JSONValue
    fileprivate let makeDefaultText: @Sendable () -> String?

    package var expectation: String { makeExpectation() }
    package var schema: JSONValue { makeSchema() }
    /// The default as a user would write it; nil if there is none.
    package var defaultText: String? { makeDefaultText() }
}

/// The parameters of a stage, of `save`, or of the whole file.
///
/// An initialiser that takes one of these declares its parameters by asking for them. In *reading* mode that decodes a
/// YAML mapping and notes every mistake with its position; in *describing* mode the same calls only write down what was
/// asked for. So an initialiser must ask for the same keys whatever the values are.
package struct Parameters {
    private enum Mode {
        case describing
        /// The mapping's entries, the place to blame for what is missing, and how the thing is called in messages.
        case reading([YAMLNode.Entry], Position, owner: String)
    }

    private let mode: Mode
    package private(set) var log: ReadingLog
    package private(set) var descriptions: [ParameterDescription] = []
    /// The parameters that must be there and are not, with what is expected.
    private var missing: [(key: String, expectation: String)] = []
    /// The keys whose values were not what was expected and were replaced by placeholders.
    private var brokenKeys: Set<String> = []

    private init(mode: Mode, log: ReadingLog) {
        self.mode = mode
        self.log = log
    }

    /// The parameters that a type's initializer asks for.
    package static func describe(
        _ type: any ParameterGroup.Type, catalogue: StageCatalogue = StageCatalogue([])
    ) -> [ParameterDescription] {
        var parameters = Parameters(mode: .describing, log: ReadingLog(catalogue: catalogue))
        _ = type.init(&parameters)
        return parameters.descriptions
    }

    /// A value of a type for which nothing is written.
    package static func usual<Group: ParameterGroup>(_ type: Group.Type) -> Group {
        var parameters = Parameters(mode: .describing, log: ReadingLog(catalogue: StageCatalogue([])))
        return Group(&parameters)
    }

    /// Reads a mapping as a type.
    /// - Parameter owner: the thing in the user's words, such as `stage 'crop'`.
    package static func read<Group: ParameterGroup>(
        _ type: Group.Type, from node: YAMLNode, owner: String, _ log: inout ReadingLog
    ) -> Group? {
        let entries: [YAMLNode.Entry]
        switch node.content {
        case .mapping(let found): entries = found
        case .scalar where node.isNull: entries = []
        case .scalar, .list:
            let keys = describe(type, catalogue: log.catalogue)
            let named = keys.filter(\.isRequired).isEmpty ? Array(keys.prefix(3)) : keys.filter(\.isRequired)
            let example = named.isEmpty ? "" : " with " + named.map { "'\($0.key)'" }.joined(separator: ", ")
            log.problem(node.position, "\(owner) expects a mapping\(example), found \(node.found)\(node.missingSpace)")
            return nil
        }
        var parameters = Parameters(mode: .reading(entries, node.position, owner: owner), log: log)
        let group = Group(&parameters)
        let meant = parameters.refuseUnknownAndMissingKeys()
        log = parameters.log
        if !meant.isEmpty { log.adopt(problems(in: entries, meant, as: type, like: log)) }
        return group
    }

    /// Reads the mapping as if its misspelt keys were spelt right, so that what is wrong below them shows in the same
    /// pass.
    /// - Parameter meant: the keys, by how they are written.
    private static func problems<Group: ParameterGroup>(
        in entries: [YAMLNode.Entry], _ meant: [String: String], as type: Group.Type, like log: ReadingLog
    ) -> ReadingLog {
        // Once: another time for each level would double with each.
        guard !log.isTrial, let position = entries.first?.keyPosition else { return log }
        let respelt = entries.map {
            YAMLNode.Entry(key: meant[$0.key] ?? $0.key, keyPosition: $0.keyPosition, value: $0.value)
        }
        var parameters = Parameters(mode: .reading(respelt, position, owner: ""), log: log.trial)
        _ = Group(&parameters)
        // Problems of the mapping itself and of its keys may only follow from the guess.
        return parameters.log.without(problemsAt: [position] + entries.map(\.keyPosition))
    }

    /// A value that must be there.
    package mutating func required<Value: ParameterValue>(_ key: String, _ text: String) -> Value {
        describe(key, text: text, as: Value.self, isRequired: true)
        if let value: Value = value(key) { return value }
        missing.append((key, Value.expectation))
        return Value.placeholder
    }

    /// A value with a default.
    package mutating func optional<Value: ParameterValue>(_ key: String, _ fallback: Value, _ text: String) -> Value {
        describe(key, text: text, isRequired: false, default: fallback)
        return value(key) ?? fallback
    }

    /// A value that may be missing.
    package mutating func optional<Value: ParameterValue>(_ key: String, _ text: String) -> Value? {
        describe(key, text: text, as: Value.self, isRequired: false)
        return value(key)
    }

    /// A number that must be there, within a range.
    package mutating func required<Value: ParameterNumber>(
        _ key: String, in range: ClosedRange<Value>, _ text: String
    ) -> Value {
        describe(key, text: text, isRequired: true, range: range)
        if let value = value(key, in: range) { return value }
        missing.append((key, Self.expectation(range)))
        return range.lowerBound
    }

    /// A number that may be missing, within a range.
    package mutating func optional<Value: ParameterNumber>(
        _ key: String, in range: ClosedRange<Value>, _ text: String
    ) -> Value? {
        describe(key, text: text, isRequired: false, range: range)
        return value(key, in: range)
    }

    /// A number with a default, within a range.
    package mutating func optional<Value: ParameterNumber>(
        _ key: String, _ fallback: Value, in range: ClosedRange<Value>, _ text: String
    ) -> Value {
        describe(key, text: text, isRequired: false, default: fallback, range: range)
        return value(key, in: range) ?? fallback
    }

    /// A number with a default, within a range, or a mapping in its place.
    package mutating func optional<Value: ParameterNumber, Mapping: ParameterMapping>(
        _ key: String, _ fallback: Value, in range: ClosedRange<Value>, or mapping: Mapping.Type, _ text: String
    ) -> NumberOrMapping<Value, Mapping> {
        descriptions.append(
            ParameterDescription(
                key: key, text: text, isRequired: false,
                makeExpectation: { "\(Self.expectation(range)), or \(Mapping.expectation)" },
                makeSchema: { ["anyOf": [Self.schema(range), Mapping.schema]] }, makeDefaultText: { fallback.written }))
        if case .mapping = node(key)?.content, let mapping: Mapping = value(key) { return .mapping(mapping) }
        return .number(value(key, in: range) ?? fallback)
    }

    /// Whether the user wrote this key. Always false when describing.
    package func has(_ key: String) -> Bool { node(key) != nil }

    /// Whether what is written for these keys was understood, and no misspelt key may mean one of them. Asked after all
    /// keys of the type.
    package func understood(_ keys: String...) -> Bool { understood(keys) }

    private func understood(_ keys: [String]) -> Bool {
        guard case .reading(let entries, _, _) = mode else { return true }
        let known = descriptions.map(\.key)
        let meant = entries.filter { !known.contains($0.key) }.compactMap { nearestWord(to: $0.key, among: known) }
        return brokenKeys.isDisjoint(with: keys) && !meant.contains(where: keys.contains)
    }

    /// Notes a mistake that no single value shows, such as two parameters that exclude each other.
    ///
    /// Without a key, or if the key is not written, the mapping itself is the place. Does nothing when describing, nor
    /// if a value was not understood: what follows from a placeholder is no mistake of the user's.
    package mutating func problem(at key: String? = nil, _ message: String) {
        guard case .reading(let entries, let position, _) = mode, brokenKeys.isEmpty else { return }
        let entry = entries.first { $0.key == key }
        log.problem(entry?.keyPosition ?? position, message)
    }

    /// Notes a mistake in the value of a key, as `problem(at:_:)` does.
    package mutating func problem(inValueOf key: String, _ message: String) {
        guard let node = node(key), brokenKeys.isEmpty else { return }
        log.problem(node.position, message)
    }

    /// Notes a mistake if none of these keys is written, and no misspelt one may mean one of them. Asked after all keys
    /// of the type.
    package mutating func problem(withoutAnyOf keys: [String], _ message: String) {
        if !keys.contains(where: has), understood(keys) { problem(message) }
    }

    /// Notes a mistake at a place of its own; once, however many renditions show it.
    mutating func problem(position: Position, _ message: String) {
        if !log.problems.contains(Diagnostic(position, message)) { log.problem(position, message) }
    }

    // MARK: -

    private func node(_ key: String) -> YAMLNode? {
        guard case .reading(let entries, _, _) = mode else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// The remedy, if quotes or a unit are all that is wrong.
    private func remedy<Value: ParameterValue>(for node: YAMLNode, _ type: Value.Type) -> String {
        func isUnderstood(_ text: String) -> Bool {
            var trial = ReadingLog(catalogue: log.catalogue)
            let plain = YAMLNode(content: .scalar(text, quoted: false), position: node.position)
            return !plain.isNull && Value.read(plain, &trial) != nil && trial.problems.isEmpty
        }
        guard case .scalar(let text, let quoted) = node.content else { return "" }
        if quoted && isUnderstood(text) { return "; write \(text) without quotes" }
        // `80%` may be meant as 80 only if a whole number is expected.
        let units = ["px", "pt", "points", "pixels", "deg", "°"] + (Value.self is Int.Type ? ["%"] : [])
        for unit in units where text.hasSuffix(unit) {
            let number = String(text.dropLast(unit.count).reversed().drop { $0 == " " }.reversed())
            if isUnderstood(number) { return "; write \(number) without a unit" }
        }
        return ""
    }

    private mutating func value<Value: ParameterValue>(
        _ key: String, expectation: @autoclosure () -> String = Value.expectation
    ) -> Value? {
        guard let node = node(key) else { return nil }
        let problemsBefore = log.problems.count
        defer { if log.problems.count > problemsBefore { brokenKeys.insert(key) } }
        if let value = Value.read(node, &log) { return value }
        if log.problems.count == problemsBefore {
            log.problem(
                node.position, "'\(key)' expects \(expectation()), found \(node.found)\(remedy(for: node, Value.self))")
        }
        // The mistake is noted; any value lets the reading go on.
        return Value.placeholder
    }

    private mutating func value<Value: ParameterNumber>(_ key: String, in range: ClosedRange<Value>) -> Value? {
        let problemsBefore = log.problems.count
        guard let value: Value = value(key, expectation: Self.expectation(range)) else { return nil }
        guard log.problems.count == problemsBefore else { return range.lowerBound }
        guard range.contains(value) else {
            log.problem(
                node(key)?.position ?? Position(line: 1, column: 1),
                "'\(key)' expects \(Self.expectation(range)), found \(value.written)")
            return range.lowerBound
        }
        return value
    }

    private mutating func describe<Value: ParameterValue>(
        _ key: String, text: String, as type: Value.Type = Value.self, isRequired: Bool, default fallback: Value? = nil
    ) {
        descriptions.append(
            ParameterDescription(
                key: key, text: text, isRequired: isRequired, makeExpectation: { Value.expectation },
                makeSchema: { Value.schema }, makeDefaultText: { fallback?.written }))
    }

    private mutating func describe<Value: ParameterNumber>(
        _ key: String, text: String, isRequired: Bool, default fallback: Value? = nil, range: ClosedRange<Value>
    ) {
        descriptions.append(
            ParameterDescription(
                key: key, text: text, isRequired: isRequired, makeExpectation: { Self.expectation(range) },
                makeSchema: { Self.schema(range) }, makeDefaultText: { fallback?.written }))
    }

    private static func schema<Value: ParameterNumber>(_ range: ClosedRange<Value>) -> JSONValue {
        Value.schema.merging(["minimum": range.lowerBound.json, "maximum": range.upperBound.json])
    }

    private static func expectation<Value: ParameterNumber>(_ range: ClosedRange<Value>) -> String {
        "\(Value.expectation) from \(range.lowerBound.written) to \(range.upperBound.written)"
    }

    /// - Returns: the keys that misspelt ones are likely to be, by how they are written; none that is there already.
    private mutating func refuseUnknownAndMissingKeys() -> [String: String] {
        guard case .reading(let entries, let position, let owner) = mode else { return [:] }
        let known = descriptions.map(\.key)
        var meant: [String: String] = [:]
        for entry in entries where !known.contains(entry.key) {
            let nearest = nearestWord(to: entry.key, among: known)
            let list = known.isEmpty ? "it has no parameters" : "it knows \(known.joined(separator: ", "))"
            log.problem(
                entry.keyPosition,
                "unknown key '\(entry.key)' in \(owner); \(nearest.map { "did you mean '\($0)'?" } ?? list)")
            if let nearest { meant[entry.key] = nearest }
        }
        // A misspelt key is one mistake, not two.
        for (key, expectation) in missing where !meant.values.contains(key) {
            log.problem(position, "\(owner) needs '\(key)': \(expectation)")
        }
        return meant.filter { !has($0.value) }
    }
}

/// A parameter for which a number is written, or a mapping.
package enum NumberOrMapping<Value: ParameterNumber, Mapping: ParameterMapping>: Sendable {
    case number(Value)
    case mapping(Mapping)
}

/// A type whose initialiser declares its parameters.
package protocol ParameterGroup: Sendable {
    init(_ p: inout Parameters)
}

extension ParameterGroup {
    /// The JSON Schema of the mapping.
    package static func mappingSchema(catalogue: StageCatalogue = StageCatalogue([])) -> JSONValue {
        var properties: [String: JSONValue] = [:]
        var required: [JSONValue] = []
        for parameter in Parameters.describe(Self.self, catalogue: catalogue) {
            var schema = parameter.schema.merging(["description": .string(parameter.text)])
            if let fallback = parameter.defaultText {
                schema = schema.merging(["default": jsonValue(written: fallback)])
            }
            properties[parameter.key] = schema
            if parameter.isRequired { required.append(.string(parameter.key)) }
        }
        let base: JSONValue = ["type": "object", "additionalProperties": false]
        return base.merging(["properties": .object(properties), "required": .array(required)])
    }
}

/// A written value as JSON: numbers and booleans as such, all else as a text.
private func jsonValue(written text: String) -> JSONValue {
    if let whole = Int(text) { return .int(whole) }
    if let number = finiteNumber(text) { return .double(number) }
    return text == "true" || text == "false" ? .bool(text == "true") : .string(text)
}
