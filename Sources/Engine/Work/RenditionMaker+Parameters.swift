// The pipeline for one picture: with what its metadata and its sidecars say for parameters.
import Messages
import Pipeline

extension RenditionMaker {
    /// The same task by the pipeline that the source's own values make of it. A set has no metadata.
    /// - Throws: `Failure` if the pipeline cannot be followed with these values, or the header or a sidecar cannot be
    ///   read.
    func resolved(_ task: SourceTask) throws -> SourceTask {
        let general = task.settings.pipeline
        guard !general.file.settings.isEmpty else { return task }
        var task = task
        let source = task.source
        task.sidecars = try onFiles { () throws(Failure) in try source.openedSidecars() }
        var values = PictureValues(sidecars: task.sidecars.map(\.sidecar))
        if case .picture(let opened) = task.opened, !general.file.metadataFields.isEmpty {
            _ = try prepared(task.settings, task.opened.formats)
            worker.slot.begin(source.identity)
            let wanted = WantedMetadata(fields: general.file.metadataFields)
            values.metadata = try probe(opened, of: task, wanted).metadata ?? []
        }
        if !values.isEmpty { task.settings = task.settings.with(try pipeline(general, with: values)) }
        return task
    }

    private func pipeline(_ general: LoadedPipeline, with values: PictureValues) throws -> LoadedPipeline {
        if let last = pipelineOfPicture, last.of.identity == general.identity, last.made.file.ofPicture.says(values) {
            return last.made
        }
        let made = try onFiles { () throws(Failure) in try general.with(values) }
        pipelineOfPicture = (made, general)
        return made
    }
}
