// Messages as bytes: each comes back as it was, and nothing else is taken for one.
import Pipeline
import Testing

@testable import Messages

@Suite struct MessageCodingTests {
    private static let facts: SourceFacts = {
        var facts = SourceFacts(
            format: .heic, size: PixelSize(300, 200), orientation: 6, frames: 2, hasAlpha: true, colour: .cmyk,
            depth: .sixteen, hasProfile: true, isInterlaced: true, captureDate: "2024:05:06 07:08:09")
        facts.coded = CodedPicture(PixelSize(304, 208))
        facts.page = 3
        facts.bytes = .max
        facts.words = PictureWords(title: "t", copyright: "c")
        facts.metadata = [MetadataValue(MetadataField("iptc:Headline")!, "h")]
        return facts
    }()

    private static let measurements = [
        StageMeasurement(
            path: Planner.StagePath(rendition: 0, stage: 1),
            measurement: .box(left: 0.1, top: 1 / 3, width: .leastNonzeroMagnitude, height: -0.0)),
        StageMeasurement(path: Planner.StagePath(rendition: nil, stage: 2), measurement: .offsets([0, 0.5])),
        StageMeasurement(
            path: Planner.StagePath(rendition: 0, stage: 0), measurement: .levels(black: 0.25, white: 1)),
    ]

    private static let failure = Failure(.corrupt, stage: "decode", "„kaputt“\n\u{1F5BC}\u{0}", detail: "libpng")

    private static let requests: [Request] =
        [
            .prepare(
                PipelineMessage(
                    id: 7, name: "a.yaml", text: "stages: []\n",
                    assets: [
                        AssetMessage(path: "logo@2x.png", content: .picture(.png, pixelsPerPoint: 2)),
                        AssetMessage(path: "film.cube", content: .colorTable),
                        AssetMessage(path: "a.ttf", content: .font),
                    ],
                    kind: WorkerKind(drawsText: true, format: .svg, modules: [.heif], inbox: "shop"), limits: Limits())),
            .probe(.jpeg),
            .probe(.tiff, page: 2, wanted: WantedMetadata(words: true, fields: [MetadataField("xmp:dc:title")!])),
            .tryReading(.svg), .member,
            .findTransparency(pipeline: 3),
            .measure(RenderMessage(pipeline: 1, source: .picture(pixelsPerPoint: 2))),
            .render(
                RenderMessage(
                    pipeline: -1, source: .set([MemberFacts(name: BytePath([0x61, 0xFF, 0]), facts: facts)]),
                    measurements: measurements,
                    texts: TextValues(
                        NamingFacts(source: SourceName(BytePath("a/b.jpg"))), dateTaken: nil,
                        words: PictureWords(title: "„t“")), omitted: [1],
                    thumbnail: ThumbnailFacts(uri: "file:///a.png", modified: 1, bytes: 2, format: .png))),
        ]

    private static let replies: [Reply] =
        [
            .facts(facts), .facts(SourceFacts(format: .gif, size: PixelSize(1, 1))), .measured(measurements),
            .assets([AssetFacts(size: PixelSize(9, 8), pixelsPerPoint: 1, isGrey: false, depth: .float)]), .assets([]),
            .needsMember(1), .readable(true), .readable(false), .transparent(true), .failed(failure),
            .assetFailed(3, failure),
            .failed(Failure(.internal, stage: "", "")), .cannotSave(.avif, "no encoder"), .noRoom("a", "full"),
            .rendered(
                RenderResult(
                    renditions: [
                        RenderedSize(
                            size: PixelSize(9, 8), frames: 1,
                            reached: ReachedQuality(quality: 61, similarity: 0.98, trials: 3))
                    ],
                    warnings: [Warning(.sourceDamaged, "extraneous bytes")], peakMemory: 1)),
        ]

    /// A message of each case, with and without what may be missing.
    private static let messages: [any Codable & Sendable] = requests + replies

    /// Reads a message of the same type.
    private static func read<Message: Codable>(_ bytes: [UInt8], as message: Message) throws -> Message {
        try MessageCoding.value(Message.self, from: bytes)
    }

    @Test func `each message comes back as it was`() throws {
        for message in Self.messages {
            let bytes = try MessageCoding.bytes(of: message)
            #expect(String(reflecting: try Self.read(bytes, as: message)) == String(reflecting: message))
        }
    }

    @Test func `a message that is cut, or goes on, is none`() throws {
        for message in Self.messages {
            let bytes = try MessageCoding.bytes(of: message)
            for count in bytes.indices {
                #expect(throws: DecodingError.self, "\(message), \(count)") {
                    try Self.read(Array(bytes[..<count]), as: message)
                }
            }
            #expect(throws: DecodingError.self) { try Self.read(bytes + [0], as: message) }
        }
    }

    @Test func `bytes that are changed are another message or none, and make no room for what they claim`() throws {
        for message in Self.messages {
            let bytes = try MessageCoding.bytes(of: message)
            for place in bytes.indices {
                for value: UInt8 in [0, 1, 2, 0x7F, 0x80, 0xFF] {
                    var changed = bytes
                    changed[place] = value
                    guard let read = try? Self.read(changed, as: message) else { continue }
                    #expect(try MessageCoding.bytes(of: read).count <= bytes.count)
                }
            }
        }
    }

    @Test func `what has no form is refused, and never left out`() {
        struct Small: Codable { var number: Int32 = 1 }
        struct Missing: Codable { var number: Int64? }
        #expect(throws: EncodingError.self) { try MessageCoding.bytes(of: Small()) }
        #expect(throws: EncodingError.self) { try MessageCoding.bytes(of: [nil as Int?]) }
        #expect(throws: EncodingError.self) { try MessageCoding.bytes(of: Missing(number: 1)) }
    }
}
