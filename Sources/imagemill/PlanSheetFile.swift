// `imagemill plan --sheet FILE`: the plan drawn over its source, by a worker like any rendition.
import ArgumentParser
import Engine
import Pipeline
import Stages
import System

/// The file that a plan is drawn into.
struct PlanSheetFile {
    private let path: BytePath
    private let format: OutputFormat

    /// - Parameter besides: files that it must not replace.
    init(_ path: BytePath, besides sources: [SourceFile], _ pipeline: String) throws {
        let absolute = FileSystem.absolute(path)
        if let absolute,
            sources.contains(where: { $0.identity == absolute || FileSystem.absolute($0.identity) == absolute })
                || FileSystem.absolute(BytePath(pipeline)) == absolute
        {
            printError("imagemill: the sheet would be written over '\(path.printable)'; choose another file (--sheet)")
            throw ExitStatus.usage
        }
        let folder = DurableFile.folder(of: path)
        guard !FileSystem.isAbsent(folder) else {
            printError(
                "imagemill: cannot write the sheet '\(path.printable)': its folder is not there; make it, or choose another file (--sheet)"
            )
            throw ExitStatus.usage
        }
        self.path = path
        format = Self.format(of: path.text) ?? .png
    }

    static func format(of name: String) -> OutputFormat? {
        let lowered = name.lowercased()
        if lowered.hasSuffix(".png") { return .png }
        return lowered.hasSuffix(".jpg") || lowered.hasSuffix(".jpeg") ? .jpeg : nil
    }

    /// Draws the plan of a source. Waits for a worker.
    func draw(_ plan: SourcePlan, of source: SourceFile, by maker: RenditionMaker, limits: Limits) throws {
        let sheet = PlanSheet(plan, title: source.typed.printable)
        let pipeline = try LoadedPipeline(path: "the sheet", text: json(sheet.pipeline(format)), catalogue: .complete)
        let settings = RenderSettings.looking(
            pipeline, limits: limits, in: DurableFile.folder(of: path), measures: true)
        try maker.makeSingle(source, settings, as: path)
    }
}
