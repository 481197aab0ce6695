// The statements of a file in tags and texts of its own, and texts of EXIF that libvips cannot write, through the whole
// program.
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@Suite struct OwnStatementsTests {
    private let runner: CommandRunner

    init() throws { runner = try CommandRunner() }

    /// A little-endian TIFF directory: numbers, and texts after it.
    private func tiff(_ numbers: [(tag: Int, value: Int)], _ texts: [(tag: Int, type: Int, value: [UInt8])]) -> [UInt8]
    {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let start = 8 + 2 + 12 * (numbers.count + texts.count) + 4
        var (fields, values): ([(tag: Int, bytes: [UInt8])], [UInt8]) = ([], [])
        for (tag, value) in numbers {
            fields.append((tag, bytes(tag, 2) + bytes(4, 2) + bytes(1, 4) + bytes(value, 4)))
        }
        for (tag, type, value) in texts {
            let place = bytes(start + values.count, 4)
            fields.append((tag, bytes(tag, 2) + bytes(type, 2) + bytes(value.count, 4) + place))
            values += value
        }
        fields.sort { $0.tag < $1.tag }
        return Array("II*\0".utf8) + bytes(8, 4) + bytes(fields.count, 2) + fields.flatMap(\.bytes) + bytes(0, 4)
            + values
    }

    /// A gray TIFF of 8×1 with texts, which are longer than four bytes.
    private func writeTIFF(_ name: String, _ texts: [(Int, String)]) throws {
        let texts = texts.map { ($0.0, 2, Array($0.1.utf8) + [0]) }
        func file(_ pixels: Int) -> [UInt8] {
            tiff(
                [(256, 8), (257, 1), (258, 8), (259, 1), (262, 1), (273, pixels), (277, 1), (278, 1), (279, 8)], texts)
        }
        _ = try runner.folder.write(file(file(0).count) + [0, 30, 60, 90, 120, 150, 180, 210], to: name)
    }

    /// A JPEG with a block of EXIF.
    private func writeJPEG(_ name: String, _ texts: [(tag: Int, type: Int, value: [UInt8])]) async throws {
        try await runner.save(name, as: "jpegsave_target") { try TestPicture.solid([9, 9, 9], width: 20, height: 20) }
        let block = Array("Exif\0\0".utf8) + tiff([], texts)
        let length = block.count + 2
        let file = Array(try Data(contentsOf: URL(filePath: runner.folder.path(name))))
        let segment: [UInt8] = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)]
        _ = try runner.folder.write(file.prefix(2) + segment + block + file.dropFirst(2), to: name)
    }

    private func xmp(_ name: String, by loader: String) async throws -> Statements? {
        try await runner.inspect("out/" + name, by: loader) { $0.blob("xmp-data").map { Statements(xmp: $0) } }
    }

    private func warnings(_ name: String) throws -> [String] {
        try runner.report()[name]?.warnings.map { "\($0.code): \($0.message)" } ?? []
    }

    @Test func `the owner in a TIFF's own tags stays by default, and with the caption if all is kept`() async throws {
        try writeTIFF("in/a.tif", [(270, "Harbor at night"), (315, "Zoë Müller"), (33_432, "© Zoë Müller")])
        let owner = Rights(creator: ["Zoë Müller"], copyright: "© Zoë Müller")
        #expect(try await runner.render(save: "{ format: jpeg }").exit == 0)
        #expect(try await xmp("a.jpg", by: "jpegload_source") == Statements(rights: owner))
        #expect(
            try warnings("a.tif") == [
                "metadata-removed: caption of the file itself removed, all but copyright, artist and licence"
            ])
        try await runner.inspect("out/a.jpg", by: "jpegload_source") { image in
            #expect(image.blob("exif-data").map { Rights(exif: $0) } == owner)
        }
        for (format, loader) in [("png", "pngload_source"), ("tiff", "tiffload_source"), ("webp", "webpload_source")] {
            #expect(try await runner.render(save: "{ format: \(format), metadata: keep }").exit == 0)
            let file = format == "tiff" ? "a.tif" : "a." + format
            #expect(try await xmp(file, by: loader) == Statements(rights: owner, caption: "Harbor at night"))
            #expect(try warnings("a.tif").isEmpty)
        }
        #expect(try await runner.render(save: "{ format: gif, metadata: keep }").exit == 0)
        #expect(
            try warnings("a.tif") == [
                "metadata-lost: 'a': gif files cannot be given copyright, artist, licence and caption"
            ])
    }

    @Test func `a text shows the artist of a TIFF's own tags`() async throws {
        try writeTIFF("in/a.tif", [(315, "Zoë Müller")])
        try runner.folder.write(
            """
            renditions:
              a: { save: { format: png, metadata: { set: { credit: "Photo: {artist}" } } }, file: "{stem}.{ext}" }
            """, to: "p.yaml")
        #expect(try await runner.run(["run", "p.yaml", "in", "-o", "out"]).exit == 0)
        #expect(try await xmp("a.png", by: "pngload_source")?.rights.credit == "Photo: Zoë Müller")
    }

    @Test func `the texts of a PNG state its owner, in Latin-1 too, and are replaced by what is set`() async throws {
        func text(_ keyword: String, _ latin1: [UInt8]) -> [UInt8] {
            chunk("tEXt", Array("\(keyword)\0".utf8) + latin1)
        }
        try await writePNG(
            text("Author", [0x5A, 0x6F, 0xEB]) + text("Title", Array("Old".utf8)) + text("Software", Array("X".utf8)))
        #expect(try await runner.render(save: "{ format: jpeg }").exit == 0)
        #expect(try await xmp("a.jpg", by: "jpegload_source")?.rights.creator == ["Zoë"])
        #expect(
            try await runner.render(save: "{ format: png, metadata: { keep: all, set: { title: New } } }").exit == 0)
        try await runner.inspect("out/a.png", by: "pngload_source") { image in
            let texts = image.fields.filter { $0.hasPrefix("png-comment") }
            #expect(!texts.contains { $0.hasSuffix("Title") }, "\(texts)")
            #expect(texts.first { $0.hasSuffix("Software") }.flatMap(image.string) == "X")
            let stated = image.blob("xmp-data").map { Statements(xmp: $0) }
            #expect(stated == Statements(rights: Rights(creator: ["Zoë"]), title: "New"))
        }
        let kept = Array("tEXtAuthor\0Zo".utf8) + [0xEB]
        #expect(try runner.bytes("out/a.png").firstRange(of: kept) != nil)
    }

    /// A chunk of a PNG.
    private func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let data = Array(type.utf8) + data
        var sum: UInt32 = .max
        for byte in data {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
        return number(UInt32(data.count - 4)) + data + number(~sum)
    }

    /// A PNG with chunks before its pixels or after them.
    private func writePNG(_ chunks: [UInt8], afterPixels: Bool = false) async throws {
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.solid([9, 9, 9], width: 20, height: 20)
        }
        let file = Array(try Data(contentsOf: URL(filePath: runner.folder.path("in/a.png"))))
        let place = afterPixels ? file.count - 12 : 33
        _ = try runner.folder.write(file.prefix(place) + chunks + file.dropFirst(place), to: "in/a.png")
    }

    @Test(arguments: ["exif", "xmp", "raw exif", "raw xmp"], [false, true])
    func `EXIF and XMP of a PNG count wherever they are, and as ImageMagick writes them`(
        block: String, afterPixels: Bool
    ) async throws {
        let exif = tiff([], [(315, 2, Array("Zoe Miller\0".utf8)), (305, 2, Array("Editor 7\0".utf8))])
        let xmp = Array(
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:creator><rdf:Seq><rdf:li>Zoe Miller</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>"
                .utf8)
        func raw(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            let lines = stride(from: 0, to: digits.count, by: 36).map {
                digits[$0..<min($0 + 36, digits.count)].joined()
            }
            let text = "\n\(name)\n    \(bytes.count)\n" + lines.joined(separator: "\n") + "\n"
            return chunk("tEXt", Array("Raw profile type \(name)\0\(text)".utf8))
        }
        switch block {
        case "exif": try await writePNG(chunk("eXIf", exif), afterPixels: afterPixels)
        case "xmp":
            try await writePNG(chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp), afterPixels: afterPixels)
        case "raw exif": try await writePNG(raw("exif", Array("Exif\0\0".utf8) + exif), afterPixels: afterPixels)
        default: try await writePNG(raw("xmp", xmp), afterPixels: afterPixels)
        }
        for (save, name) in [("{ format: jpeg }", "a.jpg"), ("{ format: png, metadata: keep }", "a.png")] {
            #expect(try await runner.render(save: save).exit == 0)
            try await runner.inspect("out/" + name, by: name == "a.jpg" ? "jpegload_source" : "pngload_source") {
                image in
                let stated = image.blob("xmp-data").map { Statements(xmp: $0) }?.rights.creator
                let field = image.string("exif-ifd0-Artist")
                #expect(stated == ["Zoe Miller"] || field?.hasPrefix("Zoe Miller") == true, "\(name): \(image.fields)")
            }
            let lost = try warnings("a.png").filter { $0.hasPrefix("metadata-lost") }
            #expect(lost.isEmpty, "\(name): \(lost)")
        }
    }

    @Test(arguments: ["keep", "{ keep: all, set: { title: New } }"])
    func `a long text of EXIF that libvips cannot write is in the XMP, or its loss is said`(policy: String) async throws
    {
        let long = String(repeating: "Größe üß", count: 30)
        let text = Array(long.utf8) + [0]
        try await writeJPEG("in/a.jpg", [(270, 2, text), (305, 2, text), (315, 2, Array("Zoë Müller\0".utf8))])
        #expect(try await runner.render(save: "{ format: jpeg, metadata: \(policy) }").exit == 0)
        #expect(try await xmp("a.jpg", by: "jpegload_source")?.caption == long)
        try await runner.inspect("out/a.jpg", by: "jpegload_source") { image in
            let exif = image.blob("exif-data") ?? []
            #expect(exif.firstRange(of: Array("invalid".utf8)) == nil)
            #expect(Rights(exif: exif).creator == ["Zoë Müller"])
        }
        let words = "EXIF's Software; caption is in its XMP"
        #expect(try warnings("a.jpg") == ["metadata-lost: 'a': jpeg files cannot be given " + words])
    }

    @Test func `what is set replaces what Windows has written, and what is too long for EXIF leaves nothing old`()
        async throws
    {
        let windows = (tag: 40_091, type: 1, value: Array("O\0l\0d\0t\0i\0t\0l\0e\0\0\0".utf8))
        try await writeJPEG("in/a.jpg", [(270, 2, Array("Old caption\0".utf8)), windows])
        let long = String(repeating: "ü", count: 200)
        let set = "set: { title: New, caption: \(long) }"
        #expect(try await runner.render(save: "{ format: jpeg, metadata: { keep: all, \(set) } }").exit == 0)
        let file = try runner.bytes("out/a.jpg")
        for old in [Array("Old caption".utf8), Array("O\0l\0d\0".utf8)] { #expect(file.firstRange(of: old) == nil) }
        let stated = try #require(try await xmp("a.jpg", by: "jpegload_source"))
        #expect(stated.title == "New" && stated.caption == long)
    }

    @Test(arguments: ["jpeg", "png"])
    func `what is drawn on a picture brings no metadata along`(format: String) async throws {
        try await writeJPEG("in/a.jpg", [(315, 2, Array("Zoë Müller\0".utf8))])
        try await runner.save("mark.png", as: "pngsave_target") {
            try TestPicture.solid([200, 2, 3], width: 8, height: 8).editingMetadata { editor in
                editor.set("exif-ifd0-Model", string: "Mark (ASCII)")
                editor.set("xmp-data", blob: Statements(title: "Mark").xmpPacket())
                editor.set("png-comment-0-Software", string: "Mark")
            }
        }
        let result = try await runner.render(
            stages: "[ { overlay: { image: mark.png } } ]", save: "{ format: \(format), metadata: keep }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(
            try runner.bytes("out/a." + (format == "png" ? "png" : "jpg")).firstRange(of: Array("Mark".utf8)) == nil)
    }

    @Test func `a layer below the picture brings no metadata along, and an edit no small picture`() async throws {
        try await writeJPEG("in/a.jpg", [(315, 2, Array("Zoë Müller\0".utf8))])
        try await writeJPEG("below.jpg", [(315, 2, Array("Somebody else\0".utf8)), (305, 2, Array("Secret\0".utf8))])
        let result = try await runner.render(
            stages: "[ { composite: { layers: [ { image: below.jpg }, { source: true } ] } } ]",
            save: "{ format: jpeg, metadata: keep }")
        #expect(result.exit == 0, "\(result.errors)")
        let file = try runner.bytes("out/a.jpg")
        for secret in ["Somebody", "Secret"] { #expect(file.firstRange(of: Array(secret.utf8)) == nil) }
        try await runner.inspect("out/a.jpg", by: "jpegload_source") { image in
            #expect(image.blob("exif-data").map { Rights(exif: $0) }?.creator == ["Zoë Müller"])
        }
    }

    @Test(arguments: ["keep", "all-but-location", "{ keep: all, set: { credit: X } }"])
    func `the small picture in EXIF never stays`(policy: String) async throws {
        try await runner.save("small.jpg", as: "jpegsave_target") {
            try TestPicture.solid([1, 1, 1], width: 8, height: 8)
        }
        let small = Array(try Data(contentsOf: URL(filePath: runner.folder.path("small.jpg"))))
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([9, 9, 9], width: 20, height: 20).editingMetadata { editor in
                editor.set("exif-ifd0-Model", string: "Camera (ASCII)")
                editor.set("jpeg-thumbnail-data", blob: small)
            }
        }
        let pictures = { (file: [UInt8]) in file.indices.filter { file[$0...].starts(with: [0xFF, 0xD8, 0xFF]) }.count }
        #expect(try pictures(Array(Data(contentsOf: URL(filePath: runner.folder.path("in/a.jpg"))))) == 2)
        #expect(try await runner.render(save: "{ format: jpeg, metadata: \(policy) }").exit == 0)
        #expect(try pictures(runner.bytes("out/a.jpg")) == 1)
    }

    @Test func `XMP that cannot be edited is replaced by what is known of it, and that is said`() async throws {
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.solid([9, 9, 9], width: 20, height: 20).editingMetadata {
                $0.set("xmp-data", blob: Array("<x:xmpmeta".utf8))
            }
        }
        #expect(try await runner.render(save: "{ format: jpeg, metadata: all-but-location }").exit == 0)
        let words =
            "jpeg files cannot be given XMP, which is damaged or too long, as a whole"
        #expect(try warnings("a.jpg") == ["metadata-lost: 'a': \(words)"])
    }

    @Test func `a value that is too long is cut with a warning, and a license is an address`() async throws {
        try await writeJPEG("in/a.jpg", [])
        let long = String(repeating: "x", count: 5000)
        #expect(
            try await runner.render(save: "{ format: jpeg, metadata: { set: { title: \(long) } } }").exit == 0)
        #expect(try warnings("a.jpg") == ["text-cut: 'metadata': 'title' is cut after 4096 characters"])
        #expect(try await xmp("a.jpg", by: "jpegload_source")?.title?.count == 4096)
        let result = try await runner.render(save: "{ format: jpeg, metadata: { set: { license: All rights } } }")
        #expect(result.exit == 78, "\(result.exit)")
        #expect(result.errors.contains("expected an address such as https://"), "\(result.errors)")
    }
}
