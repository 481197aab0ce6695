// Values of pipelines and mill files, as options.
import ArgumentParser
import Pipeline

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
