// Decoders that find something wrong: those that finish give a picture and a warning, the others the failure `corrupt`.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct DecoderMessageTests {
    /// A JPEG with bytes before its quantisation table, of which libjpeg says that they do not belong there.
    static func padded(_ bytes: [UInt8]) throws -> [UInt8] {
        let table = try #require((0..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDB })
        return bytes[..<table] + [0, 0, 0, 0] + bytes[table...]
    }

    /// A chunk of a PNG.
    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        var sum = UInt32.max
        for byte in body {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xEDB8_8320 }
        }
        let number = { (value: UInt32) in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        return number(UInt32(content.count)) + body + number(~sum)
    }

    private func photo(width: Int = 80, height: Int = 60) async throws -> [UInt8] {
        try await SamplePicture.jpeg.encode(
            TestPicture.make(width: width, height: height) { x, y in [UInt8(x), UInt8(y), UInt8((x * y) % 256)] })
    }

    @Test
    func `a JPEG whose decoder warns and finishes is done, with the decoder's words, whatever is made of it`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              small: { stages: [ { resize: { width: 20 } } ], save: { format: png } }
              held: { stages: [ { rotate: { angle: 10 } }, { trim: {} } ], save: { format: jpeg } }
              whole: { save: { format: webp } }
            """, to: "p.yaml")
        for name in ["a.jpg", "b.jpg"] { try runner.folder.write(try Self.padded(try await photo()), to: "in/\(name)") }
        try await runner.picture("in/sound.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1").exit == 0)
        let report = try runner.report()
        for name in ["a.jpg", "b.jpg"] {
            #expect(report[name]?.status == "done")
            let warnings = report[name]?.warnings.filter { $0.code == "source-damaged" } ?? []
            #expect(warnings.count == 1)
            #expect(warnings.first?.message.contains("4 extraneous bytes before marker 0xdb") == true, "\(warnings)")
        }
        #expect(report["sound.jpg"]?.warnings.contains { $0.code == "source-damaged" } == false)
    }

    @Test func `the member of a set whose decoder warns is used, and the warning names it`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "source: set\nrenditions: { s: { stages: [ contact-sheet: { columns: 1, cell: { width: 50, height: 50 } } ], save: { format: png } } }",
            to: "p.yaml")
        try runner.folder.write(try Self.padded(try await photo()), to: "in/set/a.jpg")
        try runner.folder.write(try await photo(), to: "in/set/b.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let warnings = try runner.report().sources.first?.warnings ?? []
        #expect(
            warnings.filter { $0.code == "source-damaged" && $0.message.hasPrefix("'a.jpg': ") }.count == 1,
            "\(warnings)")
    }

    @Test
    func `a decoder that does not finish is the failure corrupt at decode, whatever is made of the picture`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { save: { format: jpeg } }, b: { stages: [ { rotate: { angle: 10 } }, { blur: { sigma: 2 } } ], save: { format: png } } }",
            to: "p.yaml")
        var broken = try await SamplePicture.png.encode(
            TestPicture.make(width: 200, height: 200) { x, y in [UInt8(x), UInt8(y), UInt8((x * y) % 256)] })
        for index in broken.count / 2..<broken.count / 2 + 40 { broken[index] ^= 0x55 }
        try runner.folder.write(broken, to: "in/a.png")
        _ = try await runner.run("run", "p.yaml", "in", "-o", "out")
        let error = try runner.report()["a.png"]?.error
        #expect(error?.code == "corrupt" && error?.stage == "decode", "\(String(describing: error))")
    }

    @Test
    func `a profile that cannot be used is one warning, for every picture that has it and in every format`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { stages: [ { resize: { width: 10 } } ], save: { format: jpeg } } }", to: "p.yaml")
        let bytes = try await photo()
        let profile = Array("ICC_PROFILE".utf8) + [0, 1, 1] + Array(repeating: UInt8(7), count: 300)
        let segment = [0xFF, 0xE2, UInt8((profile.count + 2) / 256), UInt8((profile.count + 2) % 256)] + profile
        for index in 1...6 {
            try runner.folder.write(Array(bytes[..<2]) + segment + Array(bytes[2...]), to: "in/\(index).jpg")
        }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1").exit == 0)
        let report = try runner.report()
        for index in 1...6 {
            #expect(
                report["\(index).jpg"]?.warnings.map(\.code).filter { $0 != "metadata-removed" } == ["bad-profile"],
                "\(index)")
        }
    }

    @Test
    func `a profile that the decoder drops without a word is warned of too`() async throws {
        let runner = try CommandRunner()
        let profile = Array("ICC_PROFILE".utf8) + [0, 2, 3] + Array(repeating: UInt8(7), count: 300)
        let photo = try await photo()
        // The second of three parts, and no other.
        let part = [0xFF, 0xE2, UInt8((profile.count + 2) / 256), UInt8((profile.count + 2) % 256)] + profile
        try runner.folder.write(Array(photo[..<2]) + part + Array(photo[2...]), to: "in/part.jpg")
        let png = try await SamplePicture.png.bytes
        let name = Array("bad".utf8) + [0, 0]
        let chunks = ["packed": name + [0x99, 0x99, 0x99], "empty": name]
        for (title, content) in chunks {
            try runner.folder.write(
                Array(png[..<33]) + Self.chunk("iCCP", content) + Array(png[33...]), to: "in/\(title).png")
        }
        try runner.folder.write(png, to: "in/none.png")
        #expect(try await runner.render(save: "{ format: webp }").exit == 0)
        let report = try runner.report()
        for name in ["part.jpg", "packed.png", "empty.png"] {
            #expect(
                report[name]?.warnings.filter { $0.code == "bad-profile" }.map(\.message)
                    == ["the embedded color profile cannot be used; sRGB is assumed"], "\(name)")
        }
        #expect(report["none.png"]?.warnings.isEmpty == true)
        try runner.folder.write(
            "source: set\nrenditions: { s: { stages: [ contact-sheet: { cell: { width: 9, height: 9 } } ], save: { format: png } } }",
            to: "set.yaml")
        try runner.folder.write(try runner.bytes("in/packed.png"), to: "sets/s/a.png")
        #expect(try await runner.run("run", "set.yaml", "sets", "-o", "sheets").exit == 0)
        let sheet = try runner.report("sheets/.imagemill/report.json").sources.first
        #expect(sheet?.warnings.contains { $0.code == "bad-profile" } == true)
    }

    @Test
    func `a sound picture that is longer than its decoder reads is not called damaged`() async throws {
        let runner = try CommandRunner()
        var jpeg = try await photo()
        let frame = try #require((0..<jpeg.count - 1).first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        jpeg.replaceSubrange(frame + 5..<frame + 7, with: [0xFF, 0xFF])
        try runner.folder.write(jpeg, to: "in/a.jpg")
        let header: [UInt8] = [0, 0, 0, 1, 5, 0xF5, 0xE1, 0, 1, 0, 0, 0, 0]
        let png = try await SamplePicture.png.bytes
        try runner.folder.write(
            Array(png[..<8]) + Self.chunk("IHDR", header) + Self.chunk("IDAT", [0]) + Self.chunk("IEND", []),
            to: "in/b.png")
        #expect(try await runner.render(save: "{ format: webp }").exit == 2)
        let report = try runner.report()
        #expect(report.outcomes == ["a.jpg": "too-long-side", "b.png": "too-long-side"])
        #expect(
            report["a.jpg"]?.error?.message == "the picture has 80×65535 pixels; jpeg is read up to 65500 a side")
        #expect(
            report["b.png"]?.error?.message
                == "the picture has 1×100000000 pixels; png is read up to 10000000 a side")
    }

    @Test
    func `a sequence whose first picture the decoder does not take is not called damaged`() async throws {
        let runner = try CommandRunner()
        var bytes = try await SamplePicture.avif.bytes
        let brands = Array("avis".utf8) + [0, 0, 0, 0] + Array("msf1MA1B".utf8)
        let end = Int(bytes[3])
        // The positions in the file stay what they are.
        let filler = (0..<(end - 8 - brands.count) / 4).flatMap { _ in Array("iso8".utf8) }
        bytes.replaceSubrange(8..<end, with: brands + filler)
        try runner.folder.write(bytes + [0, 0, 0, 8] + Array("moov".utf8), to: "in/a.avif")
        #expect(try await runner.render(save: "{ format: webp }").exit == 2)
        let error = try runner.report()["a.avif"]?.error
        #expect(error?.code == "unsupported-format")
        #expect(error?.message == "the decoder cannot read this kind of avif: found a sequence of pictures")
    }

    @Test func `a decoder's message says nothing of the picture's profile, nor of the next picture's`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { stages: [ { resize: { width: 10 } }, { blur: { sigma: 1 } } ], save: { format: png } }, b: { save: { format: png } } }",
            to: "p.yaml")
        let wide = try await SamplePicture.jpeg.encode(
            TestPicture.make(width: 80, height: 60) { x, y in [UInt8(x), UInt8(y), 200] }.iccTransform(
                to: .p3, input: .srgb))
        try runner.folder.write(try Self.padded(wide), to: "in/1.jpg")
        try runner.folder.write(wide, to: "in/2.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1").exit == 0)
        let report = try runner.report()
        #expect(report["1.jpg"]?.warnings.contains { $0.code == "source-damaged" } == true)
        for name in ["1.jpg", "2.jpg"] {
            #expect(report[name]?.warnings.contains { $0.code == "bad-profile" } == false)
        }
        let files = runner.files().filter { $0.hasSuffix(".png") }.sorted()
        #expect(files.count == 4)
        #expect(try runner.bytes("out/" + files[0]) == runner.bytes("out/" + files[2]), "\(files)")
        #expect(try runner.bytes("out/" + files[1]) == runner.bytes("out/" + files[3]), "\(files)")
    }

    @Test func `animations that decoders do not show are said to be dropped`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("renditions: { a: { save: { format: webp } } }", to: "p.yaml")
        let png = try await SamplePicture.png.bytes
        try runner.folder.write(
            Array(png[..<33]) + Self.chunk("acTL", [0, 0, 0, 3, 0, 0, 0, 0]) + Array(png[33...]), to: "in/many.png")
        try runner.folder.write(
            Array(png[..<33]) + Self.chunk("acTL", [0, 0, 0, 1, 0, 0, 0, 0]) + Array(png[33...]), to: "in/one.png")
        try runner.folder.write(
            try await SamplePicture.avif.bytes + [0, 0, 0, 8] + Array("moov".utf8), to: "in/sequence.avif")
        try await runner.picture("in/still.avif")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        for (name, isAnimated) in [
            ("many.png", true), ("one.png", false), ("sequence.avif", true), ("still.avif", false),
        ] {
            #expect(report[name]?.warnings.contains { $0.code == "animation-dropped" } == isAnimated, "\(name)")
        }
    }

    @Test func `a member whose name shows nothing has no label, and the sheet is made`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "source: set\nrenditions: { s: { stages: [ contact-sheet: { columns: 1, cell: { width: 50, height: 50 }, label: name } ], save: { format: png } } }",
            to: "p.yaml")
        for name in ["\u{200B}.png", "\u{AD}.png", "b.png"] { try await runner.picture("in/set/\(name)") }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
    }
}
