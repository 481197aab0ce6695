// Colors that a file describes otherwise than by a profile, and light beyond white, against arithmetic of the test's own.
import Foundation
import TestSupport
import Testing
import Vips

@testable import Pipeline

@Suite struct StatedColorTests {
    /// Colors drawn by a seed, 48 × 32.
    private func colors(seed: UInt64) -> [[UInt8]] {
        var state = seed
        return (0..<48 * 32).map { _ in
            (0..<3).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        }
    }

    private func save(
        _ colors: [[UInt8]], as name: String, in runner: CommandRunner, isDeep: Bool = false,
        _ chunks: [(type: String, data: [UInt8])]
    ) async throws {
        try await runner.save(name, as: "pngsave_target") {
            let image = try Image(bytes: colors.flatMap { $0 }, width: 48, height: 32, bands: colors[0].count)
            let isGray = colors[0].count == 1
            guard isDeep else { return try image.copy(interpretation: isGray ? .bw : .srgb) }
            return try image.linear([257], [0]).cast(.ushort).copy(interpretation: isGray ? .grey16 : .rgb16)
        }
        let file = try runner.bytes(name)
        try Data(PNGEdit.adding(chunks, to: file)).write(to: URL(fileURLWithPath: runner.folder.path(name)))
    }

    /// The numbers of a rendition as parts of white, of 8 or 16 bits.
    private func numbers(_ name: String, of runner: CommandRunner) async throws -> [Double] {
        try await runner.inspect(name, by: "pngload_source") { image in
            let isDeep = image.format == .ushort
            let bytes = try image.pixels()
            return isDeep
                ? stride(from: 0, to: bytes.count, by: 2).map {
                    Double(Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8) / 65_535
                } : bytes.map { Double($0) / 255 }
        }
    }

    private func worst(_ found: [Double], _ expected: [Double]) -> Double {
        guard found.count == expected.count else { return 255 }
        return zip(found, expected).map { abs($0 - $1) * 255 }.max() ?? 255
    }

    // MARK: - Primaries and curves

    @Test(arguments: [3, 4] as [UInt64])
    func `cICP of Display P3 and of BT.2020 is converted, in 8 and in 16 bits, and the report names it`(
        seed: UInt64
    ) async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: seed)
        let kinds: [(name: String, title: String, code: UInt8, primaries: [[Double]], isDeep: Bool)] = [
            ("p3", "Display P3", 12, ReferenceColor.p3, false), ("deep-p3", "Display P3", 12, ReferenceColor.p3, true),
            ("bt2020", "BT.2020", 9, ReferenceColor.bt2020, false),
        ]
        for kind in kinds {
            try await save(
                colors, as: "in/\(kind.name).png", in: runner, isDeep: kind.isDeep, [("cICP", [kind.code, 13, 0, 1])])
        }
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        for kind in kinds {
            let expected = colors.flatMap { color in
                ReferenceColor.standard(color.map { ReferenceColor.decoded(Double($0) / 255) }, from: kind.primaries)
                    .map(ReferenceColor.encoded)
            }
            let found = try await numbers("out/\(kind.name).png", of: runner)
            #expect(worst(found, expected) <= 1, "\(kind.name): \(worst(found, expected))")
            let source = try #require(try runner.report()["\(kind.name).png"])
            #expect(source.warnings.map(\.code) == ["wide-gamut-clipped"])
            let report = try runner.folder.text("out/.imagemill/report.json").filter { !$0.isWhitespace }
            let said = "\"color\":{\"by\":\"cICP\",\"name\":\"\(kind.title.filter { $0 != " " })\"}"
            #expect(report.contains(said), "\(report.prefix(900))")
        }
    }

    @Test func `gAMA and cHRM are converted, unless they only repeat sRGB`() async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: 5)
        func chromaticities(_ numbers: [Int]) -> [UInt8] { numbers.flatMap(PNGEdit.number) }
        let p3 = chromaticities([31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000])
        let standard = chromaticities([31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000])
        try await save(
            colors, as: "in/p3.png", in: runner, [("gAMA", PNGEdit.number(45455)), ("cHRM", p3)])
        try await save(colors, as: "in/mac.png", in: runner, [("gAMA", PNGEdit.number(55556))])
        try await save(
            colors.map { [$0[0]] }, as: "in/gray.png", in: runner, [("gAMA", PNGEdit.number(100_000))])
        let same: [(String, [(type: String, data: [UInt8])])] = [
            ("usual", [("gAMA", PNGEdit.number(45455)), ("cHRM", standard)]),
            ("rough", [("gAMA", PNGEdit.number(45000))]),
            ("primaries", [("cHRM", p3)]), ("named", [("sRGB", [0]), ("gAMA", PNGEdit.number(55556)), ("cHRM", p3)]),
            ("zero", [("gAMA", PNGEdit.number(0))]), ("short", [("gAMA", [0, 0])]),
            // Light that cannot be, by numbers that would not fit a profile.
            (
                "impossible",
                [
                    ("gAMA", PNGEdit.number(45455)),
                    ("cHRM", chromaticities([31270, 32900, 0xFFFF_FFFF, 0, 0, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x7FFF_FFFF])),
                ]
            ), ("unspecified", [("cICP", [2, 2, 0, 1])]),
        ]
        for (name, chunks) in same { try await save(colors, as: "in/\(name).png", in: runner, chunks) }
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let own = colors.flatMap { $0.map { Double($0) / 255 } }
        for (name, _) in same {
            #expect(worst(try await numbers("out/\(name).png", of: runner), own) == 0, "\(name)")
        }
        let wide = colors.flatMap { color in
            ReferenceColor.standard(color.map { pow(Double($0) / 255, 2.2) }, from: ReferenceColor.p3).map(
                ReferenceColor.encoded)
        }
        #expect(worst(try await numbers("out/p3.png", of: runner), wide) <= 1)
        let mac = own.map { ReferenceColor.encoded(pow($0, 1.8)) }
        let macs = try await worst(numbers("out/mac.png", of: runner), mac)
        #expect(macs <= 1, "\(macs)")
        let gray = colors.map { ReferenceColor.encoded(Double($0[0]) / 255) }
        let grays = try await worst(numbers("out/gray.png", of: runner), gray)
        #expect(grays <= 1, "\(grays)")
    }

    @Test func `if cICP and a profile differ, cICP counts, and the report says so; a kept picture gets its profile`()
        async throws
    {
        let runner = try CommandRunner()
        let colors = colors(seed: 6)
        try await runner.save("in/both.png", as: "pngsave_target") {
            try Image(bytes: colors.flatMap { $0 }, width: 48, height: 32, bands: 3).copy(interpretation: .srgb)
                .editingMetadata { $0.set("icc-profile-data", blob: ICCProfile.displayP3!.bytes) }
        }
        let file = try runner.bytes("in/both.png")
        for (name, code) in [("differ", 1), ("agree", 12)] as [(String, UInt8)] {
            let edited = PNGEdit.adding([("cICP", [code, 13, 0, 1])], to: file)
            try Data(edited).write(to: URL(fileURLWithPath: runner.folder.path("in/\(name).png")))
        }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        let own = colors.flatMap { $0.map { Double($0) / 255 } }
        #expect(worst(try await numbers("out/differ.png", of: runner), own) == 0)
        #expect(try worst(await numbers("out/agree.png", of: runner), await numbers("out/both.png", of: runner)) <= 1)
        let report = try runner.report()
        let warnings = try #require(report["differ.png"]?.warnings)
        #expect(warnings.map(\.code) == ["color-conflict"])
        #expect(
            warnings.first?.message
                == "the file describes its colors twice: sRGB by cICP is used, and not Display P3 by its ICC profile")
        #expect(report["agree.png"]?.warnings.map(\.code) == ["wide-gamut-clipped"])
        #expect(try await runner.render(save: "{ format: jpeg }", more: "profile: keep").exit == 0)
        let profiles = try await ["agree", "differ"].asyncMap { name in
            try await runner.inspect("out/\(name).jpg", by: "jpegload_source") { $0.blob("icc-profile-data") }
        }
        #expect(profiles == [ICCProfile.displayP3?.bytes, nil])
    }

    @Test func `HEIC and AVIF are converted by nclx`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.avif", as: "heifsave_target", [("compression", "av1"), ("lossless", true)]) {
            try TestPicture.solid([200, 100, 50], width: 64, height: 48)
        }
        var file = try runner.bytes("in/a.avif")
        let place = try #require(file.firstRange(of: Array("nclx".utf8)))
        file.replaceSubrange(place.upperBound..<place.upperBound + 4, with: [0, 12, 0, 13])
        try Data(file).write(to: URL(fileURLWithPath: runner.folder.path("in/a.avif")))
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let light = [200.0, 100, 50].map { ReferenceColor.decoded($0 / 255) }
        let expected = ReferenceColor.standard(light, from: ReferenceColor.p3).map(ReferenceColor.encoded)
        let found = Array(try await numbers("out/a.png", of: runner).prefix(3))
        #expect(worst(found, expected) <= 2, "\(found.map { $0 * 255 })")
    }

    @Test func `a chunk of sRGB counts more than gAMA, and the report says so if they differ`() async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: 21)
        let standard: (type: String, data: [UInt8]) = ("sRGB", [0])
        try await save(colors, as: "in/linear.png", in: runner, [standard, ("gAMA", PNGEdit.number(100_000))])
        try await save(colors, as: "in/usual.png", in: runner, [standard, ("gAMA", PNGEdit.number(45_455))])
        try await save(colors, as: "in/wide.png", in: runner, [("cICP", [12, 13, 0, 1]), standard])
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let own = colors.flatMap { $0.map { Double($0) / 255 } }
        for name in ["linear", "usual"] { #expect(worst(try await numbers("out/\(name).png", of: runner), own) == 0) }
        let report = try runner.report()
        #expect(report["usual.png"]?.warnings.isEmpty == true)
        #expect(
            report["linear.png"]?.warnings.map(\.message) == [
                "the file describes its colors twice: sRGB by sRGB chunk is used, and not sRGB primaries, linear light by gAMA"
            ])
        #expect(report["wide.png"]?.warnings.map(\.code).contains("color-conflict") == true)
    }

    @Test func `a profile of zeros makes no black picture, kept or not`() async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: 22)
        var profile = ICCProfile.displayP3!.bytes
        for tag in ["rXYZ", "gXYZ", "bXYZ"] {
            let entry = try #require(profile.firstRange(of: Array(tag.utf8))).upperBound
            let place = profile[entry..<entry + 4].reduce(0) { $0 << 8 | Int($1) }
            for index in place + 8..<place + 20 { profile[index] = 0 }
        }
        let zeros = profile
        try await runner.save("in/zeros.png", as: "pngsave_target") {
            try Image(bytes: colors.flatMap { $0 }, width: 48, height: 32, bands: 3).copy(interpretation: .srgb)
                .editingMetadata { $0.set("icc-profile-data", blob: zeros) }
        }
        let own = colors.flatMap { $0.map { Double($0) / 255 } }
        for policy in ["srgb", "keep"] {
            let result = try await runner.render(save: "{ format: png }", more: "profile: \(policy)")
            #expect(result.exit == 0, "\(result.errors)")
            #expect(worst(try await numbers("out/zeros.png", of: runner), own) == 0)
            #expect(try runner.report()["zeros.png"]?.warnings.map(\.code) == ["bad-profile"])
        }
    }

    // MARK: - Light beyond white

    @Test(arguments: [7, 8] as [UInt64])
    func `PQ and HLG are tone-mapped as BT.2390 has it`(seed: UInt64) async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: seed)
        let bright: [(type: String, data: [UInt8])] = [
            ("cICP", [9, 16, 0, 1]), ("cLLI", PNGEdit.number(4_000 * 10_000) + PNGEdit.number(0)),
        ]
        try await save(colors, as: "in/pq.png", in: runner, isDeep: true, [("cICP", [9, 16, 0, 1])])
        try await save(colors, as: "in/bright.png", in: runner, isDeep: true, bright)
        try await save(colors, as: "in/hlg.png", in: runner, isDeep: true, [("cICP", [12, 18, 0, 1])])
        try await save(colors, as: "in/coarse.png", in: runner, [("cICP", [9, 16, 0, 1])])
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        func expected(_ primaries: [[Double]], peak: Double, _ light: ([Double]) -> [Double]) -> [Double] {
            colors.flatMap { color in
                let mapped = ReferenceColor.toneMapped(light(color.map { Double($0) / 255 }), peak: peak)
                return ReferenceColor.standard(mapped, from: primaries).map(ReferenceColor.encoded)
            }
        }
        let hlg = expected(ReferenceColor.p3, peak: 1000) { numbers in
            let scene = numbers.map(ReferenceColor.decodedHLG)
            let brightness =
                ReferenceColor.p3[1][0] * scene[0] + ReferenceColor.p3[1][1] * scene[1] + ReferenceColor.p3[1][2]
                * scene[2]
            return scene.map { $0 * pow(brightness, 0.2) * 1000 }
        }
        let cases: [(String, [Double], Double)] = [
            ("pq", expected(ReferenceColor.bt2020, peak: 1000) { $0.map(ReferenceColor.decodedPQ) }, 1),
            ("bright", expected(ReferenceColor.bt2020, peak: 4000) { $0.map(ReferenceColor.decodedPQ) }, 1),
            ("hlg", hlg, 1),
            ("coarse", expected(ReferenceColor.bt2020, peak: 1000) { $0.map(ReferenceColor.decodedPQ) }, 6),
        ]
        for (name, expected, tolerance) in cases {
            let found = try await numbers("out/\(name).png", of: runner)
            #expect(worst(found, expected) <= tolerance, "\(name): \(worst(found, expected))")
            let warnings = try #require(try runner.report()["\(name).png"]?.warnings)
            #expect(warnings.first?.code == "hdr-tone-mapped")
        }
    }

    @Test func `tone-map of another peak leaves the brightness of HLG as it is`() async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: 12)
        try await save(colors, as: "in/hlg.png", in: runner, isDeep: true, [("cICP", [12, 18, 0, 1])])
        let result = try await runner.render(save: "{ format: png }", more: "tone-map: { peak: 2000 }")
        #expect(result.exit == 0, "\(result.errors)")
        let expected = colors.flatMap { color in
            let scene = color.map { ReferenceColor.decodedHLG(Double($0) / 255) }
            let brightness =
                ReferenceColor.p3[1][0] * scene[0] + ReferenceColor.p3[1][1] * scene[1] + ReferenceColor.p3[1][2]
                * scene[2]
            let light = scene.map { $0 * pow(brightness, 0.2) * 1000 }
            return ReferenceColor.standard(ReferenceColor.toneMapped(light, peak: 2000), from: ReferenceColor.p3).map(
                ReferenceColor.encoded)
        }
        let difference = worst(try await numbers("out/hlg.png", of: runner), expected)
        #expect(difference <= 1, "\(difference)")
    }

    @Test func `tone-map says which light becomes white, and how much there is`() async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: 11)
        try await save(colors, as: "in/pq.png", in: runner, isDeep: true, [("cICP", [9, 16, 0, 1])])
        func mean(_ settings: String) async throws -> Double {
            let result = try await runner.render(save: "{ format: png }", more: settings)
            #expect(result.exit == 0, "\(result.errors)")
            let numbers = try await numbers("out/pq.png", of: runner)
            return numbers.reduce(0, +) / Double(numbers.count)
        }
        let usual = try await mean("")
        #expect(try await mean("tone-map: { white: 203 }") == usual)
        #expect(try await mean("tone-map: { white: 100 }") > usual + 0.01)
        #expect(try await mean("tone-map: { peak: 10000 }") < usual - 0.005)
        let wrong = try await runner.render(save: "{ format: png }", more: "tone-map: { white: 5 }")
        #expect(wrong.errors.contains("'white'"), "\(wrong.errors)")
    }

    // MARK: - Wide renditions

    @Test func `profile display-p3 converts into it, draws in it and embeds it, which is small`() async throws {
        let runner = try CommandRunner()
        let colors = colors(seed: 9)
        try await save(colors, as: "in/standard.png", in: runner, isDeep: true, [])
        try await save(colors, as: "in/p3.png", in: runner, [("cICP", [12, 13, 0, 1])])
        try await save(colors.map { [$0[0]] }, as: "in/gray.png", in: runner, [])
        let result = try await runner.render(save: "{ format: png }", more: "profile: display-p3")
        #expect(result.exit == 0, "\(result.errors)")
        // A picture in P3 stays as it is.
        let own = colors.flatMap { $0.map { Double($0) / 255 } }
        #expect(worst(try await numbers("out/p3.png", of: runner), own) == 0)
        #expect(worst(try await numbers("out/gray.png", of: runner), colors.map { Double($0[0]) / 255 }) == 0)
        // And back by the inverse of the oracle: what is written in P3 is the color that was there.
        let back = try await numbers("out/standard.png", of: runner)
        let seen = stride(from: 0, to: back.count, by: 3).flatMap { place in
            ReferenceColor.standard(back[place..<place + 3].map(ReferenceColor.decoded), from: ReferenceColor.p3).map(
                ReferenceColor.encoded)
        }
        #expect(worst(seen, own) <= 0.2)
        for (name, profile) in [("standard", ICCProfile.displayP3), ("p3", .displayP3), ("gray", nil)] {
            let found = try await runner.inspect("out/\(name).png", by: "pngload_source") {
                $0.blob("icc-profile-data")
            }
            #expect(found == profile?.bytes)
        }
        #expect(ICCProfile.displayP3.map { $0.bytes.count < 600 } == true)
        // Red of sRGB, drawn.
        let drawn = try await runner.render(
            stages: "[ { frame: { width: 100, height: 100, background: \"#ff0000\" } } ]", save: "{ format: png }",
            more: "profile: display-p3")
        #expect(drawn.exit == 0, "\(drawn.errors)")
        #expect(
            try await numbers("out/p3.png", of: runner).prefix(3).map { Int(($0 * 255).rounded()) } == [234, 51, 35])
    }

    @Test func `profile takes the path of an .icc file; one that nothing can be converted to is refused`() async throws
    {
        let runner = try CommandRunner()
        let colors = colors(seed: 10)
        try await save(colors, as: "in/a.png", in: runner, [])
        let wide = try #require(ICCProfile(CodedColor(.bt2020, .power(2.2))))
        try Data(wide.bytes).write(to: URL(fileURLWithPath: runner.folder.path("wide.icc")))
        let result = try await runner.render(save: "{ format: png }", more: "profile: wide.icc")
        #expect(result.exit == 0, "\(result.errors)")
        let back = try await numbers("out/a.png", of: runner)
        let seen = stride(from: 0, to: back.count, by: 3).flatMap { place in
            ReferenceColor.standard(back[place..<place + 3].map { pow($0, 2.2) }, from: ReferenceColor.bt2020).map(
                ReferenceColor.encoded)
        }
        // Numbers of 8 bits are coarse in the dark.
        let own = colors.flatMap { $0.map { Double($0) / 255 } }
        let differences = zip(seen, own).map { abs($0 - $1) * 255 }
        #expect(differences.reduce(0, +) / Double(differences.count) < 1.2)
        let gray = try #require(ICCProfile(.standard, isGray: true))
        var link = wide.bytes
        link.replaceSubrange(12..<16, with: Array("link".utf8))
        for (name, bytes, words) in [
            ("link.icc", link, "expected the profile of a screen, a printer or a space of color, found another kind"),
            ("gray.icc", gray.bytes, "expected a profile for RGB, found one for other colors"),
            ("none.icc", [1, 2, 3], "expected a color profile, found none in it"),
        ] {
            try Data(bytes).write(to: URL(fileURLWithPath: runner.folder.path(name)))
            let result = try await runner.render(save: "{ format: png }", more: "profile: \(name)")
            #expect(result.exit != 0 && result.errors.contains(words), "\(result.errors)")
        }
        let missing = try await runner.render(save: "{ format: png }", more: "profile: p3")
        #expect(missing.errors.contains("expected one of srgb, display-p3, keep, or the path of an .icc file"))
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ work: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await work(element)) }
        return results
    }
}
