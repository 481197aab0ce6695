// SVG, PDF, JPEG XL and JPEG 2000: read if the user allows it, each by workers of its own.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct AllowedFormatTests {
    private let runner: CommandRunner

    init() throws {
        runner = try CommandRunner()
        try runner.pipeline(format: "png")
    }

    /// A red square on the left, blue on the right.
    private static let svg = """
        <svg xmlns="http://www.w3.org/2000/svg" width="16" height="8"><rect width="8" height="8" fill="red"/><rect x="8" width="8" height="8" \
        fill="blue"/></svg>
        """

    /// The same, on the first of two pages.
    private static let pdf = SmallPDF.file(
        pages: ["1 0 0 rg 0 0 8 8 re f 0 0 1 rg 8 0 8 8 re f", "0 1 0 rg 0 0 16 8 re f"], width: 16, height: 8)

    /// One file of each format below `in`.
    private func writeAll() async throws {
        try runner.folder.write(Self.svg, to: "in/a.svg")
        try runner.folder.write(Self.pdf, to: "in/b.pdf")
        let square = { try TestPicture.make(width: 16, height: 8) { x, _ in x < 8 ? [255, 0, 0] : [0, 0, 255] } }
        try await runner.save("in/c.jxl", as: "jxlsave_target", [("lossless", true)], square)
        try await runner.save("in/d.jp2", as: "jp2ksave_target", [("lossless", true)], square)
    }

    private static let names = ["a.svg", "b.pdf", "c.jxl", "d.jp2"]

    @Test
    func `what is not allowed is passed over; named, it fails with the option that would allow it`() async throws {
        try await writeAll()
        try await runner.picture("in/e.jpg")
        let search = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(search.exit == 0 && search.errors.contains("4 other files passed over"), "\(search.errors)")
        for (name, format, title) in [
            ("a.svg", "svg", "SVG"), ("b.pdf", "pdf", "PDF"), ("c.jxl", "jxl", "JPEG XL"),
            ("d.jp2", "jp2", "JPEG 2000"),
        ] {
            let result = try await runner.run("plan", "p.yaml", "in/\(name)")
            let words =
                "found \(title); it is read only with --allow \(format), or if the inbox has 'allow: [\(format)]'"
            #expect(result.exit == 1 && result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `all of them are read if they are allowed, vector formats in the size of the rendition`() async throws {
        try await writeAll()
        try await runner.picture("in/e.jpg")
        try runner.pipeline(size: "400x200", format: "png")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "svg,pdf,jxl,jp2")
        let report = try runner.report()
        #expect(result.exit == 0 && report.summary.done == 5, "\(result.errors)")
        #expect(report["b.pdf"]?.warnings.map(\.code) == ["pages-dropped"])
        #expect(report["a.svg"]?.warnings.isEmpty == true)
        for name in Self.names {
            let entry = try #require(report[name])
            #expect(entry.source.width == 16 && entry.source.height == 8 && entry.attempt == 1)
            let isVector = name.hasPrefix("a") || name.hasPrefix("b")
            #expect(entry.warnings.contains { $0.code == "upscaled" } != isVector, "\(entry.warnings)")
            let (left, right, edge) = try await runner.inspect(
                "out/" + name.replacing(/\.\w+$/, with: ".png"), by: "pngload_source"
            ) { image in
                let grid = try PixelGrid(image)
                return (grid[50, 100], grid[350, 100], grid[198, 100])
            }
            #expect(left.prefix(3) == [255, 0, 0] && right.prefix(3) == [0, 0, 255], "\(name): \(left) \(right)")
            // An edge that is drawn in this size is sharp.
            if isVector { #expect(edge.prefix(3) == [255, 0, 0], "\(name): \(edge)") }
        }
        let plan = try await runner.run("plan", "p.yaml", "in/a.svg", "--allow", "svg")
        #expect(
            plan.output.contains("a.svg: svg 16×8") && plan.output.contains("drawn at 25 times its size"), "\(plan)")
    }

    @Test
    func `the pipeline says which page of a PDF or a TIFF is read, and which frame of an animation`() async throws {
        try runner.folder.write(Self.pdf, to: "in/a.pdf")
        func page(_ index: Int) throws -> Image {
            try TestPicture.solid(index == 0 ? [255, 0, 0] : [0, 255, 0], width: 16, height: 8)
        }
        for (name, saver) in [("b.tif", "tiffsave_target"), ("c.gif", "gifsave_target"), ("d.webp", "webpsave_target")]
        {
            try await runner.save("in/" + name, as: saver) {
                try Image.arrayjoin([page(0), page(1)]).editingMetadata { $0.set("page-height", int: 8) }
            }
        }
        let text = String(decoding: try runner.bytes("p.yaml"), as: UTF8.self)
        for (page, color) in [(1, [255, 0, 0]), (2, [0, 255, 0])] {
            try runner.folder.write("page: \(page)\n" + text, to: "p.yaml")
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "pdf")
            #expect(result.exit == 0 && runner.files().count == 4, "\(result.errors)")
            #expect(
                try runner.report().sources.allSatisfy {
                    $0.warnings.allSatisfy { $0.code != "pages-dropped" && $0.code != "animation-dropped" }
                })
            for name in ["b.png", "c.png", "d.png"] + (page == 2 ? ["a.png"] : []) {
                let middle = try await runner.inspect("out/" + name, by: "pngload_source") { try PixelGrid($0)[8, 4] }
                #expect(zip(middle, color).allSatisfy { abs($0 - $1) < 12 }, "\(name) \(page): \(middle)")
            }
        }
        try runner.folder.write("page: 3\n" + text, to: "p.yaml")
        try await runner.picture("in/e.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "pdf")
        #expect(try runner.report().outcomes.values.allSatisfy { $0 == "no-such-page" }, "\(result.errors)")
        #expect(
            result.errors.contains(
                "expected page 3, which the pipeline asks for ('page'); the file has 2 pages or frames"),
            "\(result.errors)")
        #expect(result.errors.contains("the file has one"), "\(result.errors)")
        try runner.folder.write("page: 0\n" + text, to: "p.yaml")
        #expect(try await runner.run("check", "p.yaml").exit == 78)
    }

    @Test func `an SVG reads no other file and asks no server, wherever the reference is`() async throws {
        try await runner.save("secret.png", as: "pngsave_target") {
            try TestPicture.make(width: 4, height: 4) { _, _ in [0, 255, 0] }
        }
        let secret = "file://" + runner.folder.path("secret.png")
        let server = try Listener()
        func picture(_ inside: String, head: String = "") -> String {
            """
            <?xml version="1.0"?>\(head)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="8" height="8">\
            <rect width="8" height="8" fill="red"/>\(inside)</svg>
            """
        }
        let address = "http://127.0.0.1:\(server.port)/a.png"
        let bodies = [
            "file": picture("<image width='8' height='8' xlink:href='\(secret)'/>"),
            "path": picture("<image width='8' height='8' href='\(runner.folder.path("secret.png"))'/>"),
            "beside": picture("<image width='8' height='8' xlink:href='secret.png'/>"),
            "http": picture("<image width='8' height='8' xlink:href='\(address)'/>"),
            "style": picture("<style>@import url('\(address)'); rect { fill: url('\(secret)') red }</style>"),
            "sheet": picture("", head: "<?xml-stylesheet href='\(address)' type='text/css'?>"),
            "entity": picture(
                "<text y='8'>&e;</text>", head: "<!DOCTYPE svg [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"),
            "use": picture("<use xlink:href='\(secret)#a'/>"),
            "filter": picture(
                "<filter id='f'><feImage xlink:href='\(secret)'/></filter><rect width='8' height='8' filter='url(#f)'/>"
            ),
        ]
        for (name, body) in bodies { try runner.folder.write(body, to: "\(name).svg") }
        let names = bodies.keys.sorted()
        try runner.pipeline(size: "8x8", format: "png", file: "{stem}.{ext}")
        _ = try await runner.run(["run", "p.yaml"] + names.map { "\($0).svg" } + ["-o", "out", "--allow", "svg"])
        let report = try runner.report()
        for name in names {
            guard report["\(name).svg"]?.status == "done" else { continue }
            let green = try await runner.inspect("out/\(name).png", by: "pngload_source") { image in
                let grid = try PixelGrid(image)
                return (0..<8).contains { x in (0..<8).contains { grid[x, $0][1] > 100 } }
            }
            #expect(!green, "\(name)")
        }
        #expect(report["file.svg"]?.status == "done" && report["http.svg"]?.status == "done")
        #expect(!server.wasAsked)
    }

    /// A server's port, that shows whether somebody connects.
    private final class Listener {
        private let socket: CInt
        let port: UInt16

        init() throws {
            let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard bind(socket, address, size) == 0, listen(socket, 5) == 0 else { return }
                    getsockname(socket, address, &size)
                }
            }
            self.socket = socket
            port = UInt16(bigEndian: address.sin_port)
            try #require(port > 0)
        }

        deinit { close(socket) }

        var wasAsked: Bool { accept(socket, nil, nil) >= 0 }
    }

    @Test
    func `a hundred levels of entities, and drawings that never end, fail soon, and others are drawn`() async throws {
        let levels = (1...100).map { "<!ENTITY e\($0) '" + String(repeating: "&e\($0 - 1);", count: 10) + "'>" }
            .joined()
        let entities =
            "<!DOCTYPE svg [<!ENTITY e0 'x'>\(levels)]><svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><text>&e100;</text></svg>"
        let uses = (1...100).map {
            "<g id='g\($0)'>" + String(repeating: "<use href='#g\($0 - 1)'/>", count: 10) + "</g>"
        }.joined()
        let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><defs><g id='g0'><rect/></g>\(uses)</defs><use href='#g100'/></svg>"
        let huge = "<svg xmlns='http://www.w3.org/2000/svg' width='1000000' height='1000000'></svg>"
        for (name, body) in ["entities": entities, "uses": drawing, "huge": huge, "good": Self.svg] {
            try runner.folder.write(body, to: "in/\(name).svg")
        }
        let start = SuspendingClock.now
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "svg")
        #expect(SuspendingClock.now - start < .seconds(50), "\(result.errors)")
        let report = try runner.report()
        #expect(report.outcomes["good.svg"] == "done")
        #expect(
            report.outcomes["entities.svg"] != "done" && report.outcomes["huge.svg"] != "done", "\(report.outcomes)")
        #expect(report.sources.allSatisfy { $0.attempt == 1 }, "\(report.outcomes)")
    }

    @Test func `an SVG that shows a picture of another file is rendered without it, which is said`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "8x8")
        _ = try await runner.picture("photo.jpg")
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><image href='../photo.jpg'/></svg>"
        try runner.folder.write(svg, to: "in/a.svg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "svg")
        #expect(result.exit == 0 && result.errors.contains("1 warning: 1 link-not-followed"), "\(result)")
        #expect(try runner.report()["a.svg"]?.warnings.first?.message.contains("shows '../photo.jpg'") == true)
    }

    /// It was drawn at one size for all scales, in a corner of the larger ones.
    @Test func `an SVG without a size and a viewBox fails, which is said`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "40x40")
        let shapes = "<rect x='2' y='2' width='20' height='20' fill='red'/></svg>"
        for (name, size) in ["none": "", "percent": " width='100%' height='100%'", "good": " viewBox='0 0 24 24'"] {
            try runner.folder.write("<svg xmlns='http://www.w3.org/2000/svg'\(size)>\(shapes)", to: "in/\(name).svg")
        }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--allow", "svg")
        #expect(result.exit == 1 && runner.files() == ["good.webp"], "\(result)")
        for name in ["none", "percent"] {
            let words = "in/\(name).svg: corrupt: the SVG has neither a viewBox nor a width and height in units"
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `an inbox allows formats for itself; others say how`() async throws {
        let mill = """
            state: state
            workers: 2
            inboxes:
              - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms, allow: [svg] }
            """
        let drop = try WatchedFolder(mill: mill)
        let watch = try await drop.start()
        try drop.drop("a.svg", Array(Self.svg.utf8))
        try await drop.drop("b.jpg")
        try drop.drop("c.pdf", Array(Self.pdf.utf8))
        try await drop.until("out/a.webp", "out/b.webp")
        try await drop.until("the PDF has failed: \(watch.errorsSoFar)") {
            watch.errorsSoFar.contains("if the inbox has 'allow: [pdf]'")
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `the tasks of a plan read what the plan allows`() async throws {
        try await writeAll()
        #expect(
            try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--allow", "svg,jp2").exit == 0)
        let plan = String(decoding: try runner.bytes("plan/plan.json"), as: UTF8.self)
        #expect(plan.replacing(/\s/, with: "").contains(#""allow":["jp2","svg"]"#), "\(plan)")
        let result = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        #expect(result.exit == 0 && runner.files().count == 2, "\(result.errors) \(runner.files())")
        let both = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out", "--allow", "svg")
        #expect(both.exit == 64, "\(both.errors)")
    }

    @Test func `sets have none of these formats, assets only SVG, and both say so`() async throws {
        try runner.folder.write(Self.svg, to: "set/1.svg")
        try runner.folder.write(Self.pdf, to: "logo.pdf")
        let overlay = "renditions: { a: { stages: [{ overlay: { image: logo.pdf } }], save: { format: png } } }"
        try runner.folder.write(overlay, to: "overlay.yaml")
        let check = try await runner.run("check", "overlay.yaml")
        #expect(
            check.exit == 78 && check.errors.contains("assets cannot be in PDF; convert it to SVG or PNG"),
            "\(check.errors)")
        try runner.folder.write(
            "source: set\nrenditions: { a: { stages: [{ contact-sheet: { columns: 2 } }], save: { format: png } } }",
            to: "set.yaml")
        try await runner.picture("set/2.jpg")
        let set = try await runner.run("run", "set.yaml", "set", "-o", "out", "--allow", "svg")
        #expect(
            set.exit == 2 && set.errors.contains("a set cannot have members in SVG; convert them first"),
            "\(set.errors)")
        let without = try await runner.run("run", "set.yaml", "set", "-o", "out")
        #expect(without.exit == 0 && without.errors.contains("1 other file passed over"), "\(without.errors)")
        #expect(!without.errors.contains("--allow"), "what a set cannot have is not advised: \(without.errors)")
    }

    @Test func `each scale of an icon is what it would be alone, also if one scale has the icon's own size`()
        async throws
    {
        let runner = try CommandRunner()
        let star =
            "<svg xmlns='http://www.w3.org/2000/svg' width='24' height='24'>"
            + "<path d='M12 1 15 9 23 9 17 14 19 22 12 17 5 22 7 14 1 9 9 9Z' fill='#222'/></svg>"
        try runner.folder.write(star, to: "in/star.svg")
        for frame in [12, 24, 25, 60] {
            func pipeline(_ scales: String) -> String {
                "renditions: { icon: { scale: \(scales), stages: [{ frame: { width: \(frame), height: \(frame) } }], "
                    + "save: { format: png }, file: '{stem}{scale}.{ext}' } }"
            }
            try runner.folder.write(pipeline("[1, 2, 3]"), to: "all.yaml")
            let all = try await runner.run("run", "all.yaml", "in", "-o", "all", "--allow", "svg", "--force")
            #expect(all.exit == 0 && !all.errors.contains("upscaled"), "\(all.errors)")
            for scale in 1...3 {
                try runner.folder.write(pipeline("[\(scale)]"), to: "one.yaml")
                let one = try await runner.run("run", "one.yaml", "in", "-o", "one", "--allow", "svg", "--force")
                #expect(one.exit == 0, "\(one.errors)")
                let name = scale == 1 ? "star.png" : "star@\(scale)x.png"
                #expect(try runner.bytes("all/" + name) == runner.bytes("one/" + name), "\(frame) points, \(name)")
            }
        }
    }
}
