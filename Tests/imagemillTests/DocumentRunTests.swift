// `documents`: JSON files beside the renditions, which name them as they are named.
import Foundation
import TestSupport
import Testing

@Suite struct DocumentRunTests {
    private func runner(_ documents: String, renditions: String? = nil) async throws -> CommandRunner {
        let runner = try CommandRunner()
        let usual =
            "{ icon: { scale: [1, 2], stages: [ { resize: { width: 8 } } ], save: { format: png }, file: \"{stem}.set/{stem}{scale}.{ext}\" } }"
        try runner.folder.write("renditions: \(renditions ?? usual)\ndocuments:\n\(documents)\n", to: "p.yaml")
        try await runner.picture("in/a b.jpg")
        return runner
    }

    private static let contents = """
          contents:
            file: "{stem}.set/Contents.json"
            content:
              images:
                - { filename: "{file:icon}", scale: 1x, address: "../{stem}/x" }
                - { filename: "{file:icon@2x}", url: "{url:icon@2x}" }
              info: { version: 1, ratio: 1.5, isDark: false, nothing: null, text: "1", words: 'say "{stem}"' }
        """

    private func json(_ runner: CommandRunner, _ path: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(runner.bytes(path))) as? NSDictionary)
    }

    @Test func `a document has the names that its renditions have, values of their types, and fields filled in`()
        async throws
    {
        let runner = try await runner(Self.contents)
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files() == ["a b.set/Contents.json", "a b.set/a b.png", "a b.set/a b@2x.png"])
        let expected: NSDictionary = [
            "images": [
                ["filename": "a b.png", "scale": "1x", "address": "../a b/x"],
                ["filename": "a b@2x.png", "url": "a%20b%402x.png"],
            ],
            "info": [
                "version": 1, "ratio": 1.5, "isDark": false, "nothing": NSNull(), "text": "1", "words": "say \"a b\"",
            ],
        ]
        #expect(try json(runner, "out/a b.set/Contents.json") == expected)
        let report = String(decoding: try runner.bytes("out/.imagemill/report.json"), as: UTF8.self)
        #expect(report.contains(#""documents":[{"bytes":"#) && report.contains(#""name":"contents""#))
        let validation = try await runner.validate("batch", ["out/.imagemill/report.json"])
        #expect(validation.exit == 0, "\(validation.output)\(validation.errors)")
    }

    @Test(arguments: [[], ["--cache", "cache"]])
    func
        `a second run skips it, a document that is gone is made again, and --prune removes those of a source that is gone`(
            options: [String]
        ) async throws
    {
        let runner = try await runner(Self.contents)
        let command = ["run", "p.yaml", "in", "-o", "out"] + options
        #expect(try await runner.run(command).exit == 0)
        #expect(try await runner.run(command).errors.contains("1 source unchanged"))
        try FileManager.default.removeItem(atPath: runner.folder.path("out/a b.set/Contents.json"))
        #expect(try await runner.run(command).exit == 0)
        #expect(runner.exists("out/a b.set/Contents.json"))
        try await runner.picture("in/other.jpg")
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a b.jpg"))
        #expect(try await runner.run(command + ["--prune"]).exit == 0)
        #expect(
            runner.files() == ["other.set/Contents.json", "other.set/other.png", "other.set/other@2x.png"])
    }

    @Test func `two sources of one name have a document each, which names their own files`() async throws {
        let runner = try await runner(Self.contents)
        try await runner.picture("in/sub/a b.png")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let images = try #require(try json(runner, "out/a b-2.set/Contents.json")["images"] as? [[String: String]])
        #expect(images.map { $0["filename"] } == ["a b-2.png", "a b-2@2x.png"])
        for image in images { #expect(runner.exists("out/a b-2.set/\(image["filename"] ?? "")")) }
    }

    @Test
    func `items that name a file which is not made are left out, and a document that could name none is not written`()
        async throws
    {
        let renditions =
            "{ large: { when: { width: \">= 1000\" }, save: { format: png }, file: \"{stem}-large.png\" }, small: { save: { format: png }, file: \"{stem}.png\" } }"
        let runner = try await runner(
            """
              both: { file: "{stem}.json", content: { files: ["{file:large}", "{file:small}"] } }
              nested: { file: "{stem}-nested.json", content: { lang: x, all: { main: "{file:large}", list: [{ in: { deep: "{file:large}" } }, "{file:small}"] } } }
              one: { file: "{stem}-large.json", content: { file: "{file:large}" } }
            """, renditions: renditions)
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(runner.files() == ["a b-nested.json", "a b.json", "a b.png"])
        #expect(try json(runner, "out/a b-nested.json") == ["lang": "x", "all": ["list": ["a b.png"]]])
        #expect(try json(runner, "out/a b.json") == ["files": ["a b.png"]])
    }

    @Test func `a document names files by their contents too, relative to its own folder`() async throws {
        let runner = try await runner(
            "  list: { file: \"meta/{stem}.json\", content: [ \"{file:icon}\" ] }",
            renditions: "{ icon: { save: { format: webp }, file: \"img/{stem}.{content-hash:8}.{ext}\" } }")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let picture = try #require(runner.files().first { $0.hasPrefix("img/") })
        let text = String(decoding: try runner.bytes("out/meta/a b.json"), as: UTF8.self)
        #expect(text.contains("\"../\(picture)\""), "\(text)")
    }

    @Test func `a drop folder publishes a document with its renditions`() async throws {
        let drop = try WatchedFolder()
        try drop.runner.folder.write(
            "renditions: { icon: { save: { format: webp } } }\ndocuments: { about: { file: \"{stem}.about.json\", content: { file: \"{file:icon}\" } } }\n",
            to: "p.yaml")
        let watch = try await drop.start()
        try await drop.drop("a.jpg", into: "in")
        try await drop.until("out/a.webp", "out/a.about.json")
        #expect(try await drop.stop(watch).exit == 0)
        let text = String(decoding: try drop.runner.bytes("out/a.about.json"), as: UTF8.self)
        #expect(text.contains("\"file\" : \"a.webp\""))
    }

    @Test(arguments: [
        ("  x: { file: a.json, content: [ \"{file:icn}\" ] }", "there is no rendition 'icn'; did you mean 'icon'?"),
        ("  x: { file: a.json, content: [ \"{file:icon@4x}\" ] }", "and the rendition has no scale 4"),
        ("  x: { file: a.json, content: 7 }", "'content' expects a mapping or a list"),
        ("  x: { file: \"{width}.json\", content: [] }", "a document has no size"),
        ("  x: { content: [] }", "document 'x' needs 'file'"),
        ("  x: { file: a.json, content: [ \"{stm}\" ] }", "did you mean 'stem'"),
    ])
    func `a wrong document is a mistake of the pipeline`(document: String, words: String) async throws {
        let runner = try await runner(document)
        let result = try await runner.run("check", "p.yaml")
        #expect(result.exit != 0 && result.errors.contains(words), "\(result.errors)")
    }
}
