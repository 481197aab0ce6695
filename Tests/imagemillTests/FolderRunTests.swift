// The first thing that a user tries: a folder in, renditions and a report out.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct FolderRunTests {
    @Test func `a folder becomes renditions of the planned size, and a report that says so`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              large:
                scale: [1, 2]
                stages:
                  - frame: { width: 20, height: 10, mode: aspect-fit }
                save: { format: png }
              thumb:
                stages:
                  - resize: { size: "16x16>" }
                save: { format: jpeg }
            """, to: "two.yaml")
        for kind in SamplePicture.allCases { try await runner.picture("in/\(kind.rawValue).\(kind.fileExtension)") }
        try await runner.picture("in/below/deep.png")

        let result = try await runner.run("run", "two.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.errors.contains("7 of 7 sources done, 21 renditions"))
        #expect(result.errors.contains("report: out/.imagemill/report.json"))
        #expect(result.output.isEmpty)

        let report = try runner.report()
        #expect(report.schema == "imagemill.batch/1")
        #expect(
            report.summary.done == 7 && report.summary.failed == 0 && report.summary.renditions == 21
                && !report.summary.interrupted)
        let entry = try #require(report["jpeg.jpg"])
        #expect(entry.schema == "imagemill.report/1")
        #expect(entry.status == "done" && entry.pipeline == "two" && entry.error == nil && entry.attempt == 1)
        #expect(entry.source.format == "jpeg" && entry.source.width == 64 && entry.source.height == 48)
        #expect(try await entry.source.bytes == SamplePicture.jpeg.bytes.count)
        #expect(entry.renditions.map(\.path) == ["jpeg-large.png", "jpeg-large@2x.png", "jpeg-thumb.jpg"])
        #expect(entry.renditions.map { [$0.width, $0.height] } == [[20, 10], [40, 20], [16, 12]])
        #expect(report["below/deep.png"]?.renditions.last?.path == "deep-thumb.jpg")

        #expect(runner.files() == report.sources.flatMap { $0.renditions.map(\.path) }.sorted())
        for rendition in report.sources.flatMap(\.renditions) {
            #expect(try await runner.size(of: "out/" + rendition.path) == [rendition.width, rendition.height])
            #expect(try runner.bytes("out/" + rendition.path).count == rendition.bytes)
        }
    }

    @Test
    func `files and folders may be named together; a source that is named twice is processed once`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await runner.picture("b.png")
        let result = try await runner.run("run", "p.yaml", "in", "b.png", "in/a.jpg", "./in", "-o", "out")
        #expect(result.exit == 0)
        #expect(runner.files() == ["a.webp", "b.webp"])
        #expect(try runner.report().summary.sources == 2)
    }

    @Test func `what other programs leave in folders is passed over`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        for name in [".hidden.jpg", "Thumbs.db", "b.jpg.part", "c.jpg~", "@eaDir/d.jpg", ".git/e.jpg", "f.tmp"] {
            try runner.folder.write("no picture", to: "in/" + name)
        }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0)
        #expect(try runner.report().outcomes == ["a.jpg": "done"])
    }

    @Test func `an empty folder is nothing to do, which is said and is no failure`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try FileManager.default.createDirectory(atPath: runner.folder.path("in"), withIntermediateDirectories: true)
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0)
        #expect(result.errors.contains("nothing to do"))
        #expect(try runner.report().sources.isEmpty)
    }

    @Test func `a source that is not there is reported, and the others finish`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("a.jpg")
        let result = try await runner.run("run", "p.yaml", "a.jpg", "gone.jpg", "gone-folder/", "-o", "out")
        #expect(result.exit == 1)
        #expect(try runner.report()["a.jpg"]?.status == "done")
        #expect(try runner.report()["gone.jpg"]?.error?.code == "not-found")
        #expect(try runner.report().summary.failed == 2)
    }

    @Test func `an animation stays animated where the format can, and its loss is a warning where not`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions:\n  moving: { save: { format: webp } }\n  still: { save: { format: jpeg } }\n", to: "p.yaml")
        let animation = try await SamplePicture.gif.encode(
            Image.arrayjoin((0..<3).map { try TestPicture.solid([UInt8($0 * 100), 50, 200], width: 24, height: 16) })
                .editingMetadata {
                    $0.set("page-height", int: 16)
                    $0.set("delay", ints: [100, 200, 300])
                })
        try runner.folder.write(animation, to: "in/moving.gif")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let entry = try #require(try runner.report()["moving.gif"])
        #expect(entry.renditions.map { [$0.width, $0.height] } == [[24, 16], [24, 16]])
        #expect(entry.warnings.map(\.code).contains("animation-dropped"))
        try await inVipsTurn {
            let again = try TestPicture.load(
                runner.folder.path("out/moving-moving.webp"), by: "webpload_source", [("n", -1)])
            #expect(again.height == 48 && again.ints("delay") == [100, 200, 300])
        }
    }
}
