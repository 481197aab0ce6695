// Renditions that need not be made, and those that are kept for the next time.
import Messages
import Pipeline
import System

extension RenditionMaker {
    /// What the cache has, if it has every rendition; no worker is asked.
    /// - Returns: nil if something must be made.
    func cachedOutputs(
        _ work: inout SourceWork, opened: OpenedInput, settings: RenderSettings, names choose: NameChoice
    ) throws -> [StagedFile]? {
        guard let cache = settings.cache, !settings.isDryRun else { return nil }
        if work.cached == nil { work.cached = try lookUp(&work, opened: opened, settings: settings, in: cache) }
        guard let cached = work.cached, let facts = cached.facts, let planner = cachePlanner(settings) else {
            return nil
        }
        // A plan that fails here fails again with the facts of the source itself.
        let input = facts.input(work.source.name)
        let texts = try texts(
            on: input, of: work.source, opened: opened, settings: settings, hash: work.report.source.sha256)
        guard let plan = try? input.plan(by: input.planner(planner, saying: texts)), let sizes = cached.sizes(of: plan)
        else {
            return nil
        }
        // The plan has bounds for some sizes; the cached renditions have the sizes themselves.
        let known = plan.with(sizes: sizes)
        work.report.source.describe(input, opened)
        work.report.warnings = opened.warnings(work.source.name) + plan.warnings
        let names = try names(for: known, of: input, &work, opened: opened, settings: settings, by: choose)
        work.report.renditions = zip(known.renditions, names).map(Self.entry)
        let outputs = try stage(names, settings)
        let filled = try filled(outputs, plan, from: &work.cached)
        guard !filled.contains(where: { $0 == nil }) else { return nil }
        try checkUnchanged(opened)
        note(filled, &work)
        return outputs
    }

    private func lookUp(
        _ work: inout SourceWork, opened: OpenedInput, settings: RenderSettings, in cache: PipelineCache
    ) throws -> CachedJob {
        let digest = try opened.sha256()
        work.report.source.sha256 = digest
        var own = [("thumbnail", thumbnail(of: work.source, opened: opened, settings: settings).map { json($0) } ?? "")]
        if settings.pipeline.file.texts.contains(where: \.needsName) {
            own.append(("texts", json([work.source.name.path.text, opened.modificationDate])))
        }
        return CachedJob(
            cache, source: digest, pixelsPerPoint: work.source.name.pixelsPerPoint, own: own, formats: opened.formats)
    }

    /// Reports renditions that came from the cache.
    func note(_ cached: [CachedRendition?], _ work: inout SourceWork) {
        for (index, rendition) in cached.enumerated() {
            guard let rendition else { continue }
            work.report.renditions[index].bytes = rendition.entry.bytes
            let size = rendition.facts.size
            (work.report.renditions[index].size, work.report.renditions[index].frames) = (size.size, size.frames)
            work.report.renditions[index].sha256 = rendition.entry.digest
            work.report.renditions[index].cached = true
            work.add(rendition.facts.warnings)
        }
    }

    /// Keeps what was made.
    func keep(
        _ result: RenderResult, wanted: [Int], outputs: [StagedFile], plan: SourcePlan, input: ProbedInput,
        for work: inout SourceWork
    ) {
        guard let cached = work.cached else { return }
        for (index, said) in zip(wanted, result.renditions) {
            guard let digest = try? Digest.of(outputs[index].file) else { continue }
            work.report.renditions[index].sha256 = digest
            cached.keep(
                plan.renditions[index], in: outputs[index].file, digest: digest,
                facts: CachedFacts(input, size: said, warnings: result.warnings))
        }
    }
}
