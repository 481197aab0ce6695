// HDR photos by gain maps: what is kept of them is the right part, and nobody says that there is one where there is none.
import Foundation
import TestSupport
import Testing
import Vips

@testable import Pipeline

@Suite struct GainMapTests {
    /// A picture of 320 × 240 whose map of 80 × 60 is a slope: 40 + x, and in its lower half 60 more.
    private func save(
        _ name: String, in runner: CommandRunner, packet: String? = UltraHDR.packet(), iso: [UInt8]? = nil,
        orientation: Int = 1
    ) async throws {
        let folder = runner.folder
        let (picture, map) = try await inVipsTurn {
            let picture = try TestPicture.make(width: 320, height: 240) { x, y in
                [UInt8(x / 2 + 40), UInt8(y / 2 + 60), 120]
            }
            .editingMetadata { if orientation > 1 { $0.set("orientation", int: orientation) } }
            let map = try TestPicture.make(width: 80, height: 60, bands: 1) { x, y in [Self.number(x, y)] }
            return (
                try TestPicture.jpeg(picture, quality: 95),
                try TestPicture.jpeg(map, quality: 100)
            )
        }
        let file = UltraHDR.file(picture, map: map, packet: packet, iso: iso)
        try FileManager.default.createDirectory(
            atPath: folder.path("in"), withIntermediateDirectories: true)
        try Data(file).write(to: URL(fileURLWithPath: folder.path(name)))
    }

    /// The size and the numbers of the map of `out/a.jpg`.
    private func decodedMap(in runner: CommandRunner) async throws -> (size: [Int], pixels: [UInt8]) {
        let map = try #require(UltraHDR.map(of: runner.bytes("out/a.jpg")))
        try Data(map).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
        return try await runner.inspect("map.jpg", by: "jpegload_source") {
            ([$0.width, $0.height], try $0.pixels())
        }
    }

    private static func number(_ x: Int, _ y: Int) -> UInt8 { UInt8(40 + x + (y >= 30 ? 60 : 0)) }

    /// The map at a point of the picture, both from 0 to 1.
    private static func number(at x: Double, _ y: Double) -> Double {
        // Between the middles of its pixels.
        min(max(x * 80 - 0.5, 0), 79) + 40 + (y >= 0.5 ? 60 : 0)
    }

    /// Rendition, stages, and from a point of the rendition to one of the upright picture.
    private static let geometries:
        [(stages: String, size: [Int], point: @Sendable (Double, Double) -> (Double, Double))] =
            [
                ("[]", [80, 60], { ($0, $1) }),
                ("[ { resize: { width: 160 } } ]", [40, 30], { ($0, $1) }),
                (
                    "[ { crop: { width: 160, height: 120, anchor: bottom-trailing } } ]", [40, 30],
                    { (0.5 + $0 / 2, 0.5 + $1 / 2) }
                ),
                ("[ { rotate: { angle: 90 } } ]", [60, 80], { ($1, 1 - $0) }),
                ("[ { rotate: { angle: 180 } }, { flip: { axis: horizontal } } ]", [80, 60], { ($0, 1 - $1) }),
                (
                    "[ { frame: { width: 100, height: 100, mode: aspect-fill } } ]", [25, 25],
                    { (0.125 + $0 * 0.75, $1) }
                ),
                (
                    "[ { inset: { all: -40 } }, { resize: { width: 120 } } ]", [30, 20],
                    { (0.125 + $0 * 0.75, 1.0 / 6 + $1 * 2 / 3) }
                ),
            ]

    @Test(arguments: geometries.indices)
    func `the map goes where the picture goes, at its own scale`(index: Int) async throws {
        let (stages, size, point) = Self.geometries[index]
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let result = try await runner.render(stages: stages, save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report()["a.jpg"]?.warnings.isEmpty == true)
        let (found, pixels) = try await decodedMap(in: runner)
        #expect(found == size)
        var worst = 0.0
        for y in 0..<found[1] {
            for x in 0..<found[0] {
                let (u, v) = point((Double(x) + 0.5) / Double(found[0]), (Double(y) + 0.5) / Double(found[1]))
                // At the step in the middle, both are right.
                guard abs(v - 0.5) > 0.04 else { continue }
                worst = max(worst, abs(Double(pixels[y * found[0] + x]) - Self.number(at: u, v)))
            }
        }
        #expect(worst <= 4, "\(stages): \(worst)")
    }

    @Test func `a map is turned as its picture is, and its words stay digit for digit`() async throws {
        let runner = try CommandRunner()
        let packet = UltraHDR.packet(least: "-0.2500001", most: "2.656715", gamma: "1.10")
        // Two headrooms, then least, most, gamma and two offsets, as fractions.
        let iso: [UInt8] =
            [0, 0, 0, 0, 0x40]
            + [0, 1, 8, 3, 0, 1, 8, 3, 11, 10, 0, 1, 0, 1].flatMap { PNGEdit.number($0) }
        try await save("in/a.jpg", in: runner, packet: packet, iso: iso, orientation: 6)
        let result = try await runner.render(stages: "[ { resize: { width: 120 } } ]", save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let file = try runner.bytes("out/a.jpg")
        let map = try #require(UltraHDR.map(of: file))
        try Data(map).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
        let (size, pixels) = try await runner.inspect("map.jpg", by: "jpegload_source") {
            ([$0.width, $0.height], try $0.pixels())
        }
        #expect(size == [30, 40])
        // The left column is the stored picture's lower edge.
        #expect(pixels[0] > 95 && pixels[29] < 50 && pixels[39 * 30 + 29] > 110)
        let words = String(decoding: map, as: UTF8.self)
        for word in ["GainMapMin=\"-0.2500001\"", "GainMapMax=\"2.656715\"", "Gamma=\"1.10\""] {
            #expect(words.contains(word))
        }
        #expect(map.firstRange(of: iso) != nil)
        let picture = String(decoding: file.dropLast(map.count), as: UTF8.self)
        #expect(picture.contains("hdrgm:Version=\"1.0\"") && picture.contains("Item:Length=\"\(map.count)\""))
        #expect(picture.contains("urn:iso:std:iso:ts:21496:-1"))
        #expect(try runner.folder.text("out/.imagemill/report.json").contains("\"gain-map\":\"Ultra HDR\""))
    }

    @Test func `a map has both forms of its numbers, one worked out if the source has only the other`() async throws {
        let runner = try CommandRunner()
        // Two headrooms, then least, most, gamma and two offsets, as fractions.
        let fractions: [(Int, Int)] = [
            (0, 1), (2_656_715, 1_000_000), (-1, 4), (2_656_715, 1_000_000), (11, 10), (0, 1),
        ]
        func number(_ value: Int) -> [UInt8] { PNGEdit.number(value & 0xFFFF_FFFF) }
        let expected: [UInt8] =
            [0, 0, 0, 0, 0x40] + fractions.flatMap { number($0.0) + number($0.1) } + number(1) + number(64)
        // Decimal digits: a quarter is 25 of 100, and 1 of 64 is 15,625 of a million.
        let decimal: [(Int, Int)] = [
            (0, 1), (2_656_715, 1_000_000), (-25, 100), (2_656_715, 1_000_000), (11, 10), (0, 1), (15_625, 1_000_000),
        ]
        let written: [UInt8] = [0, 0, 0, 0, 0x40] + decimal.flatMap { number($0.0) + number($0.1) }
        let packet = UltraHDR.packet(least: "-0.25", most: "2.656715", gamma: "1.1")
            .replacing("hdrgm:OffsetHDR=\"0\"", with: "")
        try await save("in/adobe.jpg", in: runner, packet: packet)
        try await save("in/iso.jpg", in: runner, packet: nil, iso: expected)
        let result = try await runner.render(stages: "[ { resize: { width: 120 } } ]", save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let adobe = try #require(UltraHDR.map(of: runner.bytes("out/adobe.jpg")))
        #expect(adobe.firstRange(of: written) != nil && adobe.firstRange(of: Array("-0.25".utf8)) != nil)
        let iso = try runner.bytes("out/iso.jpg")
        let map = try #require(UltraHDR.map(of: iso))
        #expect(map.firstRange(of: expected) != nil)
        let words = String(decoding: map, as: UTF8.self)
        for (name, value) in [
            ("GainMapMin", "-0.25"), ("GainMapMax", "2.656715"), ("Gamma", "1.1"), ("OffsetSDR", "0"),
            ("OffsetHDR", "0.015625"),
        ] {
            #expect(words.contains("hdrgm:\(name)=\"\(value)\""), "\(name): \(words.prefix(2000))")
        }
        #expect(words.contains("hdrgm:HDRCapacityMax=\"2.656715\"") && words.contains("hdrgm:HDRCapacityMin=\"0\""))
        let picture = String(decoding: iso.dropLast(map.count), as: UTF8.self)
        #expect(picture.contains("hdrgm:Version=\"1.0\"") && picture.contains("urn:iso:std:iso:ts:21496:-1"))
    }

    @Test(arguments: BuiltAVIF.Kind.allCases)
    func `a map of an AVIF goes into a JPEG with its words`(kind: BuiltAVIF.Kind) async throws {
        let runner = try CommandRunner()
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
             rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" HDRGainMap:HDRGainMapHeadroom="4.532783"/>
            </rdf:RDF></x:xmpmeta>
            """
        // From no gain to 2 stops: five fractions after two headrooms.
        let fractions: [(Int, Int)] = [(0, 1), (2, 1), (0, 1), (2, 1), (1, 1), (0, 1), (0, 1)]
        let iso: [UInt8] = [0, 0, 0, 0, 0] + fractions.flatMap { PNGEdit.number($0.0) + PNGEdit.number($0.1) }
        let words = kind == .iso ? [0] + iso : Array(packet.utf8)
        for (name, image) in [
            (
                "picture",
                try TestPicture.make(width: 320, height: 240) { x, y in [UInt8(x / 2 + 40), UInt8(y / 2 + 60), 120] }
            ),
            (
                "map",
                try TestPicture.make(width: 160, height: 120, bands: 3) { x, _ in
                    [UInt8](repeating: UInt8(40 + x), count: 3)
                }
            ),
        ] {
            try await runner.save(
                name + ".avif", as: "heifsave_target", [("compression", "av1"), ("lossless", true)]
            ) { image }
        }
        let file = BuiltAVIF.file(
            try runner.bytes("picture.avif"), map: try runner.bytes("map.avif"), kind, words: words)
        try FileManager.default.createDirectory(atPath: runner.folder.path("in"), withIntermediateDirectories: true)
        try Data(file).write(to: URL(fileURLWithPath: runner.folder.path("in/a.avif")))
        let result = try await runner.render(
            stages: "[ { crop: { width: 160, height: 240, anchor: trailing } } ]", save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report()["a.avif"]?.warnings.isEmpty == true)
        let map = try #require(UltraHDR.map(of: runner.bytes("out/a.jpg")))
        try Data(map).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
        let (size, pixels) = try await runner.inspect("map.jpg", by: "jpegload_source") {
            ([$0.width, $0.height, $0.bands], try $0.pixels())
        }
        // The decoder makes three equal bands of it.
        #expect(size == [80, 120, 1])
        let worst = (0..<80).map { abs(Int(pixels[60 * 80 + $0]) - (120 + $0)) }.max()
        #expect(worst.map { $0 <= 4 } == true, "\(String(describing: worst))")
        #expect(map.firstRange(of: kind == .iso ? iso : Array("HDRGainMapHeadroom=\"4.532783\"".utf8)) != nil)
    }

    @Test(arguments: BuiltAVIF.Kind.allCases)
    func `a gain map in a HEIF is found by its item, with a size if that can be`(kind: BuiltAVIF.Kind) throws {
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            PNGEdit.number(8 + content.count) + Array(type.utf8) + content
        }
        func picture(_ width: Int, _ height: Int) -> [UInt8] {
            box("ispe", [0, 0, 0, 0] + PNGEdit.number(width) + PNGEdit.number(height))
                + box("av1C", [0x81, 0, 0, 0]) + box("mdat", [1, 2, 3])
        }
        func map(_ width: Int, _ height: Int) throws -> GainMapFacts? {
            let file = BuiltAVIF.file(picture(300, 200), map: picture(width, height), kind, words: [0, 1, 2])
            return try HEIFStructure.gainMap(of: 1, in: ByteSource(file))
        }
        let found = try #require(try map(75, 50))
        #expect(found.size == PixelSize(75, 50) && found.isReadable && found.isPlausible)
        #expect(
            found.kind == (kind == .iso ? .iso : .apple)
                && found.flaw == (kind == .apple ? .strengthIsUnknown : .isSenseless))
        // A box may say anything, which is the file's fault and not the worker's.
        for (width, height) in [(0xFFFF_FFFF, 1), (100_000, 100_000), (0, 50)] {
            let wrong = try #require(try map(width, height))
            #expect(wrong.size == nil && !wrong.isReadable && wrong.isPlausible)
        }
    }

    @Test func `under what is drawn, and beside the picture, there is no light beyond white`() async throws {
        let runner = try CommandRunner()
        // No gain is a fifth of the way from the least to the most.
        try await save("in/a.jpg", in: runner, packet: UltraHDR.packet(least: "-0.5", most: "2"))
        try await runner.save("dot.png", as: "pngsave_target") {
            try TestPicture.solid([200, 30, 30, 255], width: 80, height: 60)
        }
        let stages = """
            [ { overlay: { image: dot.png, anchor: center, width: 80, height: 60 } },
              { frame: { width: 320, height: 320, mode: aspect-fit } } ]
            """
        let result = try await runner.render(stages: stages, save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let map = try #require(UltraHDR.map(of: runner.bytes("out/a.jpg")))
        try Data(map).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
        let (width, pixels) = try await runner.inspect("map.jpg", by: "jpegload_source") { ($0.width, try $0.pixels()) }
        #expect(width == 80 && pixels.count == 6400)
        func number(_ x: Int, _ y: Int) -> Int { Int(pixels[y * width + x]) }
        for (x, y) in [(40, 3), (5, 76), (40, 40), (34, 36), (46, 44)] { #expect(abs(number(x, y) - 51) <= 4) }
        for (x, y) in [(5, 20), (70, 20), (60, 60), (40, 20)] {
            #expect(abs(Double(number(x, y)) - Self.number(at: (Double(x) + 0.5) / 80, (Double(y) - 9.5) / 60)) <= 5)
        }
    }

    @Test(arguments: [1.0, 0.5])
    func `a stack of layers keeps the light of its picture, but not under other layers`(scale: Double) async throws {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let (width, height) = (Int(400 * scale), Int(300 * scale))
        let stages = """
            [ { composite: { width: \(width), height: \(height), layers: [ { color: white },
              { source: true, width: \(Int(320 * scale)), height: \(Int(240 * scale)), anchor: center },
              { color: "#102030", width: \(Int(80 * scale)), height: \(Int(60 * scale)), anchor: center } ] } } ]
            """
        let result = try await runner.render(stages: stages, save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report()["a.jpg"]?.warnings.isEmpty == true)
        let (found, pixels) = try await decodedMap(in: runner)
        #expect(found == [width / 4, (height + 2) / 4])
        func number(_ x: Int, _ y: Int) -> Double {
            Double(pixels[Int(Double(y) * scale) * found[0] + Int(Double(x) * scale)])
        }
        for (x, y) in [(2, 2), (50, 4), (96, 70), (50, 36)] {
            #expect(number(x, y) <= 4, "\(x), \(y): \(number(x, y))")
        }
        for (x, y) in [(16, 20), (80, 20), (20, 60), (84, 60)] {
            // A number is the mean of as many of the source's as are under it.
            let expected = Self.number(at: (Double(x) + 0.5 / scale - 10) / 80, (Double(y) + 0.5 / scale - 7.5) / 60)
            #expect(abs(number(x, y) - expected) <= 5, "\(x), \(y): \(number(x, y)), not \(expected)")
        }
        let mixed = try await runner.render(
            stages: "[ { composite: { layers: [ { source: true, alpha: 0.5 } ] } } ]",
            save: "{ format: jpeg, background: white }", more: "# mixed")
        #expect(mixed.exit == 0, "\(mixed.errors)")
        #expect(try runner.report()["a.jpg"]?.warnings.map(\.code).contains("hdr-dropped") == true)
    }

    @Test func `ink of the color below it hides the light as any other does, however thin it is`() async throws {
        let runner = try CommandRunner()
        let (picture, map) = try await inVipsTurn {
            (
                try TestPicture.jpeg(
                    TestPicture.make(width: 320, height: 240) { x, y in
                        [UInt8](repeating: x / 20 % 2 == y / 20 % 2 ? 255 : 20, count: 3)
                    }, quality: 95),
                try TestPicture.jpeg(TestPicture.make(width: 80, height: 60, bands: 1) { _, _ in [200] }, quality: 95)
            )
        }
        try FileManager.default.createDirectory(atPath: runner.folder.path("in"), withIntermediateDirectories: true)
        try Data(UltraHDR.file(picture, map: map, packet: UltraHDR.packet())).write(
            to: URL(fileURLWithPath: runner.folder.path("in/a.jpg")))
        try await runner.save("box.png", as: "pngsave_target") {
            try TestPicture.solid([255, 255, 255, 255], width: 160, height: 40)
        }
        let stages = """
            [ { overlay: { image: box.png, anchor: center } }, { border: { width: 1, color: white, grow: false } } ]
            """
        let result = try await runner.render(stages: stages, save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let made = try #require(UltraHDR.map(of: runner.bytes("out/a.jpg")))
        try Data(made).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
        let pixels = try await runner.inspect("map.jpg", by: "jpegload_source") { try $0.pixels() }
        // All of the box, and two pixels of the map along the edge, whatever is below.
        for y in 25..<35 { for x in 20..<60 { #expect(pixels[y * 80 + x] <= 8, "\(x), \(y)") } }
        for x in 0..<80 { #expect(pixels[x] <= 8 && pixels[59 * 80 + x] <= 8, "\(x)") }
        #expect(pixels[10 * 80 + 40] >= 195 && pixels[50 * 80 + 10] >= 195)
    }

    @Test func `a map that the file speaks of and has not is missed with a word; one without a list is found`()
        async throws
    {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let file = try runner.bytes("in/a.jpg")
        let map = try #require(UltraHDR.map(of: file))
        let list = try #require(file.firstRange(of: Array("MPF\0".utf8))).lowerBound - 4
        let length = Int(file[list + 2]) << 8 | Int(file[list + 3])
        func segment(_ packet: String) -> [UInt8] {
            let content = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8)
            return [0xFF, 0xE1, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
        }
        let listed = Array(file.dropLast(map.count))
        let unlisted = Array(listed[..<list]) + listed[(list + 2 + length)...]
        let speaking = Array(unlisted[..<2]) + segment(UltraHDR.packet()) + unlisted[2...]
        // Something that moves all that is behind it.
        let stale = Array(file[..<(list + 2 + length)]) + [0xFF, 0xFE, 0, 4, 1, 2] + file[(list + 2 + length)...]
        for (name, bytes) in [("unlisted", speaking + map), ("cut", speaking), ("stale", stale)] {
            try Data(bytes).write(to: URL(fileURLWithPath: runner.folder.path("in/\(name).jpg")))
        }
        let result = try await runner.render(
            save: "{ format: jpeg, metadata: keep, never-larger: true }", more: "# lost")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        for name in ["unlisted", "stale"] {
            #expect(UltraHDR.map(of: try runner.bytes("out/\(name).jpg")) != nil, "\(name)")
            #expect(report["\(name).jpg"]?.warnings.contains { $0.code == "hdr-dropped" } == false)
        }
        let cut = try runner.bytes("out/cut.jpg")
        #expect(report["cut.jpg"]?.warnings.map(\.message).filter { $0.contains("speaks of is not in it") }.count == 1)
        for word in ["hdrgm", "ns.adobe.com/hdr"] { #expect(cut.firstRange(of: Array(word.utf8)) == nil) }
        // The picture's own words about a map go with it, wherever there is none.
        for save in ["{ format: jpeg, metadata: keep, hdr: drop }", "{ format: webp, metadata: keep }"] {
            let result = try await runner.render(save: save, more: "# \(save)")
            #expect(result.exit == 0, "\(result.errors)")
            let file = try runner.bytes(save.contains("webp") ? "out/unlisted.webp" : "out/unlisted.jpg")
            for word in ["hdrgm", "ns.adobe.com/hdr"] { #expect(file.firstRange(of: Array(word.utf8)) == nil) }
        }
    }

    @Test func `the maker note of Apple's older phones says how strong a map is, and its rendition says so by itself`()
        async throws
    {
        let runner = try CommandRunner()
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
             rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" HDRGainMap:HDRGainMapVersion="65536"/>
            </rdf:RDF></x:xmpmeta>
            """
        try await save("in/none.jpg", in: runner, packet: packet)
        // Two signed fractions: tag 33 of 1.01, and tag 48 of 0.009, behind an EXIF block of nothing.
        func entry(_ tag: UInt8, at place: UInt8) -> [UInt8] { [0, tag, 0, 10, 0, 0, 0, 1, 0, 0, 0, place] }
        let note =
            Array("Apple iOS".utf8) + [0, 0, 1] + Array("MM".utf8) + [0, 2] + entry(33, at: 44) + entry(48, at: 52)
            + [0, 0, 0, 0] + [101, 100, 9, 1000].flatMap { PNGEdit.number($0) }
        let content = Array("Exif".utf8) + [0, 0] + Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0] + note
        let file = try runner.bytes("in/none.jpg")
        // In front, so that what the list of pictures says is as before.
        let exif = [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
        let list = try #require(file.firstRange(of: Array("MPF\0".utf8)))
        #expect(list.lowerBound == 6)
        try Data(Array(file[..<2]) + exif + file[2...]).write(
            to: URL(fileURLWithPath: runner.folder.path("in/old.jpg")))
        let result = try await runner.render(save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let map = try #require(UltraHDR.map(of: runner.bytes("out/old.jpg")))
        // −70 × 0.009 + 3 = 2.37 stops.
        #expect(
            map.firstRange(of: Array("HDRGainMapHeadroom=\"5.169411\"".utf8)) != nil,
            "\(String(decoding: map.prefix(900), as: UTF8.self))")
        #expect(UltraHDR.map(of: try runner.bytes("out/none.jpg")) == nil)
        #expect(try runner.report()["none.jpg"]?.warnings.map(\.code) == ["hdr-dropped"])
    }

    @Test func `a map is dropped with a word where it cannot be kept, and without one where that is wanted`()
        async throws
    {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let cases: [(String, String, String?)] = [
            ("[ grayscale ]", "{ format: jpeg }", "after 'grayscale', the gain map does not fit any more"),
            ("[]", "{ format: webp }", "webp files have no gain map here"),
            ("[]", "{ format: jpeg, hdr: drop }", nil), ("[]", "{ format: webp, hdr: drop }", nil),
            (
                "[ { tile: { width: 400, height: 400 } } ]", "{ format: jpeg }",
                "after 'tile', the gain map does not fit any more"
            ),
        ]
        for (stages, save, reason) in cases {
            let result = try await runner.render(stages: stages, save: save, more: "# \(stages) \(save)")
            #expect(result.exit == 0, "\(result.errors)")
            let warnings = try #require(try runner.report()["a.jpg"]?.warnings)
            #expect(
                warnings.filter { $0.code == "hdr-dropped" }.map(\.message)
                    == (reason.map { ["'a' is without the picture's light beyond white: \($0)"] } ?? []), "\(warnings)")
            let name = save.contains("webp") ? "out/a.webp" : "out/a.jpg"
            let file = try runner.bytes(name)
            for word in ["hdrgm", "MPF\0", "21496", "GainMap"] { #expect(file.firstRange(of: Array(word.utf8)) == nil) }
        }
    }

    @Test func `a map that is damaged, a bomb or in a circle costs its light, and no more`() async throws {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let file = try runner.bytes("in/a.jpg")
        let map = try #require(UltraHDR.map(of: file))
        let start = file.count - map.count
        func write(_ name: String, _ change: (inout [UInt8]) throws -> Void) throws {
            var changed = file
            try change(&changed)
            try Data(changed).write(to: URL(fileURLWithPath: runner.folder.path("in/\(name).jpg")))
        }
        let frame = try #require(map.firstRange(of: [0xFF, 0xC0])).lowerBound
        try write("bomb") { $0.replaceSubrange(start + frame + 5..<start + frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF]) }
        try write("torn") {
            $0.replaceSubrange(
                start + frame + 40..<start + map.count - 2,
                with: [UInt8](repeating: 0xFF, count: map.count - frame - 42))
        }
        let entry = try #require(file.firstRange(of: Array("MPF\0".utf8))).upperBound + 50 + 16
        try write("itself") { $0.replaceSubrange(entry + 8..<entry + 12, with: [0, 0, 0, 0]) }
        try write("beyond") { $0.replaceSubrange(entry + 8..<entry + 12, with: [0xFF, 0xFF, 0xFF, 0x7F]) }
        try write("endless") { $0.replaceSubrange(entry + 4..<entry + 8, with: [0xFF, 0xFF, 0xFF, 0xFF]) }
        let result = try await runner.render(stages: "[ { resize: { width: 100 } } ]", save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        for name in ["bomb", "torn"] {
            #expect(UltraHDR.map(of: try runner.bytes("out/\(name).jpg")) == nil, "\(name)")
        }
        // A list that is wrong does not hide the picture behind the first one.
        for name in ["a", "itself", "beyond", "endless"] {
            #expect(UltraHDR.map(of: try runner.bytes("out/\(name).jpg")) != nil, "\(name)")
        }
        let report = try runner.report()
        #expect(report["bomb.jpg"]?.warnings.map(\.code) == ["hdr-dropped"])
        #expect(report["torn.jpg"]?.warnings.map(\.code) == ["hdr-dropped"])
    }

    @Test func `light that a stage has cut off does not come back beside the picture`() async throws {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        for stages in [
            "[ { crop: { width: 160, height: 80 } }, { frame: { width: 320, height: 240, mode: center } } ]",
            "[ { crop: { width: 160, height: 80 } }, { border: { width: 80, color: black, grow: true } } ]",
        ] {
            let result = try await runner.render(stages: stages, save: "{ format: jpeg }", more: "# \(stages)")
            #expect(result.exit == 0, "\(result.errors)")
            let map = try #require(UltraHDR.map(of: runner.bytes("out/a.jpg")))
            try Data(map).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
            let (width, height, pixels) = try await runner.inspect("map.jpg", by: "jpegload_source") {
                ($0.width, $0.height, try $0.pixels())
            }
            // Inside there is light, in the corners and above there is none.
            #expect(pixels[height / 2 * width + width / 2] > 60, "\(stages)")
            for (x, y) in [(2, 2), (width - 3, height - 3), (width / 2, 2), (2, height / 2)] {
                #expect(pixels[y * width + x] <= 3, "\(stages) at \(x), \(y): \(pixels[y * width + x])")
            }
        }
    }

    @Test func `a map that no program could use, or that is damaged within, is dropped, and the picture is made`()
        async throws
    {
        let runner = try CommandRunner()
        let packets: [(String, String)] = [
            ("words", UltraHDR.packet(most: "abc")), ("endless", UltraHDR.packet(most: "1e308")),
            ("flat", UltraHDR.packet(gamma: "0")), ("swapped", UltraHDR.packet(least: "3", most: "2")),
            ("torn", "<x:xmpmeta xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\""),
        ]
        for (name, packet) in packets { try await save("in/\(name).jpg", in: runner, packet: packet) }
        // No number leaves light as it is, which a border would need.
        try await save("in/bright.jpg", in: runner, packet: UltraHDR.packet(least: "0.5", most: "2"))
        try await save("in/scan.jpg", in: runner)
        var file = try runner.bytes("in/scan.jpg")
        for place in stride(from: file.count - 300, to: file.count - 200, by: 7) { file[place] ^= 0x5A }
        try Data(file).write(to: URL(fileURLWithPath: runner.folder.path("in/scan.jpg")))
        let result = try await runner.render(
            stages: "[ { border: { width: 20, color: red } } ]", save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        for name in packets.map(\.0) + ["bright", "scan"] {
            #expect(UltraHDR.map(of: try runner.bytes("out/\(name).jpg")) == nil, "\(name)")
            #expect(report["\(name).jpg"]?.warnings.map(\.code) == ["hdr-dropped"], "\(name)")
        }
    }

    @Test func `a color on a gray picture, a map that is too fine, and a faded frame`() async throws {
        let runner = try CommandRunner()
        let (gray, small, map) = try await inVipsTurn {
            (
                try TestPicture.jpeg(
                    TestPicture.make(width: 160, height: 120, bands: 1) { x, _ in [UInt8(x + 60)] }, quality: 90),
                try TestPicture.jpeg(TestPicture.make(width: 8, height: 8) { _, _ in [90, 90, 90] }, quality: 90),
                try TestPicture.jpeg(TestPicture.make(width: 800, height: 800, bands: 1) { _, _ in [99] }, quality: 90)
            )
        }
        try FileManager.default.createDirectory(atPath: runner.folder.path("in"), withIntermediateDirectories: true)
        for (name, picture) in [("gray", gray), ("small", small)] {
            let file = UltraHDR.file(picture, map: map, packet: UltraHDR.packet())
            try Data(file).write(to: URL(fileURLWithPath: runner.folder.path("in/\(name).jpg")))
        }
        let result = try await runner.render(
            stages: "[ { border: { width: 4, color: red, grow: true } }, { resize: { width: 240 } } ]",
            save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        for name in ["gray", "small"] {
            let map = try #require(UltraHDR.map(of: try runner.bytes("out/\(name).jpg")))
            try Data(map).write(to: URL(fileURLWithPath: runner.folder.path("map.jpg")))
            let width = try await runner.inspect("map.jpg", by: "jpegload_source") { $0.width }
            #expect(width == 240, "\(name)")
        }
        let faded = try await runner.render(
            stages: "[ { frame: { width: 100, height: 100, alpha: 0.5 } } ]", save: "{ format: jpeg }")
        #expect(faded.exit == 0, "\(faded.errors)")
        #expect(try runner.report()["gray.jpg"]?.warnings.contains { $0.code == "hdr-dropped" } == true)
    }

    @Test func `the source's own bytes are not taken if their map is not wanted`() async throws {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        for hdr in ["drop", "keep"] {
            let result = try await runner.render(
                save: "{ format: jpeg, quality: 100, never-larger: true, metadata: keep, hdr: \(hdr) }",
                more: "# \(hdr)")
            #expect(result.exit == 0, "\(result.errors)")
            let file = try runner.bytes("out/a.jpg")
            #expect((file.firstRange(of: Array("hdrgm".utf8)) == nil) == (hdr == "drop"))
            #expect(try (file == runner.bytes("in/a.jpg")) == (hdr == "keep"))
        }
    }

    @Test(arguments: [0, 0x40] as [UInt8])
    func `a map about other colors than the picture's keeps their profile`(flags: UInt8) async throws {
        let runner = try CommandRunner()
        let (picture, map) = try await inVipsTurn {
            let gray = try TestPicture.make(width: 80, height: 60) { x, _ in [UInt8](repeating: UInt8(x + 40), count: 3)
            }
            let profile = try #require(ICCProfile.displayP3?.bytes)
            return (
                try TestPicture.jpeg(TestPicture.solid([90, 120, 60], width: 320, height: 240), quality: 90),
                try TestPicture.jpeg(
                    gray.editingMetadata { $0.set("icc-profile-data", blob: profile) }, quality: 90)
            )
        }
        let fractions = [0, 1, 2, 1, 0, 1, 2, 1, 1, 1, 0, 1, 0, 1].flatMap { PNGEdit.number($0) }
        let file = UltraHDR.file(picture, map: map, packet: nil, iso: [0, 0, 0, 0, flags] + fractions)
        try FileManager.default.createDirectory(atPath: runner.folder.path("in"), withIntermediateDirectories: true)
        try Data(file).write(to: URL(fileURLWithPath: runner.folder.path("in/a.jpg")))
        let result = try await runner.render(stages: "[ { resize: { width: 100 } } ]", save: "{ format: jpeg }")
        #expect(result.exit == 0, "\(result.errors)")
        let made = try #require(UltraHDR.map(of: runner.bytes("out/a.jpg")))
        #expect((made.firstRange(of: Array("ICC_PROFILE\0".utf8)) != nil) == (flags == 0))
    }

    @Test func `a map that leaves the picture no room is dropped`() async throws {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let result = try await runner.render(save: "{ format: jpeg, max-bytes: 3500 }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.bytes("out/a.jpg").count <= 3500)
        let warnings = try #require(try runner.report()["a.jpg"]?.warnings)
        #expect(warnings.map(\.code) == ["hdr-dropped"] && warnings[0].message.contains("'max-bytes'"), "\(warnings)")
    }

    @Test func `max-bytes holds with the map; kept metadata says nothing twice`() async throws {
        let runner = try CommandRunner()
        try await save("in/a.jpg", in: runner)
        let result = try await runner.render(
            save: "{ format: jpeg, max-bytes: 12000, metadata: { keep: all, set: { copyright: Ann } } }")
        #expect(result.exit == 0, "\(result.errors)")
        let file = try runner.bytes("out/a.jpg")
        let map = try #require(UltraHDR.map(of: file))
        #expect(file.count <= 12_000)
        let picture = String(decoding: file.dropLast(map.count), as: UTF8.self)
        #expect(picture.contains(">Ann<") && picture.components(separatedBy: "Container:Directory>").count == 3)
        #expect(picture.components(separatedBy: "ns.adobe.com/xap/1.0/\0").count == 2)
    }
}
