import ArgumentParser

/// Values for the parameters of a pipeline.
struct ParameterOptions: ParsableArguments {
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "A value for a parameter of the pipeline; may be given several times.", valueName: "name=value"))
    var settings: [String] = []

    func validate() throws {
        var names: Set<Substring> = []
        for setting in settings {
            guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else {
                throw ValidationError("--set expects a name and a value such as side=100, found '\(setting)'")
            }
            guard names.insert(setting[..<equals]).inserted else {
                throw ValidationError("--set has '\(setting[..<equals])' twice")
            }
        }
    }

    /// The values by name.
    var given: [String: String] {
        Dictionary(
            settings.compactMap { setting in
                setting.firstIndex(of: "=").map {
                    (String(setting[..<$0]), String(setting[setting.index(after: $0)...]))
                }
            }
        ) { $1 }
    }
}
