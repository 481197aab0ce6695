import ArgumentParser
import Engine
import Pipeline

/// How much one source may cost: what is the same on every machine.
struct SourceLimitOptions: ParsableArguments {
    @Option(help: "Most pixels of a source or a result, all frames together, such as 300M.")
    var maxPixels: Count?

    @Option(help: "Most frames of an animation.")
    var maxFrames: Count?

    @Option(help: "Most passes of a progressive JPEG.")
    var maxScans: Count?

    @Option(help: "Most bytes of a source, such as 1G.")
    var maxSourceBytes: ByteCount?

    @Option(help: "Most bytes of one rendition.")
    var maxOutputBytes: ByteCount?

    var limits: Limits {
        var limits = Limits()
        limits.maximumPixels = maxPixels?.value ?? limits.maximumPixels
        limits.maximumFrames = maxFrames?.value ?? limits.maximumFrames
        limits.maximumScans = maxScans?.value ?? limits.maximumScans
        limits.maximumSourceBytes = maxSourceBytes?.value ?? limits.maximumSourceBytes
        limits.maximumOutputBytes = maxOutputBytes?.value ?? limits.maximumOutputBytes
        return limits
    }
}

/// How much one source, and all that are under way, may cost.
struct LimitOptions: ParsableArguments {
    @OptionGroup
    var source: SourceLimitOptions

    @Option(help: "Memory for all workers together, such as 4G. Default: half of the machine's.")
    var maxMemory: ByteCount?

    var limits: Limits {
        var limits = source.limits
        limits.maximumMemory = maxMemory?.value ?? Machine.memory / 2
        return limits
    }

    var hasSourceLimits: Bool { source.limits != Limits() }
}
