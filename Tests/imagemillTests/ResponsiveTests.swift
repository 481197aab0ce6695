// Pictures for screens of every density: the report says what a page needs to offer them.
import TestSupport
import Testing

@Suite struct ResponsiveTests {
    @Test
    func `the report has path, width and height of every scale of every source, enough for a srcset`() async throws {
        let runner = try CommandRunner()
        for (name, width, height) in [("wide", 120, 40), ("high", 50, 90)] {
            try await runner.save("in/\(name).png", as: "pngsave_target") {
                try TestPicture.coded(width: width, height: height)
            }
        }
        try runner.folder.write(
            "renditions:\n  a: { scale: [1, 2, 3], stages: [ { resize: { size: 10x } } ], save: { format: webp }, file: \"{stem}-{width}.{ext}\" }\n",
            to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let report = try runner.report()
        let sets = Dictionary(
            report.sources.map {
                ($0.source.path, $0.renditions.map { "\($0.path) \($0.width)w" }.joined(separator: ", "))
            }
        ) {
            $0 + $1
        }
        #expect(
            sets == [
                "wide.png": "wide-10.webp 10w, wide-20.webp 20w, wide-30.webp 30w",
                "high.png": "high-10.webp 10w, high-20.webp 20w, high-30.webp 30w",
            ])
        for rendition in report.sources.flatMap(\.renditions) {
            #expect(try await runner.size(of: "out/" + rendition.path) == [rendition.width, rendition.height])
        }
        #expect(report["high.png"]?.renditions.map(\.height) == [18, 36, 54])
    }

    @Test func `widths and formats in one rendition make all files, and every small picture is done`() async throws {
        let runner = try CommandRunner()
        for (name, width) in [("large", 90), ("small", 30), ("tiny", 2)] {
            try await runner.save("in/\(name).png", as: "pngsave_target") {
                try TestPicture.coded(width: width, height: 20)
            }
        }
        try runner.folder.write(
            "renditions:\n  photo:\n    widths: [20, 40, 80]\n    save: { format: [webp, jpeg], quality: 75 }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let stems = ["large-20", "large-40", "large-80", "small-20", "small-30", "tiny-2"]
        #expect(runner.files() == stems.flatMap { [$0 + ".jpg", $0 + ".webp"] })
        #expect(try await runner.size(of: "out/large-40.webp") == [40, 9])
        #expect(try runner.report()["small.png"]?.renditions.map(\.width) == [20, 20, 30, 30])
        #expect(try runner.report().sources.allSatisfy { $0.warnings.isEmpty })
        let plan = try await runner.run("plan", "p.yaml", "in/small.png")
        #expect(plan.output.contains("\nphoto 20w\n"), "\(plan.output)")
    }

    /// A width as wide as the picture gives it a size in points, a larger one leaves it as it is: the same file.
    @Test func `widths that come out alike once the picture was measured are one file, also of a source at @2x`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/a@2x.png", as: "pngsave_target") {
            try TestPicture.make(width: 16, height: 12) { x, _ in (3..<13).contains(x) ? [255, 0, 0] : [255, 255, 255] }
        }
        try runner.folder.write(
            "stages: [ trim: {} ]\nrenditions: { a: { widths: [10, 12], save: { format: jpeg } } }\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0 && runner.files() == ["a-10.jpg"], "\(result.errors) \(runner.files())")
    }

    @Test func `with 'format: same' each picture keeps its format`() async throws {
        let runner = try CommandRunner()
        for name in ["a.jpg", "b.png", "c.webp"] { try await runner.picture("in/" + name) }
        let result = try await runner.run("run", "--format", "same", "--quality", "70", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files() == ["a.jpg", "b.png", "c.webp"])
        #expect(
            try ["a.jpg", "b.png", "c.webp"].map { try runner.report()[$0]?.renditions.first?.format } == [
                "jpeg", "png", "webp",
            ])
    }

    @Test
    func `widths that a small picture does not have come out as one file for each format; others stay apart`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/small.png", as: "pngsave_target") { try TestPicture.coded(width: 50, height: 30) }
        func rendition(
            _ name: String, _ size: String, _ save: String, _ more: String = "", file: String = "{stem}-{width}.{ext}"
        ) -> String {
            "  \(name): { stages: [ { resize: { size: \"\(size)\" } }\(more) ], save: { \(save) }, file: \"\(file)\" }\n"
        }
        let lines = [
            rendition("l", "160x>", "format: webp"), rendition("m", "80x>", "format: webp"),
            rendition("s", "40x>", "format: webp"),
            rendition("p", "160x>", "format: png"), rendition("q", "80x>", "format: png"),
            rendition("x", "160x>", "format: webp", file: "{stem}-{rendition}.{ext}"),
        ]
        try runner.folder.write("renditions:\n" + lines.joined(), to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files() == ["small-40.webp", "small-50.png", "small-50.webp", "small-x.webp"])
        #expect(try runner.report()["small.png"]?.renditions.map(\.name) == ["l", "s", "p", "x"])

        let blurred = [
            rendition("l", "160x>", "format: webp"), rendition("m", "80x>", "format: webp", ", { blur: { sigma: 1 } }"),
        ]
        try runner.folder.write("renditions:\n" + blurred.joined(), to: "q.yaml")
        let different = try await runner.run("run", "q.yaml", "in", "-o", "other")
        #expect(
            different.exit == 2
                && different.errors.contains("two renditions of this source would both be named 'small-50.webp'"))
    }

    @Test(arguments: ["stages: [animate]\nrenditions: { a: { ", "renditions: { a: { stages: [animate], "])
    func `widths that a set does not have come out as one file`(beginning: String) async throws {
        let runner = try CommandRunner()
        for name in ["1", "2"] {
            try await runner.save("in/set/\(name).png", as: "pngsave_target") {
                try TestPicture.make(width: 20, height: 10) { x, y in [UInt8(9 * x), UInt8(9 * y), 50] }
            }
        }
        try runner.folder.write(
            "source: set\n\(beginning)widths: [10, 20, 40, 80], save: { format: gif } } }\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let renditions = try #require(try runner.report().sources.first?.renditions)
        #expect(renditions.map(\.width) == [10, 20], "\(renditions)")
    }
}
