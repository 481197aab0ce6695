// One rendition of one source as a file of its own, outside of any run.
import Glibc
package import Pipeline
import System

extension RenditionMaker {
    /// Makes the rendition of a pipeline that has one, and puts it in place; a file that is there is replaced.
    /// - Parameters:
    ///   - settings: their outbox is the folder of the file.
    ///   - path: the file.
    /// - Throws: `Failure` if the source cannot be rendered, `SystemError` if the file cannot be written, `WorkerLoss`.
    package func makeSingle(_ source: SourceFile, _ settings: RenderSettings, as path: BytePath) throws {
        let file = try single(source, settings)
        file.redirect(to: path, in: file.folder)
        try file.publish()
    }

    /// Makes the rendition of a pipeline that has one, and leaves no file.
    /// - Parameter settings: their outbox is a folder that can be written to.
    /// - Throws: as `makeSingle`.
    func bytesOfSingle(_ source: SourceFile, _ settings: RenderSettings) throws -> [UInt8] {
        let file = try single(source, settings).file
        return try file.bytes(at: 0, count: file.status().bytes)
    }

    private func single(_ source: SourceFile, _ settings: RenderSettings) throws -> StagedFile {
        var work = SourceWork(source, pipeline: settings.pipeline.file.name)
        let opened = try work.open(settings.limits)
        let staged = try make(&work, SourceTask(source: source, opened: opened, settings: settings)) { candidates in
            try planned { () throws(PlanFailure) in try candidates(1) }
        }
        guard let file = staged.first, staged.count == 1 else {
            throw Failure(.internal, stage: "save", "expected one rendition")
        }
        return file
    }
}
