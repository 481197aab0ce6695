// Follows a plan from the first byte to the last: what each rendition begins with, its stages, and its file.
import CLinux
import Glibc
import Messages
import Pipeline
import Stages
import System
import Vips

struct Renderer {
    private(set) var plan: SourcePlan
    let pipeline: PipelineFile
    let assets: AssetStore
    let colours: ColourConversion
    var thumbnail: ThumbnailFacts?
    private let notes = RenderNotes()
    /// The parts of a picture with a gain map that shared stages draw over.
    let sharedDrawings = DrawnParts()

    /// The assets for stages to draw, and the place for their warnings.
    var context: RenderContext { RenderContext(assets: assets, notes: notes) }

    /// Renders renditions of the plan, by their places in it, each into its descriptor.
    func render(_ source: ProbedSource, wanted: [Int], to outputs: [OpenFile]) throws -> RenderResult {
        guard plan.drawings.isEmpty else { return try draw(source, wanted: wanted, to: outputs) }
        assets.keep(atMost: plan.keptAssets)
        // Memory that a decoder frees is kept for the next picture, as long as the heap stays within the prediction.
        clinux_bound_heap(plan.memory - CostModel.libraries, plan.making)
        let trial = DecoderTrial {
            try source.decoded(
                source.reopened(plan.load, tolerance: pipeline.tolerance), shrink: plan.load.shrink, .streamed
            ).image.evaluated()
        }
        let starts = try begin(source, trial)
        // A warning says already that the file is truncated.
        let judge = starts.warnings.contains { $0.code == .sourceTruncated } ? nil : trial
        return try render(starts, wanted: wanted, to: outputs, trial: judge)
    }

    private func begin(_ source: ProbedSource, _ trial: DecoderTrial) throws -> Starts {
        let opened = try source.opened(plan.load, tolerance: pipeline.tolerance)
        let metadata = try source.metadata(of: opened)
        let missing = try source.warnings(pipeline.tolerance)
        let previews = try previews(of: source)
        let isNeeded = previews.isEmpty || previews.contains { $0 == nil }
        let (starts, warnings) =
            isNeeded ? try judging(trial) { try self.starts(from: opened, of: source) } : ([], [])
        let isSound = warnings.isEmpty && missing.isEmpty
        let (map, lost) = try gainMap(of: source)
        return Starts(
            frames: previews.indices.map { previews[$0] ?? starts[$0] }, metadata: metadata,
            warnings: warnings + missing + lost,
            source: isSound && lost.isEmpty ? source : nil, gainMap: map,
            ofPreviews: Set(previews.indices.filter { previews[$0] != nil }))
    }

    /// A gain map that cannot be decoded costs the renditions their light beyond white, and nothing else.
    private func gainMap(of source: ProbedSource) throws -> (SourceGainMap?, [Warning]) {
        do {
            return (try source.gainMap(for: plan.renditions.compactMap(\.gainMap)), [])
        } catch let error as VipsError {
            _ = VipsLibrary.takeErrors()
            return (nil, [Warning(.hdrDropped, "the picture's gain map is damaged: \(error.message)")])
        } catch let error as Failure where error.code == .corrupt {
            return (nil, [Warning(.hdrDropped, "\(error.message)")])
        }
    }

    /// Draws a vector picture anew for each rendition.
    private func draw(_ source: ProbedSource, wanted: [Int], to outputs: [OpenFile]) throws -> RenderResult {
        let results = try zip(wanted, outputs).map { index, output in
            var renderer = self
            renderer.plan = plan.drawings[index]
            return try renderer.render(source, wanted: [0], to: [output])
        }
        let warnings = results.flatMap(\.warnings)
        return RenderResult(
            renditions: results.flatMap(\.renditions),
            warnings: warnings.indices.filter { !warnings[..<$0].contains(warnings[$0]) }.map { warnings[$0] },
            peakMemory: Int(clinux_peak_memory()))
    }

    /// The frames that the renditions begin with, and the metadata and warnings that go with them.
    struct Starts {
        /// For each rendition.
        let frames: [Frames]
        let metadata: SourceMetadata
        let warnings: [Warning]
        /// The source, if all that was read of it is sound; nil for a set.
        var source: ProbedSource?
        /// The source's gain map, if a rendition keeps it.
        var gainMap: SourceGainMap?
        /// The renditions whose frames are made of a preview, and are not turned yet.
        var ofPreviews: Set<Int> = []
    }

    /// - Parameter trial: judges messages of libvips; nil if they are to be ignored.
    func render(
        _ starts: Starts, wanted: [Int], to outputs: [OpenFile], trial: DecoderTrial?
    ) throws -> RenderResult {
        var sizes: [RenderedSize] = []
        var warnings = starts.warnings
        for (index, output) in zip(wanted, outputs) {
            let rendition = plan.renditions[index]
            // Memory that the decoder, or the rendition before, has freed is not counted for this one.
            clinux_return_freed_memory(CostModel.keptMemory)
            try judging(trial) {
                do {
                    let (size, notes) = try render(rendition, at: index, starts, to: output)
                    sizes.append(size)
                    warnings += notes.filter { !warnings.contains($0) }
                    let said = try trial?.warnings(VipsLibrary.takeErrors()) ?? []
                    warnings += said.filter { !warnings.contains($0) }
                } catch let error as SystemError {
                    throw NoRoom(rendition: rendition.title, detail: error.description)
                } catch let error as VipsError {
                    if error.isFullDisk || !takesMore(output) {
                        throw NoRoom(rendition: rendition.title, detail: error.message)
                    }
                    let message = "'\(rendition.title)' cannot be encoded as \(rendition.format.rawValue)"
                    throw FailedOperation(.encodingFailed, stage: "save", message, error)
                }
            }
        }
        warnings += starts.metadata.warnings(for: plan.renditions) + notes.warnings
        return RenderResult(renditions: sizes, warnings: warnings, peakMemory: Int(clinux_peak_memory()))
    }

    /// Finds out whose fault a failed operation is.
    func judging<Value>(_ trial: DecoderTrial?, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as FailedOperation {
            throw trial?.failure(after: error) ?? error.failure
        }
    }

    // MARK: - Failures

    /// Whether the output takes another block at its end.
    private func takesMore(_ output: OpenFile) -> Bool {
        let block = [UInt8](repeating: 0, count: 65_536)
        let end = lseek(output.descriptor, 0, SEEK_END)
        defer { ftruncate(output.descriptor, end) }
        return pwrite(output.descriptor, block, block.count, end) == block.count
    }
}

extension VipsError {
    /// Returns true if a write failed because the disk was full. By now it may have room again, since others write to
    /// it too.
    fileprivate var isFullDisk: Bool { [ENOSPC, EDQUOT].contains { message.contains(String(cString: strerror($0))) } }
}
