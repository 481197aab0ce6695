// Values of pipelines and mill files, as options.
import ArgumentParser
import Pipeline

/// Reads the value of an option.
/// - Throws: what is expected instead.
func readOption<Value: ParameterValue & ExpressibleByArgument>(_ text: String) throws -> Value {
    guard let value = Value(argument: text) else { throw ValidationError("expected \(Value.expectation)") }
    return value
}

extension Count: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension AllowedFormats: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    /// For the message about another word.
    package static var allValueStrings: [String] { words }
}

extension PositiveTime: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension ByteCount: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
