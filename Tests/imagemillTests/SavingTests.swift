// The files that `save` writes, read back by libvips.
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Render

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

    @Test(arguments: [("jpeg", "jpg"), ("tiff, compression: jpeg", "tif")])
    func `what has no transparency is drawn on white, with a warning`(format: String, suffix: String) async throws {
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

    @Test(arguments: [("", 8), ("stages: [{ resize: { width: 7 } }], ", 8), ("", 16), ("stages: [grayscale], ", 16)])
    func `an opaque picture with an alpha channel loses nothing, so nothing is said`(stages: String, bits: Int)
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write("renditions: { one: { \(stages)save: { format: jpeg } } }\n", to: "p.yaml")
        for (name, last) in [("opaque", 255), ("clear", 254)] {
            try await runner.save("in/\(name).png", as: "pngsave_target") {
                // One pixel, in the last place.
                let picture = try TestPicture.make(width: 40, height: 300, bands: 4) { x, y in
                    [200, 40, 40, x == 39 && y == 299 ? UInt8(last) : 255]
                }
                return bits == 16 ? try picture.colourspace(.rgb16) : picture
            }
        }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(try runner.report()["opaque.png"]?.warnings.isEmpty == true)
        // Scaling spreads what is left of one pixel so thin that it is rounded to nothing.
        if stages.contains("resize") { return }
        #expect(try runner.report()["clear.png"]?.warnings.map(\.code) == ["alpha-flattened"])
    }

    @Test(arguments: [("png", "png"), ("webp, lossless: true", "webp"), ("avif, quality: 90", "avif"), ("tiff", "tif")])
    func `formats with transparency keep it`(format: String, suffix: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") { try translucent() }
        #expect(try await runner.render(save: "{ format: \(format) }").exit == 0)
        let loader =
            ["png": "pngload_source", "webp": "webpload_source", "avif": "heifload_source", "tif": "tiffload_source"][
                suffix] ?? ""
        let (left, right) = try await runner.inspect("out/a.\(suffix)", by: loader) {
            (try $0.getpoint(x: 6, y: 10), try $0.getpoint(x: 34, y: 10))
        }
        #expect(zip(left, [200, 40, 40, 128]).allSatisfy { abs($0 - $1) <= 4 }, "\(left)")
        #expect(zip(right, [200, 40, 40, 255]).allSatisfy { abs($0 - $1) <= 4 }, "\(right)")
        #expect(try runner.report()["a.png"]?.warnings.isEmpty == true)
    }

    @Test(arguments: [("gif", "webp"), ("webp", "gif"), ("gif", "gif"), ("webp", "webp")])
    func `an animation stays one through cropping and framing: frames, delays and loop`(source: String, result: String)
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save(
            "in/a.\(source)", as: "\(source)save_target", source == "webp" ? [("lossless", true)] : []
        ) { try animation() }
        let stages =
            "[crop: { width: 28, height: 30, anchor: leading }, frame: { width: 50, height: 40, background: blue }]"
        #expect(try await runner.render(stages: stages, save: "{ format: \(result) }").exit == 0)
        try await runner.inspect("out/a.\(result)", by: "\(result)load_source", [("n", -1)]) { image in
            #expect(image.pages == 3 && image.pageHeight == 40 && image.width == 50)
            #expect(image.ints("delay") == [100, 200, 300])
            #expect(image.int("loop") == 3)
            // The red bar moves from the left to the middle and out of the crop.
            let red = try (0..<3).map { frame in
                try [10, 30].map { try image.getpoint(x: $0, y: 40 * frame + 20)[1] < 120 }
            }
            #expect(red == [[true, false], [false, true], [false, false]])
            #expect(try (0..<3).allSatisfy { try image.getpoint(x: 2, y: 40 * $0 + 1)[2] > 200 })
        }
    }

    @Test func `a still format takes the first frame, and the report says so`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.gif", as: "gifsave_target") { try animation() }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        #expect(try await runner.inspect("out/a.png", by: "pngload_source") { [$0.width, $0.height] } == [40, 30])
        #expect(try runner.report()["a.gif"]?.warnings.map(\.code) == ["animation-dropped"])
    }

    @Test(arguments: [("gif", "webp", 3), ("gif", "gif", 3), ("gif", "png", 1), ("png", "webp", 1)])
    func `the report has the number of frames of each rendition`(
        source: String, result: String, frames: Int
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.\(source)", as: "\(source)save_target") {
            try source == "gif" ? animation() : translucent()
        }
        try runner.folder.write("renditions: { a: { save: { format: \(result) } } }", to: "p.yaml")
        // The second time from the cache.
        for isCached in [false, true] {
            let options = ["--cache", "cache", "--force"]
            #expect(try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options).exit == 0)
            let rendition = try #require(try runner.report().sources.first?.renditions.first)
            #expect(rendition.frames == frames && rendition.cached == isCached)
        }
    }

    @Test(arguments: [(0, true), (255, false)])
    func `an animated WebP says that it is transparent if only its margin is`(margin: Int, isSaid: Bool) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.webp", as: "webpsave_target", [("lossless", true)]) {
            let frames = try (0..<3).map { index in
                try TestPicture.make(width: 40, height: 30, bands: 4) { x, y in
                    let isInside = (8..<32).contains(x) && (6..<24).contains(y)
                    return [UInt8(60 * index), UInt8(5 * x), 90, isInside ? 255 : UInt8(margin)]
                }
            }
            return try Image.arrayjoin(frames).editingMetadata { $0.set("page-height", int: 30) }
        }
        #expect(try await runner.render(save: "{ format: webp, effort: 0 }").exit == 0)
        let header = try runner.bytes("out/a.webp").prefix(21)
        #expect(header[12..<16].elementsEqual("VP8X".utf8))
        #expect((header[20] & 0x10 != 0) == isSaid)
    }

    @Test(
        arguments: [
            ("8", true, .eight), ("12", true, .sixteen), ("12", false, .sixteen), ("8", false, .eight),
        ] as [(String, Bool, BitDepth)])
    func `an AVIF has the depth that is asked for, and white stays white`(
        depth: String, isDeep: Bool, expected: BitDepth
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 32, height: 32, kind: PictureKind(isDeep: isDeep)) { _, _ in
                Array(repeating: isDeep ? 65_535 : 255, count: 3)
            }
        }
        let save = "{ format: avif, quality: 100, effort: 0, subsampling: off, bit-depth: \(depth) }"
        let result = try await runner.render(save: save)
        #expect(result.exit == 0, "\(result.errors)")
        let coded = try AVIFSource.structure.codedPicture(in: ByteSource(try runner.bytes("out/a.avif")))
        #expect(coded?.depth == expected)
        let white = try await runner.inspect("out/a.avif", by: "heifload_source") { try $0.getpoint(x: 16, y: 16) }
        // Twelve bits are the upper ones of sixteen.
        #expect(white.allSatisfy { $0 >= (expected == .sixteen ? 65_520 : 255) }, "\(white)")
    }

    /// The bytes of the file are asked, since libvips shows words of its own.
    @Test(arguments: ["jpeg", "webp", "png", "avif"], ["copyright", "keep"])
    func `names stay as they were written, whatever their letters`(format: String, policy: String) async throws {
        let runner = try CommandRunner()
        let (artist, copyright) = ("Zoë Müller", "© 2026 Łódź, 日本 (all)")
        let exif = try #require(Rights(creator: [artist], copyright: copyright).exif)
        let picture = try await SamplePicture.jpeg.bytes
        let segment = [0xFF, 0xE1, UInt8((exif.count + 2) >> 8), UInt8((exif.count + 2) & 0xFF)] + exif
        try runner.folder.write(Array(picture.prefix(2)) + segment + picture.dropFirst(2), to: "in/a.jpg")
        #expect(try await runner.render(save: "{ format: \(format), metadata: \(policy) }").exit == 0)
        let name = try #require(runner.files(in: "out").first { $0.hasPrefix("a.") && !$0.hasSuffix(".json") })
        let file = try runner.bytes("out/" + name)
        for text in [artist, copyright] {
            // A NUL ends it in EXIF, and nothing else.
            #expect(file.firstRange(of: Array(text.utf8) + [0]) != nil, "\(text) in \(name)")
        }
    }

    @Test func `copyright, artist and licence stay; the position and the camera go`() async throws {
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
        for (policy, keepsOwner, keepsCamera) in [
            ("copyright", true, false), ("keep", true, true), ("strip", false, false),
        ] {
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
            #expect(
                try runner.report()["a.jpg"]?.warnings.contains { $0.code == "metadata-removed" }
                    == (policy == "copyright"))
        }
    }

    @Test(arguments: ["jpeg", "png", "webp", "avif", "tiff", "gif"], ["copyright", "strip"])
    func `what is not to stay is in no file of any format`(format: String, policy: String) async throws {
        let runner = try CommandRunner()
        // From one without an owner nothing at all stays.
        for (name, owner) in [("none", nil), ("owner", "(c) Ann Example (ASCII)")] {
            try await runner.save("in/\(name).jpg", as: "jpegsave_target") {
                try TestPicture.make(width: 60, height: 40) { x, y in [UInt8(x), UInt8(y), 90] }.editingMetadata {
                    editor in
                    if let owner { editor.set("exif-ifd0-Copyright", string: owner) }
                    editor.set("exif-ifd0-Model", string: "Secret Camera (ASCII)")
                    editor.set("exif-ifd3-GPSLatitude", string: "52/1 30/1 0/1 (GPS)")
                    editor.set(
                        "xmp-data", blob: Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'><Secret/></x:xmpmeta>".utf8))
                    editor.set("iptc-data", blob: Array("Photoshop 3.0 Secret".utf8))
                    editor.set("jpeg-thumbnail-data", blob: Array("the Secret at a small size".utf8))
                }
            }
        }
        // In memory, and row by row.
        for stages in ["[ { resize: { size: 30x20 } } ]", "[]"] {
            #expect(
                try await runner.render(stages: stages, save: "{ format: \(format), metadata: \(policy) }").exit == 0)
            let files = runner.files().filter { !$0.hasPrefix(".") }
            #expect(files.count == 2)
            for file in files {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: runner.folder.path("out/\(file)")))
                #expect(bytes.range(of: Data("Secret".utf8)) == nil, "\(file)")
                let loader = format == "avif" ? "heifload_source" : "\(format)load_source"
                let fields = try await runner.inspect("out/\(file)", by: loader) { $0.fields }
                let mayHaveOwner = policy == "copyright" && file.hasPrefix("owner")
                let told = fields.filter {
                    $0.hasPrefix("exif-ifd3") || $0 == "iptc-data" || ($0 == "xmp-data" && !mayHaveOwner)
                }
                #expect(told.isEmpty, "\(file)")
                #expect(policy == "copyright" && mayHaveOwner || !fields.contains("exif-data"), "\(file)")
            }
        }
    }

    @Test func `EXIF that only says how pixels are stored is removed without a word`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata {
                $0.set("exif-ifd0-Orientation", string: "1 (Short)")
            }
        }
        #expect(try await runner.inspect("in/a.jpg", by: "jpegload_source") { $0.blob("exif-data") } != nil)
        for save in ["{ format: jpeg }", "{ format: gif, metadata: keep }"] {
            #expect(try await runner.render(save: save).exit == 0)
            #expect(try runner.report()["a.jpg"]?.warnings.isEmpty == true)
        }
    }

    @Test
    func `what a format cannot hold of the metadata that is to be kept is said; TIFF has the owner in its XMP`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata { editor in
                editor.set("exif-ifd0-Copyright", string: "(c) Ann Example (ASCII)")
                editor.set("exif-ifd0-Model", string: "Camera (ASCII)")
            }
        }
        for (format, words) in [
            ("tiff", "'a': tiff files cannot be given EXIF; copyright, artist and licence are in its XMP"),
            ("gif", "'a': gif files cannot be given EXIF; copyright, artist and licence are lost"),
            ("jpeg", nil), ("webp", nil),
        ] {
            #expect(try await runner.render(save: "{ format: \(format), metadata: keep }").exit == 0)
            let warnings = try runner.report()["a.jpg"]?.warnings ?? []
            #expect(warnings.map(\.message) == [words].compactMap(\.self))
            #expect(warnings.allSatisfy { $0.code == "metadata-lost" })
        }
        let xmp = try await runner.inspect("out/a.tif", by: "tiffload_source") { $0.blob("xmp-data") } ?? []
        #expect(String(decoding: xmp, as: UTF8.self).contains("(c) Ann Example"))
    }

    @Test func `what was removed is said of the renditions that lack it`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata { editor in
                editor.set("exif-ifd0-ImageDescription", string: "a lake (ASCII)")
            }
        }
        try runner.folder.write(
            """
            renditions:
              kept: { save: { format: jpeg, metadata: keep } }
              small: { save: { format: jpeg } }
              other: { save: { format: webp } }
            """, to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(
            try runner.report()["a.jpg"]?.warnings.map(\.message) == [
                "'small', 'other': EXIF removed, all but copyright, artist and licence"
            ])
    }

    @Test func `an owner whom IPTC names and blocks that count more contradict is not lost silently`() async throws {
        let runner = try CommandRunner()
        for (name, owner) in [("same", "(c) Ann Example"), ("other", "(c) Agency")] {
            let dataset = [0x1C, 2, 116, 0, UInt8(owner.utf8.count)] + Array(owner.utf8)
            let block = Array("Photoshop 3.0\08BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(dataset.count)] + dataset
            try await runner.save("in/\(name).jpg", as: "jpegsave_target") {
                try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata { editor in
                    editor.set("exif-ifd0-Copyright", string: "(c) Ann Example (ASCII)")
                    editor.set("iptc-data", blob: block + (dataset.count % 2 == 0 ? [] : [0]))
                }
            }
        }
        #expect(try await runner.render(save: "{ format: jpeg }").exit == 0)
        let report = try runner.report()
        let removed = "IPTC removed, all but copyright, artist and licence"
        #expect(report["same.jpg"]?.warnings.map(\.message) == [removed])
        #expect(
            report["other.jpg"]?.warnings.map(\.message) == [
                removed + ", of which IPTC names others, which are not kept"
            ])
    }

    @Test(arguments: ["jpeg", "png", "webp", "avif", "tiff", "gif"])
    func `an owner whom IPTC alone names is in the XMP of a format that has no IPTC, beside what was there`(
        format: String
    ) async throws {
        let runner = try CommandRunner()
        let notice = Array("(c) Ann Example".utf8)
        let dataset = [0x1C, 2, 116, 0, UInt8(notice.count)] + notice
        let block =
            Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(dataset.count)] + dataset
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
            xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>
            """
        for (name, xmp) in [("alone", ""), ("beside", packet), ("broken", "<x:xmpmeta")] {
            try await runner.save("in/\(name).jpg", as: "jpegsave_target") {
                try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata { editor in
                    editor.set("iptc-data", blob: block)
                    if !xmp.isEmpty { editor.set("xmp-data", blob: Array(xmp.utf8)) }
                }
            }
        }
        #expect(try await runner.render(save: "{ format: \(format), metadata: keep }").exit == 0)
        for name in ["alone", "beside", "broken"] {
            let file = try #require(runner.files().first { $0.hasPrefix(name) })
            let (xmp, iptc) = try await runner.inspect(
                "out/" + file, by: format == "avif" ? "heifload_source" : "\(format)load_source"
            ) {
                (String(decoding: $0.blob("xmp-data") ?? [], as: UTF8.self), $0.blob("iptc-data"))
            }
            let isRescued = format != "jpeg" && format != "gif" && name != "broken"
            // libvips does not recognise XMP in an AVIF that begins with an instruction.
            let text = format == "avif" ? String(decoding: try runner.bytes("out/" + file), as: UTF8.self) : xmp
            #expect(text.contains("(c) Ann Example") == isRescued, "\(file): \(xmp)")
            #expect(text.contains("Rating=\"5\"") == (name == "beside" && format != "gif"), "\(file)")
            #expect(!text.contains("Orientation=\"6\""), "\(file) would be turned again")
            #expect((iptc != nil) == (format == "jpeg"), "\(file)")
            let owner = "; copyright, artist and licence are \(isRescued ? "in its XMP" : "lost")"
            let blocks = format == "gif" && name != "alone" ? "IPTC, XMP" : "IPTC"
            let expected = format == "jpeg" ? [] : ["'a': \(format) files cannot be given \(blocks)\(owner)"]
            #expect(try runner.report()["\(name).jpg"]?.warnings.map(\.message) == expected)
        }
    }

    @Test func `IPTC of a TIFF is as a JPEG has it; what is too large for a JPEG is said to be lost`() async throws {
        let runner = try CommandRunner()
        let notice = Array("(c) Ann Example".utf8)
        let bare = [0x1C, 2, 116, 0, UInt8(notice.count)] + notice
        let content = String(repeating: "x", count: 70_000)
        let words = "<rdf:Description xmlns:a=\"a:\"><a:b>\(content)</a:b></rdf:Description>"
        let owned = Statements(rights: Rights(copyright: "(c) Ann Example")).xmpPacket()
        let large = Array(
            String(decoding: owned, as: UTF8.self).replacing("</rdf:RDF>", with: words + "</rdf:RDF>").utf8)
        for (name, field, blob) in [("bare", "iptc-data", bare), ("large", "xmp-data", large)] {
            try await runner.save("in/\(name).tif", as: "tiffsave_target") {
                // libvips counts IPTC in fours here, and libtiff in ones.
                let content = field == "iptc-data" ? blob + Array(repeating: 0, count: 3 * blob.count) : blob
                return try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata {
                    $0.set(field, blob: content)
                }
            }
        }
        #expect(try await runner.render(save: "{ format: jpeg, metadata: keep }").exit == 0)
        let iptc = try await runner.inspect("out/bare.jpg", by: "jpegload_source") { $0.blob("iptc-data") } ?? []
        #expect(iptc.starts(with: "Photoshop 3.0".utf8) && Rights(iptc: iptc).copyright == "(c) Ann Example")
        #expect(try runner.report()["bare.tif"]?.warnings.isEmpty == true)
        let xmp = try await runner.inspect("out/large.jpg", by: "jpegload_source") { $0.blob("xmp-data") } ?? []
        #expect(Rights(xmp: xmp).copyright == "(c) Ann Example" && xmp.count < 2000)
        let loss = "jpeg files cannot be given XMP, which is damaged or too long, as a whole"
        #expect(try runner.report()["large.tif"]?.warnings.map(\.message) == ["'a': " + loss])
        #expect(try await runner.render(save: "{ format: gif }").exit == 0)
        let said = try runner.report()["bare.tif"]?.warnings.map(\.message) ?? []
        #expect(said.contains("'a': gif files cannot be given copyright, artist and licence"), "\(said)")
    }

    @Test(arguments: ["copyright", "keep"])
    func `an owner in the XMP of an AVIF stays`(policy: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata {
                $0.set(
                    "xmp-data",
                    blob: Statements(rights: Rights(licence: "https://creativecommons.org/licenses/by/4.0/"))
                        .xmpPacket())
            }
        }
        #expect(try await runner.render(save: "{ format: avif, metadata: \(policy) }").exit == 0)
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a.jpg"))
        try runner.folder.write(try runner.bytes("out/a.avif"), to: "in/b.avif")
        #expect(try await runner.render(save: "{ format: jpeg, metadata: \(policy) }").exit == 0)
        let xmp = try await runner.inspect("out/b.jpg", by: "jpegload_source") { $0.blob("xmp-data") } ?? []
        #expect(Rights(xmp: xmp).licence == "https://creativecommons.org/licenses/by/4.0/")
    }

    @Test(arguments: [
        (false, "", "VP8 "), (true, "", "VP8X"), (false, ", lossless: true", "VP8L"),
        (true, ", lossless: true", "VP8L"),
    ])
    func `a WebP without metadata has no chunk for it, and the same pixels`(
        hasAlpha: Bool, options: String, first: String
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            hasAlpha ? try translucent() : try TestPicture.coded(width: 41, height: 21)
        }
        for policy in ["strip", "keep"] {
            #expect(try await runner.render(save: "{ format: webp, metadata: \(policy)\(options) }").exit == 0)
            try FileManager.default.moveItem(
                atPath: runner.folder.path("out/a.webp"), toPath: runner.folder.path("\(policy).webp"))
        }
        try runner.folder.write(
            "profile: keep\nrenditions: { a: { save: { format: webp, metadata: strip\(options) } } }", to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(Data(try runner.bytes("out/a.webp")).range(of: Data("EXIF".utf8)) == nil)
        let bytes = try runner.bytes("strip.webp")
        #expect(
            String(decoding: bytes[12..<16], as: UTF8.self) == first && Data(bytes).range(of: Data("EXIF".utf8)) == nil)
        #expect(Int(bytes[4]) | Int(bytes[5]) << 8 | Int(bytes[6]) << 16 == bytes.count - 8)
        let stripped = try await runner.inspect("strip.webp", by: "webpload_source") { try $0.pixels() }
        #expect(try await runner.inspect("keep.webp", by: "webpload_source") { try $0.pixels() } == stripped)
    }

    @Test func `an animated WebP without metadata has no chunk for it, and all its frames`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.gif", as: "gifsave_target") { try animation() }
        #expect(try await runner.render(save: "{ format: webp, metadata: strip }").exit == 0)
        let bytes = try runner.bytes("out/a.webp")
        #expect(Data(bytes).range(of: Data("EXIF".utf8)) == nil && bytes[20] & 0x08 == 0)
        #expect(
            try await runner.inspect("out/a.webp", by: "webpload_source", [("n", -1)]) { $0.ints("delay") } == [
                100, 200, 300,
            ])
    }

    @Test(arguments: ["jpeg", "png", "webp", "avif"])
    func `EXIF that stays has no small picture of what was cropped away`(format: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([90, 90, 90], width: 20, height: 20).editingMetadata { editor in
                editor.set("exif-ifd0-Model", string: "Camera (ASCII)")
                editor.set("jpeg-thumbnail-data", blob: Array("the Secret at a small size".utf8))
            }
        }
        #expect(Data(try runner.bytes("in/a.jpg")).range(of: Data("Secret".utf8)) != nil)
        #expect(
            try await runner.render(
                stages: "[crop: { width: 8, height: 8 }]", save: "{ format: \(format), metadata: keep }"
            ).exit == 0)
        let bytes = Data(try runner.bytes("out/" + runner.files()[0]))
        #expect(bytes.range(of: Data("Camera".utf8)) != nil && bytes.range(of: Data("Secret".utf8)) == nil)
    }

    @Test(arguments: [Float.infinity, 3e38, -1, .nan, 0, 118])
    func `any resolution that a file claims is written as one that a PNG can have`(perCentimetre: Float) async throws {
        let runner = try CommandRunner()
        let float = perCentimetre.bitPattern
        let fields: [(tag: UInt16, type: UInt16, value: UInt32)] = [
            (256, 3, 2), (257, 3, 2), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8 + 2 + 12 * 12 + 4), (277, 3, 1),
            (278, 3, 2), (279, 4, 4),
            (282, 11, float), (283, 11, float), (296, 3, 3),
        ]
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
        let directory = fields.flatMap { bytes($0.tag) + bytes($0.type) + bytes(UInt32(1)) + bytes($0.value) }
        let tiff =
            Array("II*\0".utf8) + bytes(UInt32(8)) + bytes(UInt16(fields.count)) + directory + bytes(UInt32(0)) + [
                10, 20, 30, 40,
            ]
        try runner.folder.write(tiff, to: "in/a.tif")
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        let found = try await runner.inspect("out/a.png", by: "pngload_source") { $0.pixelsPerMillimetre.0 }
        if perCentimetre == 118 { #expect(abs(found - 11.8) < 0.01) } else { #expect(found.isFinite && found >= 0) }
    }

    @Test(arguments: [false, true])
    func `onto an opaque background values are rounded, at 8 and at 16 bits`(isDeep: Bool) async throws {
        let runner = try CommandRunner()
        let kind = PictureKind(isGrey: true, hasAlpha: true, isDeep: isDeep)
        let picture = {
            try TestPicture.make(width: 120, height: 40, kind: kind) { x, y in
                [x * 2 * (kind.maximum / 255), (y * 6 + 7) * (kind.maximum / 255)]
            }
        }
        try await runner.save("in/a.png", as: "pngsave_target") { try picture() }
        #expect(
            try await runner.render(stages: "[ { flatten: { background: '#636363' } } ]", save: "{ format: png }").exit
                == 0)
        let (source, result) = (
            try await inVipsTurn { try PixelGrid(picture()) },
            try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0) }
        )
        let below = 0x63 * (kind.maximum / 255)
        let wrong = (0..<120).flatMap { x in (0..<40).map { (x, $0) } }.filter { x, y in
            let (value, alpha) = (source[x, y][0], source[x, y][1])
            let exact = Double(value * alpha + below * (kind.maximum - alpha)) / Double(kind.maximum)
            return abs(Double(result[x, y][0]) - exact) > 0.501
        }
        #expect(wrong.isEmpty, "\(wrong.count) of 4800, the first at \(wrong[0])")
    }

    /// Large even fields, which no encoder changes much.
    @Test(arguments: PictureKind.all)
    func `every way to save keeps the colors of every depth`(kind: PictureKind) async throws {
        let saves = [
            "format: png", "format: png, progressive: true", "format: png, palette: true",
            "format: png, palette: true, colors: 16", "format: jpeg, quality: 95", "format: webp, quality: 95",
            "format: webp, lossless: true", "format: gif", "format: avif, quality: 95", "format: tiff",
            "format: tiff, compression: lzw", "format: tiff, compression: jpeg, quality: 95",
            "format: jxl, quality: 95",
            "format: jxl, lossless: true",
        ]
        // Formats that nothing here reads have tests of their own.
        let formats = OutputFormat.allCases.filter { $0.asSource != nil }.map(\.rawValue)
        #expect(formats.allSatisfy { format in saves.contains { $0.hasPrefix("format: \(format)") } })
        let runner = try CommandRunner()
        let fields = [[250, 30, 20], [20, 200, 40], [10, 60, 240], [128, 128, 128]]
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 64, height: 64, kind: kind) { x, y in
                let field = fields[x / 32 + y / 32 * 2]
                return (kind.isGrey ? [field[0]] : field).map { $0 * (kind.maximum / 255) }
                    + (kind.hasAlpha ? [kind.maximum] : [])
            }
        }
        let renditions = saves.enumerated().map { "  r\($0.offset): { save: { \($0.element) } }\n" }
        try runner.folder.write("renditions:\n" + renditions.joined(), to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        for (index, save) in saves.enumerated() {
            let suffix = String(save.split(separator: " ")[1].prefix { $0 != "," })
            let name = "out/a-r\(index)." + (["jpeg": "jpg", "tiff": "tif"][suffix] ?? suffix)
            let loader = (suffix == "avif" ? "heif" : suffix) + "load_source"
            for (field, place) in [(0, (16, 16)), (1, (48, 16)), (2, (16, 48)), (3, (48, 48))] {
                let pixel = try await runner.inspect(name, by: loader) { image in
                    let rgb = try image.hasAlpha ? image.extractBands(from: 0, count: image.bands - 1) : image
                    let values = try rgb.getpoint(x: place.0, y: place.1)
                    return rgb.format == .ushort ? values.map { $0 / 257 } : values
                }
                let expected = kind.isGrey ? [fields[field][0]] : fields[field]
                // Gray may come back as RGB.
                let isNear = pixel.indices.allSatisfy { abs(pixel[$0] - Double(expected[$0 % expected.count])) <= 6 }
                #expect(isNear, "\(save): \(pixel) for \(expected)")
            }
        }
    }

    @Test func `a file for a larger scale that is as large as the one before is said`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 60, height: 40) }
        try runner.folder.write(
            "renditions: { a: { scale: [1, 2, 3], stages: [ { resize: { size: '40x>' } } ], save: { format: png } } }",
            to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let warnings = try runner.report()["a.png"]?.warnings ?? []
        #expect(
            warnings.map { "\($0.code): \($0.message)" } == [
                "scale-without-effect: 'a@3x' has 60×40 pixels like 'a@2x': nothing is enlarged, and the source has no more"
            ])
    }

    @Test func `an asset of 16 bits is drawn with all of them, and by its alpha of 16 bits`() async throws {
        let runner = try CommandRunner()
        let deep = PictureKind(hasAlpha: true, isDeep: true)
        let asset = {
            try TestPicture.make(width: 60, height: 40, kind: deep) { x, y in
                [x * 1021 + 7, y * 1601 + 3, 65_535 - x * y * 13, 65_535 - x * 999]
            }
        }
        try await runner.save("layer.png", as: "pngsave_target") { try asset() }
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 60, height: 40, kind: PictureKind(isDeep: true)) { x, y in
                [y * 1500 + 11, x * 1000 + 13, x * 17 + y * 19]
            }
        }
        #expect(
            try await runner.render(
                stages: "[ { overlay: { image: layer.png, blend: source } } ]", save: "{ format: png }"
            ).exit == 0)
        let drawn = try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0) }
        let expected = try await inVipsTurn { try PixelGrid(asset()) }
        #expect(BlendDistance.largest(drawn, expected) <= 1)
        #expect(
            try await runner.render(stages: "[ { mask: { image: layer.png } } ]", save: "{ format: png }").exit == 0)
        let masked = try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0) }
        #expect((0..<60).allSatisfy { abs(masked[$0, 5][3] - (65_535 - $0 * 999)) <= 1 })
    }

    @Test func `a truncated picture passes where the pipeline tolerates it, with a warning`() async throws {
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

/// How far two pictures are apart where they can be seen.
private enum BlendDistance {
    static func largest(_ one: PixelGrid, _ other: PixelGrid) -> Int {
        zip(one.values, other.values).enumerated().reduce(0) { worst, pair in
            let alpha = other.values[pair.offset / 4 * 4 + 3]
            return max(worst, abs(pair.element.0 - pair.element.1) * alpha / 65_535)
        }
    }
}
