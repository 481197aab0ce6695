import ArgumentParser
import Engine
import Pipeline
import System

/// The limits on what one source may be and cost, which are the same on every machine.
struct SourceLimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also reads these formats: \(AllowedFormats.explanation)",
            valueName: "format,..."))
    var allow: AllowedFormats?

    @Option(
        help: ArgumentHelp(
            "The action on warnings, ignore, warn or fail: upscaled=fail. Stronger than `policy` in the pipeline.",
            valueName: "warning=action,..."), transform: { try WarningPolicy(option: $0) })
    var policy: WarningPolicy?

    @OptionGroup
    var parameters: ParameterOptions

    @Option(help: help("max-pixels"), transform: readOption)
    var maxPixels: Count?

    @Option(help: help("max-side"), transform: readOption)
    var maxSide: Count?

    @Option(help: help("max-bands"), transform: readOption)
    var maxBands: Count?

    @Option(help: help("max-frames"), transform: readOption)
    var maxFrames: Count?

    @Option(help: help("max-scans"), transform: readOption)
    var maxScans: Count?

    @Option(help: help("max-source-bytes"), transform: readOption)
    var maxSourceBytes: ByteCount?

    @Option(help: help("max-metadata-bytes"), transform: readOption)
    var maxMetadataBytes: ByteCount?

    @Option(help: help("max-profile-bytes"), transform: readOption)
    var maxProfileBytes: ByteCount?

    @Option(help: help("max-output-bytes"), transform: readOption)
    var maxOutputBytes: ByteCount?

    @Option(help: help("max-time"), transform: readOption)
    var maxTime: PositiveTime?

    @Option(help: help("max-cpu-time"), transform: readOption)
    var maxCpuTime: PositiveTime?

    /// The value of each limit that was given, by its name.
    private var values: [(name: String, value: Int?)] {
        [
            ("max-pixels", maxPixels?.value),
            ("max-side", maxSide?.value),
            ("max-bands", maxBands?.value),
            ("max-frames", maxFrames?.value),
            ("max-scans", maxScans?.value),
            ("max-source-bytes", maxSourceBytes?.value),
            ("max-metadata-bytes", maxMetadataBytes?.value),
            ("max-profile-bytes", maxProfileBytes?.value),
            ("max-output-bytes", maxOutputBytes?.value),
            ("max-time", maxTime?.milliseconds),
            ("max-cpu-time", maxCpuTime?.milliseconds),
        ]
    }

    var limits: Limits {
        var limits = Limits()
        limits.allowed = allow?.formats ?? []
        for case (let name, let value?) in values { limits[keyPath: LimitSetting.named(name).value] = value }
        return limits
    }

    var given: [RunCommand.GivenOption] {
        [("--allow", allow != nil), ("--policy", policy != nil), ("--set", !parameters.settings.isEmpty)]
            + values.map { ("--" + $0.name, $0.value != nil) }
    }
}

private func help(_ name: String) -> ArgumentHelp {
    ArgumentHelp(LimitSetting.named(name).help)
}

/// How much one source, and all that are under way, may cost.
struct LimitOptions: ParsableArguments {
    @OptionGroup
    var source: SourceLimitOptions

    @Option(help: "Memory for all workers together, such as 4G. Default: half of the machine's.", transform: readOption)
    var maxMemory: ByteCount?

    func validate() throws {
        guard let maxMemory, maxMemory.value < CostModel.base else { return }
        throw ValidationError("--max-memory is less than any picture needs; allow \(CostModel.smallestBudget) or more")
    }

    var limits: Limits {
        var limits = source.limits
        limits.maximumMemory = maxMemory?.value ?? Machine.memory / 2
        return limits
    }
}
