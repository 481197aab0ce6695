import Stages
import Testing

@testable import Pipeline

struct RenditionExpansionTests {
    private func rendition(_ text: String) throws -> [Rendition] {
        try pipeline("renditions:\n  photo: \(text)\n").renditions
    }

    @Test
    func `widths and formats make a rendition for each pair, as if each was written out`() throws {
        let made = try rendition(
            "{ stages: [ grayscale ], widths: [320, 640], save: { format: [webp, jpeg], quality: 75, metadata: strip } }"
        )
        #expect(made.map(\.title) == ["photo 320w", "photo 320w", "photo 640w", "photo 640w"])
        #expect(made.map(\.save.format) == [.webp, .jpeg, .webp, .jpeg])
        #expect(made.allSatisfy { $0.save.metadata.kept == .none && $0.stages.map(\.name) == ["grayscale", "resize"] })
        #expect(made.allSatisfy { $0.template.text == "{stem}-{width}.{ext}" })

        let written = try rendition(
            "{ stages: [ grayscale, resize: { size: 640x> } ], save: { format: jpeg, quality: 75, metadata: strip } }")
        #expect(written[0].canonical == made[3].canonical && written[0].canonicalSave == made[3].canonicalSave)
    }

    @Test
    func `a rendition among several is named in files with widths`() throws {
        let file = try pipeline(
            "renditions:\n  a: { widths: [100, 200], save: { format: png } }\n  b: { save: { format: [png, webp] } }\n")
        #expect(
            file.renditions.map(\.template.text) == [
                "{stem}-{rendition}-{width}.{ext}", "{stem}-{rendition}-{width}.{ext}",
                "{stem}-{rendition}{scale}.{ext}",
                "{stem}-{rendition}{scale}.{ext}",
            ])
    }

    @Test
    func `the entries of save have options of their own, and an entry may name several formats`() throws {
        let made = try rendition("{ save: [ { format: jpeg, quality: 90 }, { format: [webp, avif], quality: 60 } ] }")
        #expect(made.map(\.save.format) == [.jpeg, .webp, .avif])
        let jpeg = try #require(made[0].save.encoding as? JPEGOutput)
        let webp = try #require(made[1].save.encoding as? WebPOutput)
        #expect(jpeg.quality == 90 && webp.quality == 60)
    }

    @Test
    func `no width is enlarged, and widths that a small picture does not have are one file`() throws {
        func files(_ width: Int, _ height: Int) throws -> [String] {
            let text = "renditions:\n  photo: { widths: [320, 640, 1280], save: { format: [webp, jpeg] } }\n"
            return try plan(text, .jpeg(width, height)).names(
                for: NamingFacts(source: SourceName(BytePath("a.jpg"))), version: 1
            ).map(\.path.text)
        }
        #expect(
            try files(4000, 3000) == [
                "a-320.webp", "a-320.jpg", "a-640.webp", "a-640.jpg", "a-1280.webp", "a-1280.jpg",
            ])
        #expect(try files(500, 300) == ["a-320.webp", "a-320.jpg", "a-500.webp", "a-500.jpg"])
        #expect(try files(10, 10) == ["a-10.webp", "a-10.jpg"])
    }

    @Test(arguments: [
        (SourceFormat.jpeg, false, OutputFormat.jpeg), (.png, true, .png), (.webp, false, .webp), (.gif, false, .gif),
        (.tiff, false, .tiff),
        (.avif, true, .avif), (.heic, false, .jpeg), (.heic, true, .png), (.jxl, true, .jxl), (.jp2, false, .jpeg),
        (.svg, false, .png),
    ])
    func `format same keeps the format of the source, and HEIC becomes JPEG or PNG`(
        source: SourceFormat, alpha: Bool, saved: OutputFormat
    ) throws {
        let facts = SourceFacts(format: source, size: PixelSize(40, 30), hasAlpha: alpha)
        let made = try plan("renditions: { a: { save: { format: same, quality: 33, metadata: keep } } }", facts)
            .renditions[0]
        #expect(made.format == saved && made.keptMetadata == .all)
        let isRated = saved.declaration.isRatedByQuality
        switch made.rendition.save.encoding {
        case let options as JPEGOutput: #expect(options.quality == 33)
        case let options as WebPOutput: #expect(options.quality == 33)
        case let options as AVIFOutput: #expect(options.quality == 33)
        case let options as JPEGXLOutput: #expect(options.quality == 33)
        default: #expect(!isRated)
        }
    }

    @Test
    func `the source's format beside the same format is one file`() throws {
        let text = "renditions: { a: { save: { format: [same, webp] } } }"
        #expect(try plan(text, SourceFacts(format: .webp, size: PixelSize(4, 3))).renditions.map(\.format) == [.webp])
        #expect(try plan(text, .png(4, 3)).renditions.map(\.format) == [.png, .webp])
    }

    @Test
    func `an animation stays one with format same`() throws {
        let made = try plan("renditions: { a: { widths: 20, save: { format: same } } }", .gif(40, 30, frames: 3))
            .renditions[0]
        #expect(made.output.frames == 3 && made.output.size == PixelSize(20, 15))
    }

    @Test
    func `a set has no format of its own`() {
        let found = mistakes("source: set\nstages: [ { stitch: {} } ]\nrenditions: { a: { save: { format: same } } }\n")
        #expect(found == ["3:15 'a' has 'format: same', but a set has no format of its own; name a format"])
    }

    @Test
    func `a value of the wrong kind is never told to be of the expected kind`() {
        let bad = ["[]", "{}", "[[]]", "[{}]", "{ bogus: 1 }", "[ { bogus: 1 } ]", "word", "", "{ x: [] }"]
        func check(_ text: String) {
            for message in mistakes(text) {
                let parts = message.components(after: ", found ")
                #expect(
                    !parts.contains { message.contains("expects \($0) ") || message.contains("expected \($0) ") },
                    "\(text): \(message)")
            }
        }
        for type in StageCatalogue.all.stages {
            for parameter in Parameters.describe(type, catalogue: .all) {
                for value in bad {
                    check(onePipeline(["\(type.name): { \(parameter.key): \(value) }"], head: type.head))
                }
            }
        }
        for parameter in PipelineFile.descriptions.file { for value in bad { check("\(parameter.key): \(value)\n") } }
        for parameter in PipelineFile.descriptions.rendition {
            for value in bad { check("renditions: { a: { \(parameter.key): \(value) } }\n") }
        }
        for format in SaveFormat.allCases {
            for parameter in SaveSettings.descriptions(of: format) {
                for value in bad {
                    check("renditions: { a: { save: { format: \(format.rawValue), \(parameter.key): \(value) } } }\n")
                }
            }
        }
    }
}

extension String {
    /// The text after the separator up to the next comma or semicolon, such as `a mapping`.
    fileprivate func components(after separator: String) -> [String] {
        guard let range = firstRange(of: separator) else { return [] }
        return [String(self[range.upperBound...].prefix { $0 != "," && $0 != ";" })]
    }
}
