// A worker's answer is checked before it is used: a picture may have taken the worker over.
import Messages
import Pipeline

/// A worker's answer, whose values can only be had checked against the request.
///
/// Each of the functions below gives the value that the request asked for, or throws the `Failure` that the worker
/// reports. An answer that no worker gives is `WorkerLoss.confused`: such a worker must not be asked again.
struct WorkerReply {
    private let reply: Reply

    init(_ reply: Reply) { self.reply = reply }

    // MARK: - Answers

    /// An asset that the worker cannot use.
    struct BadAsset: Error {
        /// Its place among the assets of the pipeline.
        let index: Int
        let failure: Failure
    }

    /// A format of the pipeline that no picture can be saved in on this system.
    struct BadFormat: Error {
        let format: OutputFormat
        /// libvips' words.
        let detail: String
    }

    /// The assets of a pipeline that was sent, in its order.
    /// - Throws: `BadAsset`, `BadFormat`, `Failure`, `WorkerLoss`.
    /// - Parameter formats: those that the pipeline saves in.
    func assets(for message: PipelineMessage, saving formats: Set<OutputFormat> = []) throws -> [AssetFacts] {
        if case .assetFailed(let index, let failure) = reply, message.assets.indices.contains(index) {
            throw BadAsset(index: index, failure: try Self.checked(failure))
        }
        if case .cannotSave(let format, let detail) = reply, formats.contains(format) {
            throw BadFormat(format: format, detail: detail.cut(Self.longestDetail))
        }
        guard case .assets(let facts) = reply else { throw try unexpected() }
        guard facts.count == message.assets.count else {
            throw WorkerLoss.confused("\(facts.count) assets instead of \(message.assets.count)")
        }
        for (asset, said) in zip(message.assets, facts) {
            guard said.size.isPossible, said.pixelsPerPoint == asset.pixelsPerPoint,
                said.isVector == (asset.format?.isVector == true), Self.bytes.contains(said.decoding)
            else {
                throw WorkerLoss.confused("an asset that cannot be: \(said.size) at \(said.pixelsPerPoint)x")
            }
        }
        return facts
    }

    /// The facts from the header of a picture.
    /// - Parameter wanted: of its metadata.
    /// - Throws: `Failure`, `WorkerLoss`.
    func facts(of format: SourceFormat, wanted: WantedMetadata = WantedMetadata()) throws -> SourceFacts {
        guard case .facts(let facts) = reply else { throw try unexpected() }
        // No header says whether a pixel is transparent.
        guard facts.isPlausible, facts.format == format, Self.bytes.contains(facts.bytes), facts.isTransparent == nil
        else {
            throw WorkerLoss.confused("a header that cannot be")
        }
        let said = facts.metadata?.map(\.field) ?? []
        guard Set(said).count == said.count, said.allSatisfy(wanted.fields.contains),
            facts.previews == (wanted.hasPreviews(format) ? facts.previews.showing(facts.size) : []),
            facts.raw != .preview || !wanted.developsRaw
        else {
            throw WorkerLoss.confused("metadata that was not asked for")
        }
        return facts
    }

    /// Returns true if a pixel of the picture is not opaque.
    /// - Throws: `Failure`, `WorkerLoss`.
    func isTransparent() throws -> Bool {
        guard case .transparent(let isTransparent) = reply else { throw try unexpected() }
        return isTransparent
    }

    /// Whether pictures of the format that it was asked about can be read.
    /// - Throws: `Failure`, `WorkerLoss`.
    func isReadable() throws -> Bool {
        guard case .readable(let isReadable) = reply else { throw try unexpected() }
        return isReadable
    }

    /// The measurements for the stages of a pipeline.
    /// - Throws: `Failure`, `WorkerLoss`.
    func measurements(for pipeline: PipelineFile) throws -> [StageMeasurement] {
        guard case .measured(let found) = reply else { throw try unexpected() }
        var open = pipeline.measuredStages
        for measurement in found {
            guard open.remove(measurement.path) != nil, measurement.measurement.isPlausible else {
                throw WorkerLoss.confused("a measurement that cannot be")
            }
        }
        return found
    }

    /// The result of a rendering.
    /// - Parameters:
    ///   - count: how many renditions were asked for.
    ///   - mayUsePreviews: the plan has one made of a preview.
    /// - Throws: `NoRoom`, `Failure`, `WorkerLoss`.
    func rendered(count: Int, mayUsePreviews: Bool) throws -> RenderResult {
        if case .noRoom(let rendition, let detail) = reply {
            throw NoRoom(rendition: rendition.cut(Self.longestMessage), detail: detail.cut(Self.longestDetail))
        }
        guard case .rendered(let result) = reply else { throw try unexpected() }
        guard result.renditions.count == count else {
            throw WorkerLoss.confused("\(result.renditions.count) renditions instead of \(count)")
        }
        guard
            result.renditions.allSatisfy({
                $0.size.isPossible && Self.frames.contains($0.frames) && $0.reached?.isPlausible(upTo: 100) ?? true
                    && $0.look?.isPlausible ?? true && (mayUsePreviews || !$0.isOfPreview)
            })
        else {
            throw WorkerLoss.confused("a rendition that cannot be")
        }
        guard Self.bytes.contains(result.peakMemory) else {
            throw WorkerLoss.confused("an amount of memory that cannot be")
        }
        return RenderResult(
            renditions: result.renditions, warnings: Self.checked(result.warnings), peakMemory: result.peakMemory)
    }

    /// The member of a set that the worker asks for, by its place; nil if this is an answer.
    /// - Throws: `ChannelError.garbage` if the set has no such member.
    func wantedMember(of count: Int) throws(ChannelError) -> Int? {
        guard case .needsMember(let index) = reply else { return nil }
        guard (0..<count).contains(index) else { throw .garbage("it asked for a member that the set does not have") }
        return index
    }

    /// The failure that the worker reports, or that it answered something else.
    private func unexpected() throws(WorkerLoss) -> any Error {
        guard case .failed(let failure) = reply else { throw .confused("an answer to another question") }
        return try Self.checked(failure)
    }

    // MARK: - Bounds

    private static let bytes = 0...(1 << 50)
    private static let frames = 1...1_000_000
    private static let mostWarnings = 64
    /// Unicode scalars: what looks like one character may be of any length.
    private static let longestStage = 100
    private static let longestMessage = 2000
    private static let longestDetail = 4000
    private static let longestWarning = 1000

    /// The failure with its texts cut, if a worker can know of it at all.
    private static func checked(_ failure: Failure) throws(WorkerLoss) -> Failure {
        guard failure.code.mayComeFromWorker else {
            throw .confused("'\(failure.code.rawValue)', which is not for a worker to say")
        }
        return Failure(
            failure.code, stage: failure.stage.cut(longestStage), failure.message.cut(longestMessage),
            detail: failure.detail?.cut(longestDetail))
    }

    /// The first distinct warnings, with their texts cut, and the first of each other code.
    private static func checked(_ warnings: [Warning]) -> [Warning] {
        var seen: Set<Warning> = []
        var kept: [Warning] = []
        var codes: Set<WarningCode> = []
        for warning in warnings where codes.insert(warning.code).inserted || kept.count < mostWarnings {
            let warning = Warning(warning.code, warning.message.cut(longestWarning))
            if seen.insert(warning).inserted { kept.append(warning) }
        }
        return kept
    }
}

extension PixelSize {
    /// Whether a picture can have this size. The initialiser sees to that; what was decoded from a message has not been
    /// through it.
    fileprivate var isPossible: Bool {
        (1...maximumCoordinate).contains(width) && (1...maximumCoordinate).contains(height)
    }
}

extension PipelineFile {
    /// The places of the stages that must see the picture before their sizes are known.
    var measuredStages: Set<Planner.StagePath> {
        func measured(_ uses: [StageUse], _ rendition: Int?) -> [Planner.StagePath] {
            uses.indices.filter { uses[$0].stage.needsMeasurement }.map {
                Planner.StagePath(rendition: rendition, stage: $0)
            }
        }
        return Set(measured(stages, nil) + renditions.enumerated().flatMap { measured($1.stages, $0) })
    }
}

extension String {
    /// Its first Unicode scalars.
    fileprivate func cut(_ count: Int) -> String {
        utf8.count <= count ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
    }
}
