// `run --manifest`: what a site is built from. `Tests/Pages` opens its page in a browser.
import Foundation
import TestSupport
import Testing
import Vips

@testable import System

@Suite struct ManifestTests {
    private struct Document: Decodable {
        struct Source: Decodable {
            struct Rendition: Decodable {
                struct Format: Decodable {
                    struct File: Decodable {
                        let path, url: String
                        let sha256: String?
                        let width, height, scale, bytes: Int
                    }
                    let format, type: String
                    let files: [File]
                }
                let name: String
                let formats: [Format]
            }
            let source, location: String
            let width, height: Int
            let color, thumbhash: String?
            let renditions: [Rendition]

            var files: [Rendition.Format.File] { renditions.flatMap(\.formats).flatMap(\.files) }
        }
        struct Failed: Decodable { let source, error: String }
        let sources: [Source]
        let failed: [Failed]
    }

    private static let names = [
        "a b.jpg", "it's \"quoted\".jpg", "<b>&amp;.jpg", "🦊 été.jpg", "100%25.jpg", "javascript:x.jpg",
    ]

    private func runner(_ save: String = "[{ format: avif, effort: 0 }, { format: webp }, { format: jpeg }]")
        async throws
        -> CommandRunner
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { photo: { widths: [16, 32, 64], save: \(save) } }\n", to: "p.yaml")
        let picture = try await SamplePicture.jpeg.bytes
        for name in Self.names { try runner.folder.write(picture, to: "in/" + name) }
        return runner
    }

    private func document(_ runner: CommandRunner, _ name: String = "m.json") async throws -> Document {
        let validation = try await runner.validate("manifest", [name])
        #expect(validation.exit == 0, "\(validation.output)\(validation.errors)")
        return try JSONDecoder().decode(Document.self, from: Data(runner.bytes(name)))
    }

    private func run(_ runner: CommandRunner, _ more: String...) async throws -> CommandResult {
        try await runner.run(["run", "p.yaml", "in", "-o", "out", "--manifest", "m.json"] + more)
    }

    /// Each file of the manifest is there with its bytes and its digest, and each address leads to it.
    private func checkFiles(_ document: Document, _ runner: CommandRunner) throws {
        for file in document.sources.flatMap(\.files) {
            let bytes = try runner.bytes("out/" + file.path)
            let digest = Digest()
            digest.update(bytes)
            #expect(bytes.count == file.bytes && digest.finish() == file.sha256, "\(file.path)")
            #expect(file.url.removingPercentEncoding == file.path)
            #expect(file.url.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~/%".contains($0)) })
        }
        #expect(Set(document.sources.flatMap(\.files).map(\.path)) == Set(runner.files()))
    }

    @Test func `each source is listed with its renditions by format and width; failed ones are left out and listed`()
        async throws
    {
        let runner = try await runner()
        try runner.folder.write("no picture", to: "in/broken.jpg")
        #expect(try await run(runner).exit == 1)
        let document = try await document(runner)
        #expect(Set(document.sources.map(\.source)) == Set(Self.names))
        #expect(document.failed.map(\.source) == ["broken.jpg"])
        #expect(document.failed.first?.error.hasPrefix("not-an-image: ") == true)
        for source in document.sources {
            let rendition = try #require(source.renditions.first)
            #expect(source.renditions.count == 1 && rendition.name == "photo" && source.width == 64)
            #expect(rendition.formats.map(\.type) == ["image/avif", "image/webp", "image/jpeg"])
            for format in rendition.formats {
                #expect(format.files.map(\.width) == [16, 32, 64] && format.files.map(\.height) == [12, 24, 48])
            }
            #expect(source.color == nil && source.thumbhash == nil)
        }
        try checkFiles(document, runner)
    }

    @Test func `a second run over some of the sources keeps the others, and --prune drops those that are gone`()
        async throws
    {
        let runner = try await runner("{ format: webp }")
        #expect(try await run(runner).exit == 0)
        let first = try await document(runner)
        #expect(try await run(runner).exit == 0)
        #expect(try runner.bytes("m.json") == runner.bytes("m.json"))
        let some = try await runner.run(
            "run", "p.yaml", "in/a b.jpg", "-o", "out", "--force", "--manifest", "m.json")
        #expect(some.exit == 0, "\(some.errors)")
        #expect(try await document(runner).sources.count == first.sources.count)
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a b.jpg"))
        #expect(try await run(runner, "--prune").exit == 0)
        let last = try await document(runner)
        #expect(last.sources.count == first.sources.count - 1 && !last.sources.contains { $0.source == "a b.jpg" })
        try checkFiles(last, runner)
        // One that somebody has removed is not there to be shown.
        let gone = try #require(runner.files().first)
        try FileManager.default.removeItem(atPath: runner.folder.path("out/" + gone))
        let other = try await runner.run(
            "run", "p.yaml", "in/100%25.jpg", "-o", "out", "--manifest", "m.json")
        #expect(other.exit == 0)
        try checkFiles(try await document(runner), runner)
    }

    @Test func `the page has a picture for each source, and no name becomes markup`() async throws {
        let runner = try await runner()
        let result = try await runner.run(
            "run", "p.yaml", "in", "-o", "site/img", "--manifest", "site/pictures.html")
        #expect(result.exit == 0, "\(result.errors)")
        let page = String(decoding: try runner.bytes("site/pictures.html"), as: UTF8.self)
        #expect(page.matches(of: /<picture>/).count == Self.names.count)
        #expect(page.matches(of: /<source type="image\/(avif|webp)"/).count == 2 * Self.names.count)
        #expect(!page.contains("<b>") && page.contains("&lt;b&gt;&amp;amp;.jpg"))
        for match in page.matches(of: #/ src="([^"]*)"/#) {
            let path = try #require(String(match.1).removingPercentEncoding)
            #expect(path.hasPrefix("./img/") && runner.exists("site/" + path), "\(path)")
        }
    }

    @Test func `a picture for dense screens is offered by density`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { icon: { scale: [1, 2], stages: [{ resize: { width: 16 } }], save: { format: png } } }\n",
            to: "p.yaml")
        try await runner.picture("in/a.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--manifest", "page.html")
        #expect(result.exit == 0, "\(result.errors)")
        let page = String(decoding: try runner.bytes("page.html"), as: UTF8.self)
        #expect(
            page.contains(
                "<img src=\"./out/a.png\" srcset=\"./out/a.png 1x, ./out/a%402x.png 2x\" width=\"16\" height=\"12\""),
            "\(page)")
    }

    @Test func `a placeholder is listed if the pipeline asks for it, also from the cache`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { save: { format: png, placeholder: [color, thumbhash] } } }\n", to: "p.yaml")
        try runner.folder.write(
            try await SamplePicture.png.encode(TestPicture.solid([200, 30, 60], width: 300, height: 200)),
            to: "in/red.png")
        try runner.folder.write(
            try await SamplePicture.png.encode(
                TestPicture.make(width: 90, height: 60, bands: 4) { x, y in
                    [UInt8(x * 2), UInt8(y * 3), 90, x < 30 ? 0 : x < 60 ? 120 : 255]
                }), to: "in/soft.png")
        try runner.folder.write(
            try await SamplePicture.png.encode(
                TestPicture.make(width: 75, height: 100) { x, y in
                    [UInt8(x * 3), UInt8(y * 2), UInt8((x * 7 + y * 13) % 256)]
                }), to: "in/opaque.png")
        for _ in 0..<2 {
            #expect(try await run(runner, "--force", "--cache", "cache").exit == 0)
            let sources = try await document(runner).sources
            #expect(sources.map(\.source) == ["opaque.png", "red.png", "soft.png"] && sources[1].color == "#c81e3c")
            // Made of the same pixels by the package thumbhash-python 1.0.1.
            #expect(sources[0].thumbhash == "XBcKNRZwd4GHd3d3eHd3eIBxCOeI")
            #expect(sources[2].thumbhash == "mViGE4hHxXfAh3jFwFf8g4B3iIiHiHg=")
        }
    }

    @Test func `a look is that of the same picture in sRGB of 8 bits, whatever the colors and the depth are that stay`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            "profile: keep\nrenditions: { a: { save: { format: tiff, placeholder: [color, thumbhash] } } }\n",
            to: "p.yaml")
        func plain() throws -> Image { try TestPicture.solid([200, 30, 60], width: 300, height: 200) }
        try await runner.save("in/8.png", as: "pngsave_target") { try plain() }
        try await runner.save("in/16.png", as: "pngsave_target") {
            try plain().iccTransform(to: .p3, input: .srgb, depth: 16)
        }
        try await runner.save("in/lab.tif", as: "tiffsave_target") { try plain().colourspace(.labs) }
        try await runner.save("in/soft8.png", as: "pngsave_target") { try plain().bandjoin(constants: [117]) }
        try await runner.save("in/soft16.png", as: "pngsave_target") {
            try plain().iccTransform(to: .p3, input: .srgb, depth: 16).bandjoin(constants: [117 * 257])
        }
        let result = try await run(runner)
        #expect(result.exit == 0, "\(result.errors)")
        let looks = try await document(runner).sources
        #expect(looks.map(\.source) == ["8.png", "16.png", "lab.tif", "soft8.png", "soft16.png"])
        try #require(looks.count == 5)
        for look in looks {
            let color = try #require(look.color.flatMap { Int($0.dropFirst(), radix: 16) })
            let parts = [color >> 16, color >> 8 & 255, color & 255]
            #expect(zip(parts, [200, 30, 60]).allSatisfy { abs($0 - $1) <= 3 }, "\(look)")
            // ThumbHash says in its third byte whether there is alpha.
            let hash = try #require(look.thumbhash.flatMap { Data(base64Encoded: $0) })
            #expect((hash[2] & 0x80 != 0) == look.source.hasPrefix("soft"), "\(look)")
        }
    }

    @Test func `a file that is no manifest is not replaced, and there is none of a dry run`() async throws {
        let runner = try await runner("{ format: webp }")
        try runner.folder.write("{ \"mine\": 1 }", to: "m.json")
        let refused = try await run(runner)
        #expect(
            refused.exit == 64
                && refused.errors.contains("is no manifest of Imagemill; choose another file (--manifest)"),
            "\(refused.errors)")
        try FileManager.default.removeItem(atPath: runner.folder.path("m.json"))
        #expect(try await run(runner, "--dry-run").exit == 0)
        #expect(!runner.exists("m.json"))
    }

    @Test func `it takes no file that is another one's`() async throws {
        let runner = try await runner("{ format: webp }")
        for (options, words) in [
            (["--manifest", "r.json", "--report", "r.json"], "--report and --manifest name one file"),
            (["--manifest", "out/.imagemill/report.json"], "is the run's report"),
        ] {
            let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
            #expect(result.exit == 64 && result.errors.contains(words), "\(result.errors)")
        }
        let result = try await runner.run(
            "run", "p.yaml", "in/a b.jpg", "-o", "out", "--manifest", "out/a b-16.webp")
        #expect(result.exit != 0 && result.errors.contains("a rendition has that name"), "\(result.errors)")
        #expect(try await runner.size(of: "out/a b-16.webp") == [16, 12])
    }

    @Test func `sources of one name have a place each, folders are listed, and a failed source that is gone is not`()
        async throws
    {
        let runner = try await runner("{ format: tiles }")
        try runner.folder.write(
            "renditions: { t: { save: { format: tiles } }, w: { save: { format: webp } } }\n", to: "p.yaml")
        try await runner.picture("one/x.jpg")
        try await runner.picture("two/x.jpg")
        try runner.folder.write("no picture", to: "one/broken.png")
        for folder in ["one", "two"] {
            _ = try await runner.run("run", "p.yaml", folder, "-o", "out", "--manifest", "m.json")
        }
        let document = try await document(runner)
        #expect(document.sources.map(\.location) == ["../one/x.jpg", "../two/x.jpg"])
        #expect(document.failed.count == 1)
        for source in document.sources {
            let tiles = try #require(source.renditions.first?.formats.first)
            #expect(tiles.format == "tiles" && tiles.type == "inode/directory" && tiles.files.first?.sha256 == nil)
            #expect(runner.exists("out/\(tiles.files.first?.path ?? "")/image.dzi"))
        }
        try FileManager.default.removeItem(atPath: runner.folder.path("one/broken.png"))
        _ = try await runner.run("run", "p.yaml", "one", "-o", "out", "--manifest", "m.json")
        #expect(try await self.document(runner).failed.isEmpty)
    }
}
