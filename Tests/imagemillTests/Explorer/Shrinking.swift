// A case that fails is made shorter while it still fails.
import TestSupport

enum Shrinking {
    /// - Parameter tries: how many shorter cases are run at most.
    static func shortest(_ drawn: DrawnCase, _ property: Property, sample: Int, tries: Int = 50) async throws
        -> DrawnCase
    {
        var shortest = drawn
        var left = tries
        var isShorter = true
        while isShorter, left > 0 {
            isShorter = false
            for candidate in shortest.simpler where left > 0 {
                left -= 1
                let found = try? await Exploration(candidate).findings([property], sample: sample).findings
                if found?.isEmpty == false {
                    shortest = candidate
                    isShorter = true
                    break
                }
            }
        }
        return shortest
    }
}

extension DrawnCase {
    /// The same with one thing less that the program would still take, larger things first.
    fileprivate var simpler: [DrawnCase] {
        let sources = source.simpler.map { DrawnCase(pipeline: pipeline, source: $0) }
        let pipelines = pipeline.written.simpler.map { DrawnCase(pipeline: DrawnPipeline(written: $0), source: source) }
            .filter { $0.pipeline.text.count < pipeline.text.count || $0.pipeline.text != pipeline.text }
            .filter { $0.pipeline.file != nil && $0.pipeline.text != pipeline.text }
        return pipelines + sources
    }
}
