// Numbers with a unit behind, as options.
import ArgumentParser
import Pipeline

extension Count: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension ByteCount: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
