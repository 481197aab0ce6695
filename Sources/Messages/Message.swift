// The messages between the supervisor and a worker. Each request is answered by one reply.
package import Pipeline

/// A request of the supervisor. Descriptors travel beside the message, in the order named here.
package enum Request: Codable, Sendable {
    /// Keep a pipeline for the jobs to come. Beside it: each asset, in the order of `assets`. Answer: `assets`.
    case prepare(PipelineMessage)
    /// Read a header, that of a page if one is asked for, and what is wanted of the metadata, and keep the source open.
    /// Beside it: the source. Answer: `facts`.
    case probe(SourceFormat, page: Int? = nil, wanted: WantedMetadata = WantedMetadata())
    /// Look at the source of the last probe, or at a set, for stages whose plan depends on what is in the picture.
    /// Answer: `measured`.
    case measure(RenderMessage)
    /// Find out whether the source of the last probe has a pixel that is not opaque, with the colors of a pipeline.
    /// Answer: `transparent`.
    case findTransparency(pipeline: Int)
    /// Render the source of the last probe, or a set. Beside it: each output in the order of the plan's renditions.
    /// Answer: `rendered`.
    case render(RenderMessage)
    /// Find out whether pictures of a format can be read on this system at all. Answer: `readable`.
    case tryReading(SourceFormat)
    /// The answer to `needsMember`. Beside it: the member, or nothing if it cannot be had.
    case member
}

/// The metadata that facts are to have.
package struct WantedMetadata: Codable, Sendable {
    /// The words in it, for texts.
    package var words = false
    /// These fields.
    package var fields: [MetadataField] = []
    /// Previews in the file of a photo.
    package var previews = false
    /// The finished picture in a raw file is not used.
    package var developsRaw = false

    package init(
        words: Bool = false, fields: [MetadataField] = [], previews: Bool = false, developsRaw: Bool = false
    ) {
        (self.words, self.fields, self.previews, self.developsRaw) = (words, fields, previews, developsRaw)
    }

    /// Returns true if the facts of a source in this format list its previews.
    package func hasPreviews(_ format: SourceFormat) -> Bool { format == .raw ? !developsRaw : previews }
}

package struct PipelineMessage: Codable, Sendable {
    /// Tells pipelines apart in the messages that follow.
    package let id: Int
    package let name: String
    package let text: String
    /// Values of parameters.
    private let settings: [Setting]
    /// Values of one picture, if it is the pipeline for that.
    package let ofPicture: PictureValues
    /// Each asset once.
    package let assets: [AssetMessage]
    /// The first pipeline decides the kind of the worker; the others are of the same.
    package let kind: WorkerKind
    package let limits: Limits

    package init(
        id: Int, name: String, text: String, given: [String: String] = [:], ofPicture: PictureValues = PictureValues(),
        assets: [AssetMessage], kind: WorkerKind = WorkerKind(), limits: Limits
    ) {
        self.id = id
        self.name = name
        self.text = text
        self.ofPicture = ofPicture
        settings = given.sorted { $0.key < $1.key }.map { Setting(name: $0.key, value: $0.value) }
        self.assets = assets
        self.kind = kind
        self.limits = limits
    }

    private struct Setting: Codable, Sendable {
        let name, value: String
    }

    /// Values of parameters, by name.
    package var given: [String: String] { Dictionary(settings.map { ($0.name, $0.value) }) { $1 } }
}

package struct AssetMessage: Codable, Sendable {
    package enum Content: Codable, Sendable {
        case picture(SourceFormat, pixelsPerPoint: Int)
        /// A .cube file.
        case colorTable
        case font
        /// An .icc file.
        case profile
    }

    /// The path as the pipeline writes it; a name only, never opened.
    package let path: String
    package let content: Content

    package init(path: String, content: Content) {
        self.path = path
        self.content = content
    }

    /// The format of a picture.
    package var format: SourceFormat? { if case .picture(let format, _) = content { format } else { nil } }
    package var pixelsPerPoint: Int { if case .picture(_, let pixelsPerPoint) = content { pixelsPerPoint } else { 1 } }
}

package struct RenderMessage: Codable, Sendable {
    package let pipeline: Int
    package let source: SourceMessage
    /// The earlier measurements of the source.
    package let measurements: [StageMeasurement]
    /// The values of the fields in texts; nil if the pipeline has no texts.
    package let texts: TextValues?
    /// The parts of the pipeline that do not apply to the source; nil if all do.
    package let leftOut: OmittedParts?
    /// Places of renditions in the plan that are not wanted: no output comes for them, and nothing is said of them.
    package var omitted: Set<Int>
    /// The facts that thumbnails for file managers have about their source; nil if there are none.
    package let thumbnail: ThumbnailFacts?

    package init(
        pipeline: Int, source: SourceMessage, measurements: [StageMeasurement] = [], texts: TextValues? = nil,
        leftOut: OmittedParts? = nil, omitted: Set<Int> = [], thumbnail: ThumbnailFacts? = nil
    ) {
        self.pipeline = pipeline
        self.source = source
        self.measurements = measurements
        self.texts = texts
        self.leftOut = leftOut
        self.omitted = omitted
        self.thumbnail = thumbnail
    }
}

/// The facts that file managers compare a thumbnail with.
package struct ThumbnailFacts: Codable, Sendable, Hashable {
    package let uri: String
    /// Seconds since 1970.
    package let modified: Int
    package let bytes: Int
    package let format: SourceFormat

    package init(uri: String, modified: Int, bytes: Int, format: SourceFormat) {
        self.uri = uri
        self.modified = modified
        self.bytes = bytes
        self.format = format
    }
}

/// The source to plan with.
package enum SourceMessage: Codable, Sendable {
    /// The source of the last probe.
    case picture(pixelsPerPoint: Int)
    /// These pictures, which the worker asks for one after the other.
    case set([MemberFacts])
}

/// The answer of a worker.
package enum Reply: Codable, Sendable {
    case assets([AssetFacts])
    case facts(SourceFacts)
    case measured([StageMeasurement])
    case transparent(Bool)
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

/// The result of a rendering.
package struct RenderResult: Codable, Sendable {
    /// One for each rendition of the plan that was wanted, as saved.
    package let renditions: [RenderedSize]
    package let warnings: [Warning]
    /// The worker's highest resident memory since the supervisor has had it counted anew, in bytes.
    package let peakMemory: Int

    package init(renditions: [RenderedSize], warnings: [Warning], peakMemory: Int) {
        self.renditions = renditions
        self.warnings = warnings
        self.peakMemory = peakMemory
    }
}

package struct RenderedSize: Codable, Sendable, Equatable {
    package let size: PixelSize
    package let frames: Int
    /// Nil if the rendition has no target.
    package let reached: ReachedQuality?
    /// Nil if it is not wanted.
    package let look: PictureLook?
    /// Nil for false: a cache may have kept what is older than this.
    private let original: Bool?
    /// The file has the source's own bytes: `never-larger`.
    package var isOriginal: Bool { original ?? false }
    /// Nil for false.
    private let preview: Bool?
    /// It is made of the preview in the source's file.
    package var isOfPreview: Bool { preview ?? false }

    package init(
        size: PixelSize, frames: Int, reached: ReachedQuality? = nil, look: PictureLook? = nil,
        isOriginal: Bool = false,
        isOfPreview: Bool = false
    ) {
        self.size = size
        self.frames = frames
        self.reached = reached
        self.look = look
        original = isOriginal ? true : nil
        preview = isOfPreview ? true : nil
    }
}

/// The result of a search for a quality.
package struct ReachedQuality: Codable, Sendable, Equatable {
    package let quality: Int
    /// Nil if no similarity was asked for.
    package let similarity: Double?
    /// How often the picture was encoded.
    package let trials: Int

    package init(quality: Int, similarity: Double?, trials: Int) {
        (self.quality, self.similarity, self.trials) = (quality, similarity, trials)
    }

    /// - Parameter highest: the highest quality that may be taken.
    package func isPlausible(upTo highest: Int) -> Bool {
        (1...highest).contains(quality) && (1...QualityTarget.mostTrials).contains(trials)
            && similarity.map { (-1...1.0001).contains($0) } ?? true
    }
}

/// An output took no more. The supervisor finds out for itself why.
package struct NoRoom: Error {
    package let rendition: String
    /// libvips' words.
    package let detail: String

    package init(rendition: String, detail: String) {
        self.rendition = rendition
        self.detail = detail
    }
}
