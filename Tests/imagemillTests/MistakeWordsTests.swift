// The usual mistakes in pipeline and mill files: what each prints, word for word.
import Foundation
import TestSupport
import Testing

@Suite struct MistakeWordsTests {
    /// One rendition with these lines in it.
    private static func rendition(_ lines: String) -> String {
        "renditions:\n  a:\n" + lines + "    save: { format: png }\n"
    }

    /// One stage.
    private static func stage(_ text: String) -> String { rendition("    stages:\n      - \(text)\n") }

    private static let mistakes: [(text: String, words: String)] = [
        (
            stage("resize: { size: 10x, filter: lanczos3 }"),
            "4:30: error: unknown key 'filter' in stage 'resize'; did you mean 'kernel'?"
        ),
        (
            stage("frame: { width: 3, height: 3, fit: cover }"),
            "4:39: error: unknown key 'fit' in stage 'frame'; did you mean 'mode'?"
        ),
        (rendition("    filename: x\n"), "3:5: error: unknown key 'filename' in rendition 'a'; did you mean 'file'?"),
        (
            stage("frame: { width: 100px, height: 5 }"),
            "4:25: error: 'width' expects a length above 0: points such as 120, a percentage such as 50%, or both as in 100% - 64, found '100px'; write 100 without a unit"
        ),
        (
            "renditions:\n  a:\n    save: { format: png }\n  a:\n    save: { format: gif }\n",
            "4:3: error: duplicate key 'a'; it was first used in line 2"
        ),
        (
            "renditions:\n  a:\n    save: { format: jpg, quality: 300 }\n",
            "3:35: error: 'quality' expects a whole number from 1 to 100, found 300"
        ),
        (
            "renditions:\n  a:\n    save: { format: jpeg, quality: \"82\" }\n",
            "3:36: error: 'quality' expects a whole number from 1 to 100, found '82' in quotes; write 82 without quotes"
        ),
        (
            rendition("    scale: \"2\"\n"),
            "3:12: error: 'scale' expects a whole number from 1 to 9, or a list of them, found '2' in quotes"
        ),
        (stage("sharpen: { amount: 50% }"), "4:28: error: 'amount' expects a number from 0 to 20, found '50%'"),
        (
            "renditions:\n  a:\n    save: { format: jpeg, quality: 80% }\n",
            "3:36: error: 'quality' expects a whole number from 1 to 100, found '80%'; write 80 without a unit"
        ),
        (stage("watermark: { image: x.png }"), "4:9: error: unknown stage 'watermark'; did you mean 'overlay'?"),
        (
            rendition("    stages:\n      - resize:\n        size: 10x\n"),
            "5:9: error: 'size' belongs to 'resize': indent it further than 'resize'"
        ),
        (
            "renditions:\na:\n  save: { format: jpeg }\n",
            "1:12: error: 'renditions' is empty; indent the renditions below it by two spaces"
        ),
        (
            rendition("    stages:\n      - resize: { size: 10x }\n     - blur: { sigma: 2 }\n"),
            "5:6: error: not YAML: did not find expected key; lines that belong together must be indented by the same number of spaces"
        ),
        (
            stage("flatten: { background: #fff }"),
            "4:32: error: not YAML: did not find expected ',' or '}'; a color with # needs quotes: '#ff8800'"
        ),
        (
            rendition("    file: {stem}.{ext}\n"),
            "3:11: error: not YAML: did not find expected key; a value that begins with { needs quotes: \"{stem}.{ext}\""
        ),
        (
            stage("resize: { size: >800x }"),
            "4:25: error: not YAML: found character that cannot start any token; put the value in quotes: \">800x\""
        ),
        (rendition("    stages:\n      - resize:\n          size: >800x\n"), "; put the value in quotes: \">800x\""),
        (
            "renditions:\n  a:\n    save: { format: [webp, jepg] }\n",
            "3:28: error: expected one of jpeg, png, webp, avif, tiff, gif, jxl, ico, tiles, same, found 'jepg'; did you mean 'jpeg'?"
        ),
        (
            "renditions:\n  a:\n    save: [ webp ]\n",
            "3:13: error: 'save' expects a list of mappings such as { format: jpeg }, found 'webp'; write { format: webp }"
        ),
        (stage("frame: { width: 10, height: 10, mode: cover }"), "found 'cover'; did you mean 'aspect-fill'?"),
        (
            "inbox:\n  - path: drop\n    outbox: out\n    pipeline: p.yaml\n",
            "1:1: error: unknown key 'inbox' in the mill file; did you mean 'inboxes'?"
        ),
        (
            "inboxes:\n  - path: drop\n    outbox: drop/out\n    pipeline: p.yaml\n",
            "2:5: error: inbox 'drop': the outbox "
        ),
        (
            "renditions:\n  a:\n    save: {format:webp}\n",
            "3:12: error: found the key 'format:webp' without a value; write a space after the colon: format: webp\n      save: {format:webp}\n             ^\n1 mistake"
        ),
        (
            "renditions:\n  a:\n    save:\n      format:webp\n",
            "4:7: error: 'save' expects a mapping such as { format: jpeg, quality: 82 }, or a list of them, found 'format:webp'; write a space after the colon: format: webp"
        ),
        (
            stage("rotate: { angle: 90deg }"),
            "4:26: error: 'angle' expects a number from -360 to 360, found '90deg'; write 90 without a unit"
        ),
        (
            stage("frame: { width: 9, height: 9, mode: aspect-fill, anchor: { x: 0.12, y: 50% } }"),
            "4:68: error: 'x' of a focus point expects 0% to 100%, found 0.12; write 12%\n"
        ),
        (
            stage("frame: { width: 9, height: 9, mode: aspect-fill, anchor: { x: 50%, y: 12 } }"),
            "4:76: error: 'y' of a focus point expects 0% to 100%, found 12\n"
        ),
        (
            stage("flatten: { colour: red }"),
            "4:20: error: unknown key 'colour' in stage 'flatten'; did you mean 'background'?"
        ),
        (
            rendition("    file: \"{stem}.{ext}\n"),
            "3:11: error: not YAML: found unexpected end of stream; the quote that begins here is not closed"
        ),
        (
            "limits: { max-pixels: 10MP }\ninboxes:\n  - { path: drop, outbox: a, pipeline: p.yaml }\n",
            "1:1: error: unknown key 'limits' in the mill file; it knows state, workers, inboxes"
        ),
        (
            "inboxes:\n  - { path: drop, outbox: a, pipeline: web-photos }\n",
            "2:40: error: the pipeline 'web-photos' cannot be used: cannot open 'web-photos': No such file or directory; write the path of a file, such as /usr/share/imagemill/pipelines/web-photos.yaml: "
        ),
        (
            "inboxes:\n  - drop\n",
            "2:5: error: the inbox expects a mapping with 'path', 'outbox', 'pipeline', found 'drop'"
        ),
        (
            "http: http://localhost:8080/\ninboxes:\n  - { path: drop, outbox: a, pipeline: p.yaml }\n",
            "found 'http://localhost:8080/'; write localhost:8080"
        ),
        (
            "inboxes:\n  - { path: drop, outbox: a, pipeline: p.yaml }\n  - { path: drop, outbox: b, pipeline: p.yaml }\n",
            "3:5: error: the folder 'drop' is an inbox already, in line 2; remove one of them"
        ),
        (
            "inboxes:\n  - { path: drop, outbox: a, pipeline: p.yaml, keep-done: { age: 30, size: 50 } }\n",
            "2:66: error: 'age' expects a time such as 30d, found '30'\n"
        ),
        (
            "inboxes:\n  - { path: drop, outbox: a, pipeline: p.yaml, keep-done: { size: 50 } }\n",
            "error: 'size' expects a size with its unit, such as 10G, found '50'\n"
        ),
        (stage("frmae: { width: 10px, height: 5 }"), "4:25: error: 'width' expects a length above 0"),
        (stage("resize { size: 10x }"), "4:9: error: unknown stage 'resize { size'; write a colon after 'resize'\n"),
        (
            "renditions:\n  a: { save: { format: jpeg }, file: {stem}.jpg }\n",
            "2:38: error: not YAML: did not find expected ',' or '}'; a value that begins with { needs quotes: \"{stem}.jpg\"\n"
        ),
        (
            "renditions:\n  a: { file: {stem}.{ext}, save: { format: jpeg } }\n",
            "; a value that begins with { needs quotes: \"{stem}.{ext}\"\n"
        ),
        (
            rendition("    file: \"{date:YYYY}-{stem}.{ext}\"\n"),
            "3:11: error: {date:…} needs fields of a date, such as {date:%Y-%m-%d}, found 'YYYY'"
        ),
        (
            rendition("    file: ~/{stem}.{ext}\n"),
            "3:11: error: '~/{stem}.{ext}' is a path inside the output folder, where ~ means nothing"
        ),
        (
            stage("overlay: { image: ~/logo.png }"),
            "4:27: error: the asset '~/logo.png' cannot be used: cannot find the file: No such file or directory; ~ means nothing in a pipeline: write the whole path"
        ),
        ("<svg xmlns='http://www.w3.org/2000/svg'/>\n", "1:1: error: expected a YAML file, found a picture (svg)\n"),
        (
            "a very long line: and more of it, \(String(repeating: "x", count: 500))\n",
            "1:1: error: unknown key 'a very long line' in the pipeline"
        ),
        (
            String(repeating: "x", count: 500) + "\n",
            "found '\(String(repeating: "x", count: 79))…'\n"
        ),
    ]

    @Test(arguments: mistakes.indices)
    func `a mistake is shown with its place, its cause and its remedy`(index: Int) async throws {
        let (text, words) = Self.mistakes[index]
        let runner = try CommandRunner()
        try runner.pipeline()
        try runner.folder.write(text, to: "x.yaml")
        let result = try await runner.run("check", "x.yaml")
        #expect(result.exit == 78)
        #expect(result.errors.contains((words.first?.isNumber == true ? "x.yaml:" : "") + words), "\(result.errors)")
    }

    @Test func `a byte that is not UTF-8 is shown with its line and column`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(Array("renditions:\n  # caf".utf8) + [0xE9] + Array("\n  a:\n".utf8), to: "x.yaml")
        let result = try await runner.run("check", "x.yaml")
        #expect(
            result.errors.hasPrefix("x.yaml:2:8: error: this is not UTF-8 text; save the file in the encoding UTF-8\n"),
            "\(result.errors)")
    }

    @Test func `a picture in place of a pipeline shows no empty line and no caret`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("a.png")
        let result = try await runner.run("check", "a.png")
        #expect(
            result.errors == "a.png:1:1: error: expected a YAML file, found a picture (png)\n1 mistake in a.png\n",
            "\(result.errors)")
    }
}
