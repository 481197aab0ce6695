// Conditions through the whole program: one pipeline for a mixed folder.
import Foundation
import TestSupport
import Testing
import Vips

@testable import Pipeline

@Suite struct ConditionRunTests {
    private let runner: CommandRunner

    private static let mixed = """
        renditions:
          photo:
            when: { animated: false, not: { transparent: true } }
            stages: [ { resize: { size: 20x20 } } ]
            save: { format: jpeg }
            file: "{dir}/{stem}.{ext}"
          logo:
            when: { transparent: true, animated: false }
            save: { format: png }
            file: "{dir}/{stem}.{ext}"
          movie:
            when: { animated: true }
            save: { format: webp }
            file: "{dir}/{stem}.{ext}"
          banner:
            when: { folder: logos, ratio: ">= 1" }
            stages: [ { flip: { axis: vertical, when: { name: "b*" } } } ]
            save: { format: png }
        """
    private static let expected = [
        "clear.png", "logos/b.png", "logos/b-banner.png", "moving.webp", "opaque.jpg", "photo.jpg",
    ].sorted()

    init() async throws {
        runner = try CommandRunner()
        try runner.folder.write(Self.mixed, to: "mixed.yaml")
        for (name, last) in [("clear.png", 254), ("opaque.png", 255), ("logos/b.png", 254)] {
            let bytes = try await SamplePicture.png.encode(
                TestPicture.make(width: 40, height: 30, kind: PictureKind(hasAlpha: true)) { x, y in
                    [x * 5, y * 5, 90, x == 39 && y == 29 ? last : 255]
                })
            try runner.folder.write(bytes, to: "in/" + name)
        }
        try runner.folder.write(try await SamplePicture.noise(width: 40, height: 30), to: "in/photo.jpg")
        try await runner.save("in/moving.gif", as: "gifsave_target") {
            try TestPicture.make(width: 16, height: 32) { x, y in [UInt8(x * 9), UInt8(y * 7), 0] }
                .editingMetadata { $0.set("page-height", int: 16) }
        }
    }

    @Test func `each picture of a mixed folder gets what it should, by run, from a cache, in shards and dropped`()
        async throws
    {
        let result = try await runner.run("run", "mixed.yaml", "in", "-o", "out", "--cache", "cache", "--keep-tree")
        #expect(
            result.exit == 0 && runner.files(in: "out") == Self.expected, "\(result.errors) \(runner.files(in: "out"))")
        let again = try await runner.run("run", "mixed.yaml", "in", "-o", "out", "--cache", "cache", "--keep-tree")
        #expect(again.errors.contains("5 sources unchanged"), "\(again.errors)")
        let cached = try await runner.run("run", "mixed.yaml", "in", "-o", "cached", "--cache", "cache", "--keep-tree")
        #expect(cached.exit == 0 && runner.files(in: "cached") == Self.expected, "\(cached.errors)")
        let sources = try runner.report("cached/.imagemill/report.json").sources
        #expect(sources.allSatisfy { $0.renditions.allSatisfy { $0.cached == true } }, "\(sources)")
        let listing = try await runner.run("run", "mixed.yaml", "in", "-o", "listed", "--dry-run", "--keep-tree")
        for name in Self.expected { #expect(listing.output.contains(name), "\(name): \(listing.output)") }

        _ = try await runner.run(
            "shard", "in", "--pipeline", "mixed.yaml", "-o", "plan", "--tasks", "1", "-q", "--keep-tree")
        let task = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "shards", "-q")
        #expect(task.exit == 0 && runner.files(in: "shards") == Self.expected, "\(task.errors)")

        let drop = try WatchedFolder(inbox: "")
        try drop.runner.folder.write(Self.mixed, to: "p.yaml")
        let watch = try await drop.start()
        for name in ["clear.png", "logos/b.png", "opaque.png", "photo.jpg", "moving.gif"] {
            try drop.drop(name, try runner.bytes("in/" + name))
        }
        try await drop.until("all are done") { Self.expected.allSatisfy { drop.runner.exists("out/" + $0) } }
        try await drop.stop(watch)
        for name in Self.expected {
            for folder in ["cached", "shards"] {
                #expect(try runner.bytes("\(folder)/\(name)") == runner.bytes("out/" + name), "\(folder)/\(name)")
            }
            #expect(try drop.runner.bytes("out/" + name) == runner.bytes("out/" + name), "\(name)")
        }
    }

    @Test func `a name that a condition asks for counts in the cache`() async throws {
        _ = try await runner.run("run", "mixed.yaml", "in", "-o", "out", "--cache", "cache", "--keep-tree")
        try runner.folder.write(try runner.bytes("in/logos/b.png"), to: "other/logos/a.png")
        let result = try await runner.run(
            "run", "mixed.yaml", "other", "-o", "second", "--cache", "cache", "--keep-tree")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.bytes("second/logos/a-banner.png") != runner.bytes("out/logos/b-banner.png"))
    }

    @Test func `plan shows what applies, and why the rest does not`() async throws {
        let plan = try await runner.run("plan", "mixed.yaml", "in/clear.png")
        #expect(plan.output.contains("logo") && plan.output.contains("left out by 'when'"), "\(plan.output)")
        #expect(
            plan.output.contains("photo          transparent is true, which 'not' excludes")
                && plan.output.contains("banner         it is in no folder, expected logos"), "\(plan.output)")
        let json = try await runner.run("plan", "mixed.yaml", "in/clear.png", "--json")
        #expect(json.output.contains("\"reason\" : \"animated is false\""), "\(json.output)")
    }

    @Test func `a source to which nothing applies is done with a warning, or fails by policy`() async throws {
        try runner.folder.write(
            "renditions: { a: { when: { width: \">= 1000\" }, save: { format: png } } }\n", to: "wide.yaml")
        let result = try await runner.run("run", "wide.yaml", "in/photo.jpg", "-o", "out")
        let source = try #require(try runner.report()["photo.jpg"])
        #expect(result.exit == 0 && source.renditions.isEmpty && source.warnings.map(\.code) == ["nothing-applies"])
        let piped = try await runner.run("run", "wide.yaml", "in/photo.jpg", "-o", "-")
        #expect(piped.exit == 1 && piped.errors.contains("nothing was written"), "\(piped.errors)")
        let again = try await runner.run("run", "wide.yaml", "in/photo.jpg", "-o", "out")
        #expect(again.errors.contains("1 source unchanged"), "\(again.errors)")
        let strict = try await runner.run(
            "run", "wide.yaml", "in/photo.jpg", "-o", "out", "--policy", "nothing-applies=fail")
        #expect(strict.exit == 2 && strict.errors.contains("refused-by-policy"), "\(strict.errors)")
    }

    @Test func `renditions that no longer apply are pruned`() async throws {
        func write(_ width: Int) throws {
            try runner.folder.write(
                "renditions: { a: { when: { width: \">= \(width)\" }, save: { format: png } } }\n", to: "wide.yaml")
        }
        try write(10)
        _ = try await runner.run("run", "wide.yaml", "in", "-o", "out")
        #expect(runner.files(in: "out").count == 5)
        try write(1000)
        let result = try await runner.run("run", "wide.yaml", "in", "-o", "out", "--prune")
        #expect(result.exit == 0 && runner.files(in: "out").isEmpty, "\(result.errors) \(runner.files(in: "out"))")
    }

    @Test func `a source that is not what is required fails, and no other`() async throws {
        try runner.folder.write(
            "require: { format: [png, gif], not: { transparent: true } }\nrenditions: { a: { save: { format: png } } }\n",
            to: "strict.yaml")
        let result = try await runner.run("run", "strict.yaml", "in", "-o", "out", "--cache", "cache")
        #expect(result.exit == 1 && runner.files(in: "out") == ["moving.png", "opaque.png"], "\(result.errors)")
        #expect(
            result.errors.contains(
                "photo.jpg: requirement-not-met: 'require': format is jpeg, expected png or gif"), "\(result.errors)")
        #expect(result.errors.contains("'require': transparent is true, which 'not' excludes"), "\(result.errors)")
        let plan = try await runner.run("plan", "strict.yaml", "in/clear.png")
        #expect(plan.exit == 1 && plan.errors.contains("requirement-not-met"), "\(plan.errors)")
    }

    @Test func `two renditions of one name that apply to one source after all are said, and nothing is written`()
        async throws
    {
        try runner.folder.write(
            """
            renditions:
              a: { when: { name: "p*" }, save: { format: png }, file: "{stem}.png" }
              b: { when: { name: "*.jpg" }, stages: [ grayscale ], save: { format: png }, file: "{stem}.png" }
            """, to: "both.yaml")
        let result = try await runner.run("run", "both.yaml", "in", "-o", "out")
        #expect(result.exit == 1 && runner.files(in: "out").isEmpty, "\(result.errors)")
        #expect(result.errors.contains("would both be named 'photo.png'"), "\(result.errors)")
    }

    @Test func `a set is judged by its pictures, and by how many it has`() async throws {
        try runner.folder.write(
            """
            source: set
            renditions:
              many: { when: { set: ">= 2" }, stages: [ { stitch: { direction: vertical } } ], save: { format: png } }
              one: { when: { set: 1, format: png }, stages: [ { stitch: { direction: vertical } } ], save: { format: png } }
            """, to: "sets.yaml")
        for (name, picture) in [("two/a.png", "clear.png"), ("two/b.png", "opaque.png"), ("one/a.png", "clear.png")] {
            try runner.folder.write(try runner.bytes("in/" + picture), to: "sets/" + name)
        }
        let result = try await runner.run("run", "sets.yaml", "sets", "-o", "out")
        #expect(result.exit == 0 && runner.files(in: "out") == ["one-one.png", "two-many.png"], "\(result.errors)")
    }
}
