// The usual mistakes on the command line: what each prints.
import Foundation
import TestSupport
import Testing

@Suite struct CommandMistakeTests {
    /// The arguments, the exit code, and what is printed on standard error.
    private static let mistakes: [(arguments: String, exit: Int32, words: String)] = [
        ("p.yaml run in -o out", 64, "imagemill: the command comes first: imagemill run p.yaml …\n"),
        ("in run p.yaml -o out", 64, "imagemill: the command comes first: imagemill run in …\n"),
        (
            "--resize 10x in -o out", 64,
            "imagemill: --resize is an option of 'run'; the command comes first: imagemill run --resize …\n"
        ),
        ("rum p.yaml in -o out", 64, "imagemill: there is no command 'rum'; did you mean 'run'?\n"),
        ("run p.yaml in", 64, "imagemill: name the folder for the renditions with -o DIR (--output)\n"),
        (
            "run p.yaml in -o notes.txt", 64,
            "imagemill: the output folder 'notes.txt' is a file; name a folder for the renditions (-o)\n"
        ),
        (
            "run p.yaml in/a.jpg -o b.webp", 64,
            "imagemill: -o names a folder, and 'b.webp' is named like a picture; for one file, write -o - > b.webp\n"
        ),
        (
            "run p.yaml in -o in", 64,
            "imagemill: 'in' is the output folder too; choose another folder for the renditions (-o)\n"
        ),
        ("run p.yaml in -o one -o two", 64, "imagemill: --output is given twice; leave one of them out\n"),
        ("run --resize 10x --resize=20x in -o out", 64, "imagemill: --resize is given twice; leave one of them out\n"),
        (
            "run p.yaml notes.txt -o out", 2,
            "notes.txt: not-an-image: expected a picture, found a file in no recognized image format\n"
        ),
        ("run p.yaml gone.jpg -o out", 2, "gone.jpg: not-found: cannot find the file: No such file or directory\n"),
        (
            "run p.yaml in/*.gif -o out", 2,
            "in/*.gif: not-found: no file matches this pattern; check the folder and the ending\n"
        ),
        (
            "run p.yaml nofolder/ -o fresh", 2,
            "nofolder: not-found: cannot find the folder: No such file or directory\n  Check the path, and whether something else moves files there.\nnone of 1 source is there; nothing was written\n"
        ),
        (
            "run p.yaml -rf.jpg -o out", 64,
            "imagemill: '-rf.jpg' begins like an option; for the file of that name write ./-rf.jpg\n"
        ),
        (
            "check p.yaml --allow svg", 64,
            "imagemill: 'check' has no option --allow; run, plan and shard have it; imagemill check --help lists its own\n"
        ),
        (
            "check p.yaml --frobnicate", 64,
            "imagemill: 'check' has no option --frobnicate; imagemill check --help lists its own\n"
        ),
        (
            "run p.yaml in -o out --max-pixels 5X", 64,
            "imagemill: The value '5X' is invalid for '--max-pixels <max-pixels>': expected a count such as 5000, 300M or 24MP\n"
        ),
        (
            "run p.yaml in -o out --max-source-bytes 5X", 64,
            "'--max-source-bytes <max-source-bytes>': expected a number of bytes such as 512M or 4G\n"
        ),
        ("run p.yaml in -o out --max-time 5X", 64, "'--max-time <max-time>': expected a time such as "),
        (
            "run p.yaml in -o out --max-memory 10", 64,
            "imagemill: --max-memory is less than any picture needs; allow 128M or more\n"
        ),
        (
            "run --resize big in -o out", 64,
            "imagemill: --resize: expected a size such as 800x600, 800x, x600, 800 or 50%, followed by > < ! or ^ if you like, found 'big'\n"
        ),
        (
            "run p.yaml empty -o -", 64,
            "imagemill: no picture was found; standard output (-o -) takes the rendition of one;"
        ),
        ("run p.yaml empty -o out", 0, "nothing to do: no pictures were found\n"),
        ("run p.yaml in -o out --collision versoin", 64, "Please provide one of 'version', 'fail' or 'overwrite'.\n"),
        ("run p.yaml in -o out --dryrun", 64, "imagemill: Unknown option '--dryrun'. Did you mean '--dry-run'?\n"),
        ("run p.yaml in -o out --jobs 1.5", 64, "Help:  --jobs <jobs>  Worker processes, 1 to 1024."),
        (
            "run p.yaml in -o out --cache c --cache-size 5X", 64,
            "Help:  --cache-size <cache-size>  The most bytes that the cache may take, such as 10G."
        ),
        (
            "run p.yaml in -o out --why gone.jpg", 64,
            "imagemill: 'gone.jpg' is not among the sources; --why takes one of them\n"
        ),
        (
            "run --resize % in -o out", 64,
            "imagemill: --resize: expected a size such as 800x600, 800x, x600, 800 or 50%"
        ),
        ("run --quality 0 in -o out", 64, "imagemill: --quality expects a whole number from 1 to 100, found 0\n"),
        ("run --quality 101 in -o out", 64, "imagemill: --quality expects a whole number from 1 to 100, found 101\n"),
        ("run --quality 82% in -o out", 64, "Help:  --quality <quality>  How good the result is, 1 to 100."),
        (
            "run --format png --quality 80 in -o out", 64,
            "imagemill: --quality means nothing for png; leave it out, or choose jpeg, webp, avif or jxl with --format\n"
        ),
        (
            "run --format heic in -o out", 64,
            "The value 'heic' is invalid for '--format <format>'. Please provide one of the following:\n  - jpeg\n"
        ),
        (
            "run --metadata none in -o out", 64,
            "Please provide one of 'copyright', 'all-but-location', 'keep' or 'strip'.\n"
        ),
        (
            "run --watermark gone.png in -o out", 64,
            "imagemill: --watermark: the asset 'gone.png' cannot be used: cannot find the file: No such file or directory\n"
        ),
        (
            "run web-fotos in -o out", 78,
            "imagemill: there is no file 'web-fotos', and no shipped pipeline of that name; did you mean 'web-photos'?\n"
        ),
        ("run gone.yaml in -o out", 78, "imagemill: cannot open 'gone.yaml': No such file or directory\n"),
        (
            "run mill.yaml in -o out", 78,
            "mill.yaml:1:1: error: expected a pipeline, found a mill file, which `imagemill watch` takes\n"
        ),
        ("run in -o out", 64, "imagemill: 'in' is no pipeline; name a pipeline file such as my.yaml"),
        ("watch", 64, "imagemill: Missing expected argument '<mill>'\n"),
        ("watch gone.yaml", 78, "imagemill: cannot open 'gone.yaml': No such file or directory\n"),
        (
            "watch p.yaml", 78,
            "p.yaml:1:1: error: expected a mill file, found a pipeline; name it as the 'pipeline' of an inbox\n"
        ),
        ("watch in", 78, "imagemill: cannot read 'in': it is a folder; name a file in it\n"),
        ("check in", 78, "imagemill: cannot read 'in': it is a folder; name a file in it\n"),
        ("init p.yaml", 64, "imagemill: 'p.yaml' is a file; name a folder\n"),
        (
            "cache stats empty", 64,
            "imagemill: 'empty' is no cache: expected a folder that 'imagemill run --cache' has filled"
        ),
        (
            "run p.yaml --files-from gone.txt -o out", 64,
            "imagemill: cannot open 'gone.txt': No such file or directory; --files-from takes a list of paths, or - for standard input\n"
        ),
        (
            "shard --files-from gone.txt --pipeline p.yaml -o plan", 64,
            "imagemill: cannot open 'gone.txt': No such file or directory; --files-from takes a list of paths, or - for standard input\n"
        ),
        (
            "shard in --pipeline p.yaml -o in", 64,
            "imagemill: 'in' is the folder of the plan too; choose another folder for the plan (-o)\n"
        ),
        (
            "gather gone -o out", 78,
            "imagemill: cannot open the plan 'gone': No such file or directory; name the folder that `imagemill shard` has written\n"
        ),
        // The folder may be on a share that comes late.
        (
            "run --plan gone --task 1 -o out", 75,
            "imagemill: cannot open the plan 'gone': No such file or directory; name the folder that `imagemill shard` has written\n"
        ),
        (
            "run --plan p.yaml --task 1 -o out", 78,
            "imagemill: cannot open the plan 'p.yaml': Not a directory; name the folder that"
        ),
        (
            "run p.yaml in -o out --report in", 64,
            "imagemill: the report cannot be written to 'in': it is a folder; name a file (--report)\n"
        ),
        (
            "run p.yaml in -o out --metrics in", 64,
            "imagemill: the metrics cannot be written to 'in': it is a folder; name a file (--metrics)\n"
        ),
        (
            "run p.yaml in -o out --state p.yaml", 78,
            "imagemill: cannot make the folder 'p.yaml': there is a file of that name\n"
        ),
        (
            "run p.yaml in -o s3://bucket/x", 64,
            "imagemill: 's3://bucket/x' is an address; name a folder of this machine for the renditions (-o), and upload it afterwards\n"
        ),
        (
            "run p.yaml https://example.org/a.jpg -o out", 2,
            "https://example.org/a.jpg: not-found: this is an address, and only files are read; download it first\n"
        ),
        (
            "run p.yaml ~/a.jpg -o out", 2,
            "~/a.jpg: not-found: cannot find the file; the shell replaces '~' only if it is not in quotes\n"
        ),
        (
            "run p.yaml in -o out --include *.png", 0,
            "nothing to do: no pictures were found that --include and --exclude let pass\n"
        ),
        ("run p.yaml in -o out --jobs 0", 64, "imagemill: --jobs takes 1 to 1024\n"),
        ("run --crop 10 in -o out", 64, "imagemill: --crop takes a width and a height, such as 300x300, found '10'\n"),
        (
            "run p.yaml in -o out --quality 80", 64,
            "imagemill: options such as --resize replace the pipeline file; leave out 'p.yaml' or the options\n"
        ),
        (
            "run web-photos in -o out --quality 80", 64,
            "imagemill: options such as --resize replace the pipeline; leave out 'web-photos' or the options\n"
        ),
        (
            "run --resize 800x800 webp in -o out", 64,
            "imagemill: 'webp' is no picture; if a size ends with > or <, put it in quotes: --resize '800x800>'\n"
        ),
        (
            "run p.yaml in -o ~/out", 64,
            "imagemill: the shell replaces '~' only if it is not in quotes; write -o ~/out without, or ./~/out for a folder of that name\n"
        ),
        ("plan in p.yaml", 64, "imagemill: 'in' is a folder; name one picture in it\n"),
        (
            "plan in/a.jpg p.yaml --sheet gone/sheet.png", 64,
            "imagemill: cannot write the sheet 'gone/sheet.png': its folder is not there; make it, or choose another file (--sheet)\n"
        ),
        ("run p.yaml in -o out --json --json-lines", 64, "imagemill: --json and --json-lines exclude each other\n"),
        ("run in/a.jpg in -o out", 64, "imagemill: 'in/a.jpg' is no pipeline; name a pipeline file such as my.yaml"),
        ("run p.yaml in -o out --plan x", 64, "imagemill: --plan takes no pipeline and no sources: they are in 'x'\n"),
        ("plan p.yaml", 64, "imagemill: name one picture and one pipeline, found 0 pictures\n"),
        (
            "plan in/a.jpg p.yaml --sheet in", 64,
            "imagemill: --sheet writes a PNG or a JPEG; name a file that ends with .png or .jpg\n"
        ),
        ("check in/a.jpg", 78, "in/a.jpg:1:1: error: expected a YAML file, found a picture (jpeg)\n"),
        ("check gone.yaml", 78, "imagemill: cannot open 'gone.yaml': No such file or directory\n"),
        ("stages resise", 64, "imagemill: there is no stage 'resise'; did you mean 'resize'?\n"),
        ("retry", 64, "imagemill: name the failed sources, or use --all\n"),
        ("retry --all a.jpg", 64, "imagemill: --all takes no sources; leave out 'a.jpg' or --all\n"),
        ("help rum", 64, "imagemill: there is no command 'rum'; did you mean 'run'?\n"),
        ("status p.yaml", 78, "  ^\n1 mistake in p.yaml\n"),
        ("watch p.yaml", 78, "  ^\n1 mistake in p.yaml; nothing is watched\n"),
        ("report report.json -o in", 78, "imagemill: cannot put 'in' in place: there is a folder of that name\n"),
        ("convert a.jpg b.webp", 64, "imagemill: there is no command 'convert'; did you mean 'run'?\n"),
        ("status mill.yaml", 75, "/status.sock'; start one with 'imagemill watch mill.yaml' (there is no folder '"),
    ]

    @Test(arguments: mistakes.indices)
    func `a mistake on the command line is shown with its cause and its remedy, and nothing is written`(index: Int)
        async throws
    {
        let (arguments, exit, words) = Self.mistakes[index]
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("text", to: "notes.txt")
        try runner.folder.write(
            "{\"schema\":\"imagemill.batch/1\",\"sources\":[],\"summary\":{\"milliseconds\":1,\"interrupted\":false}}",
            to: "report.json")
        try runner.folder.write(
            "state: state\ninboxes:\n  - { path: in, outbox: box, pipeline: p.yaml }\n", to: "mill.yaml")
        try FileManager.default.createDirectory(atPath: runner.folder.path("empty"), withIntermediateDirectories: true)
        let result = try await runner.run(arguments.split(separator: " ").map(String.init))
        #expect(result.exit == exit)
        #expect(result.errors.contains(words), "\(result.errors)")
        for name in ["one", "two", "fresh", "b.webp", "in/.imagemill", "drop", "plan", "in/plan.json", "s3:"] {
            #expect(!runner.exists(name))
        }
        #expect(!runner.exists("out") || exit == 2 || exit == 0)
    }

    @Test func `a folder named like a picture is taken if it is there, or if a folder of pictures is named`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "new.webp").exit == 0)
        #expect(try await runner.run("run", "p.yaml", "in/a.jpg", "-o", "new.webp").exit == 0)
        #expect(runner.exists("new.webp/a.webp"))
        let piped = try await runner.shell("'\(CommandRunner.executable)' run p.yaml - -o b.webp < in/a.jpg")
        #expect(piped.exit == 64 && piped.errors.contains("-o names a folder"), "\(piped.errors)")
        try runner.folder.write(
            "renditions: { a: { save: { format: webp } }, b: { save: { format: png } } }\n", to: "two.yaml")
        let two = try await runner.run("run", "two.yaml", "in/a.jpg", "-o", "B.JPG")
        #expect(
            two.errors
                == "imagemill: -o names a folder, and 'B.JPG' is named like a picture; name a folder for the renditions (-o)\n"
        )
    }

    @Test func `an empty name of the output folder is refused`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "")
        #expect(
            result.exit == 64
                && result.errors.hasPrefix("imagemill: -o has an empty name; name the folder for the renditions\n"),
            "\(result.errors)")
    }

    @Test func `a list with the line ends of Windows names the same files`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a.jpg", "in/b.jpg", "in/c.jpg"] { try await runner.picture(name) }
        try runner.folder.write("in/a.jpg\r\n\r\nin/b.jpg\r\nin/c.jpg\r", to: "list")
        let result = try await runner.run("run", "p.yaml", "--files-from", "list", "-o", "out")
        #expect(result.exit == 0 && runner.files() == ["a.webp", "b.webp", "c.webp"], "\(result.errors)")
        // Between NULs a name is what it is.
        try runner.folder.write("in/a.jpg\r\0in/b.jpg\0", to: "list0")
        let exact = try await runner.run("run", "p.yaml", "--files-from", "list0", "--from0", "-o", "out")
        #expect(exact.errors.contains("in/a.jpg\\r: not-found"), "\(exact.errors)")
        let lines = try await runner.run("run", "p.yaml", "--files-from", "list0", "-o", "other")
        #expect(lines.exit != 0 && !runner.exists("other"), "\(lines)")
        #expect(
            lines.errors == "imagemill: cannot read the list of sources: it has NULs between the paths; add --from0\n")
    }

    @Test(.enabled(if: TestMachine.othersCanRun, "no other user can run the program here"))
    func `an output folder that cannot be written to is named, with what to do`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let tool = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        try #require(
            try await runner.shell("mkdir ro; chmod 755 . in ro; chmod 644 p.yaml in/a.jpg").exit == 0)
        let result = try await runner.shell("\(tool) '\(CommandRunner.executable)' run p.yaml in -o ro")
        #expect(
            result.exit == 75
                && result.errors
                    == "imagemill: cannot write to the output folder 'ro': Permission denied; change its permissions, or choose another folder (-o)\n",
            "\(result.errors)")
        let state = try await runner.shell("\(tool) '\(CommandRunner.executable)' run p.yaml in -o ro --state ro/s")
        #expect(state.exit == 75 && state.errors.contains("the folder 'ro/s'") && state.errors.contains("(--state)"))
    }

    @Test func `usual extensions are formats too, in a file as on the command line`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.png")
        try runner.folder.write(
            "renditions:\n  a: { save: { format: jpg, quality: 80 } }\n  b: { save: { format: [tif, gif] }, file: \"b.{ext}\" }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(
            result.exit == 0 && runner.files() == ["a-a.jpg", "b.gif", "b.tif"], "\(result.errors) \(runner.files())")
        try runner.folder.write("renditions:\n  a: { save: { format: [jpeg, jpg] } }\n", to: "p.yaml")
        let twice = try await runner.run("check", "p.yaml")
        #expect(
            twice.errors.hasPrefix("p.yaml:2:31: error: duplicate format 'jpg'; remove one of them\n"),
            "\(twice.errors)")
    }

    @Test func `a search that passes over drawings names the option that reads them`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>", to: "in/b.svg")
        let one = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(one.errors.contains("; 1 other file passed over; --allow svg reads it; report: "), "\(one.errors)")
        try runner.folder.write("text", to: "in/c.txt")
        let two = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(two.errors.contains("; 2 other files passed over; --allow svg reads 1 of them; "), "\(two.errors)")
    }

    @Test func `sources of one name in several folders get the hint that keeps them apart`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a/IMG_0001.JPG", "in/b/IMG_0001.JPG"] { try await runner.picture(name) }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(
            result.errors.hasSuffix(
                "was given a version, since its name was taken; see the report; --keep-tree keeps their folders apart\n"
            ),
            "\(result.errors)")
        let kept = try await runner.run("run", "p.yaml", "in", "-o", "out2", "--keep-tree")
        #expect(!kept.errors.contains("version"), "\(kept.errors)")
        for name in ["flat/x.jpg", "flat/x.png"] { try await runner.picture(name) }
        let flat = try await runner.run("run", "p.yaml", "flat", "-o", "out3")
        #expect(
            flat.errors.hasSuffix("was given a version, since its name was taken; see the report\n"), "\(flat.errors)")
    }

    @Test func `a sheet that was written is said to be`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let result = try await runner.run("plan", "in/a.jpg", "p.yaml", "--sheet", "sheet.png")
        #expect(
            result.exit == 0 && result.errors == "wrote sheet.png\n" && runner.exists("sheet.png"), "\(result.errors)")
    }

    @Test func `options that may be repeated are, and what follows '--' is no option`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a.jpg", "in/b.jpg", "in/c.jpg"] { try await runner.picture(name) }
        let result = try await runner.run(
            "run", "p.yaml", "in", "-o", "out", "-v", "-v", "--exclude", "a.jpg", "--exclude", "b.jpg", "--", "-o")
        #expect(runner.files() == ["c.webp"] && result.errors.contains("-o: not-found:"), "\(result.errors)")
    }
}
