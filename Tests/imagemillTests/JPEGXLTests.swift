// JPEG XL as an output: written without being allowed as a source.
import Foundation
import TestSupport
import Testing
import Vips

@testable import Render

@Suite struct JPEGXLTests {
    private let runner: CommandRunner

    init() throws { runner = try CommandRunner() }

    @Test(arguments: [8, 16], [false, true])
    func `JPEG XL without losses has every pixel, in 8 and 16 bits, with and without alpha`(
        bits: Int, hasAlpha: Bool
    ) async throws {
        let kind = PictureKind(hasAlpha: hasAlpha, isDeep: bits == 16)
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 33, height: 20, kind: kind) { x, y in
                (0..<(hasAlpha ? 4 : 3)).map { (x * 7 + y * 11 + $0 * 31) % 251 * kind.maximum / 255 }
            }
        }
        let result = try await runner.render(save: "{ format: jxl, lossless: true, effort: 3 }")
        #expect(result.exit == 0, "\(result.errors)")
        let saved = try await runner.inspect("out/a.jxl", by: "jxlload_source") { try PixelGrid($0) }
        let source = try await runner.inspect("in/a.png", by: "pngload_source") { try PixelGrid($0) }
        for (x, y) in [(0, 0), (32, 19), (17, 3), (5, 16)] { #expect(saved[x, y] == source[x, y], "\(x) \(y)") }
    }

    @Test func `JPEG XL is written without being allowed, and read back only if it is allowed`() async throws {
        try await runner.picture("in/a.jpg")
        #expect(try await runner.render(save: "{ format: jxl }").exit == 0)
        #expect(try runner.report()["a.jpg"]?.renditions.map(\.format) == ["jxl"])
        try runner.pipeline(format: "png")
        let refused = try await runner.run("run", "p.yaml", "out/a.jxl", "-o", "back")
        #expect(refused.exit == 2 && refused.errors.contains("--allow jxl"), "\(refused.errors)")
        let read = try await runner.run("run", "p.yaml", "out/a.jxl", "-o", "back", "--allow", "jxl")
        #expect(read.exit == 0, "\(read.errors)")
    }

    // Where `VIPSHOME` is set, libvips loads all its modules when it starts.
    @Test(arguments: ["", "VIPSHOME=/usr "])
    func `with 'format: same' a source in JPEG XL stays JPEG XL`(variable: String) async throws {
        try await runner.save("in/a.jxl", as: "jxlsave_target", [("effort", 3)]) {
            try TestPicture.make(width: 32, height: 20) { x, y in [UInt8(x * 7), UInt8(y * 11), 90] }
        }
        let text = "renditions: { a: { stages: [ { rotate: { angle: 90 } } ], save: { format: same } } }"
        try runner.folder.write(text, to: "p.yaml")
        let result = try await runner.shell("\(variable)$IMAGEMILL run p.yaml in -o out --allow jxl")
        #expect(result.exit == 0, "\(result.errors)")
        let size = try await runner.inspect("out/a.jxl", by: "jxlload_source") { ($0.width, $0.height) }
        #expect(size == (20, 32))
    }

    @Test func `a picture keeps its profile in JPEG XL with profile keep`() async throws {
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 32, height: 32) { _, _ in [230, 60, 40] }.iccTransform(to: .p3, input: .srgb)
        }
        let result = try await runner.render(save: "{ format: jxl }", more: "profile: keep")
        #expect(result.exit == 0, "\(result.errors)")
        let (bytes, pixel) = try await runner.inspect("out/a.jxl", by: "jxlload_source") {
            ($0.byteCount(of: "icc-profile-data"), try $0.getpoint(x: 9, y: 9))
        }
        let source = try await runner.inspect("in/a.png", by: "pngload_source") { try $0.getpoint(x: 9, y: 9) }
        #expect(bytes > 0 && zip(pixel, source).allSatisfy { abs($0 - $1) < 3 }, "\(bytes) \(pixel)")
    }

    @Test func `rights that JPEG XL is not given are said`() async throws {
        try await runner.save("in/a.jpg", as: "jpegsave_target") {
            try TestPicture.make(width: 16, height: 16) { x, _ in [UInt8(x), 0, 0] }.editingMetadata {
                $0.set("exif-ifd0-Copyright", string: "A. Person (A. Person, ASCII, 10 components, 10 bytes)")
            }
        }
        #expect(try await runner.render(save: "{ format: jxl }").exit == 0)
        let warnings = try runner.report()["a.jpg"]?.warnings.map(\.message) ?? []
        #expect(warnings.contains("'a': jxl files cannot be given copyright, artist and licence"), "\(warnings)")
    }
}
