// Only workers that need libheif load it; names, content, assets and what is saved decide.
import Foundation
import TestSupport
import Testing

@Suite struct HEIFTests {
    @Test
    func `AVIF that is called otherwise is rendered all the same, between other pictures and after them`() async throws
    {
        let runner = try CommandRunner()
        for name in ["in/1.jpg", "in/3.jpg"] { try await runner.picture(name) }
        try await avif(runner, "in/2.jpg")
        try await avif(runner, "in/4.png")
        try runner.folder.write("renditions: { a: { save: { format: png } } }", to: "p.yaml")
        for jobs in ["1", "2"] {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", jobs, "--force")
            #expect(result.exit == 0, "\(result.errors)")
            let report = try runner.report()
            #expect(report.sources.map(\.attempt) == [1, 1, 1, 1])
            #expect(report["2.jpg"]?.source.format == "avif" && report["4.png"]?.source.format == "avif")
        }
        #expect(runner.files().count == 4)
    }

    @Test func `an asset, a rendition and a member of a set may be AVIF where no source's name says so`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/1.jpg")
        try await avif(runner, "badge.png")
        let stages = "[{ overlay: { image: badge.png, width: 8 } }]"
        #expect(try await runner.render(stages: stages, save: "{ format: png }").exit == 0)
        #expect(try await runner.render(save: "{ format: avif }").exit == 0)
        #expect(runner.files().sorted() == ["1.avif", "1.png"])
        try await runner.picture("sets/s/1.jpg")
        try await avif(runner, "sets/s/2.jpg")
        try runner.folder.write(
            "source: set\nrenditions: { a: { stages: [stitch], save: { format: png } } }", to: "set.yaml")
        let result = try await runner.run("run", "set.yaml", "sets", "-o", "sheets")
        #expect(result.exit == 0, "\(result.errors)")
    }

    // Red and green above blue and white, turned as cameras do: by the container, and once more in words by EXIF.
    @Test(
        .enabled(if: TestMachine.readsHEIC),
        arguments: [
            (3, "white blue green red"), (6, "blue red white green"), (8, "green white red blue"),
        ])
    func `HEIC is turned as its container says, and not again for its EXIF`(turned: Int, corners: String) async throws {
        let runner = try CommandRunner()
        let fixture = URL(filePath: "\(Checkout.path)/Tests/Fixtures/pictures/turned-\(turned).heic")
        try runner.folder.write(Array(try Data(contentsOf: fixture)), to: "in/a.heic")
        try runner.folder.write("renditions: { a: { save: { format: png } } }", to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let (width, height) = turned == 3 ? (100, 60) : (60, 100)
        let names = ["red": "255 0 0", "green": "0 255 0", "blue": "0 0 255", "white": "255 255 255"]
        for (corner, name) in corners.split(separator: " ").enumerated() {
            let (x, y) = (corner % 2 == 0 ? 9 : width - 10, corner < 2 ? 9 : height - 10)
            let found = try await runner.shell("vips getpoint out/a.png \(x) \(y)").output
            let levels = found.split(separator: " ").compactMap { Double($0) }
            let expected = names[String(name), default: ""].split(separator: " ").compactMap { Double($0) }
            #expect(levels.count == 3 && zip(levels, expected).allSatisfy { abs($0 - $1) < 40 }, "\(name): \(found)")
        }
    }

    // Two items, each of which is made of the other: libheif 1.15 follows them until its stack is full.
    @Test func `a picture that is made of itself is corrupt, and ends no worker`() async throws {
        let runner = try CommandRunner()
        let fixture = URL(filePath: "\(Checkout.path)/Tests/Fixtures/pictures/circle.avif")
        try runner.folder.write(Array(try Data(contentsOf: fixture)), to: "in/a.avif")
        try runner.folder.write("renditions: { a: { save: { format: png } } }", to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 2)
        #expect(try runner.report().outcomes == ["a.avif": "corrupt"])
    }

    private func avif(_ runner: CommandRunner, _ name: String) async throws {
        try runner.folder.write(try await SamplePicture.avif.bytes, to: name)
    }
}
