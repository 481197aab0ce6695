// ICO, and the pipelines that make the icons of apps and sites.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct IconTests {
    /// The pictures in an ICO by its own directory: their sides, and their bytes.
    private func pictures(_ bytes: [UInt8]) throws -> [(width: Int, height: Int, png: [UInt8])] {
        func little(_ start: Int, _ count: Int) -> Int {
            bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(little(0, 2) == 0 && little(2, 2) == 1)
        return (0..<little(4, 2)).map { index in
            let entry = 6 + 16 * index
            let (count, start) = (little(entry + 8, 4), little(entry + 12, 4))
            #expect(little(entry + 6, 2) == 32 && start + count <= bytes.count)
            func side(_ byte: Int) -> Int { bytes[entry + byte] == 0 ? 256 : Int(bytes[entry + byte]) }
            return (side(0), side(1), Array(bytes[start..<start + count]))
        }
    }

    private func made(_ save: String, width: Int, height: Int) async throws -> (CommandRunner, CommandResult) {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: width, height: height) }
        try runner.folder.write("renditions: { a: { save: \(save) } }\n", to: "p.yaml")
        return (runner, try await runner.run("run", "p.yaml", "in", "-o", "out"))
    }

    @Test(arguments: [(48, 48), (256, 256), (100, 60), (16, 16), (10, 40)])
    func `an ICO has the picture, and the smaller sizes of it, each as a PNG`(width: Int, height: Int) async throws {
        let (runner, result) = try await made("{ format: ico }", width: width, height: height)
        #expect(result.exit == 0, "\(result.errors)")
        let pictures = try pictures(runner.bytes("out/a.ico"))
        let longest = max(width, height)
        let expected = [16, 32, 48].filter { $0 < longest } + [longest]
        #expect(pictures.map { max($0.width, $0.height) } == expected)
        #expect(pictures.last?.width == width && pictures.last?.height == height)
        for (index, picture) in pictures.enumerated() {
            try runner.folder.write(picture.png, to: "out/\(index).png")
            #expect(try await runner.size(of: "out/\(index).png") == [picture.width, picture.height])
        }
    }

    @Test func `16 bits become 8`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.coded(width: 40, height: 40).cast(.ushort).linear([256], [0]).cast(.ushort)
                .copy(interpretation: .rgb16)
        }
        try runner.folder.write(
            "renditions: { a: { save: { format: ico } }, t: { save: { format: tiles, tile-format: png } } }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        // The depth in the header.
        for picture in try pictures(runner.bytes("out/a-a.ico")) { #expect(picture.png[24] == 8) }
        #expect(try runner.bytes("out/a-t.tiles/image_files/6/0_0.png")[24] == 8)
    }

    @Test func `one that is too large fails, and sizes that cannot be are a mistake`() async throws {
        let (runner, result) = try await made("{ format: ico }", width: 300, height: 300)
        let code = try runner.report().sources.first?.error?.code
        #expect(result.exit == 2 && code == "too-large-for-format")
        let (_, mistake) = try await made("{ format: ico, sizes: [512] }", width: 30, height: 30)
        #expect(mistake.exit != 0 && mistake.errors.contains("at most 256 a side"), "\(mistake.errors)")
    }

    private static let drawing =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\"><circle cx=\"12\" cy=\"12\" r=\"11\" fill=\"#c81e3c\"/></svg>"

    private func run(_ pipeline: String, _ options: String..., source: String = "mark.svg") async throws
        -> CommandRunner
    {
        let runner = try CommandRunner()
        if source.hasSuffix(".svg") {
            try runner.folder.write(Self.drawing, to: "in/" + source)
        } else {
            try await runner.save("in/" + source, as: "pngsave_target") {
                try TestPicture.coded(width: 512, height: 512)
            }
        }
        let result = try await runner.run(
            ["run", Checkout.path + "/pipelines/\(pipeline).yaml", "in", "-o", "out", "--allow", "svg"] + options)
        #expect(result.exit == 0, "\(result.errors)")
        return runner
    }

    private func json(_ runner: CommandRunner, _ path: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(runner.bytes(path))) as? [String: Any])
    }

    @Test(arguments: ["mark.svg", "mark.png"])
    func `an asset catalog has the picture at three scales, and the contents that name them`(source: String)
        async throws
    {
        let runner = try await run("asset-catalog", "--set", "width=20", source: source)
        let folder = "Assets.xcassets/mark.imageset/"
        #expect(runner.files() == ["Contents.json", "mark.png", "mark@2x.png", "mark@3x.png"].map { folder + $0 })
        let images = try #require(try json(runner, "out/\(folder)Contents.json")["images"] as? [[String: String]])
        for (index, image) in images.enumerated() {
            #expect(image["scale"] == "\(index + 1)x" && image["idiom"] == "universal")
            let size = try await runner.size(of: "out/\(folder)\(image["filename"] ?? "")")
            #expect(size == [20 * (index + 1), 20 * (index + 1)])
        }
        #expect(images.count == 3)
    }

    @Test(arguments: ["mark.svg", "mark.png"])
    func `Android has a drawable in each density`(source: String) async throws {
        let runner = try await run("android", "--set", "width=16", source: source)
        for (density, side) in [("mdpi", 16), ("hdpi", 24), ("xhdpi", 32), ("xxhdpi", 48), ("xxxhdpi", 64)] {
            #expect(try await runner.size(of: "out/drawable-\(density)/mark.webp") == [side, side], "\(density)")
        }
        #expect(runner.files().count == 5)
    }

    @Test(arguments: ["mark.svg", "mark.png"])
    func `a site has its favicon, its icons, and the manifest that names them`(source: String) async throws {
        let runner = try await run("favicon", "--set", "name=My \"site\"", source: source)
        #expect(
            runner.files() == [
                "apple-touch-icon.png", "favicon.ico", "icon-192.png", "icon-512.png", "icon-maskable.png",
                "site.webmanifest",
            ])
        #expect(try pictures(runner.bytes("out/favicon.ico")).map(\.width) == [16, 32, 48])
        let manifest = try json(runner, "out/site.webmanifest")
        #expect(manifest["name"] as? String == "My \"site\"" && manifest["background_color"] as? String == "white")
        for icon in try #require(manifest["icons"] as? [[String: String]]) {
            let size = try await runner.size(of: "out/\(icon["src"] ?? "")")
            #expect(icon["sizes"] == "\(size[0])x\(size[1])")
        }
        #expect(try await runner.size(of: "out/apple-touch-icon.png") == [180, 180])
    }
}
