// Whatever colours a picture has, it comes out in sRGB as a person would expect.
import Foundation
import TestSupport
import Testing
import Vips

@testable import Render

@Suite struct ColourTests {
    /// Soft colours that every profile here can hold.
    private func picture() throws -> Image {
        try TestPicture.make(width: 32, height: 24) { x, y in
            [UInt8(90 + 3 * x), UInt8(80 + 4 * y), UInt8(180 - 2 * x)]
        }
    }

    /// The greatest difference of any value between a rendition and what it should be.
    private func worst(
        _ runner: CommandRunner, _ name: String, against expected: () throws -> Image
    ) async throws -> Int {
        let wanted = try await inVipsTurn { try expected().pixels() }
        let found = try await runner.inspect("out/\(name).png", by: "pngload_source") { image in
            // Lab is finer than 8 bits, so that its renditions have 16.
            try image.format == .ushort ? image.linear([1.0 / 257], [0]).rint().cast(.uchar).pixels() : image.pixels()
        }
        guard found.count == wanted.count else { return 256 }
        return zip(found, wanted).map { abs(Int($0) - Int($1)) }.max() ?? 256
    }

    @Test func `profiles are converted, and none is left behind`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/srgb.png", as: "pngsave_target") { try picture() }
        try await runner.save("in/p3.png", as: "pngsave_target") { try picture().iccTransform(to: .p3, input: .srgb) }
        try await runner.save("in/cmyk.jpg", as: "jpegsave_target", [("Q", 100), ("subsample_mode", "off")]) {
            try picture().iccTransform(to: .cmyk, input: .srgb)
        }
        try await runner.save("in/lab.tif", as: "tiffsave_target") { try Self.lab(of: picture()) }
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await worst(runner, "srgb", against: picture) == 0)
        #expect(try await worst(runner, "p3", against: picture) <= 2)
        #expect(try await worst(runner, "lab", against: picture) <= 2)
        // A press has fewer colours, and JPEG loses some; a wrong profile or inverted ink would be off by far more.
        #expect(try await worst(runner, "cmyk", against: picture) <= 40)
        for name in ["p3", "cmyk", "lab"] {
            #expect(
                try await runner.inspect("out/\(name).png", by: "pngload_source") { $0.blob("icc-profile-data") } == nil
            )
        }
        let report = try runner.report()
        #expect(report["p3.png"]?.warnings.map(\.code) == ["wide-gamut-clipped"])
        #expect(
            report["cmyk.jpg"]?.warnings.contains { $0.code == "no-profile" || $0.code == "wide-gamut-clipped" }
                == false)
    }

    @Test func `CMYK without a profile takes a press profile, and the report says so`() async throws {
        let runner = try CommandRunner()
        try await runner.save(
            "in/bare.jpg", as: "jpegsave_target", [("Q", 100), ("subsample_mode", "off"), ("strip", true)]
        ) {
            try picture().iccTransform(to: .cmyk, input: .srgb).editingMetadata { $0.remove("icc-profile-data") }
        }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        #expect(try await worst(runner, "bare", against: picture) <= 40)
        #expect(try runner.report()["bare.jpg"]?.warnings.contains { $0.code == "no-profile" } == true)
    }

    @Test(arguments: [Interpretation.labq, .labs])
    func `Lab in packed bytes and in whole numbers is converted as Lab in floating point is, whatever is done with it`(
        space: Interpretation
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/lab.tif", as: "tiffsave_target") {
            try Self.lab(of: picture()).colourspace(space)
        }
        let result = try await runner.render(stages: "[ { resize: { width: 16 } } ]", save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await worst(runner, "lab", against: { try picture().resize(width: 16, height: 12) }) <= 4)
    }

    /// A picture of 8 bits in the Lab of ICC, by the formulas: sRGB's light, in the white D50, then CIE's Lab.
    private static func lab(of image: Image) throws -> Image {
        let pixels = try PixelGrid(image)
        func curve(_ light: Double) -> Double {
            light > 216.0 / 24_389 ? cbrt(light) : (24_389.0 / 27 * light + 16) / 116
        }
        let numbers = stride(from: 0, to: pixels.values.count, by: 3).flatMap { start -> [Int] in
            let light = pixels.values[start..<start + 3].map { value in
                let level = Double(value) / 255
                return level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
            }
            let rows = [
                [0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169],
                [0.0139322, 0.0971045, 0.7141733],
            ]
            let white = [0.96422, 1, 0.82521]
            let xyz = zip(rows, white).map { row, white in curve(zip(row, light).map(*).reduce(0, +) / white) }
            let (lightness, a, b) = (116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2]))
            return [lightness / 100, (a + 128) / 256, (b + 128) / 256].map { Int(($0 * 65_535).rounded()) }
        }
        let grid = PixelGrid(width: image.width, height: image.height, bands: 3, maximum: 65_535, values: numbers)
        return try TestPicture.make(grid).linear([100.0 / 65_535, 256.0 / 65_535, 256.0 / 65_535], [0, -128, -128])
            .cast(.float).copy(interpretation: .lab)
    }

    @Test(arguments: [Interpretation.lab, .labs, .labq])
    func `white, gray and black of a Lab picture are those of ICC, whose white is that of print`(
        space: Interpretation
    ) async throws {
        let runner = try CommandRunner()
        func grays() throws -> Image {
            try TestPicture.make(width: 32, height: 8) { x, _ in Array(repeating: UInt8(x * 255 / 31), count: 3) }
        }
        try await runner.save("in/lab.tif", as: "tiffsave_target") { try Self.lab(of: grays()).colourspace(space) }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        #expect(try await worst(runner, "lab", against: grays) <= (space == .labq ? 2 : 1))
    }

    @Test(arguments: [8, 16], ["resize: { width: 9 }", "rotate: { angle: 90 }", "crop: { width: 5, height: 5 }"])
    func `a profile in a Lab picture changes nothing: Lab says which colors it has`(bits: Int, stage: String)
        async throws
    {
        let runner = try CommandRunner()
        let pixel = [178, 20, 236].map { bits == 16 ? $0 << 8 : $0 }
        // LittleCMS's identity of Lab.
        let profile = try [UInt8](
            Data(contentsOf: URL(fileURLWithPath: Checkout.path + "/Tests/Fixtures/pictures/lab-identity.icc")))
        for (name, profile) in [("none", []), ("own", profile)] {
            try runner.folder.write(
                SmallTIFF.file(pixel: pixel, bits: bits, photometric: 8, profile: profile), to: "in/\(name).tif")
        }
        let result = try await runner.render(stages: "[ { \(stage) } ]", save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report()["own.tif"]?.warnings.isEmpty == true)
        #expect(try runner.bytes("out/own.png") == runner.bytes("out/none.png"))
    }

    @Test
    func `the alpha of a Lab picture stays what it is`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/lab.tif", as: "tiffsave_target") {
            try Self.lab(of: picture()).bandjoin(constants: [128]).copy(interpretation: .lab)
        }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        let pixel = try await runner.inspect("out/lab.png", by: "pngload_source") { try $0.getpoint(x: 8, y: 6) }
        #expect(pixel.count == 4 && pixel[3] == 128 * 257, "\(pixel)")
    }

    @Test func `packed Lab that keeps its colours comes out with them`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/lab.tif", as: "tiffsave_target") { try picture().colourspace(.labq) }
        try runner.folder.write(
            "profile: keep\nrenditions: { a: { stages: [ { resize: { width: 16 } } ], save: { format: tiff } } }",
            to: "keep.yaml")
        let result = try await runner.run("run", "keep.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let lightness = try await runner.inspect("out/lab.tif", by: "tiffload_source") {
            try $0.colourspace(.lab).getpoint(x: 8, y: 6)[0]
        }
        let expected = try await inVipsTurn { try picture().colourspace(.lab).getpoint(x: 16, y: 12)[0] }
        #expect(abs(lightness - expected) < 3, "\(lightness), and should be \(expected)")
    }

    @Test func `Lab in floating point with alpha is finer than whole numbers, kept or converted`() async throws {
        let runner = try CommandRunner()
        func source() throws -> Image {
            try picture().colourspace(.lab).bandjoin(constants: [255]).copy(interpretation: .lab)
        }
        try await runner.save("in/lab.tif", as: "tiffsave_target") { try source() }
        let stages = "[ { opacity: { alpha: 0.5 } } ]"
        let kept = try await runner.render(stages: stages, save: "{ format: tiff }", more: "profile: keep")
        #expect(kept.exit == 0, "\(kept.errors)")
        let (found, alpha) = try await runner.inspect("out/lab.tif", by: "tiffload_source") { image in
            let colours = try image.extractBands(from: 0, count: 3).copy(interpretation: .labs)
            return (try colours.colourspace(.lab).getpoint(x: 8, y: 6), try image.getpoint(x: 8, y: 6)[3])
        }
        let expected = try await inVipsTurn { try source().getpoint(x: 8, y: 6) }
        #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 0.01 }, "\(found), and should be \(expected)")
        // 32768, which libvips reads with a sign.
        #expect(alpha == -32_768)
        #expect(try await runner.render(stages: stages, save: "{ format: png }").exit == 0)
        let converted = try await runner.inspect("out/lab.png", by: "pngload_source") { try $0.getpoint(x: 8, y: 6) }
        #expect(converted.last == 32_768, "\(converted)")
    }

    @Test(arguments: [true, false])
    func `floating point with a profile has the profile's numbers, and without one it is light`(hasProfile: Bool)
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/float.tif", as: "tiffsave_target") {
            guard hasProfile else { return try picture().colourspace(.scrgb) }
            let wide = try picture().iccTransform(to: .p3, input: .srgb)
            return try wide.linear([1.0 / 255], [0]).copy(interpretation: .scrgb)
        }
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await worst(runner, "float", against: picture) <= 2)
    }

    @Test(arguments: ["uint", "short", "char", "int"])
    func `values that cannot be shown are refused, and not published black or white`(format: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/odd.tif", as: "tiffsave_target") {
            try picture().cast(try #require(BandFormat(rawValue: format)))
        }
        #expect(try await runner.render(save: "{ format: png }").exit != 0)
        let error = try runner.report()["odd.tif"]?.error
        #expect(error?.code == "unsupported-color" && error?.stage == "read", "\(String(describing: error))")
        #expect(error?.message.contains(format) == true)
    }

    @Test func `YCbCr in a TIFF that decoders do not convert is refused`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.tif", as: "tiffsave_target") { try picture() }
        var bytes = try runner.bytes("in/a.tif")
        // The field 262, of type SHORT and count 1, with the value 2 for RGB.
        let field: [UInt8] = [6, 1, 3, 0, 1, 0, 0, 0, 2]
        let place = try #require((0..<bytes.count - 9).first { Array(bytes[$0..<$0 + 9]) == field })
        bytes[place + 8] = 6
        try runner.folder.write(bytes, to: "in/a.tif")
        #expect(try await runner.render(save: "{ format: png }").exit != 0)
        #expect(try runner.report()["a.tif"]?.error?.code == "unsupported-color")
    }

    @Test
    func `a profile with one table for all purposes is used: scanners have such, and JPEGs in XYB colours`()
        async throws
    {
        let runner = try CommandRunner()
        for (name, level) in [("white", UInt8(255)), ("black", 0)] {
            try await runner.save("in/\(name).jpg", as: "jpegsave_target", [("Q", 100)]) {
                try TestPicture.solid([level, level, level], width: 16, height: 16).editingMetadata {
                    $0.set("icc-profile-data", blob: Self.negative)
                }
            }
        }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        for (name, expected) in [("white", 0.0), ("black", 255)] {
            let pixel = try await runner.inspect("out/\(name).png", by: "pngload_source") {
                try $0.getpoint(x: 8, y: 8)
            }
            #expect(pixel == [expected, expected, expected], "\(name): \(pixel)")
            #expect(try runner.report()["\(name).jpg"]?.warnings.isEmpty == true)
        }
    }

    /// A profile of a scanner that turns light into dark: a table of the eight corners from RGB to Lab, and no other
    /// part.
    private static let negative: [UInt8] = {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let straight = Array(UInt8(0)...255)
        // Red, green and blue, of which green decides.
        let corners: [UInt8] = (0..<8).flatMap { corner -> [UInt8] in [corner & 2 == 0 ? 255 : 0, 128, 128] }
        let matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap { number($0 << 16) }
        func text(_ text: String) -> [UInt8] { Array(text.utf8) }
        func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
        func joined(_ parts: [[UInt8]]) -> [UInt8] { parts.flatMap(\.self) }
        let curves = joined([straight, straight, straight])
        let table = joined([text("mft1"), zeros(4), [3, 3, 2, 0], matrix, curves, corners, curves])
        let white = [0xF6D6, 0x10000, 0xD32D].flatMap(number)
        let header = joined([
            number(144 + table.count), zeros(4), number(0x0240_0000), text("scnrRGB Lab "), zeros(12), text("acsp"),
            zeros(28), white,
        ])
        return joined([
            header, zeros(128 - header.count), number(1), text("A2B0"), number(144), number(table.count), table,
        ])
    }()

    @Test func `a profile that is none costs a warning, not the picture`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/bad.png", as: "pngsave_target") {
            try picture().editingMetadata { $0.set("icc-profile-data", blob: Array("this is no profile".utf8)) }
        }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        #expect(try await worst(runner, "bad", against: picture) == 0)
    }

    @Test func `a profile that is cut short, or is for other colours, is said to be of no use`() async throws {
        let runner = try CommandRunner()
        let (wide, press, jpeg) = try await inVipsTurn {
            let solid = try TestPicture.solid([9, 9, 9], width: 2, height: 2)
            let profiles = try [BuiltInProfile.p3, .cmyk].map {
                try #require(solid.iccTransform(to: $0, input: .srgb).blob("icc-profile-data"))
            }
            let target = try Target()
            _ = try Operation("jpegsave_target", [("in", .image(picture())), ("target", .target(target))])
            return (profiles[0], profiles[1], target.bytes)
        }
        for (name, profile) in [("cut", Array(wide.prefix(300))), ("press", press), ("grey", Self.grey)] {
            // libvips itself does not write one that is for other colours.
            let parts = stride(from: 0, to: profile.count, by: 60_000).map {
                Array(profile[$0..<min($0 + 60_000, profile.count)])
            }
            let segments = parts.enumerated().flatMap { index, part in
                let content = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(parts.count)] + part
                return [0xFF, 0xE2, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
            }
            try runner.folder.write(Array(jpeg[..<2]) + segments + Array(jpeg[2...]), to: "in/\(name).jpg")
        }
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        let report = try runner.report()
        for name in ["cut", "press", "grey"] {
            #expect(report["\(name).jpg"]?.warnings.map(\.code) == ["bad-profile"], "\(name)")
            #expect(try await worst(runner, name, against: picture) <= 12, "\(name)")
        }
    }

    /// A profile of a screen without colours.
    private static let grey: [UInt8] = {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        func text(_ text: String) -> [UInt8] { Array(text.utf8) }
        func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
        let white = [0xF6D6, 0x10000, 0xD32D].flatMap(number)
        let header = [
            number(192), zeros(4), number(0x0240_0000), text("mntrGRAYXYZ "), zeros(12), text("acsp"), zeros(28), white,
            zeros(48),
        ].flatMap(\.self)
        let tags = [number(2), text("wtpt"), number(156), number(20), text("kTRC"), number(176), number(14)].flatMap(
            \.self)
        return header + tags + text("XYZ ") + zeros(4) + white + text("curv") + zeros(4) + number(1) + [2, 0x33, 0, 0]
    }()

    @Test func `grey stays grey until a colour is drawn, and 16 bit stays 16 bit`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/grey.png", as: "pngsave_target") {
            try TestPicture.make(width: 20, height: 10, bands: 1) { x, _ in [UInt8(x * 12)] }
        }
        try await runner.save("in/deep.png", as: "pngsave_target") {
            try TestPicture.make(width: 20, height: 10) { x, y in [UInt8(x * 12), UInt8(y * 20), 7] }
                .linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16)
        }
        #expect(
            try await runner.render(
                stages: "[frame: { width: 30, height: 30, background: white }]", save: "{ format: png }"
            ).exit == 0)
        #expect(try await runner.inspect("out/grey.png", by: "pngload_source") { $0.bands } == 1)
        #expect(try await runner.inspect("out/deep.png", by: "pngload_source") { $0.format } == .ushort)
        #expect(
            try await runner.inspect("out/deep.png", by: "pngload_source") { try $0.getpoint(x: 0, y: 0) } == [
                65_535, 65_535, 65_535,
            ])
        #expect(
            try await runner.render(
                stages: "[frame: { width: 30, height: 30, background: red }]", save: "{ format: png }"
            ).exit == 0)
        #expect(
            try await runner.inspect("out/grey.png", by: "pngload_source") { try $0.getpoint(x: 0, y: 0) } == [
                255, 0, 0,
            ])
    }

    @Test
    func `a grey cut-out that is saved without alpha gets the colour that it is drawn on, at 8 and at 16 bits`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/grey.png", as: "pngsave_target") {
            try TestPicture.solid([128, 0], width: 16, height: 16)
        }
        try await runner.save("in/deep.png", as: "pngsave_target") {
            try TestPicture.make(width: 16, height: 16, kind: PictureKind(isGrey: true, hasAlpha: true, isDeep: true)) {
                _, _ in [30_000, 0]
            }
        }
        #expect(try await runner.render(save: "{ format: jpeg, quality: 100, background: '#ff0000' }").exit == 0)
        for name in ["grey", "deep"] {
            let corner = try await runner.inspect("out/\(name).jpg", by: "jpegload_source") {
                try $0.getpoint(x: 1, y: 1)
            }
            #expect(corner.count == 3 && zip(corner, [255, 0, 0]).allSatisfy { abs($0 - $1) <= 2 }, "\(corner)")
        }
    }

    @Test(arguments: ["png", "gif", "jpeg", "tiff"])
    func `where a format cannot hold a kept profile, the colours are converted to sRGB, and that is said`(
        format: String
    ) async throws {
        let runner = try CommandRunner()
        // libpng refuses a profile that wants no known rendering intent, which others take: libspng does, by which some
        // versions of libvips write PNG.
        try await runner.save("in/p3.jpg", as: "jpegsave_target", [("Q", 100)]) {
            let p3 = try TestPicture.solid([200, 60, 40], width: 16, height: 16).iccTransform(to: .p3, input: .srgb)
            var profile = try #require(p3.blob("icc-profile-data"))
            profile.replaceSubrange(64..<68, with: [0, 1, 0, 0])
            return try p3.editingMetadata { $0.set("icc-profile-data", blob: profile) }
        }
        #expect(try await runner.render(stages: "[]", save: "{ format: \(format) }", more: "profile: keep").exit == 0)
        let codes = try runner.report()["p3.jpg"]?.warnings.map(\.code) ?? []
        let ending = ["jpeg": "jpg", "tiff": "tif"][format] ?? format
        let (colour, hasProfile) = try await runner.inspect("out/p3.\(ending)", by: "\(format)load_source") {
            (try $0.getpoint(x: 8, y: 8), $0.has("icc-profile-data"))
        }
        let isKept = format == "jpeg" || format == "tiff" || format == "png" && hasProfile
        #expect(hasProfile == isKept)
        #expect(codes.contains("profile-converted") == !isKept, "\(codes)")
        // The same colour in the numbers of Display P3 and of sRGB.
        let expected = isKept ? [183.0, 71, 50] : [200.0, 60, 40]
        #expect(zip(colour, expected).allSatisfy { abs($0 - $1) <= 6 }, "\(colour)")
    }

    @Test func `a small rendition of kept CMYK with alpha is much as it is alone`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target", [("Q", 90)]) {
            try picture().embed(x: 0, y: 0, width: 800, height: 600, background: [20, 120, 220])
                .iccTransform(to: .cmyk, input: .srgb)
        }
        func pipeline(_ widths: [Int]) -> String {
            let renditions = widths.map {
                "  w\($0): { file: \"{rendition}.tif\", stages: [ { resize: { width: \($0) } } ], save: { format: tiff } }\n"
            }
            return "profile: keep\nstages: [ { opacity: { alpha: 0.5 } } ]\nrenditions:\n" + renditions.joined()
        }
        try runner.folder.write(pipeline([700, 83]), to: "both.yaml")
        try runner.folder.write(pipeline([83]), to: "alone.yaml")
        for name in ["both", "alone"] {
            let result = try await runner.run("run", "\(name).yaml", "in", "-o", name)
            #expect(result.exit == 0, "\(result.errors)")
        }
        var pixels: [[Int]] = []
        for name in ["both", "alone"] {
            pixels.append(
                try await runner.inspect("\(name)/w83.tif", by: "tiffload_source") { try $0.pixels().map { Int($0) } })
        }
        // Alone, the decoder has shrunk it.
        let difference = zip(pixels[0], pixels[1]).map { abs($0 - $1) }.reduce(0, +)
        #expect(pixels[0].count == pixels[1].count && difference < 2 * pixels[0].count, "\(difference)")
    }

    @Test(arguments: [false, true])
    func `a layer shows as much in a kept profile at 16 bits as at 8, whatever depth it has`(isDeep: Bool) async throws
    {
        let runner = try CommandRunner()
        for isDeepSource in [false, true] {
            try await runner.save("in/\(isDeepSource).png", as: "pngsave_target") {
                let p3 = try TestPicture.solid([200, 60, 40], width: 24, height: 24).iccTransform(to: .p3, input: .srgb)
                return isDeepSource
                    ? try p3.linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16) : p3
            }
        }
        try await runner.save("half.png", as: "pngsave_target") {
            let half = try TestPicture.solid([40, 90, 220, 128], width: 12, height: 12)
            return isDeep ? try half.linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16) : half
        }
        let result = try await runner.render(
            stages: "[overlay: { image: half.png, anchor: top-leading }]", save: "{ format: png }",
            more: "profile: keep")
        #expect(result.exit == 0, "\(result.errors)")
        var colours: [[Double]] = []
        for name in ["false", "true"] {
            colours.append(
                try await runner.inspect("out/\(name).png", by: "pngload_source") {
                    try $0.getpoint(x: 5, y: 5).map { $0 / ($0 > 300 ? 257 : 1) }
                })
        }
        // Half of both, in the numbers of Display P3.
        for colour in colours {
            #expect(zip(colour, [119.0, 80, 131]).allSatisfy { abs($0 - $1) <= 3 }, "\(colours)")
        }
    }

    @Test func `the profile stays whatever a stage makes the pixels of`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/p3.png", as: "pngsave_target") { try picture().iccTransform(to: .p3, input: .srgb) }
        let result = try await runner.render(
            stages: "[duotone: { dark: black, light: '#a04a60' }]", save: "{ format: png }", more: "profile: keep")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await runner.inspect("out/p3.png", by: "pngload_source") { $0.has("icc-profile-data") })
    }

    @Test(arguments: ["webp", "avif", "png, palette: true", "png"])
    func `a kept profile of gray is in no file that has RGB`(save: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.jpg", as: "jpegsave_target", [("Q", 100)]) {
            let gray = try TestPicture.solid([108], width: 16, height: 16)
            return try gray.editingMetadata { $0.set("icc-profile-data", blob: Self.grey) }
        }
        let result = try await runner.render(stages: "[]", save: "{ format: \(save) }", more: "profile: keep")
        #expect(result.exit == 0, "\(result.errors)")
        let format = String(save.prefix { $0 != "," })
        let codes = try runner.report()["a.jpg"]?.warnings.map(\.code) ?? []
        let hasProfile = try await runner.inspect(
            "out/a.\(format)", by: format == "avif" ? "heifload_source" : "\(format)load_source"
        ) { $0.has("icc-profile-data") }
        #expect(hasProfile == (save == "png") && codes.contains("profile-converted") == !hasProfile, "\(codes)")
    }

    @Test func `light is not computed from inks, and white stays white in Lab`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/cmyk.jpg", as: "jpegsave_target", [("Q", 100)]) {
            try picture().iccTransform(to: .cmyk, input: .srgb)
        }
        for stage in ["sharpen: { amount: 1 }", "resize: { size: 50%, linear: true }"] {
            let result = try await runner.render(
                stages: "[\(stage)]", save: "{ format: jpeg }", more: "profile: keep")
            #expect(result.errors.contains("works on RGB, gray and Lab, not in cmyk colors"), "\(result.errors)")
        }
        let lab = try CommandRunner()
        try await lab.save("in/lab.tif", as: "tiffsave_target") {
            // Edges at which the filter overshoots white.
            let edges = try TestPicture.make(width: 64, height: 48) { x, _ in
                x / 8 % 2 == 0 ? [255, 255, 255] : [0, 0, 0]
            }
            return try edges.colourspace(.labs)
        }
        #expect(
            try await lab.render(
                stages: "[resize: { size: 70%, linear: true }]", save: "{ format: tiff }", more: "profile: keep"
            ).exit == 0)
        let lightness = try await lab.inspect("out/lab.tif", by: "tiffload_source") { image in
            try (0..<image.width).map { try image.getpoint(x: $0, y: 10)[0] }
        }
        // Black and white take turns; the middle of a white stripe is white.
        #expect(lightness.filter { $0 > 32_000 }.count >= lightness.count / 3, "\(lightness)")
    }

    @Test func `a kept profile stays in the file, and colours are drawn in it`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/p3.png", as: "pngsave_target") { try picture().iccTransform(to: .p3, input: .srgb) }
        try await runner.save("in/cmyk.jpg", as: "jpegsave_target", [("Q", 100)]) {
            try picture().iccTransform(to: .cmyk, input: .srgb)
        }
        let stages = "[inset: { all: 4, background: \"#ff0000\" }]"
        let result = try await runner.render(stages: stages, save: "{ format: png }", more: "profile: keep")
        #expect(result.exit == 1)
        #expect(try runner.report()["cmyk.jpg"]?.error?.code == "unsupported-color")
        let (corner, profile) = try await runner.inspect("out/p3.png", by: "pngload_source") {
            (try $0.getpoint(x: 0, y: 0), $0.blob("icc-profile-data"))
        }
        // The red of sRGB in Display P3.
        #expect(zip(corner, [234, 51, 35]).allSatisfy { abs($0 - $1) <= 2 }, "\(corner)")
        #expect(profile != nil)
    }

    @Test func `with 'profile: keep', a gray picture without a profile takes colors too`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/gray.tif", as: "tiffsave_target") {
            try TestPicture.solid([90], width: 32, height: 24)
        }
        let stages = "[ { inset: { all: 4, background: red } }, { rotate: { angle: 10, background: blue } } ]"
        let result = try await runner.render(stages: stages, save: "{ format: png }", more: "profile: keep")
        #expect(result.exit == 0, "\(result.errors)")
        let (corner, middle) = try await runner.inspect("out/gray.png", by: "pngload_source") {
            (try $0.getpoint(x: 0, y: 0), try $0.getpoint(x: $0.width / 2, y: $0.height / 2))
        }
        #expect(corner == [0, 0, 255] && middle == [90, 90, 90])
    }
}
