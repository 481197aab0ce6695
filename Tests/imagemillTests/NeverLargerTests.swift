// `never-larger`: the source's own bytes, if they say the same and are fewer.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct NeverLargerTests {
    /// A runner with a picture that our encoders make larger.
    private func runner(
        _ kind: SamplePicture, save: String = "", head: String = "", stages: String = "[]"
    ) async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.folder.write(try await small(kind), to: "in/a.\(kind.fileExtension)")
        try runner.folder.write(
            "\(head)\nrenditions: { a: { stages: \(stages), save: { format: same, never-larger: true\(save) }, file: \"a.{ext}\" } }\n",
            to: "p.yaml")
        return runner
    }

    /// A picture of this program with few bytes.
    private func small(_ kind: SamplePicture) async throws -> [UInt8] {
        let runner = try CommandRunner()
        try runner.folder.write(
            try await SamplePicture.png.encode(
                TestPicture.make(width: 64, height: 48) { x, y in
                    [UInt8(x / 16 * 60), UInt8(y / 16 * 60), UInt8((x / 8 + y / 8) % 2 * 200)]
                }), to: "in/a.png")
        let options = kind == .png ? "palette: true, colors: 4, compression: 9" : "quality: 5"
        try runner.folder.write(
            "renditions: { a: { save: { format: \(kind.rawValue), \(options) } } }\n", to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        return try runner.bytes("out/a.\(kind.fileExtension)")
    }

    private func isKept(_ runner: CommandRunner, _ kind: SamplePicture, _ options: String...) async throws -> Bool {
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"] + options)
        #expect(result.exit == 0, "\(result.errors)")
        let rendition = try #require(try runner.report().sources.first?.renditions.first)
        let written = try runner.bytes("out/" + rendition.path)
        let source = try runner.bytes("in/a.\(kind.fileExtension)")
        #expect(written.count <= source.count || rendition.original != true)
        #expect((written == source) == (rendition.original == true) && rendition.bytes == written.count)
        return written == source
    }

    @Test(arguments: [SamplePicture.jpeg, .webp, .png])
    func `the source's bytes are kept if they are fewer, also from the cache`(kind: SamplePicture) async throws {
        let save = kind == .png ? "" : ", quality: 95"
        let runner = try await runner(kind, save: save)
        for _ in 0..<2 { #expect(try await isKept(runner, kind, "--force", "--cache", "cache")) }
        let other = try CommandRunner()
        try other.folder.write(try await small(kind), to: "in/a.\(kind.fileExtension)")
        try other.folder.write(
            "renditions: { a: { save: { format: same\(save) }, file: \"a.{ext}\" } }\n", to: "p.yaml")
        #expect(try await !isKept(other, kind))
    }

    @Test func `a rendition that is smaller than its source is taken`() async throws {
        let runner = try await runner(.jpeg, save: ", quality: 20")
        try runner.folder.write(try await SamplePicture.noise(width: 300, height: 200), to: "in/a.jpg")
        #expect(try await !isKept(runner, .jpeg))
    }

    @Test(arguments: [
        ("[{ resize: { size: 200x200> } }]", true), ("[{ resize: { size: 32x32> } }]", false),
        ("[grayscale: {}]", false),
        ("[{ flip: { axis: horizontal } }]", false),
    ])
    func `a stage that changes a pixel makes a rendition of its own`(stages: String, isSame: Bool) async throws {
        let runner = try await runner(.jpeg, save: ", quality: 95", stages: stages)
        #expect(try await isKept(runner, .jpeg) == isSame)
    }

    @Test func `what has something to remove, or is turned, gets a rendition; with metadata kept it need not`()
        async throws
    {
        let plain = try await small(.jpeg)
        let comment: [UInt8] = [0xFF, 0xFE, 0, 6] + "word".utf8
        let orientation: [UInt8] =
            [0xFF, 0xE1, 0, 34] + Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0]
            + [6, 0, 0, 0, 0, 0, 0, 0]
        let sources: [(bytes: [UInt8], keep: Bool, isKept: Bool)] = [
            (plain.prefix(2) + comment + plain.dropFirst(2), false, false),
            (plain.prefix(2) + comment + plain.dropFirst(2), true, true),
            (plain + [1, 2, 3], false, false),
            (plain.prefix(2) + [0xFF, 0xEE, 0, 20] + "Adobe and a secret".utf8 + plain.dropFirst(2), false, false),
            (plain.prefix(2) + orientation + plain.dropFirst(2), true, false),
        ]
        for source in sources {
            let runner = try await runner(
                .jpeg, save: ", quality: 95" + (source.keep ? ", metadata: keep" : ""))
            try runner.folder.write(source.bytes, to: "in/a.jpg")
            #expect(try await isKept(runner, .jpeg) == source.isKept, "\(source.keep)")
        }
    }

    @Test func `a profile that is converted makes a rendition; one that is kept does not`() async throws {
        let bytes = try await inVipsTurn {
            let folder = try TemporaryFolder()
            let picture = try TestPicture.solid([200, 30, 60], width: 64, height: 48)
            let path = try TestPicture.save(
                picture, as: "jpegsave_target", [("Q", 5), ("profile", "p3")], to: folder.path("picture"))
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        for keeps in [false, true] {
            let runner = try await runner(
                .jpeg, save: ", quality: 95, metadata: keep", head: keeps ? "profile: keep" : "")
            try runner.folder.write(bytes, to: "in/a.jpg")
            #expect(try await isKept(runner, .jpeg) == keeps)
        }
    }

    @Test func `a source that is larger than 'max-bytes' is not kept in its place`() async throws {
        let runner = try await runner(.jpeg)
        try runner.folder.write(try await SamplePicture.noise(width: 300, height: 200), to: "in/a.jpg")
        try runner.folder.write(
            "renditions: { a: { save: { format: jpeg, never-larger: true, quality: 95, min-quality: 90, max-bytes: 3K }, file: \"a.{ext}\" } }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        let code = try runner.report().sources.first?.error?.code
        #expect(result.exit == 2 && code == "target-not-reached", "\(result.errors)")
    }
}
