// `when:` and `require:`, what must be true of a source.

/// Requirements on a source, all of which must hold.
package struct Condition: ParameterMapping, Hashable {
    package let tests: [Test]

    /// One thing that must be true.
    package indirect enum Test: Hashable, Sendable {
        case flag(Flag, Bool)
        case format([SourceFormat])
        case shape([PictureShape])
        case number(Measure, Interval, written: String)
        case path(PathPart, PathPatterns)
        /// The source is a set, or is none.
        case set(Bool)
        /// The set has so many pictures.
        case count(Interval, written: String)
        case any([Condition])
        case not(Condition)
    }

    /// A property that a picture has or has not.
    package enum Flag: String, CaseIterable, Sendable {
        case alpha, transparent, animated, profile
    }

    /// A number of a picture.
    package enum Measure: String, CaseIterable, Sendable {
        case width, height, pixels, ratio
    }

    package enum PathPart: String, Sendable {
        case name, folder
    }

    package init(_ p: inout Parameters) {
        var tests: [Test] = []
        let flags: [(Flag, String)] = [
            (.alpha, "Whether the picture has an alpha channel."),
            (
                .transparent,
                "Whether a pixel is not opaque; of an animation, in its first frame. A picture with an alpha channel is decoded for that."
            ),
            (.animated, "Whether it has several frames that follow each other in time."),
            (.profile, "Whether it has a color profile."),
        ]
        for (flag, text) in flags {
            let value: Bool? = p.optional(flag.rawValue, text)
            if let value { tests.append(.flag(flag, value)) }
        }
        let formats: WordList<SourceFormat>? = p.optional("format", "The format of the file, or one of a list.")
        if let formats { tests.append(.format(formats.words)) }
        let shapes: WordList<PictureShape>? = p.optional(
            "orientation", "Whether it is a portrait, a landscape or a square, upright; or one of a list.")
        if let shapes { tests.append(.shape(shapes.words)) }
        let counts: [(Measure, String)] = [
            (.width, "Its width in pixels, upright."), (.height, "Its height in pixels, upright."),
            (.pixels, "Its width times its height."),
        ]
        for (measure, text) in counts {
            let bounds: Bounds<CountUnit>? = p.optional(measure.rawValue, text)
            if let bounds { tests.append(.number(measure, bounds.interval, written: bounds.written)) }
        }
        let ratio: Bounds<RatioUnit>? = p.optional(Measure.ratio.rawValue, "Its width divided by its height, upright.")
        if let ratio { tests.append(.number(.ratio, ratio.interval, written: ratio.written)) }
        let name: PathPatterns? = p.optional(
            "name", "Its file name, or the name of a set's folder: a pattern such as \"*-logo.*\", or one of a list.")
        if let name { tests.append(.path(.name, name)) }
        let folder: PathPatterns? = p.optional(
            "folder",
            "A folder that it is in, at any depth: a pattern such as \"logos\" or \"2026/*\", or one of a list.")
        if let folder { tests.append(.path(.folder, folder)) }
        let set: SetTest? = p.optional("set", "Whether it is a set, or how many pictures the set has.")
        if let set { tests.append(set.test) }
        let any: ConditionList? = p.optional("any", "Conditions of which one must hold.")
        if let any { tests.append(.any(any.conditions)) }
        let not: Condition? = p.optional("not", "A condition that must not hold.")
        if let not { tests.append(.not(not)) }
        self.tests = tests
        if name?.patterns.contains(where: { $0.text.contains("/") }) == true {
            p.problem(inValueOf: "name", "a file name has no '/'; use 'folder' for the folders")
        }
        p.problem(withoutAnyOf: Self.keys, "nothing is asked for; name a condition such as { alpha: true }")
    }

    private static let keys =
        Flag.allCases.map(\.rawValue) + Measure.allCases.map(\.rawValue) + [
            "format", "orientation", "name", "folder", "set", "any", "not",
        ]

    package static var owner: String { "the condition" }
    package static var expectation: String { "a mapping such as { width: \">= 2000\" }" }
    package static var schema: JSONValue { ["$ref": "#/$defs/condition"] }
    package static var placeholder: Condition { Condition([]) }
    package var written: String { "{}" }

    init(_ tests: [Test]) { self.tests = tests }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Condition? {
        log.conditionDepth += 1
        defer { log.conditionDepth -= 1 }
        if log.conditionDepth > mostLevels {
            log.problem(node.position, "conditions are in each other \(mostLevels) deep; write this one simpler")
            return placeholder
        }
        return Parameters.read(Condition.self, from: node, owner: owner, &log)
    }

    private static let mostLevels = 20

    /// Its tests, and those of the conditions within it.
    var allTests: [Test] {
        tests.flatMap { test in
            switch test {
            case .any(let conditions): [test] + conditions.flatMap(\.allTests)
            case .not(let condition): [test] + condition.allTests
            default: [test]
            }
        }
    }

    /// It asks for something that only the pixels show.
    package var needsPixels: Bool {
        allTests.contains { if case .flag(.transparent, _) = $0 { true } else { false } }
    }

    /// It asks for something that the file's bytes do not show.
    package var needsName: Bool {
        allTests.contains { if case .path = $0 { true } else { false } }
    }
}

/// The shape of a picture.
package enum PictureShape: String, ParameterWord {
    case portrait, landscape, square

    package init(of size: PixelSize) {
        self = size.width < size.height ? .portrait : size.width > size.height ? .landscape : .square
    }
}

extension SourceFormat: ParameterWord {}

/// One word, or a list of them: `png`, `[png, gif]`.
struct WordList<Word: ParameterWord>: ParameterValue {
    let words: [Word]

    static var expectation: String { Word.expectation + ", or a list of them" }
    static var schema: JSONValue {
        ["anyOf": [Word.schema, ["type": "array", "items": Word.schema, "minItems": 1]]]
    }
    static var placeholder: WordList { WordList(words: [Word.placeholder]) }
    var written: String { "[" + words.map(\.written).joined(separator: ", ") + "]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> WordList? {
        guard let items = node.oneOrSeveral else { return nil }
        let words = items.compactMap { Word.read($0, &log) }
        return words.count == items.count ? WordList(words: words) : nil
    }
}

/// One pattern of paths, or a list of them.
package struct PathPatterns: ParameterValue, Hashable {
    package let patterns: [PathPattern]

    package static var expectation: String { "a pattern such as \"*.png\", or a list of them" }
    package static var schema: JSONValue {
        let one: JSONValue = ["type": "string", "minLength": 1]
        return ["anyOf": [one, ["type": "array", "items": one, "minItems": 1]]]
    }
    package static var placeholder: PathPatterns { PathPatterns(patterns: []) }
    package var written: String {
        patterns.count == 1 ? patterns[0].text : "[" + patterns.map(\.text).joined(separator: ", ") + "]"
    }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> PathPatterns? {
        guard let items = node.oneOrSeveral else { return nil }
        let patterns = items.compactMap { item in item.isNull ? nil : item.text.flatMap { PathPattern($0) } }
        return patterns.count == items.count ? PathPatterns(patterns: patterns) : nil
    }
}

/// `set: true`, `set: ">= 3"`.
struct SetTest: ParameterValue {
    let test: Condition.Test

    static var expectation: String { "true, false, or a number of pictures such as \">= 3\"" }
    static var schema: JSONValue { ["anyOf": [["type": "boolean"], Bounds<CountUnit>.schema]] }
    static var placeholder: SetTest { SetTest(test: .set(true)) }
    var written: String { "true" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> SetTest? {
        if let isSet = Bool.read(node, &log) { return SetTest(test: .set(isSet)) }
        return Bounds<CountUnit>.read(node, &log).map {
            SetTest(test: .count($0.interval, written: $0.written))
        }
    }
}

/// `any: [{ … }, { … }]`.
struct ConditionList: ParameterValue {
    let conditions: [Condition]

    static var expectation: String { "a list of conditions" }
    static var schema: JSONValue {
        ["type": "array", "items": Condition.schema, "minItems": 1]
    }
    static var placeholder: ConditionList { ConditionList(conditions: []) }
    var written: String { "[]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> ConditionList? {
        guard case .list(let items) = node.content, !items.isEmpty else { return nil }
        return ConditionList(conditions: items.compactMap { Condition.read($0, &log) })
    }
}

extension YAMLNode {
    /// The items of a list that is not empty, or a scalar as the only one.
    var oneOrSeveral: [YAMLNode]? {
        switch content {
        case .scalar: isNull ? nil : [self]
        case .list(let items): items.isEmpty ? nil : items
        case .mapping: nil
        }
    }
}
