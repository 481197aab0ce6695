// The first steps of a new user: options instead of a pipeline file, names of shipped pipelines, `init`, `-`, and any
// order of arguments.
import Foundation
import Pipeline
import TestSupport
import Testing

@Suite struct FirstContactTests {
    private func runner() async throws -> CommandRunner {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        return runner
    }

    @Test func `--resize and --format are a pipeline`() async throws {
        let runner = try await runner()
        let result = try await runner.run("run", "--resize", "32x32>", "--format", "jpg", "in/", "-o", "out/")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.errors.hasPrefix("1 of 1 source done, 1 rendition in "), "\(result.errors)")
        #expect(try await runner.size(of: "out/a.jpg") == [32, 24])
    }

    @Test
    func `all options work together, and --print-pipeline prints a file that makes the same bytes`() async throws {
        let runner = try await runner()
        try await runner.picture("mark \"1\".png")
        let options = [
            "--resize", "30x30^", "--crop", "24x20", "--watermark", "mark \"1\".png", "--format", "webp", "--quality",
            "60", "--metadata", "strip",
        ]
        #expect(try await runner.run(["run", "in", "-o", "out"] + options).exit == 0)
        #expect(try await runner.size(of: "out/a.webp") == [24, 20])
        let printed = try await runner.run(["run", "--print-pipeline"] + options)
        #expect(printed.exit == 0 && printed.output.hasPrefix("# Save this as my.yaml"), "\(printed.errors)")
        try runner.folder.write(printed.output, to: "my.yaml")
        #expect(try await runner.run("run", "my.yaml", "in", "-o", "again").exit == 0)
        #expect(try runner.bytes("out/a.webp") == runner.bytes("again/a.webp"))
    }

    @Test
    func `a shipped pipeline is known by its name, and a name that is almost right gets a suggestion`() async throws {
        let runner = try await runner()
        #expect(try await runner.run("run", "web-photos", "in", "-o", "out").exit == 0)
        #expect(runner.files().count == 3)
        #expect(try await runner.run("plan", "in/a.jpg", "web-photos").output.contains("save webp"))
        let almost = try await runner.run("run", "web-photo", "in", "-o", "out")
        #expect(almost.exit == 78 && almost.errors.contains("did you mean 'web-photos'?"), "\(almost.errors)")
    }

    @Test func `the pipeline and the pictures may come in either order`() async throws {
        let runner = try await runner()
        try runner.pipeline()
        #expect(try await runner.run("run", "in", "p.yaml", "-o", "out").exit == 0)
        #expect(runner.files() == ["a.webp"])
        let plans = try await [runner.run("plan", "in/a.jpg", "p.yaml"), runner.run("plan", "p.yaml", "in/a.jpg")]
        #expect(plans[0].exit == 0 && plans[0].output == plans[1].output)
    }

    @Test func `a picture goes from standard input to standard output, and nothing else does`() async throws {
        let runner = try await runner()
        let result = try await runner.shell("\"$IMAGEMILL\" run --resize 16x --format png - -o - < in/a.jpg > b.png")
        #expect(result.exit == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(try await runner.size(of: "b.png") == [16, 12])
        // A format that is read on request only is written without. Not every system can.
        let other = try await runner.shell("\"$IMAGEMILL\" run --resize 16x --format jxl - -o - < in/a.jpg > b.jxl")
        let isMissing = other.errors.contains("cannot write jxl")
        #expect(try isMissing || (other.exit == 0 && !runner.bytes("b.jxl").isEmpty), "\(other.errors)")
        let named = try await runner.shell("\"$IMAGEMILL\" run --resize 16x --format png - -o out < in/a.jpg")
        #expect(named.exit == 0 && runner.files() == ["stdin.png"])
        let bad = try await runner.shell("echo no | \"$IMAGEMILL\" run --resize 16x - -o - > c.webp")
        #expect(
            bad.exit == 2
                && bad.errors
                    == "standard input: not-an-image: expected a picture, found a file in no recognized image format\n  \(FailureCode.notAnImage.remedy(in: .command))\n"
        )
        #expect(try runner.bytes("c.webp").isEmpty)
        try await runner.picture("in/b.jpg")
        let two = try await runner.shell("\"$IMAGEMILL\" run --resize 16x in -o - > d.webp")
        #expect(
            two.exit == 64
                && two.errors
                    == "imagemill: 2 pictures were found; standard output (-o -) takes the rendition of one; name one picture, or a folder for the renditions\n",
            "\(two.errors)")
        #expect(try runner.bytes("d.webp").isEmpty)
        let several = try await runner.shell("\"$IMAGEMILL\" run web-photos in/a.jpg -o - | cat")
        #expect(
            several.errors.contains("this pipeline makes 3 renditions of a picture; only one can go to standard output")
        )
    }

    @Test func `init writes what works at once, and never overwrites`() async throws {
        let runner = try await runner()
        let made = try await runner.run("init", "my shop")
        #expect(
            made.exit == 0
                && made.output.contains("imagemill run 'my shop/pipeline.yaml' PICTURES -o 'my shop/pictures'"),
            "\(made.output)")
        #expect(runner.files(in: "my shop") == ["mill.yaml", "pipeline.yaml"])
        #expect(try await runner.run("check", "my shop/pipeline.yaml", "my shop/mill.yaml").exit == 0)
        #expect(try await runner.run("run", "my shop/pipeline.yaml", "in", "-o", "out").exit == 0)
        #expect(runner.files() == ["a-large.webp", "a-thumb.jpg", "a-thumb@2x.jpg"])
        let again = try await runner.run("init", "my shop")
        #expect(
            again.exit == 64
                && again.errors == "imagemill: 'my shop/pipeline.yaml' is there already; nothing was written\n")
    }

    @Test func `--print-pipeline prints the pipeline that is named, and none beside options`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let printed = try await runner.run("run", "--print-pipeline", "p.yaml", "in")
        #expect(printed.exit == 0)
        #expect(try Array(printed.output.utf8) == runner.bytes("p.yaml"))
        let shipped = try await runner.run("run", "--print-pipeline", "web-photos")
        let file = try Checkout.text("pipelines/web-photos.yaml")
        #expect(shipped.exit == 0 && shipped.output == file)
        let both = try await runner.run("run", "--print-pipeline", "p.yaml", "--format", "png")
        #expect(both.exit == 64 && both.errors.contains("leave out 'p.yaml' or the options"), "\(both.errors)")
        #expect(try await runner.run("run", "--print-pipeline", "gone.yaml").exit == 78)
    }

    @Test(arguments: ["--version", "-V", "version"])
    func `the version is printed for every way to ask`(word: String) async throws {
        let result = try await CommandRunner().run(word)
        #expect(result.exit == 0 && result.output.contains(/^\d+\.\d+\.\d+\nlibvips 8\./), "\(result)")
    }
}
