// The usual mistakes on the command line: what each prints.
import Foundation
import TestSupport
import Testing

@Suite struct CommandMistakeTests {
    /// The arguments, the exit code, and what is printed on standard error.
    private static let mistakes: [(arguments: String, exit: Int32, words: String)] = [
        ("p.yaml run in -o out", 64, "imagemill: the command comes first: imagemill run p.yaml …\n"),
        ("in run p.yaml -o out", 64, "imagemill: the command comes first: imagemill run in …\n"),
        ("--resize 10x in -o out", 64, "imagemill: --resize is an option of 'run'; the command comes first: imagemill run --resize …\n"),
        ("rum p.yaml in -o out", 64, "imagemill: there is no command 'rum'; did you mean 'run'?\n"),
        ("run p.yaml in", 64, "Error: name the folder for the renditions with -o DIR (--output)\n"),
        ("run p.yaml in -o notes.txt", 64, "imagemill: the output folder 'notes.txt' is a file; name a folder for the renditions (-o)\n"),
        ("run p.yaml in -o in", 64, "imagemill: 'in' is the output folder too; choose another folder for the renditions (-o)\n"),
        ("run p.yaml in -o one -o two", 64, "imagemill: --output is given twice; leave one of them out\n"),
        ("run --resize 10x --resize=20x in -o out", 64, "imagemill: --resize is given twice; leave one of them out\n"),
        ("run p.yaml notes.txt -o out", 2, "notes.txt: not-an-image: expected a picture, found a file in no recognized image format\n"),
        ("run p.yaml gone.jpg -o out", 2, "gone.jpg: not-found: cannot find the file: No such file or directory\n"),
        ("run p.yaml in/*.gif -o out", 2, "in/*.gif: not-found: no file matches this pattern; check the folder and the ending\n"),
        ("run p.yaml empty -o out", 0, "nothing to do: no pictures were found\n"),
        ("run p.yaml in -o out --collision versoin", 64, "Please provide one of 'version', 'fail' or 'overwrite'.\n"),
        ("run p.yaml in -o out --dryrun", 64, "Error: Unknown option '--dryrun'. Did you mean '--dry-run'?\n"),
        ("run p.yaml in -o out --jobs 1.5", 64, "Help:  --jobs <jobs>  Worker processes, 1 to 1024."),
        (
            "run p.yaml in -o out --cache c --cache-size 5X", 64,
            "Help:  --cache-size <cache-size>  The most bytes that the cache may take, such as 10G."
        ),
        ("run p.yaml in -o out --why gone.jpg", 64, "imagemill: 'gone.jpg' is not among the sources; --why takes one of them\n"),
        ("run --resize % in -o out", 64, "imagemill: expected a size such as 800x600, 800x, x600, 800 or 50%"),
        ("run --quality 0 in -o out", 64, "imagemill: 'quality' expects a whole number from 1 to 100, found 0\n"),
        ("run --quality 101 in -o out", 64, "imagemill: 'quality' expects a whole number from 1 to 100, found 101\n"),
        ("run --quality 82% in -o out", 64, "Help:  --quality <quality>  How good the result is, 1 to 100."),
        (
            "run --format png --quality 80 in -o out", 64,
            "Error: --quality means nothing for png; leave it out, or choose jpeg, webp or avif with --format\n"
        ),
        ("run --format heic in -o out", 64, "The value 'heic' is invalid for '--format <format>'. Please provide one of the following:\n  - jpeg\n"),
        ("run --metadata none in -o out", 64, "Please provide one of 'copyright', 'keep' or 'strip'.\n"),
        (
            "run --watermark gone.png in -o out", 64,
            "imagemill: the asset 'gone.png' cannot be used: cannot find the file: No such file or directory\n"
        ),
        (
            "run web-fotos in -o out", 78,
            "imagemill: there is no file 'web-fotos', and no shipped pipeline of that name; did you mean 'web-photos'?\n"
        ),
        ("run gone.yaml in -o out", 78, "imagemill: cannot open 'gone.yaml': No such file or directory\n"),
        ("run mill.yaml in -o out", 78, "mill.yaml:1:1: error: expected a pipeline, found a mill file, which `imagemill watch` takes\n"),
        ("run in -o out", 64, "Error: 'in' is no pipeline; name a pipeline file such as my.yaml"),
        ("plan in p.yaml", 1, "in: is-a-directory: cannot read it as a picture: it is a folder; name a picture in it\n"),
        ("watch", 64, "Error: Missing expected argument '<mill>'\n"),
        ("watch gone.yaml", 78, "imagemill: cannot open 'gone.yaml': No such file or directory\n"),
        ("watch p.yaml", 78, "p.yaml:1:1: error: expected a mill file, found a pipeline; name it as the 'pipeline' of an inbox\n"),
        ("watch in", 78, "imagemill: cannot read 'in': it is a folder; name a file in it\n"),
        ("check in", 78, "imagemill: cannot read 'in': it is a folder; name a file in it\n"),
        ("init p.yaml", 64, "imagemill: 'p.yaml' is a file; name a folder\n"),
        ("cache stats empty", 64, "imagemill: 'empty' is no cache: expected a folder that 'imagemill run --cache' has filled"),
        ("status mill.yaml", 75, "/status.sock'; start one with 'imagemill watch mill.yaml'\n"),
    ]

    @Test("A mistake on the command line is told with its cause and its remedy, and nothing is written", arguments: mistakes.indices)
    func words(index: Int) async throws {
        let (arguments, exit, words) = Self.mistakes[index]
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("text", to: "notes.txt")
        try runner.folder.write("state: state\ninboxes:\n  - { path: in, outbox: box, pipeline: p.yaml }\n", to: "mill.yaml")
        try FileManager.default.createDirectory(atPath: runner.folder.path("empty"), withIntermediateDirectories: true)
        let result = try await runner.run(arguments.split(separator: " ").map(String.init))
        #expect(result.exit == exit)
        #expect(result.errors.contains(words), "\(result.errors)")
        for name in ["one", "two", "in/.imagemill", "drop"] { #expect(!runner.exists(name)) }
        #expect(!runner.exists("out") || exit == 2 || exit == 0)
    }

    @Test("An empty name of the output folder is refused")
    func emptyName() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        let result = try await runner.run("run", "p.yaml", "in", "-o", "")
        #expect(result.exit == 64 && result.errors.hasPrefix("Error: -o has an empty name; name the folder for the renditions\n"), "\(result.errors)")
    }

    @Test("Options that may be repeated are, and what follows '--' is no option")
    func repeated() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a.jpg", "in/b.jpg", "in/c.jpg"] { try await runner.picture(name) }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "-v", "-v", "--exclude", "a.jpg", "--exclude", "b.jpg", "--", "-o")
        #expect(runner.files() == ["c.webp"] && result.errors.contains("-o: not-found:"), "\(result.errors)")
    }
}
