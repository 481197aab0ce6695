// `metadata` of `save`, through the whole program.
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@Suite struct MetadataPolicyTests {
    private static let packet = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
        exif:GPSLatitude="52,31.1N" photoshop:City="Secret City" xmp:Rating="4">
        <dc:description><rdf:Alt><rdf:li xml:lang="x-default">Harbor at night</rdf:li></rdf:Alt></dc:description>
        <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Harbor</rdf:li></rdf:Alt></dc:title>
        <dc:subject><rdf:Bag><rdf:li>ships</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>
        """

    /// IPTC with a caption and a city, as a JPEG has it.
    private static let iptc: [UInt8] = {
        var data: [UInt8] = []
        for (number, text) in [(UInt8(120), "Harbor at night"), (25, "ships"), (90, "Secret City")] {
            data += [0x1C, 2, number, 0, UInt8(text.utf8.count)] as [UInt8]
            data += Array(text.utf8)
        }
        let head: [UInt8] = [4, 4, 0, 0, 0, 0, 0, UInt8(data.count)]
        if data.count % 2 == 1 { data.append(0) }
        return Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + head + data
    }()

    private func write(_ runner: CommandRunner, to path: String) async throws {
        try await runner.save(path, as: "jpegsave_target") {
            try TestPicture.make(width: 60, height: 40) { x, y in [UInt8(x), UInt8(y), 90] }.editingMetadata { editor in
                editor.set("exif-ifd0-Copyright", string: "(c) Ann (ASCII)")
                editor.set("exif-ifd0-Model", string: "Camera 7 (ASCII)")
                editor.set("exif-ifd2-DateTimeOriginal", string: "2019:05:04 10:11:12 (ASCII)")
                editor.set("exif-ifd3-GPSLatitude", string: "52/1 30/1 0/1 (GPS)")
                editor.set("xmp-data", blob: Array(Self.packet.utf8))
                editor.set("iptc-data", blob: Self.iptc)
            }
        }
    }

    private func statements(_ image: Image) -> (exif: Statements, iptc: Statements) {
        (
            image.blob("exif-data").map { Statements(exif: $0) } ?? Statements(),
            image.blob("iptc-data").map { Statements(iptc: $0) } ?? Statements()
        )
    }

    /// The XMP of a file. libvips 8.14 does not read that of an AVIF.
    private func xmp(of image: Image, in file: [UInt8]) throws -> [UInt8] {
        if let packet = image.blob("xmp-data") { return packet }
        let start = try #require(file.firstRange(of: Array("<?xpacket begin".utf8)))
        let end = try #require(file.firstRange(of: Array("<?xpacket end=\"w\"?>".utf8)))
        return Array(file[start.lowerBound..<end.upperBound])
    }

    @Test(arguments: ["jpeg", "png", "webp", "avif", "tiff"])
    func `all but the location stays, with captions and keywords, in each format`(format: String) async throws {
        let runner = try CommandRunner()
        try await write(runner, to: "in/a.jpg")
        let result = try await runner.render(save: "{ format: \(format), metadata: all-but-location }")
        #expect(result.exit == 0, "\(result.errors)")
        let name = try #require(runner.files().first { $0.hasPrefix("a.") })
        let loader = format == "avif" ? "heifload_source" : "\(format)load_source"
        let file = try runner.bytes("out/" + name)
        try await runner.inspect("out/" + name, by: loader) { image in
            let (exif, iptc) = statements(image)
            let packet = try self.xmp(of: image, in: file)
            let xmp = Statements(xmp: packet)
            #expect(xmp.caption == "Harbor at night" && xmp.title == "Harbor" && xmp.keywords == ["ships"])
            #expect(String(decoding: packet, as: UTF8.self).contains("xmp:Rating=\"4\""))
            #expect(!image.fields.contains { $0.hasPrefix("exif-ifd3") }, "\(image.fields)")
            if format != "tiff" {
                #expect(exif.rights.copyright == "(c) Ann")
                #expect(image.string("exif-ifd0-Model")?.hasPrefix("Camera 7") == true)
            }
            if format == "jpeg" { #expect(iptc.caption == "Harbor at night" && iptc.keywords == ["ships"]) }
        }
        for secret in ["Secret City", "GPS", "52,31"] {
            #expect(file.firstRange(of: Array(secret.utf8)) == nil, "\(secret) in \(name)")
        }
        #expect(try runner.report()["a.jpg"]?.warnings.contains { $0.code == "metadata-removed" } == false)
    }

    @Test(
        arguments: ["all-but-location", "{ keep: all, set: { title: x } }", "keep", "copyright"],
        ["jpeg", "png", "webp"])
    func `a picture that was turned is not turned again`(policy: String, format: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.make(width: 60, height: 40) { x, y in [UInt8(x), UInt8(y), 90] }.editingMetadata { editor in
                editor.set("exif-ifd0-Model", string: "Camera 7 (ASCII)")
                editor.set("orientation", int: 6)
            }
        }
        #expect(try await runner.render(save: "{ format: \(format), metadata: \(policy) }").exit == 0)
        let name = try #require(runner.files().first { $0.hasPrefix("a.") })
        try await runner.inspect("out/" + name, by: "\(format)load_source") { image in
            #expect(image.width == 40 && image.height == 60)
            #expect((image.int("orientation") ?? 1) == 1, "\(image.fields)")
        }
    }

    @Test func `neither a PNG's texts nor what is drawn on it bring a place in`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.solid([1, 2, 3], width: 40, height: 40).editingMetadata { editor in
                editor.set("png-comment-0-City", string: "Secret")
                editor.set("png-comment-1-Raw profile type exif", string: "Secret")
                editor.set("png-comment-2-Author", string: "Ann")
            }
        }
        try await runner.save("mark.jpg", as: "jpegsave_target") {
            try TestPicture.solid([200, 2, 3], width: 8, height: 8).editingMetadata { editor in
                editor.set("exif-ifd0-Model", string: "Secret Camera (ASCII)")
                editor.set("exif-ifd3-GPSLatitude", string: "52/1 30/1 0/1 (GPS)")
            }
        }
        let result = try await runner.render(
            stages: "[ { overlay: { image: mark.jpg } } ]", save: "{ format: png, metadata: all-but-location }")
        #expect(result.exit == 0, "\(result.errors)")
        try await runner.inspect("out/a.png", by: "pngload_source") { image in
            #expect(!image.fields.contains { $0.hasPrefix("exif-ifd3") || $0.hasSuffix("Model") }, "\(image.fields)")
            let texts = image.fields.filter { $0.hasPrefix("png-comment") }.compactMap { image.string($0) }
            #expect(!texts.contains("Secret"))
        }
    }

    private static let set =
        "set: { credit: \"Müller/Agency\", copyright: \"© {year} {artist|Example} <all>\", keywords: [one, \"{stem}\"], title: \"{title}: {width}\" }"

    @Test(arguments: ["jpeg", "png", "webp", "avif", "tiff"], ["copyright", "all-but-location", "all", "none"])
    func `what is set is in each format, whatever stays of the source`(format: String, kept: String) async throws {
        let runner = try CommandRunner()
        try await write(runner, to: "in/a.jpg")
        let result = try await runner.render(
            stages: "[ { resize: { size: 30x } } ]",
            save: "{ format: \(format), metadata: { keep: \(kept), \(Self.set) } }")
        #expect(result.exit == 0, "\(result.errors)")
        let name = try #require(runner.files().first { $0.hasPrefix("a.") })
        let loader = format == "avif" ? "heifload_source" : "\(format)load_source"
        let file = try runner.bytes("out/" + name)
        try await runner.inspect("out/" + name, by: loader) { image in
            let (exif, iptc) = statements(image)
            let packet = try self.xmp(of: image, in: file)
            let xmp = Statements(xmp: packet)
            let notice = "© 2019 Example <all>"
            #expect(xmp.rights.credit == "Müller/Agency" && xmp.rights.copyright == notice)
            #expect(xmp.keywords == ["one", "a"] && xmp.title == "Harbor: 30")
            #expect((xmp.caption == "Harbor at night") == ["all-but-location", "all"].contains(kept))
            // A statement that is in two places is the same in both.
            if format != "tiff" { #expect(exif.rights.copyright == notice) }
            if format == "jpeg", kept.hasPrefix("all") {
                #expect(iptc.rights.credit == "Müller/Agency" && iptc.keywords == ["one", "a"])
                #expect(iptc.caption == "Harbor at night")
            }
        }
    }

    @Test func `XMP in more than one segment is said to be lost where all is kept, and what is cut is said`()
        async throws
    {
        let runner = try CommandRunner()
        let namespaces =
            "xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:xmpNote='http://ns.adobe.com/xmp/note/'"
        let caption = String(repeating: "word ", count: 2000)
        let packet = """
            <x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\
            <rdf:Description rdf:about='' \(namespaces) xmpNote:HasExtendedXMP='5806B2'><dc:description><rdf:Alt>\
            <rdf:li xml:lang='x-default'>\(caption)</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>
            """
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([1, 2, 3], width: 20, height: 20).editingMetadata {
                $0.set("xmp-data", blob: Array(packet.utf8))
            }
        }
        // The rest of the packet: its digest, its length, where this part begins, and the part.
        let more = Array("http://ns.adobe.com/xmp/extension/\0".utf8) + [UInt8](repeating: 0x41, count: 32 + 4 + 4 + 9)
        var file = try runner.bytes("in/a.jpg")
        let tables = try #require(file.firstRange(of: [0xFF, 0xDB])).lowerBound
        file.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(more.count + 2)] + more, at: tables)
        try runner.folder.write(file, to: "in/a.jpg")
        try runner.folder.write(
            """
            renditions:
              a: { save: { format: jpeg, metadata: keep } }
              b: { save: { format: jpeg, metadata: { set: { title: "{caption}" } } } }
            """, to: "p.yaml")
        #expect(try await runner.run(["run", "p.yaml", "in", "-o", "out"]).exit == 0)
        let warnings = try #require(try runner.report()["a.jpg"]?.warnings).map { "\($0.code): \($0.message)" }
        #expect(
            warnings.sorted() == [
                "metadata-lost: 'a' lacks what is not read of the source: XMP above 64 KB",
                "metadata-removed: 'b': XMP removed, all but copyright, artist and licence",
                "text-cut: 'metadata': 'title' is cut after 4096 characters",
            ])
    }

    @Test func `what a field cannot fill is left as it was, and said; GIF cannot be given anything`() async throws {
        let runner = try CommandRunner()
        try await write(runner, to: "in/a.jpg")
        try await runner.save("in/b.png", as: "pngsave_target") {
            try TestPicture.solid([1, 2, 3], width: 20, height: 20)
        }
        try runner.folder.write(
            """
            renditions:
              a: { save: { format: jpeg, metadata: { keep: all, set: { caption: "{artist}", credit: "By {artist|us}" } } } }
              b: { save: { format: gif, metadata: { set: { credit: us } } } }
            """, to: "p.yaml")
        #expect(try await runner.run(["run", "p.yaml", "in", "-o", "out"]).exit == 0)
        let report = try runner.report()
        let warnings = try #require(report["a.jpg"]?.warnings)
        #expect(warnings.contains { $0.code == "empty-text" && $0.message.contains("{artist} has no value") })
        #expect(
            warnings.contains {
                $0.code == "metadata-lost" && $0.message.contains("'b': gif files cannot be given")
                    && $0.message.contains("'set'")
            })
        try await runner.inspect("out/a-a.jpg", by: "jpegload_source") { image in
            let xmp = image.blob("xmp-data").map { Statements(xmp: $0) }
            #expect(xmp?.caption == "Harbor at night" && xmp?.rights.credit == "By us")
        }
        try await runner.inspect("out/b-a.jpg", by: "jpegload_source") { image in
            #expect(image.blob("xmp-data").map { Statements(xmp: $0) }?.rights.credit == "By us")
        }
    }

    @Test func `a change of the file's time or name makes what is set anew, if it depends on them`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/b.png", as: "pngsave_target") {
            try TestPicture.solid([1, 2, 3], width: 20, height: 20)
        }
        try runner.folder.write(
            "renditions: { a: { save: { format: jpeg, metadata: { set: { title: \"{stem}\" } } } } }", to: "p.yaml")
        #expect(try await runner.run(["run", "p.yaml", "in", "-o", "out", "--cache", "cache"]).exit == 0)
        try FileManager.default.moveItem(atPath: runner.folder.path("in/b.png"), toPath: runner.folder.path("in/c.png"))
        #expect(try await runner.run(["run", "p.yaml", "in", "-o", "out", "--cache", "cache"]).exit == 0)
        try await runner.inspect("out/c.jpg", by: "jpegload_source") { image in
            #expect(image.blob("xmp-data").map { Statements(xmp: $0) }?.title == "c")
        }
    }
}
