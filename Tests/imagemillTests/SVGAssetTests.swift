// SVG as an asset: drawn in the size that each scale needs, by workers that refuse SVG sources all the same.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct SVGAssetTests {
    private let runner: CommandRunner

    init() throws { runner = try CommandRunner() }

    /// Edges at slants and at places between pixels, so that an enlarged bitmap looks different.
    private static func mark(_ size: String = "width='24' height='24'", _ more: String = "", head: String = "")
        -> String
    {
        """
        \(head)<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \(size)>\
        <path d='M12 1 15 9 23 9 17 14 19 22 12 17 5 22 7 14 1 9 9 9Z' fill='#c02040'/>\
        <rect x='10.3' y='10.7' width='4' height='3.5' fill='#2040c0'/>\(more)</svg>
        """
    }

    private func clear(_ name: String, _ width: Int, _ height: Int) async throws {
        try await runner.save("in/" + name, as: "pngsave_target") {
            try TestPicture.solid([0, 0, 0, 0], width: width, height: height)
        }
    }

    private func grid(_ name: String) async throws -> PixelGrid {
        try await runner.inspect(name, by: "pngload_source") { try PixelGrid($0) }
    }

    /// The largest difference of two pictures in any pixel's alpha or visible colors.
    private func difference(_ one: PixelGrid, _ other: PixelGrid) -> Int {
        guard one.sides == other.sides, one.bands == other.bands else { return .max }
        func seen(_ grid: PixelGrid, _ x: Int, _ y: Int) -> [Int] {
            let pixel = grid[x, y]
            return pixel[3] == 0 ? [0, 0, 0, 0] : pixel[..<3].map { $0 * pixel[3] / 255 } + [pixel[3]]
        }
        return (0..<one.height).flatMap { y in
            (0..<one.width).map { x in zip(seen(one, x, y), seen(other, x, y)).map { abs($0 - $1) }.max()! }
        }.max()!
    }

    /// The mark as libvips draws it in a size.
    private func drawn(_ svg: String, _ side: Int) async throws -> PixelGrid {
        try runner.folder.write(svg, to: "alone.svg")
        return try await runner.inspect("alone.svg", by: "svgload_source", [("scale", .double(Double(side) / 24))]) {
            try PixelGrid($0)
        }
    }

    /// Renders `in` with one stage at scales 1 to 3.
    private func render(_ stage: String, scales: String = "[1, 2, 3]") async throws -> CommandResult {
        let text = """
            renditions:
              a:
                scale: \(scales)
                stages: [ { frame: { width: 120, height: 120, mode: center } }, { \(stage) } ]
                save: { format: png }
                file: "{stem}{scale}.{ext}"
            """
        try runner.folder.write(text, to: "p.yaml")
        return try await runner.run("run", "p.yaml", "in", "-o", "out", "--force")
    }

    @Test(arguments: [
        ("", 24), ("width: 120", 120), ("height: 50%", 60), ("width: 75%, height: 75%", 90),
        // Its own stages draw it larger too.
        ("width: 120, stages: [ { inset: { all: 0 } } ]", 120),
        ("stages: [ { resize: { size: 96x96 } } ]", 96),
        ("width: 96, stages: [ { resize: { size: 12x12 } } ]", 96),
    ])
    func `an SVG is drawn in the size that each scale needs`(parameters: String, side: Int) async throws {
        try await clear("a.png", 8, 8)
        try runner.folder.write(Self.mark(), to: "mark.svg")
        for stage in [
            "overlay: { image: mark.svg, anchor: top-left, \(parameters) }",
            "composite: { layers: [ { source: true }, { image: mark.svg, anchor: top-left, \(parameters) } ] }",
        ].prefix(parameters.contains("75%") ? 2 : 1) {
            let result = try await render(stage)
            #expect(result.exit == 0, "\(result.errors)")
            for scale in 1...3 {
                let found = try await grid("out/a\(scale == 1 ? "" : "@\(scale)x").png")
                #expect(found.sides == [120 * scale, 120 * scale])
                let wanted = try await drawn(Self.mark(), side * scale)
                let part = PixelGrid(
                    width: side * scale, height: side * scale, bands: 4,
                    values: (0..<side * scale).flatMap { y in (0..<side * scale).flatMap { found[$0, y] } })
                // A picture that is made of twice as many pixels, by a whole factor, differs by the antialiasing alone.
                let most = parameters.contains("stages") ? 60 : 1
                #expect(difference(part, wanted) <= most, "\(stage) at \(scale)x")
            }
        }
    }

    /// An enlarged bitmap has an edge of many grays.
    @Test(arguments: [
        "width: 240", "width: 240, stages: [ { tint: { color: black } } ]",
        "width: 240, stages: [ { crop: { width: 24, height: 24 } } ]", "stages: [ { resize: { size: 240x240 } } ]",
    ])
    func `an edge is sharp however large the SVG is drawn`(parameters: String) async throws {
        try await clear("a.png", 300, 300)
        let half = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><rect width='12' height='24'/></svg>"
        try runner.folder.write(half, to: "half.svg")
        let result = try await runner.render(
            stages: "[ { overlay: { image: half.svg, anchor: top-left, \(parameters) } } ]", save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let found = try await grid("out/a.png")
        #expect((0..<119).allSatisfy { found[$0, 100][3] == 255 }, "\(parameters)")
        #expect((121..<300).allSatisfy { found[$0, 100][3] == 0 }, "\(parameters)")
    }

    @Test func `an SVG whose sides are no whole pixels keeps its proportions`() async throws {
        try await clear("a.png", 700, 700)
        let svg =
            "<svg xmlns='http://www.w3.org/2000/svg' width='24.4' height='11.7'><rect width='24.4' height='11.7'/></svg>"
        try runner.folder.write(svg, to: "mark.svg")
        for (width, height) in [(610, 293), (244, 117), (61, 29), (37, 18)] {
            let result = try await runner.render(
                stages: "[ { overlay: { image: mark.svg, anchor: top-left, width: \(width) } } ]",
                save: "{ format: png }")
            #expect(result.exit == 0, "\(result.errors)")
            let found = try await grid("out/a.png")
            #expect(found[width - 2, 2][3] == 255 && found[width, 2][3] == 0, "\(width)")
            #expect(found[2, height - 2][3] == 255 && found[2, height][3] == 0, "\(width)×\(height)")
            try FileManager.default.removeItem(atPath: runner.folder.path("out"))
        }
    }

    @Test(arguments: [PictureKind(), PictureKind(isGrey: true), PictureKind(hasAlpha: true, isDeep: true)])
    func `a mask is stretched over any picture with sharp edges`(kind: PictureKind) async throws {
        let svg =
            "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect x='2' y='2' width='4' height='4'/></svg>"
        try runner.folder.write(svg, to: "mask.svg")
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.coded(width: 400, height: 100, kind: kind)
        }
        let result = try await runner.render(stages: "[ { mask: { image: mask.svg } } ]", save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let found = try await grid("out/a.png")
        #expect(found.sides == [400, 100] && found.bands == (kind.isGrey ? 2 : 4))
        func alpha(_ x: Int, _ y: Int) -> Int { found[x, y].last! }
        for (outside, inside) in [((97, 50), (102, 50)), ((302, 50), (297, 50)), ((200, 23), (200, 26))] {
            #expect(alpha(outside.0, outside.1) == 0 && alpha(inside.0, inside.1) > 0, "\(outside) \(inside)")
        }
    }

    @Test func `every frame of an animation gets the SVG, and a set one on each member`() async throws {
        try runner.folder.write(Self.mark(), to: "mark.svg")
        try await runner.save("in/a.gif", as: "gifsave_target") {
            try Image.arrayjoin((0..<5).map { try TestPicture.solid([0, UInt8(50 * $0), 0], width: 40, height: 40) })
                .editingMetadata { $0.set("page-height", int: 40) }
        }
        let stages = "[ { overlay: { image: mark.svg, width: 40 } } ]"
        let result = try await runner.render(stages: stages, save: "{ format: webp, lossless: true }")
        #expect(result.exit == 0, "\(result.errors)")
        let frames = try await runner.inspect("out/a.webp", by: "webpload_source", [("n", -1)]) { try PixelGrid($0) }
        #expect(frames.height == 200)
        for frame in 0..<5 { #expect(frames[20, 40 * frame + 15].prefix(3) == [192, 32, 64], "\(frame)") }
        for name in ["1.jpg", "2.jpg"] { try await runner.picture("set/" + name) }
        try runner.folder.write(
            "source: set\nrenditions: { a: { stages: [{ contact-sheet: { columns: 2 } }, { overlay: { image: mark.svg } }], save: { format: png } } }",
            to: "set.yaml")
        let set = try await runner.run("run", "set.yaml", "set", "-o", "sheet")
        #expect(set.exit == 0, "\(set.errors)")
    }

    @Test func `a name with @2x gives the SVG two of its pixels for a point`() async throws {
        try await clear("a.png", 100, 100)
        try runner.folder.write(Self.mark(), to: "mark@2x.svg")
        let result = try await render("overlay: { image: mark@2x.svg, anchor: top-left }", scales: "[1, 3]")
        #expect(result.exit == 0, "\(result.errors)")
        for (name, side) in [("out/a.png", 12), ("out/a@3x.png", 36)] {
            let found = try await grid(name)
            let wanted = try await drawn(Self.mark(), side)
            let middles = zip(found[side / 2, side / 2], wanted[side / 2, side / 2])
            #expect(found[side, side / 2][3] == 0 && middles.allSatisfy { abs($0 - $1) <= 2 })
        }
    }

    // MARK: - Forbidden

    @Test func `a pipeline with an SVG of its own reads no SVG of others`() async throws {
        try runner.folder.write(Self.mark(), to: "mark.svg")
        try runner.folder.write(Self.mark(), to: "in/a.svg")
        try await runner.picture("in/b.jpg")
        let stages = "[ { overlay: { image: mark.svg } } ]"
        let result = try await runner.render(stages: stages, save: "{ format: png }")
        #expect(result.exit == 0 && runner.files() == ["b.png"], "\(result.errors)")
        let named = try await runner.run("run", "p.yaml", "in/a.svg", "-o", "out")
        #expect(named.exit != 0 && named.errors.contains("it is read only with --allow svg"), "\(named.errors)")
        let allowed = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "svg")
        #expect(allowed.exit == 0 && runner.files().sorted() == ["a.png", "b.png"], "\(allowed.errors)")
    }

    @Test func `what an SVG shows of another file is a mistake of the pipeline`() async throws {
        _ = try await runner.picture("photo.jpg")
        for address in ["photo.jpg", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/a.png", "other.svg#a"] {
            let element = address.contains("#") ? "use" : "image"
            try runner.folder.write(
                Self.mark("viewBox='0 0 24 24'", "<\(element) xlink:href='\(address)'/>"), to: "mark.svg")
            try runner.folder.write(Self.pipeline, to: "p.yaml")
            let check = try await runner.run("check", "p.yaml")
            let words =
                "p.yaml:2:38: error: the asset 'mark.svg' cannot be used: it shows '\(address)', which is not read; embed that in the SVG"
            #expect(check.exit == 78 && check.errors.contains(words), "\(check.errors)")
        }
    }

    private static let pipeline = """
        renditions:
          a: { stages: [ { overlay: { image: mark.svg } } ], save: { format: png } }
        """

    @Test func `an SVG reads no other file by its fonts, styles and entities, and shows what it brings along`()
        async throws
    {
        try await clear("a.png", 24, 24)
        try await runner.save("secret.png", as: "pngsave_target") {
            try TestPicture.solid([0, 255, 0], width: 4, height: 4)
        }
        let secret = "file://" + runner.folder.path("secret.png")
        let red = "<rect width='24' height='24' fill='red'/>"
        let bodies = [
            Self.mark(
                "width='24' height='24'",
                red
                    + "<style>@import url('\(secret)'); @font-face { font-family: a; src: url('\(secret)') } rect { fill: url('\(secret)') red }</style>"
            ),
            Self.mark("width='24' height='24'", red, head: "<?xml-stylesheet href='\(secret)' type='text/css'?>"),
            Self.mark(
                "width='24' height='24' xmlns:xi='http://www.w3.org/2001/XInclude'",
                red + "<xi:include href='\(secret)' parse='text'/>"),
            Self.mark(
                "width='24' height='24'", red + "<text y='8' fill='lime'>&e;</text>",
                head: "<!DOCTYPE svg [<!ENTITY e SYSTEM 'file:///etc/hostname'>]>"),
        ]
        for body in bodies {
            try runner.folder.write(body, to: "mark.svg")
            let result = try await runner.render(
                stages: "[ { overlay: { image: mark.svg } } ]", save: "{ format: png }")
            // An SVG that cannot be parsed is refused.
            guard result.exit == 0 else {
                #expect(
                    result.exit == 78 && result.errors.contains("the asset 'mark.svg' cannot be used"),
                    "\(result.errors)")
                continue
            }
            let found = try await grid("out/a.png")
            #expect((0..<24).allSatisfy { x in (0..<24).allSatisfy { found[x, $0][1] < 100 } }, "\(body)")
        }
        let green = Data(try runner.bytes("secret.png")).base64EncodedString()
        let embedded = "<image width='24' height='24' xlink:href='data:image/png;base64,\(green)'/>"
        try runner.folder.write(Self.mark("width='24' height='24'", embedded), to: "mark.svg")
        let result = try await runner.render(stages: "[ { overlay: { image: mark.svg } } ]", save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await grid("out/a.png")[12, 12] == [0, 255, 0, 255])
    }

    @Test(arguments: [
        ("<rect width='9' height='9'/>", "", "the SVG has neither a viewBox nor a width and height in units"),
        ("", "width='1000000' height='1000000'", "the asset has 1000000×1000000 pixels; the limit is"),
        ("</g>", "width='8' height='8'", "the picture cannot be decoded"),
        ("<text>&none;</text>", "width='8' height='8'", "the picture cannot be decoded"),
    ])
    func `an SVG that cannot be drawn is a mistake of the pipeline`(body: String, size: String, words: String)
        async throws
    {
        try runner.folder.write("<svg xmlns='http://www.w3.org/2000/svg' \(size)>\(body)</svg>", to: "mark.svg")
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        let check = try await runner.run("check", "p.yaml")
        #expect(
            check.exit == 78 && check.errors.contains("the asset 'mark.svg' cannot be used: \(words)"),
            "\(check.errors)")
        #expect(check.errors.contains("p.yaml:2:"), "\(check.errors)")
    }

    @Test func `an SVG of a hundred levels is a mistake of the pipeline, and costs no picture its time`() async throws {
        let uses = (1...100).map {
            "<g id='g\($0)'>" + String(repeating: "<use href='#g\($0 - 1)'/>", count: 10) + "</g>"
        }
        let svg = Self.mark(
            "width='24' height='24'", "<defs><g id='g0'><rect/></g>\(uses.joined())</defs><use href='#g100'/>")
        try runner.folder.write(svg, to: "mark.svg")
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        let check = try await runner.run(["check", "p.yaml"], seconds: 120)
        let words = "the asset 'mark.svg' cannot be used: the picture cannot be decoded"
        #expect(check.exit == 78 && check.errors.contains(words), "\(check.errors)")
    }

    // MARK: - Wherever pipelines run

    @Test func `a changed SVG is rendered anew, and an unchanged one comes from the cache`() async throws {
        try await runner.picture("in/a.jpg")
        try runner.folder.write(Self.mark(), to: "mark.svg")
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        func run(_ out: String) async throws -> [UInt8] {
            let result = try await runner.run("run", "p.yaml", "in", "-o", out, "--cache", "cache")
            #expect(result.exit == 0, "\(result.errors)")
            return try runner.bytes(out + "/a.png")
        }
        let first = try await run("out")
        #expect(try await run("again") == first)
        #expect(try await runner.run("cache", "stats", "cache").output.contains("1 rendition"))
        try runner.folder.write(Self.mark("width='48' height='48'"), to: "mark.svg")
        let why = try await runner.run("run", "p.yaml", "in", "-o", "out", "--why", "in/a.jpg")
        #expect(why.output.contains("the asset 'mark.svg' has changed"), "\(why.output)")
        #expect(try await run("out") != first)
    }

    @Test func `a drop folder and the tasks of a plan draw it too`() async throws {
        let drop = try WatchedFolder()
        try drop.runner.folder.write(Self.mark(), to: "mark.svg")
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        let watch = try await drop.start()
        try drop.drop("a.svg", Array(Self.mark().utf8))
        try await drop.drop("b.jpg")
        try await drop.until("out/b.png")
        #expect(try await drop.stop(watch).exit == 0 && !drop.runner.files().contains("a.png"))
        try await runner.picture("in/b.jpg")
        try runner.folder.write(Self.mark(), to: "mark.svg")
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        let task = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        #expect(task.exit == 0 && runner.files().count == 1, "\(task.errors)")
    }
}
