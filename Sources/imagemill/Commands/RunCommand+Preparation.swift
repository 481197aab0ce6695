// The preparation of `imagemill run` before it starts a worker: the pipeline, the sources, and what is unchanged.
import ArgumentParser
import Engine
import Pipeline

extension RunCommand {
    /// The facts that are known before any worker is started.
    struct Preparation {
        let start: SuspendingClock.Instant
        let pipeline: LoadedPipeline
        /// The sources as the user named them.
        let roots: [BytePath]
        let found: FoundSources
        let setup: RunSetup
        let work: WorkList
        let outbox: OutboxLocation
        /// Kept, since it may hold a database.
        let files: OutputFolderFiles
        /// For standard input and output; nil if they are not used.
        let streams: StreamFolder?
        /// Nil if nothing is written.
        let lock: OutboxLock?
    }

    func prepare() throws -> Preparation {
        let start = SuspendingClock.now
        if quick.printPipeline { try printPipeline() }
        try refuseTooFewDescriptors(workers: 1, renditions: 1)
        let (pipeline, inputs) = try loadedPipeline()
        try refuseSeveralToStandardOutput(pipeline)
        do {
            let streams = inputs.contains("-") || output == "-" || (dryRun && isPage) ? try StreamFolder() : nil
            var roots = try RawArguments.paths(inputs.filter { $0 != "-" }) + search.listed()
            let folder = RawArguments.paths([output ?? ""])[0]
            let written = isToStandardOutput ? streams?.output : nil
            let outbox = OutboxLocation(written ?? folder, state: state.map { RawArguments.paths([$0])[0] })
            try refuseOutputs(outbox, roots)
            let input =
                try inputs.contains("-") ? streams?.takeInput(limit: limitOptions.limits.maximumSourceBytes + 1) : nil
            if let input { roots.append(input) }
            var found = find(roots, outbox: outbox, standardInput: input, for: pipeline)
            var files = OutputFolderFiles(outbox)
            try refuseForeignPictures(found, in: files, for: pipeline)
            files.leaveOutRenditions(in: &found, named: roots)
            tell(found)
            try refuseSourcesToStandardOutput(found)
            try refusePictureName(outbox.path, roots, found, pipeline)
            let writes = !dryRun && why == nil
            if writes { try refuseMissing(found, outbox) }
            let lock = writes ? try lockOutput(outbox, makesThumbnails: pipeline.file.makesThumbnails) : nil
            if let note = lock?.note { printError("note: \(note)") }
            let setup = RunSetup(
                pipeline, keepsTree: keepTree, collision: collision,
                policy: limitOptions.source.policy ?? WarningPolicy())
            let doesAll = force || why != nil
            var work =
                doesAll
                ? WorkList(toDo: found.sources)
                : WorkList(
                    found.sources, setup, for: pipeline.file, outbox: outbox,
                    isDryRun: dryRun)
            work.passedOver = found.passedOver.count
            let preparation = Preparation(
                start: start, pipeline: pipeline, roots: roots, found: found, setup: setup, work: work, outbox: outbox,
                files: files, streams: streams, lock: lock)
            try refuseTooFewDescriptors(
                workers: workerCount(for: preparation), renditions: pipeline.file.renditions.count)
            return preparation
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: pipeline.file.name)
        }
    }

    /// Prints the pipeline that is named, or the one that the options make.
    private func printPipeline() throws {
        if !quick.isAny, !inputs.isEmpty {
            let path = try PipelineArgument(among: inputs).path
            try PipelineArgument.refuseMistyped(path)
            do {
                printOutput(try LoadedPipeline.text(of: path))
            } catch {
                throw ExitStatus.explaining(error, reading: path)
            }
            throw ExitCode.success
        }
        _ = try quick.pipeline()
        printOutput("# Save this as my.yaml and run it: imagemill run my.yaml photos/ -o out/\n" + quick.text)
        throw ExitCode.success
    }

    var isToStandardOutput: Bool { output == "-" }

    private func find(
        _ roots: [BytePath], outbox: OutboxLocation, standardInput: BytePath?, for pipeline: LoadedPipeline
    ) -> FoundSources {
        let cache = cache.map { RawArguments.paths([$0])[0] }
        let rules = WalkRules(
            outbox: outbox.path, cache: cache, kind: pipeline.file.source, filter: search.filter,
            allowed: limitOptions.limits.allowed, takesSidecars: !pipeline.file.settings.isEmpty,
            raw: pipeline.file.raw)
        var found = SourceWalk.find(roots, rules)
        if !quiet { SearchOptions.warn(ofUnused: found.unusedExclusions, below: roots) }
        if let standardInput {
            found.sources = found.sources.map { $0.typed == standardInput ? $0.shown(as: "standard input") : $0 }
        }
        return found
    }

    private func tell(_ found: FoundSources) {
        if !quiet { found.notes.forEach { printError("note: \($0)") } }
        if verbose { found.passedOver.forEach { printError("passed over: \($0.path.printable)") } }
    }

    /// The pipeline, and the sources that were named.
    private func loadedPipeline() throws -> (LoadedPipeline, [String]) {
        if quick.isAny { return (try quick.pipeline(), inputs) }
        let argument = try PipelineArgument(among: inputs)
        try PipelineArgument.refuseMistyped(argument.path)
        do {
            return (
                try LoadedPipeline(path: argument.path, given: limitOptions.source.parameters.given), argument.others
            )
        } catch {
            throw ExitStatus.explaining(error, reading: argument.path)
        }
    }
}
