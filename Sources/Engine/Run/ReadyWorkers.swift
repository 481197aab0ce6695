// Workers that learn a pipeline before a run asks them anything.
package import Pipeline
import System

extension WorkerPool {
    /// Has the workers that are ready learn a pipeline while something else is done. Errors are ignored here; the lanes
    /// meet them again and report them.
    package func prepare(_ settings: RenderSettings) async {
        // All may be in the cache.
        guard settings.cache == nil else { return }
        await withTaskGroup { group in
            for _ in 0..<readyCount {
                group.addTask {
                    try? await onNewThread {
                        try WorkerLoan(self, cancellation: settings.cancellation).prepare(settings)
                    }
                }
            }
        }
    }
}

extension [SourceFile] {
    /// The formats that the names of the sources suggest.
    package var likelyFormats: Set<SourceFormat> {
        var names: Set<String> = []
        for source in self {
            for file in source.members ?? [source] { names.insert(SourceName(file.location.name).fileExtension) }
        }
        return Set(SourceFormat.allCases.filter { !names.isDisjoint(with: $0.fileExtensions) })
    }
}
