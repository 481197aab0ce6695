// The commands that look and write nothing: plan, check, stages, schema, and everybody's help.
import Foundation
import Pipeline
import Stages
import TestSupport
import Testing

@testable import System

@Suite struct CommandTests {
    @Test func `plan shows every stage of every rendition as a table`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("photo.jpg")
        let result = try await runner.run("plan", "photo.jpg", Checkout.path + "/pipelines/product-shots.yaml")
        #expect(result.exit == 0, "\(result.errors)")
        let rows = result.output.split(separator: "\n").map(String.init)
        #expect(rows[0] == "photo.jpg: jpeg 64×48, rgb")
        #expect(rows.contains { $0.split(separator: " ").prefix(3) == ["inset", "64×48", "→"] })
        #expect(rows.contains("gallery") && rows.contains("gallery@2x") && rows.contains("thumb"))
        #expect(
            rows.contains {
                $0.contains("save jpeg") && $0.contains("1200×1200") && $0.hasSuffix("photo-gallery@2x.jpg")
            })
        #expect(rows.contains { $0.hasPrefix("warning: upscaled: 'gallery@2x'") })
        #expect(runner.files(in: ".") == ["photo.jpg"])
    }

    @Test func `plan says which renditions of a picture with an alpha channel lose it`() async throws {
        let runner = try CommandRunner()
        try await runner.save("a.png", as: "pngsave_target") {
            try TestPicture.make(width: 8, height: 6, bands: 4) { _, _ in [9, 9, 9, 255] }
        }
        try await runner.picture("b.jpg")
        try runner.folder.write(
            "renditions:\n  a: { widths: 4, save: { format: [jpeg, webp], background: \"#102030\" } }\n", to: "p.yaml")
        let plan = try await runner.run("plan", "a.png", "p.yaml")
        #expect(
            plan.output.contains("a-4.jpg, transparency becomes #102030\n") && plan.output.contains("a-4.webp\n"),
            "\(plan.output)")
        #expect(try await !runner.run("plan", "b.jpg", "p.yaml").output.contains("transparency"))
    }

    @Test func `plan --json says the same for programs`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("photo.png")
        let result = try await runner.run("plan", "photo.png", "p.yaml", "--json")
        #expect(result.exit == 0)
        let plan = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        try runner.folder.write(result.output, to: "plan.json")
        let validation = try await runner.validate("picture-plan", ["plan.json"])
        #expect(validation.exit == 0, "\(validation.output)")
        let source = try #require(plan["source"] as? [String: Any])
        #expect(source["format"] as? String == "png" && source["width"] as? Int == 64 && source["height"] as? Int == 48)
        let rendition = try #require((plan["renditions"] as? [[String: Any]])?.first)
        #expect(
            rendition["path"] as? String == "photo.webp" && rendition["width"] as? Int == 32
                && rendition["exact"] as? Bool == true)
    }

    @Test(arguments: [("gone.jpg", "not-found"), ("text.jpg", "not-an-image")])
    func `plan tells what is wrong with the sample`(sample: String, code: String) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try runner.folder.write("text", to: "text.jpg")
        let result = try await runner.run("plan", sample, "p.yaml")
        #expect(result.exit == 1)
        #expect(result.errors.hasPrefix("\(sample): \(code): "))
    }

    @Test func `check praises good files, and tells the mistakes of the others`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline("good.yaml")
        try runner.folder.write("renditions: 7\n", to: "bad.yaml")
        let result = try await runner.run("check", "good.yaml", "bad.yaml")
        #expect(result.exit == 78)
        #expect(result.output == "good.yaml: good; 1 file for each picture\n")
        #expect(result.errors.hasPrefix("bad.yaml:1:13: error: "))
        #expect(try await runner.run("check", "good.yaml").exit == 0)
    }

    @Test func `names without an extension are no mistake, and not what most people want`() async throws {
        let runner = try CommandRunner()
        let renditions =
            "{ a: { file: \"thumb-{stem}\", save: { format: webp } }, b: { file: \"{stem}.x\", save: { format: png } } }"
        try runner.folder.write("renditions: " + renditions, to: "p.yaml")
        let result = try await runner.run("check", "p.yaml")
        #expect(result.exit == 0)
        #expect(
            result.output == """
                p.yaml: good; 2 files for each picture
                  warning: 'thumb-{stem}' gives names without an extension; end it with '.{ext}'

                """)
    }

    @Test func `check --json lists mistakes with their places, as its schema says`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline("good.yaml")
        try runner.folder.write("renditions: 7\n", to: "bad.yaml")
        let result = try await runner.run("check", "--json", "good.yaml", "bad.yaml", "gone.yaml")
        #expect(result.exit == 78 && result.errors.isEmpty)
        try runner.folder.write(result.output, to: "check.json")
        let validation = try await runner.validate("check", ["check.json"])
        #expect(validation.exit == 0, "\(validation.output)")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let files = try #require(document["files"] as? [[String: Any]])
        #expect(files.map { $0["good"] as? Bool } == [true, false, false])
        let mistake = try #require((files[1]["mistakes"] as? [[String: Any]])?.first)
        #expect(mistake["line"] as? Int == 1 && mistake["column"] as? Int == 13)
    }

    @Test
    func `stages lists them all, and explains each with its parameters and an example that check accepts`() async throws
    {
        let runner = try CommandRunner()
        let list = try await runner.run("stages")
        #expect(list.exit == 0)
        let names = list.output.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(names == StageCatalogue.all.names)
        try runner.folder.write(try await SamplePicture.png.bytes, to: "assets/badge.png")
        for name in names {
            let page = try await runner.run("stages", name)
            #expect(page.exit == 0 && page.output.hasPrefix("\(name): "))
            let example = page.output.components(separatedBy: "\nexample\n").last ?? ""
            #expect(example.contains("- \(name)"), "\(name)")
            let text =
                example.split(separator: "\n").map { $0.dropFirst(2) + "\n" }.joined()
                + "renditions: { a: { save: { format: webp } } }\n"
            try await runner.assets(of: example)
            try runner.folder.write(text, to: "p.yaml")
            let check = try await runner.run("check", "p.yaml")
            #expect(check.exit == 0, "\(name): \(check.errors)")
        }
    }

    @Test func `stages save explains the options of every format`() async throws {
        let result = try await CommandRunner().run("stages", "save")
        #expect(result.exit == 0)
        #expect(result.output.contains("save: { format: avif }\n  quality (default 50)\n"), "\(result.output)")
    }

    @Test(arguments: ["pipeline", "report", "batch"])
    func `schema prints JSON, which is committed below docs/schema`(document: String) async throws {
        let runner = try CommandRunner()
        let result = try await runner.run("schema", document)
        #expect(result.exit == 0)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(object["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(try result.output == Checkout.text("docs/schema/\(document).schema.json"), "run `make docs`")
    }

    @Test func `the committed reference is what the declarations say`() async throws {
        let runner = try CommandRunner()
        #expect(try await runner.run("docs", "docs").exit == 0)
        for name in runner.files(in: "docs") {
            #expect(try runner.bytes("docs/" + name) == Array(Checkout.text("docs/" + name).utf8), "run `make docs`")
        }
        let committed = try FileManager.default.subpathsOfDirectory(atPath: Checkout.path + "/docs/man")
        #expect(runner.files(in: "docs/man") == committed.sorted())
    }

    @Test(arguments: ["run", "init", "plan", "check", "stages", "schema", "shard", "gather"])
    func `the help of every command has an example`(command: String) async throws {
        let runner = try CommandRunner()
        let result = try await runner.run(command, "--help")
        #expect(result.exit == 0)
        #expect(result.output.contains("Example: imagemill \(command)"))
        let overview = try await runner.run("--help")
        #expect(overview.output.contains("\n  \(command) "))
        #expect(overview.output.contains("Exit codes: 0 all good"))
    }

    @Test func `the version is printed, and those of libvips and the libraries of formats`() async throws {
        let result = try await CommandRunner().run("--version")
        #expect(result.exit == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.first?.split(separator: ".").count == 3)
        let libraries = try #require(lines.last).split(separator: ", ")
        let patterns: [(String, Regex<Substring>)] = [
            ("libvips", /^libvips 8\.\d+\.\d+$/), ("libjpeg", /^libjpeg\.so\.\d+\.\d+\.\d+$/),
            ("libpng", /^libpng 1\.\S+$/),
            ("libdeflate", /^libdeflate\.so\.\d+/), ("libwebp", /^libwebp 1\.\S+$/), ("libtiff", /^libtiff 4\.\S+$/),
            ("libcgif", /^libcgif\.so\.\d+\.\d+\.\d+$/),
            ("libjxl", /^libjxl\.so\.0\.\d+\.\d+$/),
        ]
        for (name, pattern) in patterns {
            let count = libraries.count { $0.contains(pattern) }
            // Several of libjxl may be installed.
            #expect(count == 1 || name == "libjxl" && count > 1, "\(name): \(result.output)")
        }
        #expect(
            result.output.contains(/, libheif 1\.\S+ \(reads heic, reads avif, writes avif\)\n$/), "\(result.output)")
    }

    @Test
    func `a run's document, and the last line of --json-lines, name the libraries that the version names`() async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("a.jpg")
        let lines = try await runner.run("run", "p.yaml", "a.jpg", "-o", "out", "--json-lines").output.split(
            separator: "\n")
        let summary = String(try #require(lines.last))
        let version = try await runner.run("--version").output
        for document in [
            String(
                decoding: try Data(contentsOf: URL(fileURLWithPath: runner.folder.path("out/.imagemill/report.json"))),
                as: UTF8.self), summary,
        ] {
            let members = try #require(try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any])
            let engine = try #require(members["engine"] as? [String: Any])
            let codecs = try #require(engine["codecs"] as? [String])
            let (imagemill, libvips) = (engine["imagemill"] as? String ?? "", engine["libvips"] as? String ?? "")
            // libheif is named by its file: a run that needs none of it does not load it.
            #expect(codecs.last?.contains(/^libheif\.so\.1\.\d+\.\d+$/) == true, "\(codecs)")
            #expect(
                version.hasPrefix(
                    "\(imagemill)\nlibvips \(libvips), \(codecs.dropLast().joined(separator: ", ")), libheif "),
                "\(document)")
        }
        try runner.folder.write(summary, to: "summary.json")
        let validation = try await runner.validate("summary", ["summary.json"])
        #expect(validation.exit == 0, "\(validation.output)")
    }
}
