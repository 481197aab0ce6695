// A rendition is as small, or as like the picture, as its target says; or it fails and says how near it came.
import TestSupport
import Testing
import Vips

@Suite struct TargetTests {
    private func runner(_ save: String, head: String = "") async throws -> CommandRunner {
        let runner = try CommandRunner()
        try runner.folder.write(try await SamplePicture.noise(width: 500, height: 400), to: "in/a.jpg")
        try runner.folder.write(
            "\(head)\nrenditions: { a: { stages: [ { resize: { width: 300 } } ], save: \(save), file: \"a.{ext}\" } }\n",
            to: "p.yaml")
        return runner
    }

    @Test(arguments: [
        ("jpeg", 20_000), ("jpeg, progressive: true", 20_000), ("webp", 16_000), ("avif, effort: 0", 9_000),
    ])
    func `the best quality is taken whose file is small enough`(format: String, most: Int) async throws {
        let runner = try await runner("{ format: \(format), max-bytes: \(most) }")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let rendition = try #require(try runner.report()["a.jpg"]?.renditions.first)
        let bytes = try runner.bytes("out/" + rendition.path).count
        #expect(bytes == rendition.bytes && bytes <= most && bytes > most / 2, "\(bytes)")
        #expect((30...80).contains(rendition.quality ?? 0) && (2...8).contains(rendition.trials ?? 0))
        #expect(rendition.ssim == nil)
        // The same file as by the quality itself.
        let other = try await self.runner("{ format: \(format), quality: \(rendition.quality ?? 0) }")
        #expect(try await other.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(try other.bytes("out/" + rendition.path) == runner.bytes("out/" + rendition.path))
    }

    @Test func `one that is small enough anyway is encoded once, with its quality`() async throws {
        let runner = try await runner("{ format: jpeg, quality: 70, max-bytes: 1M }")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let rendition = try #require(try runner.report()["a.jpg"]?.renditions.first)
        #expect(rendition.quality == 70 && rendition.trials == 1)
    }

    @Test(arguments: ["jpeg", "webp", "avif, effort: 0"])
    func `the least quality is taken that is like the picture enough, also from the cache`(format: String) async throws
    {
        let runner = try await runner("{ format: \(format), quality: { ssim: 0.93 } }")
        for output in ["out", "again"] {
            let result = try await runner.run("run", "p.yaml", "in", "-o", output, "--cache", "cache")
            #expect(result.exit == 0, "\(result.errors)")
            let rendition = try #require(
                try runner.report("\(output)/.imagemill/report.json")["a.jpg"]?.renditions.first)
            let ssim = try #require(rendition.ssim)
            #expect(ssim >= 0.93 && ssim < 0.97 && rendition.cached == (output == "again"), "\(rendition)")
        }
    }

    @Test func `a target that cannot be reached fails the picture, or is kept with a warning by policy`() async throws {
        let runner = try await runner("{ format: jpeg, max-bytes: 300 }")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 2 && runner.files(in: "out").isEmpty)
        let error = try #require(try runner.report()["a.jpg"]?.error)
        #expect(
            error.code == "target-not-reached" && error.message.contains("bytes at quality 30, and 300 were allowed"),
            "\(error)")
        let kept = try await runner.run("run", "p.yaml", "in", "-o", "out", "--policy", "target-missed=warn")
        #expect(kept.exit == 0, "\(kept.errors)")
        let source = try #require(try runner.report()["a.jpg"])
        #expect(source.warnings.map(\.code) == ["target-missed"] && source.renditions.first?.quality == 30)
        let both = try await self.runner("{ format: webp, max-bytes: 2K, quality: { ssim: 0.99 } }")
        #expect(try await both.run("run", "p.yaml", "in", "-o", "out").exit == 2)
        #expect(try both.report()["a.jpg"]?.error?.message.contains("2048 were allowed") == true)
    }

    @Test(arguments: [
        ("{ format: png, max-bytes: 9K }", "unknown key 'max-bytes'"),
        ("{ format: webp, lossless: true, max-bytes: 9K }", "'max-bytes' has no meaning with 'lossless: true'"),
        ("{ format: jpeg, min-quality: 20 }", "'min-quality' needs 'max-bytes', or 'quality' with an 'ssim'"),
        ("{ format: jpeg, quality: 40, min-quality: 50, max-bytes: 9K }", "'min-quality' is higher than 'quality'"),
        ("{ format: jxl, quality: { ssim: 0.9 } }", "'quality' expects a whole number from 1 to 100, found"),
        ("{ format: jpeg, quality: { ssim: 2 } }", "'ssim' expects a number from 0.5 to 0.999, found 2"),
        ("{ format: jpeg, quality: { similarity: 0.9 } }", "unknown key 'similarity'"),
    ])
    func `what cannot be searched is a mistake`(save: String, words: String) async throws {
        let runner = try await runner(save)
        let result = try await runner.run("check", "p.yaml")
        #expect(result.exit != 0 && result.errors.contains(words), "\(result.errors)")
    }

    @Test func `both targets are met wherever some quality meets both`() async throws {
        // Each quality's bytes and similarity, by saving with that quality alone.
        var sizes: [Int: Int] = [:]
        for quality in [34, 50, 66, 82] {
            let runner = try await runner("{ format: jpeg, quality: \(quality) }")
            #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
            sizes[quality] = try runner.bytes("out/a.jpg").count
        }
        for (quality, most) in sizes {
            for ssim in [0.6, 0.7, 0.8, 0.85, 0.9, 0.93] {
                let both = try await runner("{ format: jpeg, quality: { ssim: \(ssim) }, max-bytes: \(most) }")
                let result = try await both.run("run", "p.yaml", "in", "-o", "out")
                let alone = try await runner("{ format: jpeg, quality: { ssim: \(ssim) } }")
                #expect(try await alone.run("run", "p.yaml", "in", "-o", "out").exit == 0)
                // If the smallest file that is like the picture enough fits, both can be met.
                let least = try alone.bytes("out/a.jpg").count
                if least <= most { #expect(result.exit == 0, "\(quality) \(ssim): \(result.errors)") }
            }
        }
    }

    @Test(arguments: ["webp", "gif"])
    func `an animation whose frames the encoder joins is compared frame by frame`(source: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.\(source)", as: "\(source)save_target") {
            let frames = try (0..<4).map { frame in
                try TestPicture.solid(frame < 3 ? [200, 30, 60] : [20, 90, 200], width: 40, height: 30)
            }
            return try Image.arrayjoin(frames).editingMetadata {
                $0.set("page-height", int: 30)
                $0.set("delay", ints: [100, 100, 100, 200])
            }
        }
        try runner.folder.write(
            "renditions: { a: { save: { format: webp, quality: { ssim: 0.9 } } } }\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let ssim = try #require(try runner.report().sources.first?.renditions.first?.ssim)
        #expect(ssim > 0.9)
    }
}
