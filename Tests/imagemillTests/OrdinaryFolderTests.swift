// Folders as they are in life: pictures among other files, of which some are not wanted.
import Foundation
import TestSupport
import Testing

@Suite struct OrdinaryFolderTests {
    @Test func `a camera's folder is done, and what is no picture is passed over and counted`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["cam/IMG_1.jpg", "cam/IMG_2.jpg"] { try await runner.picture(name) }
        for name in ["IMG_1.xmp", "IMG_1.CR2", "IMG_1.AAE", "IMG_2.MOV"] {
            try runner.folder.write("other", to: "cam/" + name)
        }
        let result = try await runner.run("run", "p.yaml", "cam", "-o", "out", "-v")
        #expect(result.exit == 0)
        #expect(
            result.errors.contains("2 of 2 sources done, 2 renditions in ")
                && result.errors.contains("; 4 other files passed over; report: "))
        #expect(result.errors.contains("passed over: cam/IMG_1.CR2\n"))
        #expect(result.errors.contains(/cam\/IMG_1.jpg → out\/IMG_1.webp \(32×24, [0-9]+ bytes\)/), "\(result.errors)")
        let summary = String(decoding: try runner.bytes("out/.imagemill/report.json"), as: UTF8.self)
        #expect(summary.contains(#""passed-over":4"#))

        let named = try await runner.run("run", "p.yaml", "cam/IMG_1.xmp", "-o", "out")
        #expect(named.exit == 2)
        #expect(
            named.errors.hasPrefix(
                "cam/IMG_1.xmp: not-an-image: expected a picture, found a file in no recognized image format\n"))
        let nothing = try await runner.run("run", "p.yaml", "cam", "-o", "out", "--include", "*.xmp")
        #expect(nothing.exit == 0)
        #expect(
            nothing.errors
                == "nothing to do: no pictures were found that --include and --exclude let pass; 1 other file passed over\n"
        )
    }

    @Test func `--include and --exclude choose files and whole folders`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["a.jpg", "b.png", "node_modules/c.jpg", "x/drafts/d.jpg", "x/e.jpg"] {
            try await runner.picture("in/" + name)
        }
        let result = try await runner.run(
            "run", "p.yaml", "in", "-o", "out", "--include", "*.jpg", "--exclude", "node_modules", "--exclude",
            "x/drafts/**")
        #expect(result.exit == 0)
        #expect(runner.files() == ["a.webp", "e.webp"])
    }

    @Test func `--files-from takes paths by lines or NULs, from a file or standard input`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["a.jpg", "b b.jpg", "sub/c.jpg"] { try await runner.picture("in/" + name) }
        try runner.folder.write("in/a.jpg\nin/sub\n", to: "list")
        #expect(try await runner.run("run", "p.yaml", "--files-from", "list", "-o", "out").exit == 0)
        #expect(runner.files() == ["a.webp", "c.webp"])
        let piped = try await runner.shell(
            "find in -name '*b.jpg' -print0 | \"$IMAGEMILL\" run p.yaml --files-from - --from0 -o other")
        #expect(piped.exit == 0 && runner.files(in: "other") == ["b b.webp"], "\(piped.errors)")
        try runner.folder.write("in/a.jpg\nlist\n", to: "bad")
        #expect(try await runner.run("run", "p.yaml", "--files-from", "bad", "-o", "out").exit == 1)
    }

    @Test func `a set skips sidecars`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            source: set
            renditions:
              sheet:
                stages:
                  - contact-sheet: { columns: 2, cell: { width: 20, height: 20 } }
                save: { format: png }
            """, to: "sheet.yaml")
        for name in ["in/1.jpg", "in/2.png"] { try await runner.picture(name) }
        for name in ["in/1.xmp", "in/IMG.AAE"] { try runner.folder.write("other", to: name) }
        let result = try await runner.run("run", "sheet.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.errors.contains("2 other files passed over"))
    }

    @Test
    func `paths are shown as they were typed, and sources of two folders have two paths in the report`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["d1/x.jpg", "d2/x.jpg"] { try runner.folder.write("no", to: name) }
        let result = try await runner.run("run", "p.yaml", "./d1", "d2/", "-o", "out")
        // Either may be first: two workers are at it.
        let lines = result.errors.split(separator: "\n")
        for path in ["./d1/x.jpg", "d2/x.jpg"] {
            #expect(lines.contains { $0.hasPrefix("\(path): not-an-image") }, "\(result.errors)")
        }
        #expect(try Set(runner.report().sources.map(\.source.path)) == ["d1/x.jpg", "d2/x.jpg"])
    }

    @Test func `--keep-tree keeps the folders below the one that all sources have in common`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        for name in ["in/a/1.jpg", "in/b/1.jpg"] { try await runner.picture(name) }
        #expect(try await runner.run("run", "p.yaml", "in/a/1.jpg", "in/b/1.jpg", "-o", "out", "--keep-tree").exit == 0)
        #expect(runner.files() == ["a/1.webp", "b/1.webp"])
    }
}
