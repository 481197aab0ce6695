import ArgumentParser
import Engine
import Glibc
import Pipeline
import System

/// `imagemill plan`: what a pipeline would do with one picture.
struct PlanCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows what a pipeline does with a picture, stage by stage, without making renditions.",
        discussion: """
            Example: imagemill plan photo.jpg my.yaml
                     imagemill plan web-photos photo.jpg
                     imagemill plan photo.jpg my.yaml --sheet plan.png

            --sheet writes the picture with the part of it that each rendition shows. For that, stages that look at the picture do so.
            """)

    @Argument(
        help: ArgumentHelp(
            "A picture and a pipeline, in either order. A pipeline that takes sets needs a folder of pictures.",
            valueName: "picture-and-pipeline"),
        completion: .file())
    var inputs: [String] = []

    @Flag(help: "Prints the plan as JSON.")
    var json = false

    @Option(
        help: "Draws frames, crops and anchors of all renditions over the picture, into this file: .png or .jpg.",
        completion: .file())
    var sheet: String?

    @OptionGroup(title: "Limits")
    var limitOptions: LimitOptions

    @OptionGroup
    var color: ColorOption

    func validate() throws {
        guard !inputs.isEmpty else {
            throw ValidationError("name a picture and a pipeline, such as: imagemill plan photo.jpg my.yaml")
        }
        let count = try PipelineArgument(among: inputs).others.count
        guard count == 1 else {
            throw ValidationError("name one picture and one pipeline, found \(counted(count, "picture"))")
        }
        guard sheet.map({ PlanSheetFile.format(of: $0) != nil }) ?? true else {
            throw ValidationError("--sheet writes a PNG or a JPEG; name a file that ends with .png or .jpg")
        }
    }

    func workerCount(for preparation: Void) -> Int { 1 }

    func run(_ preparation: Void, _ workers: WorkerPool) async throws {
        let argument = try PipelineArgument(among: inputs)
        let (pipeline, sample) = (argument.path, argument.others[0])
        try PipelineArgument.refuseMistyped(pipeline)
        do {
            let loaded = try LoadedPipeline(path: pipeline, given: limitOptions.source.parameters.given)
            let settings = RenderSettings.looking(
                loaded, limits: limitOptions.limits, policy: limitOptions.source.policy, measures: sheet != nil)
            let path = RawArguments.paths([sample])[0]
            let source = try self.source(path, loaded)
            let file = try sheet.map {
                try PlanSheetFile(RawArguments.paths([$0])[0], besides: [source] + (source.members ?? []), pipeline)
            }
            let planned = try await onNewThread {
                let maker = RenditionMaker(workers, cancellation: settings.cancellation)
                let planned = try maker.plan(source, settings)
                try file?.draw(planned.plan, of: source.members?.first ?? source, by: maker, limits: settings.limits)
                return planned
            }
            if let sheet { printError("wrote \(RawArguments.paths([sheet])[0].printable)") }
            let table = PlanTable(planned, title: path.printable)
            printOutput(json ? System.json(table.json, pretty: true) + "\n" : table.text)
        } catch let exit as ExitCode {
            throw exit
        } catch let failure as Failure {
            printError(
                "\(BytePath(sample).printable): \(failure.code.rawValue): \(oneLine(failure.message))\n  \(failure.remedy(in: .command))"
            )
            throw ExitStatus.someFailed
        } catch {
            throw ExitStatus.explaining(error, reading: pipeline)
        }
    }
}

extension PlanCommand {
    private func source(_ path: BytePath, _ pipeline: LoadedPipeline) throws -> SourceFile {
        guard pipeline.file.source == .set else {
            if (try? FileSystem.status(path))?.kind == .directory {
                printError("imagemill: '\(path.printable)' is a folder; name one picture in it")
                throw ExitStatus.usage
            }
            return SourceFile(location: .path(path), identity: path, relative: path.lastComponent)
        }
        let found = SourceWalk.find([path], WalkRules(outbox: BytePath([]), kind: .set)).sources
        // A folder's own pictures come before those of the folders in it.
        guard let set = found.first else {
            throw Failure(.empty, stage: "read", "expected a folder with pictures, found none in it")
        }
        return set
    }
}

extension RenderSettings {
    /// For commands that look and make no renditions, outside of any run.
    /// - Parameters:
    ///   - folder: where they write, if they do.
    ///   - measures: pixels are looked at for stages whose plan needs that.
    static func looking(
        _ pipeline: LoadedPipeline, limits: Limits, policy: WarningPolicy? = nil, in folder: BytePath = BytePath("."),
        measures: Bool = false
    ) -> RenderSettings {
        var settings = RenderSettings(
            pipeline: pipeline, limits: limits, policy: policy ?? WarningPolicy(),
            outbox: Outbox(path: folder, of: .dropFolder), keepsTree: false,
            memory: MemoryBudget(bytes: limits.maximumMemory),
            cancellation: Cancellation())
        settings.isDryRun = !measures
        return settings
    }
}
