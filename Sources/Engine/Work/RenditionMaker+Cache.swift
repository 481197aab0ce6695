// Renditions that need not be made, and those that are kept for the next time.
import Messages
import Pipeline
import System

extension RenditionMaker {
    /// The outputs from the cache, if it has every rendition; no worker is asked.
    /// - Returns: nil if something must be made.
    func cachedOutputs(
        _ work: inout SourceWork, _ task: SourceTask, names choose: NameChoice
    ) throws -> [StagedFile]? {
        let (opened, settings) = (task.opened, task.settings)
        guard let cache = settings.cache, !settings.isDryRun else { return nil }
        // Another worker may have found other values for the pipeline's parameters.
        if work.cached == nil || work.report.parameters != work.cachedFor {
            work.cached = try lookUp(&work, task, in: cache)
            work.cachedFor = work.report.parameters
        }
        guard let cached = work.cached, let facts = cached.facts, let planner = cachePlanner(settings) else {
            return nil
        }
        // A plan that fails here fails again with the facts of the source itself.
        guard let applied = try appliedByHeader(to: facts.input(work.source.name), task) else { return nil }
        let input = applied.input
        let texts = try texts(on: input, of: task, hash: work.report.source.sha256)
        let ownPlanner = applied.planner(planner, saying: texts)
        guard let plan = try? input.plan(by: ownPlanner), let sizes = cached.sizes(of: plan),
            let warnings = ownPlanner.needsMeasurement ? cached.plannedWarnings(of: plan) : plan.warnings
        else {
            return nil
        }
        // The plan has bounds for some sizes; the cached renditions have the sizes themselves.
        let known = plan.with(sizes: sizes)
        work.report.source.describe(input, opened)
        try work.begin(opened.warnings(work.source.name) + warnings, of: task, stage: "plan")
        let subject = PlannedInput(plan: known, input: input)
        let names = try names(for: subject, &work, task, by: choose)
        work.reportNames(names, of: known)
        let outputs = try stage(Array(names.prefix(known.renditions.count)), settings)
        let filled = try filled(outputs, plan, from: &work.cached)
        guard !filled.contains(where: { $0 == nil }) else { return nil }
        try checkUnchanged(opened)
        try note(filled, &work, task)
        return try finish(outputs, of: subject, &work, task, by: choose)
    }

    private func lookUp(
        _ work: inout SourceWork, _ task: SourceTask, in cache: PipelineCache
    ) throws -> CachedJob {
        let (name, opened) = (task.source.name, task.opened)
        let digest = try work.report.source.sha256 ?? opened.sha256()
        work.report.source.sha256 = digest
        var own = [("thumbnail", task.thumbnail.map { json($0) } ?? "")]
        let pipeline = task.settings.pipeline.file
        if pipeline.stagesNeedName || pipeline.texts.contains(where: \.needsName) {
            own.append(("texts", json([name.path.text, opened.modificationDate])))
        }
        return CachedJob(
            cache, source: digest, pixelsPerPoint: name.pixelsPerPoint, own: own, formats: opened.formats)
    }

    /// Reports renditions that came from the cache.
    func note(_ cached: [CachedRendition?], _ work: inout SourceWork, _ task: SourceTask) throws(Failure) {
        for (index, rendition) in cached.enumerated() {
            guard let rendition else { continue }
            work.report.renditions[index].bytes = rendition.entry.bytes
            work.report.renditions[index].note(rendition.facts.size)
            work.report.renditions[index].sha256 = rendition.entry.digest
            work.report.renditions[index].cached = true
            try work.add(rendition.facts.warnings, of: task, stage: "render")
        }
    }

    /// Keeps what was made.
    func keep(
        _ result: RenderResult, of rendering: Rendering, wanted: [Int], outputs: [StagedFile],
        for work: inout SourceWork
    ) {
        guard let cached = work.cached else { return }
        for (index, said) in zip(wanted, result.renditions) {
            guard let digest = try? Digest.of(outputs[index].file) else { continue }
            work.report.renditions[index].sha256 = digest
            cached.keep(
                rendering.plan.renditions[index], in: outputs[index].file, digest: digest,
                facts: CachedFacts(
                    rendering.input, size: said, warnings: result.warnings, planned: rendering.plan.warnings))
        }
    }
}
