// A type that a parameter can have: how it is read from YAML, and how it is described to people and editors.

/// A type that a parameter can have.
package protocol ParameterValue: Sendable {
    /// The expected value, as a message has it after "expected": `a length such as 120 or 50%`.
    static var expectation: String { get }
    /// The JSON Schema of its YAML form.
    static var schema: JSONValue { get }
    /// Any valid value. It replaces one that has a mistake, so that reading goes on and finds the next mistake.
    static var placeholder: Self { get }
    /// The value, or nil after the mistake is noted in `log`. A nil with nothing noted means "not what was expected".
    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Self?
    /// The value as a user writes it in YAML.
    var written: String { get }
}

/// A value that is a mapping with parameters of its own: `{ x: 8, y: 8 }`.
package protocol ParameterMapping: ParameterValue, ParameterGroup {
    /// The owner of the parameters, in messages: `the rectangle`.
    static var owner: String { get }
}

extension ParameterMapping {
    package static var schema: JSONValue { mappingSchema() }
    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Self? {
        Parameters.read(Self.self, from: node, owner: owner, &log)
    }
}

/// The findings from reading a file besides values: mistakes, and the assets that it names.
package struct ReadingLog: Sendable {
    /// The stages that the file may name.
    package let catalogue: StageCatalogue
    package private(set) var problems: [Diagnostic] = []
    /// The assets that were named, in the order of the text.
    package private(set) var assets: [AssetReference] = []

    /// Misspelt keys are read as those that they probably mean.
    let isTrial: Bool
    /// The parameters of a stage are read.
    private(set) var isWithinStage = false
    /// How many conditions the present one is in, with itself.
    var conditionDepth = 0

    init(catalogue: StageCatalogue, isTrial: Bool = false) { (self.catalogue, self.isTrial) = (catalogue, isTrial) }

    /// Reads the parameters of a stage.
    mutating func withinStage<Value>(_ read: (inout ReadingLog) -> Value) -> Value {
        let outer = isWithinStage
        isWithinStage = true
        defer { isWithinStage = outer }
        return read(&self)
    }

    /// An empty log for another reading at the same place, in which misspelt keys are read as what they probably mean.
    var trial: ReadingLog {
        var log = ReadingLog(catalogue: catalogue, isTrial: true)
        (log.isWithinStage, log.conditionDepth) = (isWithinStage, conditionDepth)
        return log
    }

    func without(problemsAt positions: [Position]) -> ReadingLog {
        var log = self
        log.problems.removeAll { positions.contains($0.position) }
        return log
    }

    /// Adds what another reading of the same text has found besides.
    mutating func adopt(_ other: ReadingLog) {
        problems += other.problems.filter { !problems.contains($0) }
        assets += other.assets.filter { !assets.contains($0) }
    }

    package mutating func problem(_ position: Position, _ message: String) {
        problems.append(Diagnostic(position, message))
    }

    package mutating func asset(_ reference: AssetReference) { assets.append(reference) }
}

/// An asset as a pipeline names it.
package struct AssetReference: Equatable, Sendable {
    package enum Kind: Sendable {
        case picture, font
        /// A .cube file.
        case colorTable
        /// An .icc file.
        case profile
    }

    /// The path as written; relative to the pipeline file.
    package let path: String
    package let kind: Kind
    package let position: Position
}
