// The pipeline for one picture: with what its metadata say for parameters.
import Messages
import Pipeline

extension RenditionMaker {
    /// The same task by the pipeline that the picture's own values make of it. A set has no metadata.
    /// - Throws: `Failure` if the pipeline cannot be followed with these values, or the header cannot be read.
    func resolved(_ task: SourceTask) throws -> SourceTask {
        let general = task.settings.pipeline
        guard !general.file.metadataFields.isEmpty, case .picture(let opened) = task.opened else { return task }
        _ = try prepared(task.settings, task.opened.formats)
        worker.slot.begin(task.source.identity)
        let wanted = WantedMetadata(fields: general.file.metadataFields)
        guard let values = try probe(opened, of: task, wanted).metadata, !values.isEmpty else { return task }
        var task = task
        task.settings = task.settings.with(try pipeline(general, with: values))
        return task
    }

    private func pipeline(_ general: LoadedPipeline, with values: [MetadataValue]) throws -> LoadedPipeline {
        if let last = pipelineOfPicture, last.of.identity == general.identity, last.made.file.ofPicture == values {
            return last.made
        }
        let made = try general.with(values)
        pipelineOfPicture = (made, general)
        return made
    }
}
