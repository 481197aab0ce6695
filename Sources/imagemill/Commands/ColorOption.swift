import ArgumentParser

/// `--color`: declared here, and read by `Paint`.
struct ColorOption: ParsableArguments {
    enum Choice: String, CaseIterable, ExpressibleByArgument { case auto, always, never }

    @Option(help: "Colors: auto (on a terminal, unless NO_COLOR is set), always or never.")
    var color = Choice.auto
}
