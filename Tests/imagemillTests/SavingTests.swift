// What `save` promises, read back by libvips.
import TestSupport
import Testing
import Vips

@Suite struct SavingTests {
    /// Half transparent on the left, opaque on the right.
    private func translucent() throws -> Image {
        try TestPicture.make(width: 40, height: 20, bands: 4) { x, _ in [200, 40, 40, x < 20 ? 128 : 255] }
    }

    private func animation() throws -> Image {
        let frames = try (0..<3).map { index in
            try TestPicture.make(width: 40, height: 30) { x, _ in x / 14 == index ? [220, 30, 30] : [240, 240, 240] }
        }
        return try Image.arrayjoin(frames).editingMetadata { editor in
            editor.set("page-height", int: 30)
            editor.set("delay", ints: [100, 200, 300])
            editor.set("loop", int: 3)
        }
    }

    @Test("What has no transparency is drawn on white, with a warning", arguments: [("jpeg", "jpg"), ("tiff, compression: jpeg", "tif")])
    func flattening(format: String, suffix: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") { try translucent() }
        #expect(try await runner.render(save: "{ format: \(format), quality: 95 }").exit == 0)
        let loader = suffix == "jpg" ? "jpegload_source" : "tiffload_source"
        let (left, right) = try await runner.inspect("out/a.\(suffix)", by: loader) {
            (try $0.getpoint(x: 6, y: 10), try $0.getpoint(x: 34, y: 10))
        }
        #expect(zip(left, [227, 147, 147]).allSatisfy { abs($0 - $1) <= 4 }, "\(left)")
        #expect(zip(right, [200, 40, 40]).allSatisfy { abs($0 - $1) <= 4 }, "\(right)")
        #expect(try runner.report()["a.png"]?.warnings.map(\.code) == ["alpha-flattened"])
    }

    @Test(
        "Formats with transparency keep it",
        arguments: [("png", "png"), ("webp, lossless: true", "webp"), ("avif, quality: 90", "avif"), ("tiff", "tif")])
    func transparency(format: String, suffix: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") { try translucent() }
        #expect(try await runner.render(save: "{ format: \(format) }").exit == 0)
        let loader = ["png": "pngload_source", "webp": "webpload_source", "avif": "heifload_source", "tif": "tiffload_source"][suffix] ?? ""
        let (left, right) = try await runner.inspect("out/a.\(suffix)", by: loader) {
            (try $0.getpoint(x: 6, y: 10), try $0.getpoint(x: 34, y: 10))
        }
        #expect(zip(left, [200, 40, 40, 128]).allSatisfy { abs($0 - $1) <= 4 }, "\(left)")
        #expect(zip(right, [200, 40, 40, 255]).allSatisfy { abs($0 - $1) <= 4 }, "\(right)")
        #expect(try runner.report()["a.png"]?.warnings.isEmpty == true)
    }

    @Test(
        "An animation stays one through cropping and framing: frames, delays and loop",
        arguments: [("gif", "webp"), ("webp", "gif"), ("gif", "gif"), ("webp", "webp")])
    func animations(source: String, result: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.\(source)", as: "\(source)save_target", source == "webp" ? [("lossless", true)] : []) { try animation() }
        let stages = "[crop: { width: 28, height: 30, anchor: leading }, frame: { width: 50, height: 40, background: blue }]"
        #expect(try await runner.render(stages: stages, save: "{ format: \(result) }").exit == 0)
        try await runner.inspect("out/a.\(result)", by: "\(result)load_source", [("n", -1)]) { image in
            #expect(image.pages == 3 && image.pageHeight == 40 && image.width == 50)
            #expect(image.ints("delay") == [100, 200, 300])
            #expect(image.int("loop") == 3)
            // The red bar moves from the left to the middle and out of the crop.
            let red = try (0..<3).map { frame in try [10, 30].map { try image.getpoint(x: $0, y: 40 * frame + 20)[1] < 120 } }
            #expect(red == [[true, false], [false, true], [false, false]])
            #expect(try (0..<3).allSatisfy { try image.getpoint(x: 2, y: 40 * $0 + 1)[2] > 200 })
        }
    }

    @Test("A still format takes the first frame, and the report says so")
    func stills() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.gif", as: "gifsave_target") { try animation() }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        #expect(try await runner.inspect("out/a.png", by: "pngload_source") { [$0.width, $0.height] } == [40, 30])
        #expect(try runner.report()["a.gif"]?.warnings.map(\.code) == ["animation-dropped"])
    }

    @Test("Copyright, artist and licence stay; the position and the camera go")
    func metadata() async throws {
        let runner = try CommandRunner()
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
            xmlns:cc="http://creativecommons.org/ns#" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="Secret"
            cc:license="https://creativecommons.org/licenses/by/4.0/"/></rdf:RDF></x:xmpmeta>
            """
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata { editor in
                editor.set("exif-ifd0-Copyright", string: "(c) Ann Example (ASCII)")
                editor.set("exif-ifd0-Artist", string: "Ann (ASCII)")
                editor.set("exif-ifd0-Model", string: "Secret Camera (ASCII)")
                editor.set("exif-ifd3-GPSLatitude", string: "52/1 30/1 0/1 (GPS)")
                editor.set("xmp-data", blob: Array(packet.utf8))
            }
        }
        for (policy, keepsOwner, keepsCamera) in [("copyright", true, false), ("keep", true, true), ("strip", false, false)] {
            #expect(try await runner.render(save: "{ format: jpeg, metadata: \(policy) }").exit == 0)
            try await runner.inspect("out/a.jpg", by: "jpegload_source") { image in
                let xmp = image.blob("xmp-data").map { String(decoding: $0, as: UTF8.self) } ?? ""
                #expect((image.string("exif-ifd0-Copyright")?.hasPrefix("(c) Ann Example") == true) == keepsOwner)
                #expect((image.string("exif-ifd0-Artist")?.hasPrefix("Ann") == true) == keepsOwner)
                #expect(xmp.contains("creativecommons.org/licenses/by/4.0") == keepsOwner)
                #expect((image.string("exif-ifd0-Model") != nil) == keepsCamera)
                #expect((image.string("exif-ifd3-GPSLatitude") != nil) == keepsCamera)
                #expect(xmp.contains("Secret") == keepsCamera)
            }
            #expect(try runner.report()["a.jpg"]?.warnings.contains { $0.code == "metadata-removed" } == (policy == "copyright"))
        }
    }

    @Test("A truncated picture passes where the pipeline tolerates it, with a warning")
    func tolerance() async throws {
        let runner = try CommandRunner()
        let whole = try await SamplePicture.noise(width: 200, height: 200)
        try runner.folder.write(Array(whole.prefix(whole.count * 2 / 3)), to: "in/a.jpg")
        #expect(try await runner.render(save: "{ format: png }").exit == 2)
        #expect(try runner.report()["a.jpg"]?.error?.code == "truncated")
        #expect(try await runner.render(save: "{ format: png }", more: "tolerate: truncated").exit == 0)
        #expect(try runner.report()["a.jpg"]?.warnings.contains { $0.code == "source-truncated" } == true)
        #expect(try await runner.inspect("out/a.png", by: "pngload_source") { [$0.width, $0.height] } == [200, 200])
    }
}
