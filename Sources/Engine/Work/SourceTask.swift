import Messages
import Pipeline

/// One source that is open, and what is to be made of it.
struct SourceTask {
    let source: SourceFile
    let opened: OpenedInput
    var settings: RenderSettings
    /// The sidecars that its settings have values of.
    var sidecars: [OpenedSidecar] = []
    /// No other source is worked on meanwhile: the whole budget of memory is taken. For a source whose worker the system
    /// has killed.
    var isAlone = false

    /// Nil if the pipeline makes no thumbnails.
    var thumbnail: ThumbnailFacts? {
        settings.pipeline.file.makesThumbnails ? ThumbnailFacts(source, opened) : nil
    }
}
