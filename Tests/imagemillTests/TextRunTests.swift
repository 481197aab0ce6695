// Texts through the whole program: fields of real files, fonts beside the pipeline, second runs, the cache, and what is
// hostile.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct TextRunTests {
    private let runner: CommandRunner

    init() async throws {
        runner = try CommandRunner()
        try FileManager.default.createDirectory(
            atPath: runner.folder.path("fonts"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: Checkout.path + "/Tests/Fixtures/fonts/test.ttf", toPath: runner.folder.path("fonts/test.ttf"))
    }

    private func pipeline(_ text: String, more: String = "font: fonts/test.ttf, size: 20", name: String = "a") throws {
        try runner.folder.write(
            """
            renditions:
              \(name):
                stages:
                  - text: { text: "\(text)", \(more), anchor: top-left }
                save: { format: png }
                file: "{stem}.{ext}"
            """, to: "p.yaml")
    }

    /// A white picture whose XMP gives it a title.
    private func picture(_ name: String, title: String? = nil) async throws {
        try await runner.save(name, as: "tiffsave_target") {
            let white = try TestPicture.solid([255, 255, 255], width: 160, height: 40)
            guard let title else { return white }
            let packet = """
                <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
                <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt>
                <rdf:li xml:lang="x-default">\(title)</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>
                """
            return try white.editingMetadata { $0.set("xmp-data", blob: Array(packet.utf8)) }
        }
    }

    private func run(_ options: String...) async throws -> CommandResult {
        try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
    }

    private func codes() throws -> [[String]] { try runner.report().sources.map { $0.warnings.map(\.code) } }

    private func grid(_ name: String) async throws -> PixelGrid {
        try await runner.inspect(name, by: "pngload_source") { try PixelGrid($0) }
    }

    @Test func `a title of the metadata is drawn as the same words of the pipeline are`() async throws {
        try await picture("in/a.tif", title: "Hi there")
        try pipeline("{title}")
        #expect(try await run().exit == 0)
        let titled = try await grid("out/a.png")
        #expect(titled.boundingBox { $0[0] < 128 } != nil)
        try pipeline("Hi there")
        #expect(try await run().exit == 0)
        #expect(try await grid("out/a.png") == titled)
    }

    @Test func `a field without a value is a warning, and the picture stays as it is`() async throws {
        try await picture("in/a.tif")
        try pipeline("{title}")
        #expect(try await run().exit == 0)
        #expect(try codes() == [["empty-text"]])
        #expect(try await grid("out/a.png").boundingBox { $0 != [255, 255, 255] } == nil)
    }

    @Test func `a set has no words of its own, whatever its members have`() async throws {
        for member in ["1", "2"] { try await picture("in/s/\(member).tif", title: "Title \(member)") }
        func drawn(_ text: String) async throws -> PixelGrid {
            try runner.folder.write(
                """
                source: set
                renditions:
                  a:
                    stages:
                      - stitch: {}
                      - text: { text: "\(text)", font: fonts/test.ttf, size: 20, anchor: top-left }
                    save: { format: png, metadata: { keep: all, set: { caption: "\(text)" } } }
                    file: "{stem}.{ext}"
                """, to: "p.yaml")
            let result = try await run()
            #expect(result.exit == 0, "\(result.errors)")
            return try await grid("out/s.png")
        }
        #expect(try await drawn("{title|a set}") == drawn("a set"))
    }

    @Test(arguments: [
        ("a\\nb", "overflow: ellipsis", "a\\nb"), ("a\\nb", "overflow: shrink", "a\\nb"),
        ("a\\nb\\nc", "overflow: ellipsis, max-lines: 2", "a\\nb\u{2005}c"),
        ("a\\nb\\nc", "overflow: shrink, max-lines: 2", "a\\nb\u{2005}c"),
        ("a\\nb\\nc", "overflow: ellipsis, max-lines: 1", "a\u{2005}b\u{2005}c"),
        ("a <span background='red'>b</span> c", "markup: true", "a b c"),
        ("abab", "max-width: 1", "a\\nb\\na\\nb"),
    ])
    func `lines that are written stay lines while there is room, and nothing is put in`(
        text: String, options: String, same: String
    ) async throws {
        try await picture("in/a.tif")
        try pipeline(text, more: "font: fonts/test.ttf, size: 9, line-spacing: 1, \(options)")
        #expect(try await run().exit == 0)
        #expect(try codes() == [[]])
        let drawn = try await grid("out/a.png")
        try pipeline(same, more: "font: fonts/test.ttf, size: 9, line-spacing: 1")
        #expect(try await run().exit == 0)
        #expect(try await grid("out/a.png") == drawn)
    }

    @Test func `text that does not fit at a quarter of its size is said to be cut`() async throws {
        try await picture("in/a.tif")
        try pipeline("Hi there, all of you", more: "font: fonts/test.ttf, size: 20, overflow: shrink, max-width: 20")
        #expect(try await run().exit == 0)
        #expect(try codes().flatMap(\.self).contains("text-cut"))
    }

    @Test(arguments: [40, 47, 53, 61, 70])
    func `a text that ends with an ellipsis is at the edge that it is anchored to`(width: Int) async throws {
        try await picture("in/a.tif")
        func right(_ text: String) async throws -> Int {
            try runner.folder.write(
                "renditions: { a: { stages: [ { text: { text: \"\(text)\", font: fonts/test.ttf, size: 16, overflow: ellipsis, max-width: \(width), anchor: top-right } } ], save: { format: png }, file: \"{stem}.{ext}\" } }",
                to: "p.yaml")
            #expect(try await run().exit == 0)
            let box = try #require(try await grid("out/a.png").boundingBox { $0[0] < 250 })
            return box[0] + box[2]
        }
        #expect(abs(try await right("iiiWiWiWiWiWiWi") - right("i…")) <= 1)
    }

    @Test func `plan has the words, and the very size of the rendition`() async throws {
        try await picture("in/a.tif", title: "Hi there")
        try pipeline("{title} {stem}")
        let plan = try await runner.run("plan", "p.yaml", "in/a.tif")
        #expect(plan.exit == 0 && plan.output.contains("'Hi there a'"), "\(plan.output)\(plan.errors)")
        #expect(plan.output.contains("160×40") || plan.output.contains("160x40"))
    }

    @Test(arguments: [
        ("2024:05:06 07:08:09", "2024"), ("2024:13:01 00:00:00", "none"), ("0000:00:00 00:00:00", "none"),
        ("    :  :     :  :  ", "none"),
    ])
    func `a date of capture that is on no calendar is no value`(date: String, words: String) async throws {
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([255, 255, 255], width: 160, height: 40)
                .editingMetadata {
                    $0.set("exif-ifd2-DateTimeOriginal", string: date + " (\(date), ASCII, 20 components, 20 bytes)")
                }
        }
        try pipeline("{date-taken:%Y|none}")
        let plan = try await runner.run("plan", "p.yaml", "in/a.jpg")
        #expect(plan.exit == 0 && plan.output.contains("'\(words)'"), "\(plan.output)\(plan.errors)")
    }

    @Test func `a font file that changes is a reason to draw again, and no other file is`() async throws {
        try await picture("in/a.tif")
        try pipeline("Hi")
        #expect(try await run().exit == 0)
        #expect(try await run().errors.hasPrefix("1 source unchanged"))
        var font = try Data(contentsOf: URL(fileURLWithPath: runner.folder.path("fonts/test.ttf")))
        font.append(0)
        try font.write(to: URL(fileURLWithPath: runner.folder.path("fonts/test.ttf")))
        let why = try await run("--why", "in/a.tif")
        #expect(why.output.contains("the asset 'fonts/test.ttf' has changed"), "\(why.output)")
    }

    @Test func `a rendition of the cache has the words of its own source`() async throws {
        try await picture("in/a.tif")
        try FileManager.default.copyItem(
            atPath: runner.folder.path("in/a.tif"), toPath: runner.folder.path("in/iii.tif"))
        try pipeline("{stem}")
        #expect(try await run("--cache", "cache").exit == 0)
        #expect(try await grid("out/a.png") != grid("out/iii.png"))
        try pipeline("{rendition}")
        #expect(try await run("--cache", "cache").exit == 0)
        let first = try await grid("out/a.png")
        try pipeline("{rendition}", name: "iii")
        #expect(try await run("--cache", "cache").exit == 0)
        #expect(try await grid("out/a.png") != first)
    }

    @Test(arguments: [
        String(repeating: "x", count: 100_000), String(repeating: "\u{202E}\u{2067}", count: 50_000) + "x",
        "&lt;span font=&quot;999999&quot;&gt;&lt;/b&gt;{stem}", String(repeating: "\u{0301}", count: 5000),
        String(repeating: "ﷺ\u{200D}", count: 3000),
    ])
    func `a hostile title costs no other picture`(title: String) async throws {
        try await picture("in/a.tif", title: title)
        try await picture("in/b.tif", title: "good")
        for markup in [false, true] {
            try pipeline("{title}", more: "size: 20, markup: \(markup)")
            let result = try await run("--force")
            let report = try runner.report()
            #expect(report["b.tif"]?.renditions.count == 1, "\(result.errors)")
            #expect(result.exit == 0, "\(result.errors)")
        }
    }

    @Test func `a font that is none, or is damaged, is a mistake of the pipeline at its place`() async throws {
        try await picture("in/a.tif")
        try pipeline("Hi")
        for bytes in [Data("no font".utf8), Data([0, 1, 0, 0] + [UInt8](repeating: 0xFF, count: 400))] {
            try bytes.write(to: URL(fileURLWithPath: runner.folder.path("fonts/test.ttf")))
            let result = try await run()
            #expect(result.exit == 78, "\(result.errors)")
            #expect(result.errors.hasPrefix("p.yaml:4:"), "\(result.errors)")
            #expect(result.errors.contains("the asset 'fonts/test.ttf' cannot be used"), "\(result.errors)")
        }
    }

    /// The test's font with bytes of some of its tables replaced.
    private func damage(_ range: Range<Int>, by bytes: (Int) -> UInt8?) throws {
        let file = URL(fileURLWithPath: Checkout.path + "/Tests/Fixtures/fonts/test.ttf")
        var font = [UInt8](try Data(contentsOf: file))
        for place in range { font[place] = bytes(place) ?? font[place] }
        try Data(font).write(to: URL(fileURLWithPath: runner.folder.path("fonts/test.ttf")))
    }

    /// Where tables of the test's font are.
    private static let (head, cmap, glyphs) = (300..<354, 1136..<1252, 3636..<26_386)

    /// A picture on which a text is drawn, and one on which none is.
    private func prepareTwo() async throws -> PixelGrid {
        try await picture("in/a.tif", title: "Hamburg")
        try await picture("in/b.tif")
        try pipeline("{title|}")
        #expect(try await run().exit == 0)
        return try await grid("out/b.png")
    }

    @Test func `a font that has lost its characters brings a warning to the picture that needs it, and to no other`()
        async throws
    {
        let plain = try await prepareTwo()
        try damage(Self.cmap) { _ in 0 }
        let result = try await run("--force")
        let report = try runner.report()
        #expect(result.exit == 0, "\(result.errors)")
        // That the title is no longer in the result is another matter.
        let codes = report["a.tif"]?.warnings.map(\.code).filter { $0 != "metadata-removed" }
        #expect(report["a.tif"]?.renditions.count == 1 && codes == ["missing-glyphs"], "\(codes ?? [])")
        #expect(report["b.tif"]?.renditions.count == 1 && report["b.tif"]?.warnings.map(\.code) == [])
        #expect(try await grid("out/b.png") == plain)
    }

    @Test func `a font without a head is a mistake of the pipeline, and nothing is written`() async throws {
        _ = try await prepareTwo()
        try damage(Self.head) { _ in 0 }
        let result = try await run("--force")
        #expect(result.exit == 78 && result.errors.hasPrefix("p.yaml:4:"), "\(result.errors)")
        #expect(result.errors.contains("nothing was written"), "\(result.errors)")
    }

    @Test(arguments: 1...6)
    func `a font whose outlines are damaged costs no picture that it is not drawn on`(seed: UInt64) async throws {
        let plain = try await prepareTwo()
        var random = seed
        try damage(Self.glyphs) { _ in
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // About one byte of a hundred.
            return (random >> 33) % 100 == 0 ? UInt8(truncatingIfNeeded: random >> 24) : nil
        }
        let result = try await run("--force")
        let report = try runner.report()
        #expect(
            report["b.tif"]?.renditions.count == 1 && report["b.tif"]?.warnings.map(\.code) == [], "\(result.errors)")
        #expect(report["b.tif"]?.error == nil && report["b.tif"]?.attempt == 1)
        #expect(try await grid("out/b.png") == plain)
        // Letters of a wrong shape are no failure; a worker that came down is one of this picture.
        let isDone = report["a.tif"]?.error == nil
        #expect(report["a.tif"]?.renditions.count == (isDone ? 1 : 0))
        #expect(result.exit == (isDone ? 0 : 1), "\(result.errors)")
    }

    @Test func `a picture is turned before it is drawn on`() async throws {
        try pipeline("Hi")
        for orientation in 1...8 {
            let turned = orientation >= 5
            try await runner.save("in/\(orientation).tif", as: "tiffsave_target") {
                try TestPicture.solid([255, 255, 255], width: turned ? 40 : 160, height: turned ? 160 : 40)
                    .editingMetadata { $0.set("orientation", int: orientation) }
            }
        }
        #expect(try await run().exit == 0)
        let upright = try await grid("out/1.png")
        for orientation in 2...8 { #expect(try await grid("out/\(orientation).png") == upright, "\(orientation)") }
    }
}
