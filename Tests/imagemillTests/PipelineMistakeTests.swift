// Mistakes in a pipeline file are shown all at once, with its place, before anything is done.
import Foundation
import TestSupport
import Testing

@Suite struct PipelineMistakeTests {
    @Test func `a pipeline with five mistakes gives five diagnostics, and nothing is written`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.folder.write(
            """
            renditions:
              thumb:
                stages:
                  - resize: { size: "12xx" }
                  - frmae: { width: 10, height: 10 }
                save: { format: jpeg, quality: 400 }
                fiel: "{stem}.{ext}"
            profile: kep

            """, to: "five.yaml")
        let result = try await runner.run("run", "five.yaml", "in", "-o", "out")
        #expect(result.exit == 78)
        #expect(
            result.errors == """
                five.yaml:4:25: error: expected a size such as 800x600, 800x, x600, 800 or 50%, followed by > < ! or ^ if you like, found '12xx'
                        - resize: { size: "12xx" }
                                          ^
                five.yaml:5:9: error: unknown stage 'frmae'; did you mean 'frame'?
                        - frmae: { width: 10, height: 10 }
                          ^
                five.yaml:6:36: error: 'quality' expects a whole number from 1 to 100, found 400
                      save: { format: jpeg, quality: 400 }
                                                     ^
                five.yaml:7:5: error: unknown key 'fiel' in rendition 'thumb'; did you mean 'file'?
                      fiel: "{stem}.{ext}"
                      ^
                five.yaml:8:10: error: expected one of srgb, display-p3, keep, or the path of an .icc file, relative to the pipeline file, found 'kep'; did you mean 'keep'?
                  profile: kep
                           ^
                5 mistakes in five.yaml; nothing was written

                """)
        #expect(result.output.isEmpty)
        #expect(!runner.exists("out"))
    }

    @Test func `what is wrong below misspelt keys shows with them, once`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            rendition:
              thumb:
                stage:
                  - resise: { size: "12xx" }
                  - overlay: { image: gone.png, anchr: middel }
                save: { formt: jpgg, quality: 400 }

            """, to: "x.yaml")
        let errors = try await runner.run("check", "x.yaml").errors
        let places = errors.split(separator: "\n").filter { $0.hasPrefix("x.yaml:") }.map { $0.prefix { $0 != " " } }
        #expect(errors.hasSuffix("\n3 mistakes in x.yaml\n"))
        #expect(places == ["x.yaml:1:1:", "x.yaml:3:5:", "x.yaml:6:13:"], "\(errors)")
    }

    // Each level that is read a second time would double the work.
    @Test(.timeLimit(.minutes(1))) func `misspelt keys in misspelt keys take no longer`() async throws {
        let runner = try CommandRunner()
        let depth = 40
        let open = String(repeating: "{ overlay: { imag: a.png, stags: [ ", count: depth)
        let close = String(repeating: " ] } }", count: depth)
        try runner.folder.write(
            "renditions: { a: { stages: [ \(open){ flip: {} }\(close) ], save: { format: png } } }\n", to: "x.yaml")
        #expect(try await runner.run("check", "x.yaml").exit == 78)
    }

    @Test func `a missing asset is shown at the place that names it`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.folder.write(
            "renditions:\n  a:\n    stages:\n      - overlay: { image: gone.png }\n    save: { format: png }\n",
            to: "p/x.yaml")
        let result = try await runner.run("run", "p/x.yaml", "in", "-o", "out")
        #expect(result.exit == 78)
        #expect(
            result.errors.hasPrefix("p/x.yaml:4:27: error: the asset 'gone.png' cannot be used: cannot find the file"))
        #expect(result.errors.contains("1 mistake in p/x.yaml; nothing was written"))
        #expect(!runner.exists("out"))
    }

    @Test func `an asset that is no picture, or a damaged one, is shown at the place that names it`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("text", to: "text.png")
        try runner.folder.write(Array(try await SamplePicture.png.bytes.prefix(200)), to: "cut.png")
        for (asset, words) in [
            ("text.png", "no recognized image format"), ("cut.png", "the picture cannot be decoded"),
        ] {
            try runner.folder.write(
                "renditions:\n  a:\n    stages:\n      - overlay: { image: \(asset) }\n    save: { format: png }\n",
                to: "x.yaml")
            let result = try await runner.run("run", "x.yaml", "in", "-o", "out")
            #expect(result.exit == 78)
            #expect(
                result.errors.hasPrefix("x.yaml:4:27: error: the asset '\(asset)' cannot be used: "), "\(result.errors)"
            )
            #expect(result.errors.contains(words))
            #expect(runner.files().isEmpty)
        }
    }

    @Test(arguments: ["gone.yaml", "gone"])
    func `a missing or unusable pipeline file is called by its name`(name: String) async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("", to: "folder/x")
        let result = try await runner.run("run", name, "in", "-o", "out")
        #expect(result.exit == 78)
        #expect(result.errors.contains(name))
        #expect(!runner.exists("out"))
    }

    @Test func `an empty pipeline file is a mistake`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("", to: "x.yaml")
        let result = try await runner.run("check", "x.yaml")
        #expect(result.exit == 78)
        #expect(result.errors.hasPrefix("x.yaml:1:1: error: "))
    }

    @Test func `a pipeline may come through a pipe, however slowly`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        let result = try await runner.shell("(sleep 0.5; cat p.yaml) | \"$IMAGEMILL\" check /dev/stdin")
        #expect(result.exit == 0, "\(result.errors)")
    }

    @Test(arguments: [
        (["run"], "name a pipeline and the sources, such as: imagemill run web-photos"),
        (["run", "p.yaml", "in"], "with -o DIR (--output)"),
        (["run", "in", "-o", "out"], "'in' is no pipeline; name a pipeline file"),
        (["run", "p.yaml", "-o", "out"], "name the sources"),
        (["run", "in/a.jpg", "-o", "out"], "'in/a.jpg' is no pipeline; name a pipeline file"),
        (["run", "p.yaml", "in", "-o", "out", "--resize", "10x"], "leave out 'p.yaml' or the options"),
        (["run", "in", "-o", "out", "--resize", "axb"], "expected a size such as 800x600"),
        (
            ["run", "in", "-o", "out", "--crop", "300"],
            "--crop takes a width and a height, such as 300x300, found '300'"
        ),
        (["run", "in", "-o", "out", "--format", "tiff", "--quality", "80"], "--quality means nothing for tiff"),
        (["run", "in", "-o", "out", "--format", "heic"], "heic"),
        (["run", "p.yaml", "in", "-o", "-", "--json"], "-o - does not go with --json"),
        (["run", "p.yaml", "in", "-o", "out", "--exclude", "a{b"], "a{b"),
        (["run", "p.yaml", "in", "-o", "out", "--from0"], "--from0 needs"),
        (["run", "p.yaml", "in", "-o", "out", "--json", "--json-lines"], "exclude each other"),
        (["checkk", "x"], "did you mean 'check'?"),
        (["new"], "there is no command 'new'; did you mean 'init'?"),
        (["in/a.jpg"], "imagemill run PIPELINE PICTURES -o DIR"),
        (["run", "p.yaml", "in", "-o", "out", "--bogus"], "--bogus"),
        (["run", "p.yaml", "in", "-o", "out", "--jobs", "0"], "--jobs takes 1 to 1024"),
        (["run", "p.yaml", "in", "-o", "out", "--jobs", "x"], "'x'"),
        (["run", "p.yaml", "in", "-o", "out", "--collision", "maybe"], "'maybe'"),
        (["run", "p.yaml", "in", "-o", "out", "--max-pixels", "many"], "'many'"),
        (["run", "p.yaml", "in", "-o", "out", "--max-pixels", "-5"], "--max-pixels"),
        (["frobnicate"], "frobnicate"),
        (["stages", "frmae"], "there is no stage 'frmae'; did you mean 'frame'?"),
        (["schema", "nothing"], "nothing"),
        (["plan"], "name a picture and a pipeline"), (["plan", "p.yaml"], "found 0 pictures"),
    ])
    func `wrong usage ends with 64, and says what is wrong`(arguments: [String], words: String) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let result = try await runner.run(arguments)
        #expect(result.exit == 64)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!runner.exists("out"))
    }
}
