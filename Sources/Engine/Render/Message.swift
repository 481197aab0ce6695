// What the supervisor and a worker say to each other. Each request is answered by one reply.
import Pipeline

/// What the supervisor asks. Descriptors travel beside the message, in the order named here.
enum Request: Codable, Sendable {
    /// Keep a pipeline for the jobs to come. Beside it: each asset, in the order of `assets`. Answer: `assets`.
    case prepare(PipelineMessage)
    /// Read a header, that of a page if one is asked for, and keep the source open; with `words`, also what metadata say
    /// in words. Beside it: the source. Answer: `facts`.
    case probe(SourceFormat, page: Int? = nil, words: Bool = false)
    /// Look at the source of the last probe, or at a set, for stages whose plan depends on what is in the picture.
    /// Answer: `measured`.
    case measure(RenderMessage)
    /// Render the source of the last probe, or a set. Beside it: each output in the order of the plan's renditions.
    /// Answer: `rendered`.
    case render(RenderMessage)
    /// Find out whether pictures of a format can be read on this system at all. Answer: `readable`.
    case tryReading(SourceFormat)
    /// What the worker asked for while it measures or renders. Beside it: the member, or nothing if it cannot be had.
    case member
}

struct PipelineMessage: Codable, Sendable {
    /// Tells pipelines apart in the messages that follow.
    let id: Int
    let name: String
    let text: String
    /// Each asset once.
    let assets: [AssetMessage]
    /// The first pipeline decides the kind of the worker; the others are of the same.
    var kind = WorkerKind()
    let limits: Limits
}

struct AssetMessage: Codable, Sendable {
    enum Content: Codable, Sendable {
        case picture(SourceFormat, pixelsPerPoint: Int)
        /// A .cube file.
        case colorTable
        case font
    }

    /// The path as the pipeline writes it; a name only, never opened.
    let path: String
    let content: Content

    /// The format of a picture.
    var format: SourceFormat? { if case .picture(let format, _) = content { format } else { nil } }
    var pixelsPerPoint: Int { if case .picture(_, let pixelsPerPoint) = content { pixelsPerPoint } else { 1 } }
}

struct RenderMessage: Codable, Sendable {
    let pipeline: Int
    let source: SourceMessage
    /// What was measured on the source before.
    var measurements: [StageMeasurement] = []
    /// The values of the fields in texts; nil if the pipeline has no texts.
    var texts: TextValues?
    /// Places of renditions in the plan that are not wanted: no output comes for them, and nothing is said of them.
    var omitted: Set<Int> = []
    /// What thumbnails for file managers say of their source; nil if there are none.
    var thumbnail: ThumbnailFacts?
}

/// What file managers compare a thumbnail with.
struct ThumbnailFacts: Codable, Sendable, Hashable {
    let uri: String
    /// Seconds since 1970.
    let modified: Int
    let bytes: Int
    let format: SourceFormat
}

/// What to plan with.
enum SourceMessage: Codable, Sendable {
    /// The source of the last probe.
    case picture(pixelsPerPoint: Int)
    /// These pictures, which the worker asks for one after the other.
    case set([MemberFacts])
}

/// What a worker answers.
enum Reply: Codable, Sendable {
    case assets([AssetFacts])
    case facts(SourceFacts)
    case measured([StageMeasurement])
    case rendered(RenderResult)
    /// No answer yet: the member of the set that comes next, by its place. To be followed by `member`.
    case needsMember(Int)
    case readable(Bool)
    case failed(Failure)
    /// An asset cannot be used: its index, and why.
    case assetFailed(Int, Failure)
    /// Pictures cannot be saved in a format of the pipeline; libvips' words.
    case cannotSave(OutputFormat, String)
    /// The output of the rendition with this title takes no more; the detail.
    case noRoom(String, String)
}

/// What a worker did.
struct RenderResult: Codable, Sendable {
    /// One for each rendition of the plan that was wanted, as saved.
    let renditions: [RenderedSize]
    let warnings: [Warning]
    /// The worker's highest resident memory since the supervisor has had it counted anew, in bytes.
    let peakMemory: Int
}

struct RenderedSize: Codable, Sendable, Equatable {
    let size: PixelSize
    let frames: Int
}
