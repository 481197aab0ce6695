// Whose name is whose: versions, second runs, strangers' files, and sources, which are never written over.
import Foundation
import TestSupport
import Testing

@Suite struct CollisionTests {
    @Test
    func `two sources of one stem get versions in natural order, whatever the timing, and keep them over runs`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        // The first is slow to render, so that a later one is always ready before it.
        try runner.folder.write(try await SamplePicture.noise(width: 1500, height: 1000), to: "in/a.jpg")
        for name in ["a.png", "a.webp", "a2.jpg", "a10.jpg", "a10.png"] { try await runner.picture("in/" + name) }
        let expected = [
            "a.jpg": ["a.webp"], "a.png": ["a-2.webp"], "a.webp": ["a-3.webp"], "a2.jpg": ["a2.webp"],
            "a10.jpg": ["a10.webp"],
            "a10.png": ["a10-2.webp"],
        ]
        for jobs in ["4", "1", "2"] {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", jobs, "--force")
            #expect(result.exit == 0)
            #expect(try runner.report().names == expected)
        }
        #expect(runner.files() == ["a-2.webp", "a-3.webp", "a.webp", "a10-2.webp", "a10.webp", "a2.webp"])
    }

    /// The versions from 5 on were looked for in steps, so that a source missed its own files.
    @Test func `many sources of one name keep their versions although the record of names is lost`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for folder in 1...9 { try await runner.picture("in/\(folder)/a.jpg") }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let names = try runner.report().names
        try FileManager.default.removeItem(atPath: runner.folder.path("out/.imagemill"))
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1").exit == 0)
        #expect(try runner.report().names == names)
        #expect(runner.files().count == 9)
    }

    @Test func `a second run replaces its own renditions, and makes no copies beside them`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/b/c.png")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        try runner.pipeline(size: "16x16")
        #expect(try await runner.run("run", "p.yaml", "in/", "-o", "./out/").exit == 0)
        #expect(runner.files() == ["a.webp", "c.webp"])
        #expect(try await runner.size(of: "out/a.webp") == [16, 12])
    }

    /// The advice was --keep-tree, which has nothing to do with it.
    @Test func `the closing line names a rendition that was edited, and what replaces it`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a/x.jpg", "in/b/y.jpg", "in/b/x.jpg"] { try await runner.picture(name) }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        _ = try await runner.shell("echo >> out/y.webp")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--force")
        #expect(
            result.errors.hasSuffix(
                "\n2 sources were given versions, since their names were taken; see the report: 'y.webp' was changed by another program; this source is 'y-2.webp'; --collision overwrite replaces such files\n"
            ), "\(result.errors)")
        let over = try await runner.run("run", "p.yaml", "in/b/y.jpg", "-o", "out", "--collision", "overwrite")
        #expect(over.exit == 0 && !over.errors.contains("version"), "\(over.errors)")
        #expect(try runner.report().names == ["y.jpg": ["y.webp"]])
    }

    @Test func `a file that somebody else put there is not written over`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("mine", to: "out/a.webp")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0)
        #expect(try runner.report().names == ["a.jpg": ["a-2.webp"]])
        #expect(try runner.bytes("out/a.webp") == Array("mine".utf8))
        #expect(try await runner.size(of: "out/a-2.webp") == [32, 24])
    }

    /// A rename over the rendition, and a program that writes into it, which leaves its attributes.
    @Test(arguments: ["printf mine > x; mv x out/a.webp", "printf mine > out/a.webp"], [[], ["--prune"]])
    func `what somebody saves over a rendition is theirs, and neither replaced nor removed`(
        save: String, options: [String]
    ) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/b.jpg")
        let words = ["run", "p.yaml", "in", "-o", "out"] + options
        #expect(try await runner.run(words).exit == 0)
        #expect(try await runner.shell(save).exit == 0)
        #expect(try await runner.run(words).exit == 0)
        #expect(try runner.report().names == ["a.jpg": ["a-2.webp"], "b.jpg": ["b.webp"]])
        #expect(try await runner.run(words).errors.hasPrefix("2 sources unchanged"))
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a.jpg"))
        #expect(try await runner.run(words).exit == 0)
        #expect(try runner.bytes("out/a.webp") == Array("mine".utf8))
        #expect(runner.exists("out/a-2.webp") == options.isEmpty)
    }

    @Test func `a rendition that lost its attributes, or was only touched, is still replaced`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(try await runner.shell("cp out/a.webp x; mv x out/a.webp").exit == 0)
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(try runner.report().names == ["a.jpg": ["a.webp"]])
        #expect(runner.files() == ["a.webp"])
    }

    @Test func `a link that points to nothing is somebody's file too`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try FileManager.default.createDirectory(atPath: runner.folder.path("out"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: runner.folder.path("out/a.webp"), withDestinationPath: "nowhere")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(try runner.report().names == ["a.jpg": ["a-2.webp"]])
    }

    @Test func `with --collision fail the second source of a name fails, and says whose the name is`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/a.png")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--collision", "fail")
        #expect(result.exit == 1)
        let report = try runner.report()
        #expect(report.outcomes == ["a.jpg": "done", "a.png": "name-taken"])
        #expect(report["a.png"]?.error?.message == "the name 'a.webp' belongs to '../in/a.jpg'")
        #expect(report["a.png"]?.renditions == [])
        #expect(runner.files() == ["a.webp"])
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--collision", "fail").exit == 1)
        #expect(try runner.report().outcomes == ["a.jpg": "skipped", "a.png": "name-taken"])
    }

    @Test func `with --collision fail no fresh worker is asked about a name that is taken`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["a", "b", "c"] {
            try await runner.picture("in/\(name).jpg")
            try runner.folder.write("mine", to: "out/\(name).webp")
        }
        let result = try await runner.shell(
            "IMAGEMILL_FAULT_LOG=passes \"$IMAGEMILL\" run p.yaml in -o out --collision fail --jobs 1")
        #expect(result.exit == 2)
        #expect(try runner.report().outcomes == ["a.jpg": "name-taken", "b.jpg": "name-taken", "c.jpg": "name-taken"])
        let passes = try String(decoding: runner.bytes("passes"), as: UTF8.self).split(separator: "\n")
        #expect(passes.filter { $0 == "after-worker-start" }.count == 3, "each source is looked at once")
    }

    @Test func `with --collision fail a stranger's file is named as what it is`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("mine", to: "out/a.webp")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--collision", "fail")
        #expect(result.exit == 2)
        #expect(
            try runner.report()["a.jpg"]?.error?.message == "there is a file that Imagemill did not write at 'a.webp'")
        #expect(try runner.bytes("out/a.webp") == Array("mine".utf8))
    }

    @Test
    func `with --collision overwrite the last source in natural order wins, whatever the workers' timing`() async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline(size: "300x300")
        try runner.folder.write(try await SamplePicture.noise(width: 1500, height: 1000), to: "in/a.jpg")
        try runner.folder.write(
            try await SamplePicture.png.encode(TestPicture.solid([9, 9, 9], width: 300, height: 300)), to: "in/a.png")
        try runner.folder.write("mine", to: "out/a.webp")
        for _ in 0..<2 {
            let result = try await runner.run(
                "run", "p.yaml", "in", "-o", "out", "--collision", "overwrite", "--jobs", "2", "--force")
            #expect(result.exit == 0)
            #expect(result.errors.contains(" name-overwritten; see the report\n"), "\(result)")
            #expect(runner.files() == ["a.webp"])
            #expect(try await runner.size(of: "out/a.webp") == [300, 300])
        }
    }

    @Test(arguments: ["version", "fail", "overwrite"])
    func `a source is never written over, not even with --collision overwrite`(policy: String) async throws {
        let runner = try CommandRunner()
        try runner.pipeline(format: "jpeg")
        let source = try await runner.picture("out/a.jpg")
        let result = try await runner.run("run", "p.yaml", source, "-o", "out", "--collision", policy)
        #expect(result.exit == (policy == "fail" ? 2 : 0))
        #expect(try await runner.bytes("out/a.jpg") == SamplePicture.jpeg.bytes)
        #expect(runner.files() == (policy == "fail" ? ["a.jpg"] : ["a-2.jpg", "a.jpg"]))
    }

    @Test
    func `a source in the output folder is not written over when that folder is named through a link`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(format: "jpeg")
        try await runner.picture("real/a.jpg")
        try FileManager.default.createSymbolicLink(atPath: runner.folder.path("link"), withDestinationPath: "real")
        #expect(try await runner.run("run", "p.yaml", "real/a.jpg", "-o", "link", "--collision", "overwrite").exit == 0)
        #expect(try await runner.bytes("real/a.jpg") == SamplePicture.jpeg.bytes)
        #expect(try await runner.run("run", "p.yaml", "link/a.jpg", "-o", "real", "--collision", "overwrite").exit == 0)
        #expect(try await runner.bytes("real/a.jpg") == SamplePicture.jpeg.bytes)
    }

    @Test func `a source that is a link into the output folder does not lose what it points to`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(format: "jpeg")
        try await runner.picture("out/a.jpg")
        try FileManager.default.createDirectory(atPath: runner.folder.path("in"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: runner.folder.path("in/a.jpg"), withDestinationPath: "../out/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(try await runner.bytes("out/a.jpg") == SamplePicture.jpeg.bytes)
    }

    @Test func `an output folder inside a source folder is left out, and that is said`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        for run in 1...3 {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "in/out")
            #expect(result.exit == 0)
            #expect(runner.files(in: "in/out") == ["a.webp"])
            #expect(
                try runner.report("in/out/.imagemill/report.json").outcomes == ["a.jpg": run == 1 ? "done" : "skipped"])
            if run > 1 { #expect(result.errorLines.first == "note: left out 'in/out': it is the output folder") }
        }
    }

    @Test(arguments: [[], ["-q"], ["--dry-run"]])
    func `an output folder among the sources that has pictures of others is refused, unless it is left out`(
        options: [String]
    ) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a.jpg", "in/masters/b.jpg", "in/masters/sub/c.jpg"] { try await runner.picture(name) }
        let command = ["run", "p.yaml", "in", "-o", "in/masters"] + options
        let result = try await runner.run(command)
        #expect(result.exit == 64)
        #expect(
            result.errors
                == "imagemill: the output folder 'in/masters' is among the sources and has 'in/masters/b.jpg' and 1 other picture, which Imagemill has not made; they would not be rendered\n  choose another folder (-o), or leave this one out yourself: --exclude masters\n"
        )
        #expect(runner.files(in: "in/masters") == ["b.jpg", "sub/c.jpg"])
        #expect(try await runner.run(command + ["--exclude", "masters"]).exit == 0)
        #expect(try await runner.run(command).exit == (options == ["--dry-run"] ? 64 : 0), "it is known by now")
    }

    @Test func `renditions say themselves that they are no pictures of others, also if their record is lost`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "in/out").exit == 0)
        try FileManager.default.removeItem(atPath: runner.folder.path("in/out/.imagemill"))
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "in/out").exit == 0)
        #expect(runner.files(in: "in/out") == ["a.webp"])
    }

    @Test func `an output folder above the sources: renditions of earlier runs are no sources`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("renditions: { web: { save: { format: webp } } }\n", to: "p.yaml")
        for name in ["photos/a/x.jpg", "photos/b/y.jpg"] { try await runner.picture(name) }
        let command = ["run", "p.yaml", "photos/a", "photos/b", "-o", "photos", "--keep-tree"]
        #expect(try await runner.run(command).exit == 0)
        let made = ["a/x.jpg", "a/x.webp", "b/y.jpg", "b/y.webp"]
        #expect(runner.files(in: "photos") == made)
        let again = try await runner.run(command)
        #expect(again.exit == 0 && runner.files(in: "photos") == made)
        #expect(
            again.errorLines.first
                == "note: left out 2 renditions of earlier runs among the sources: the output folder 'photos' is above them",
            "\(again.errors)")
        #expect(again.errors.contains("2 sources unchanged"))
        // Without a record, the files say it themselves.
        try FileManager.default.removeItem(atPath: runner.folder.path("photos/.imagemill"))
        #expect(try await runner.run(command).exit == 0)
        #expect(runner.files(in: "photos") == made)
        // Whoever names one means it.
        #expect(try await runner.run("run", "p.yaml", "photos/a/x.webp", "-o", "photos").exit == 0)
        #expect(runner.files(in: "photos") == made + ["x.webp"])
    }

    @Test func `the output folder of another run is no source, unless it is named`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "in/web").exit == 0)
        let second = try await runner.run("run", "p.yaml", "in", "-o", "in/thumbs")
        #expect(
            second.errorLines.first
                == "note: left out 'in/web': it is the output folder of another run; name it to take its pictures",
            "\(second.errors)")
        #expect(runner.files(in: "in/thumbs") == ["a.webp"])
        #expect(try await runner.run("run", "p.yaml", "in/web", "-o", "out").exit == 0)
        #expect(runner.files() == ["a.webp"])
    }

    @Test(arguments: ["in", "./in/", "link", "in/../in"])
    func `a source folder that is the output folder is refused`(outbox: String) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try FileManager.default.createSymbolicLink(atPath: runner.folder.path("link"), withDestinationPath: "in")
        let result = try await runner.run("run", "p.yaml", "in", "-o", outbox)
        #expect(result.exit == 64)
        #expect(result.errors.contains("'in' is the output folder too; choose another folder"))
        #expect(runner.files(in: "in") == ["a.jpg"])
        #expect(!runner.exists("in/.imagemill"))
    }

    @Test func `a dry run names the files that the run would write, also after an earlier run`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let dry = try await runner.run("run", "p.yaml", "in", "-o", "out", "--dry-run", "--force")
        #expect(dry.output == "in/a.jpg → out/a.webp (32×24)\n")
    }

    @Test func `a report is not written over a source`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("a.jpg")
        _ = try await runner.run("run", "p.yaml", "a.jpg", "-o", "out", "--report", "a.jpg")
        #expect(try await runner.bytes("a.jpg") == SamplePicture.jpeg.bytes)
    }
}
