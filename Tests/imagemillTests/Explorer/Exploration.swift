// The properties that hold for every pipeline and source, whatever they are.
import Foundation
import Pipeline
import Synchronization
import TestSupport
import Vips

/// A pipeline and a source for it.
struct DrawnCase: Equatable, Sendable, CustomStringConvertible {
    var pipeline: DrawnPipeline
    var source: DrawnSource

    var description: String { "source: \(source)\n\(pipeline.text)" }
}

/// A property that holds for every pipeline and source.
enum Property: String, CaseIterable, Sendable {
    case outcome = "it renders, or says what the pipeline asks in vain"
    case sizes = "planned sizes are the sizes"
    case gainMap = "a gain map is kept, or said to be dropped, and lies on its rendition"
    case alone = "each rendition equals itself rendered alone"
    case twin = "each rendition equals that of an uncompressed TIFF of the same pixels"
    case frames = "each frame equals that of its picture alone"
    case conditions = "conditions leave out what does not apply, and nothing else"
    case parameters = "values of parameters make what they make in their places"
    case shard = "a shard makes the same bytes"
    case watch = "a drop folder makes the same bytes"
}

struct Finding: Sendable {
    let property: Property
    /// The figures.
    let detail: String
}

/// One case, tried with the program in a folder of its own.
final class Exploration: Sendable {
    /// A file that the program has written.
    struct Output: Sendable {
        /// From the folder of the source's renditions.
        let path: String
        let entry: BatchDocument.Entry.Rendition
    }

    /// The outcome of a run.
    enum Outcome: Sendable {
        case rendered([Output])
        /// With a failure's code, or the program's own refusal.
        case refused(String)
    }

    /// How many pairs of renditions were looked at, and of how many it could not be said whether they are alike.
    struct Comparisons: Sendable {
        var all = 0
        var undecided = 0
    }

    let drawn: DrawnCase
    let runner: CommandRunner
    let comparisons = Mutex(Comparisons())
    let allowed = ["--allow", SourceFormat.onRequest.map(\.rawValue).joined(separator: ",")]

    /// The failures of a pipeline that asks a picture for something in vain. All else is a mistake of the program's,
    /// since every source is a sound one.
    private static let ordinary: [FailureCode] = [
        .emptyResult, .overlayDoesNotFit, .tooLargeForFormat, .unequalSizes, .noSuchPage, .tooManyPixels,
        .unsupportedColour,
    ]

    init(_ drawn: DrawnCase) throws {
        self.drawn = drawn
        runner = try CommandRunner()
    }

    var source: DrawnSource { drawn.source }

    /// The folders that hold a TIFF for each frame; none for drawings, which have no pixels of their own.
    var twins: [String] {
        guard !source.isVector else { return [] }
        // A single page of an animation is what its pipeline asks for.
        if drawn.pipeline.written["page"] != nil { return [] }
        // The twin of an HDR picture is in sRGB, and knows nothing of the source's own colors.
        if source.stated == .pq, let profile = drawn.pipeline.written["profile"], profile.word != "srgb" { return [] }
        return source.frames == 1 ? ["t"] : (0..<source.frames).map { "f\($0)" }
    }

    /// Tries the case.
    /// - Parameters:
    ///   - properties: what is looked at.
    ///   - sample: chooses the renditions that are made alone.
    func findings(
        _ properties: Set<Property> = Set(Property.allCases), sample: Int
    ) async throws -> (outcome: Outcome, findings: [Finding]) {
        try await inVipsTurn {
            for asset in DrawnAsset.allCases { try asset.write(into: runner.folder.path) }
            try source.write(into: runner.folder.path("in/s"))
            try source.writeTwins(of: runner.folder.path("in/s"), into: twins.map { runner.folder.path("in/" + $0) })
        }
        try runner.folder.write(DrawnTable.text, to: DrawnTable.name)
        try runner.folder.write(drawn.pipeline.text, to: "p.yaml")
        var findings: [Finding] = []
        let results = try await run("p.yaml", "in", to: "out", &findings)
        guard let outcome = results["s"] else { return (.refused("the pipeline"), findings) }
        if properties.contains(.twin) || properties.contains(.frames) {
            findings += try await compareTwins(outcome, results)
        }
        guard case .rendered(let outputs) = outcome else { return (outcome, findings) }
        if properties.contains(.sizes) { findings += try await checkSizes(outputs) }
        if properties.contains(.gainMap) { findings += try await checkGainMaps(outputs) }
        if properties.contains(.alone) { findings += try await compareAlone(outputs, sample: sample) }
        if properties.contains(.conditions) { findings += try await compareConditions(sample: sample) }
        if properties.contains(.parameters) { findings += try await compareParameters(outputs, sample: sample) }
        if properties.contains(.shard) { findings += try await compareShard(outputs) }
        return (outcome, findings.filter { properties.contains($0.property) })
    }

    /// Runs a pipeline, and reads what the report says.
    /// - Parameter pattern: the files that are taken.
    /// - Returns: what came of the source in each folder; empty if the program refuses the pipeline as a whole.
    func run(
        _ pipeline: String, _ folder: String, to output: String, only pattern: String = "**",
        _ findings: inout [Finding]
    ) async throws -> [String: Outcome] {
        let result: CommandResult
        do {
            result = try await runner.run(
                ["run", pipeline, folder, "-o", output, "--keep-tree", "-q", "--include", pattern] + allowed,
                seconds: 120)
        } catch let error as CommandError {
            findings.append(Finding(property: .outcome, detail: "\(error)"))
            return [:]
        }
        guard (0...2).contains(result.exit) else {
            if result.exit != 78 {
                findings.append(Finding(property: .outcome, detail: "exit \(result.exit): \(result.errors)"))
            }
            return [:]
        }
        var outcomes: [String: Outcome] = [:]
        for entry in try runner.report(output + "/.imagemill/report.json").sources {
            let place = entry.source.path.split(separator: "/").first.map(String.init) ?? ""
            if let error = entry.error {
                if !Self.ordinary.map(\.rawValue).contains(error.code) {
                    let words = "\(entry.source.path): \(error.code) at '\(error.stage)': \(error.message)"
                    findings.append(Finding(property: .outcome, detail: "\(words) \(error.detail ?? "")"))
                }
                outcomes[place] = .refused(error.code)
            } else {
                outcomes[place] = .rendered(
                    entry.renditions.map { rendition in
                        let parts = rendition.path.split(separator: "/")
                        let path = folder == "in" ? parts.dropFirst().joined(separator: "/") : rendition.path
                        return Output(path: path, entry: rendition)
                    })
            }
        }
        return outcomes
    }
}
