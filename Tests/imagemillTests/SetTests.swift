// Sets of pictures through the whole program: a folder is one source.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct SetTests {
    private func pipeline(_ runner: CommandRunner, _ stages: String, save: String = "png", head: String = "") throws {
        try runner.folder.write(
            "source: set\n\(head)\nrenditions:\n  one: { stages: [ \(stages) ], save: { format: \(save) } }\n",
            to: "p.yaml")
    }

    @Test
    func `each folder with pictures in it is one set, in natural order, and the report lists its members`() async throws
    {
        let runner = try CommandRunner()
        try pipeline(runner, "{ stitch: { direction: horizontal } }")
        for name in ["in/b/10.png", "in/b/9.png", "in/b/c/1.png", "in/a@2x.set/1.png"] {
            try await runner.picture(name)
        }
        try runner.folder.write("", to: "in/b/.hidden")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files().filter { $0.hasSuffix(".png") }.sorted() == ["a@2x.set.png", "b.png", "c.png"])
        let text = try await runner.shell(
            """
            python3 -c 'import json; print([[s["source"]["path"], [m["path"] for m in s["source"]["members"]]]
                for s in json.load(open("out/.imagemill/report.json"))["sources"] if s["source"]["path"] == "b"])'
            """)
        #expect(text.output == "[['b', ['b/9.png', 'b/10.png']]]\n", "\(text.errors)")
    }

    @Test func `a broken member fails its set by name, and no other`() async throws {
        let runner = try CommandRunner()
        try pipeline(runner, "stitch")
        for name in ["in/good/1.png", "in/bad/1.png", "in/bad/3.jpg", "in/worse/1.png"] {
            try await runner.picture(name)
        }
        try runner.folder.write("no picture", to: "in/bad/2.png")
        // A fault that shows when the file is opened, and faults that only a decoder sees.
        try runner.folder.write("", to: "in/bad/4.png")
        for name in ["5.png", "6.png"] {
            try runner.folder.write([0x89] + Array("PNG\r\n\u{1A}\nnothing more".utf8), to: "in/headers/\(name)")
        }
        _ = try await runner.shell("head -c 300 in/bad/3.jpg > in/worse/cut.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 1)
        let failed = Dictionary(
            try runner.report().sources.compactMap { source in source.error.map { (source.source.path, $0) } }
        ) { first, _ in
            first
        }
        #expect(failed.keys.sorted() == ["bad", "headers", "worse"])
        #expect(failed["bad"]?.code == "set-member-failed")
        #expect(failed["bad"]?.message.hasPrefix("the member '2.png' failed: expected a picture, found") == true)
        #expect(failed["bad"]?.message.hasSuffix("; so did '4.png'") == true, "\(failed["bad"]?.message ?? "")")
        let headers = failed["headers"]?.message ?? ""
        #expect(headers.hasPrefix("the member '5.png' failed: ") && headers.hasSuffix("; so did '6.png'"), "\(headers)")
        #expect(failed["worse"]?.message.contains("the member 'cut.jpg'") == true, "\(failed["worse"]?.message ?? "")")
        #expect(runner.files().contains("good.png") && !runner.files().contains("bad.png"))
    }

    @Test(arguments: [
        "renditions: { r: { stages: [ { grayscale: {} }, { resize: { size: 40x30 } }, stitch ], save: { format: png } } }",
        "renditions: { r: { stages: [ { grayscale: {} }, { resize: { size: 40x30 } }, stitch ], save: { format: png } }, w: { stages: [ stitch ], save: { format: png } } }",
        "stages: [ { grayscale: {} }, { resize: { size: 40x30 } }, stitch ]\nrenditions: { r: { save: { format: png } } }",
    ])
    func `members that are shrunk while they load go through the stages before the one that scales`(text: String)
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write("source: set\n\(text)\n", to: "p.yaml")
        for name in ["in/s/1.jpg", "in/s/2.jpg"] {
            try await runner.save(name, as: "jpegsave_target") {
                try TestPicture.solid([200, 60, 60], width: 320, height: 240)
            }
        }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let name = text.contains("w:") ? "out/s-r.png" : "out/s.png"
        let (width, height, bands) = try await runner.inspect(name, by: "pngload_source") {
            ($0.width, $0.height, $0.bands)
        }
        #expect((width, height, bands) == (40, 60, 1))
    }

    @Test func `a GIF made of a set has no frame that browsers would slow down, and says so`() async throws {
        let runner = try CommandRunner()
        // Encoders make one frame of equal ones.
        for number in 1...6 {
            try await runner.save("in/s/\(number).png", as: "pngsave_target") {
                try TestPicture.solid([UInt8(number * 40), 90, 10], width: 16, height: 12)
            }
        }
        try runner.folder.write(
            "source: set\nstages: [ { animate: { duration: 0.1 } } ]\nrenditions: { g: { save: { format: gif } }, w: { save: { format: webp } } }\n",
            to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        for (name, least, loader) in [("s-g.gif", 20, "gifload_source"), ("s-w.webp", 16, "webpload_source")] {
            let delays = try await runner.inspect("out/" + name, by: loader, [("n", -1)]) { $0.ints("delay") } ?? []
            #expect(delays.count == 6 && delays.allSatisfy { $0 >= least && $0 <= 20 }, "\(name): \(delays)")
        }
        #expect(try runner.report()["s"]?.warnings.map(\.code) == ["animation-slowed"])
    }

    @Test
    func `an animation of more pictures than a message holds keeps its times and count for another program`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            source: set
            stages: [ { animate: { duration: 10, repeat-count: 3 } } ]
            renditions:
              gif: { stages: [ { crop: { width: 12, height: 10 } }, { resize: { width: 6 } } ], save: { format: gif } }
              webp: { save: { format: webp } }
              poster: { save: { format: jpeg } }
            """, to: "p.yaml")
        // Three hundred small pictures are quicker made by copying a few.
        for index in 0..<10 {
            _ = try await runner.shell(
                "vips black b.png 16 12 --bands 3 && mkdir -p in/run && vips linear b.png in/run/\(index).png 1 \(index * 20) --uchar"
            )
        }
        _ = try await runner.shell("for i in $(seq 10 299); do cp in/run/$((i % 10)).png in/run/$i.png; done")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", seconds: 120)
        #expect(result.exit == 0, "\(result.errors)")
        let gif = try await runner.shell(
            "vipsheader -f n-pages out/run-gif.gif; vipsheader -f loop out/run-gif.gif; vipsheader -f width out/run-gif.gif"
        )
        #expect(gif.output == "300\n3\n6\n")
        let delays = try await runner.shell("vipsheader -f delay out/run-gif.gif")
        let times = delays.output.split(separator: " ").compactMap { Int($0.trimmingCharacters(in: .newlines)) }
        #expect(times.count == 300 && times.reduce(0, +) == 10_000 && Set(times) == [30, 40])
        let webp = try await runner.shell(
            "vipsheader -f n-pages out/run-webp.webp; vipsheader -f loop out/run-webp.webp")
        #expect(webp.output == "300\n3\n")
        #expect(try runner.report().sources[0].warnings.map(\.code) == ["animation-dropped"])
        #expect(try await runner.size(of: "out/run-poster.jpg") == [16, 12])
    }

    @Test(arguments: ["webp", "gif"])
    func `an animation of many large frames takes no more memory than was planned`(format: String) async throws {
        let runner = try CommandRunner()
        try pipeline(runner, "animate", save: format)
        for index in 0..<6 {
            try runner.folder.write(try await SamplePicture.noise(width: 500, height: 400), to: "in/run/\(index).jpg")
        }
        _ = try await runner.shell("for i in $(seq 6 99); do cp in/run/$((i % 6)).jpg in/run/$i.jpg; done")
        let plan = try await runner.run("plan", "in", "p.yaml", "--json")
        let planned = try #require(
            plan.output.firstMatch(of: /"memory-bytes" ?: ?([0-9]+)/).flatMap { Int($0.output.1) })
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", seconds: 240)
        #expect(result.exit == 0, "\(result.errors)")
        let peak = try #require(try runner.report().sources[0].peakMemory)
        // All frames are held until the last is encoded.
        #expect(peak > 100 * 500 * 400 && peak < planned, "\(peak) of \(planned)")
    }

    @Test func `a set is planned without being decoded, and its first member is shown`() async throws {
        let runner = try CommandRunner()
        try pipeline(runner, "{ resize: { width: 10 } }, { stitch: { overlap: auto } }")
        try await runner.picture("in/1.png")
        try await runner.picture("in/2.png")
        let result = try await runner.run("plan", "in", "p.yaml")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.output.contains("in: a set of 2, the first png"), "\(result.output)")
        #expect(result.output.contains("(each member)") && result.output.contains("≤ 10×"), "\(result.output)")
    }

    @Test func `a file where a folder is expected is called one, and a missing folder is not found`() async throws {
        let runner = try CommandRunner()
        try pipeline(runner, "stitch")
        try await runner.picture("a.png")
        let result = try await runner.run("run", "p.yaml", "a.png", "gone", "-o", "out")
        #expect(result.exit == 2)
        #expect(
            result.errors.contains(
                "a.png: not-a-regular-file: expected a folder with the pictures of a set, found a file"))
        #expect(result.errors.contains("gone: not-found"), "\(result.errors)")
    }

    @Test func `a set that needs more memory than there is for all is refused before it is decoded`() async throws {
        let runner = try CommandRunner()
        try pipeline(runner, "stitch")
        for index in 1...4 { try await runner.picture("in/set/\(index).png") }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--max-memory", "80M")
        #expect(result.exit == 2)
        #expect(result.errors.contains("set: too-much-memory"), "\(result.errors)")
    }
}
