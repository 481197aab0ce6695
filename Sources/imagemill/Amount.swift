// Values of pipelines and mill files, as options.
import ArgumentParser
import Pipeline

extension Count: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension AllowedFormats: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension ByteCount: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
