// Thumbnails for file managers: names, marks and permissions as the specification has them.
import Foundation
import TestSupport
import Testing

@testable import Render

@Suite struct DesktopThumbnailTests {
    private let pipeline = Checkout.path + "/pipelines/desktop-thumbnails.yaml"

    @Test func `a thumbnail is named after its source's URI, and says of it what file managers compare`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a b#ü.jpg")
        _ = try await runner.shell("touch -d @1700000000.75 'in/a b#ü.jpg'")
        let result = try await runner.run("run", pipeline, "in", "-o", "thumbs")
        #expect(result.exit == 0, "\(result.errors)")
        let uri = try await runner.shell("printf 'file://%s/in/a%%20b%%23%%C3%%BC.jpg' \"$(pwd -P)\"")
        let digest = try await runner.shell("printf %s '\(uri.output)' | md5sum | cut -d' ' -f1")
        let name = digest.output.trimmingCharacters(in: .newlines) + ".png"
        #expect(runner.files(in: "thumbs") == ["large/\(name)", "normal/\(name)", "x-large/\(name)"])
        let texts = try await runner.shell(
            "vipsheader -a thumbs/normal/\(name) | grep png-comment | sed 's/^png-comment-[0-9]*-//' | sort")
        let bytes = try await runner.shell("stat -c %s 'in/a b#ü.jpg'")
        #expect(
            texts.output == """
                Software: Imagemill
                Thumb::MTime: 1700000000
                Thumb::Mimetype: image/jpeg
                Thumb::Size: \(bytes.output)Thumb::URI: \(uri.output)

                """)
        #expect(
            try await runner.shell("stat -c %a thumbs/normal/\(name) thumbs/normal thumbs/large").output
                == "600\n700\n700\n")
    }

    @Test
    func `the address in a thumbnail is the file's as it was named, links included; the new folder is private`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.picture("real/sub/a.jpg")
        _ = try await runner.shell("ln -s real named")
        for (named, address) in [
            ("named", "named/sub/a.jpg"), ("./named/sub/a.jpg", "named/sub/a.jpg"), ("real", "real/sub/a.jpg"),
        ] {
            let result = try await runner.run("run", pipeline, named, "-o", "new/thumbs")
            #expect(result.exit == 0, "\(result.errors)")
            let digest = try await runner.shell("printf 'file://%s/\(address)' \"$(pwd -P)\" | md5sum | cut -d' ' -f1")
            let name = "normal/\(digest.output.trimmingCharacters(in: .newlines)).png"
            #expect(runner.files(in: "new/thumbs").contains(name), "\(named): \(runner.files(in: "new/thumbs"))")
            _ = try await runner.shell("stat -c %a new/thumbs > mode; rm -r new")
            #expect(try runner.bytes("mode") == Array("700\n".utf8))
        }
    }

    @Test func `a source has thumbnails for each address that it was named by`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("real/sub/a.jpg")
        _ = try await runner.shell("ln -s real named")
        var made: [String] = []
        for folder in ["named", "real", "named"] {
            let why = try await runner.run("run", pipeline, folder, "-o", "thumbs", "--why", "\(folder)/sub/a.jpg")
            let result = try await runner.run("run", pipeline, folder, "-o", "thumbs")
            #expect(result.errors.hasPrefix("1 of 1 source done, 3 renditions"), "\(folder): \(result.errors)")
            let uri = try await runner.shell("printf 'file://%s/\(folder)/sub/a.jpg' \"$(pwd -P)\"").output
            if !made.isEmpty {
                #expect(
                    why.output == "\(folder)/sub/a.jpg: would be done:\n  it has no thumbnails of the address \(uri)\n")
            }
            let digest = try await runner.shell("printf %s '\(uri)' | md5sum | cut -d' ' -f1")
            made.append("normal/\(digest.output.trimmingCharacters(in: .newlines)).png")
            #expect(Set(made).isSubset(of: runner.files(in: "thumbs")), "\(runner.files(in: "thumbs"))")
            let again = try await runner.run("run", pipeline, folder, "-o", "thumbs")
            #expect(again.errors.hasPrefix("1 source unchanged"), "\(folder): \(again.errors)")
        }
        #expect(Set(made).count == 2)
    }

    @Test func `a thumbnail is never larger than its folder's name allows`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 200, height: 100) }
        func run(_ name: String, _ size: Int) async throws -> CommandResult {
            try runner.folder.write(
                "renditions: { \(name): { layout: freedesktop, stages: [ { resize: { size: \"\(size)x>\" } } ], save: { format: png } } }",
                to: "p.yaml")
            return try await runner.run("run", "p.yaml", "in", "-o", "out-\(name)-\(size)")
        }
        #expect(try await run("normal", 129).exit == 2)
        let error = try runner.report("out-normal-129/.imagemill/report.json")["a.png"]?.error
        #expect(
            error?.code == "too-large-for-format" && error?.message.contains("at most 128 a side") == true,
            "\(error?.message ?? "")")
        #expect(try await run("normal", 128).exit == 0)
        #expect(try await run("large", 129).exit == 0)
    }

    @Test func `a drop folder that takes its originals away makes no thumbnails of them`() async throws {
        let runner = try CommandRunner()
        for (policy, exit) in [("move", 78), ("delete", 78), ("keep", 0)] as [(String, Int32)] {
            let inbox = "{ path: in, outbox: out, pipeline: '\(pipeline)', originals: \(policy) }"
            try runner.folder.write("state: state\ninboxes: [ \(inbox) ]\n", to: "mill.yaml")
            let result = try await runner.run("check", "mill.yaml")
            #expect(result.exit == exit)
            #expect(
                result.errors.contains("takes them away; write 'originals: keep'") == (exit == 78), "\(result.errors)")
        }
    }

    /// GIO is in Debian's libglib2.0-bin; without it there is nothing to ask.
    private static let hasGIO = FileManager.default.isExecutableFile(atPath: "/usr/bin/gio")

    @Test(.enabled(if: hasGIO))
    func `GIO takes the thumbnails for valid ones, also of a picture with 16 bits`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        try await runner.save("in/deep.png", as: "pngsave_target") {
            try TestPicture.coded(width: 300, height: 200, kind: PictureKind(isDeep: true))
        }
        #expect(try await runner.run("run", pipeline, "in", "-o", "cache/thumbnails").exit == 0)
        for name in ["a.jpg", "deep.png"] {
            let info = try await runner.shell("XDG_CACHE_HOME=$(pwd -P)/cache gio info -a 'thumbnail::*' in/\(name)")
            #expect(info.output.contains("thumbnail::is-valid: TRUE"), "\(info.output)")
        }
        let kinds = try await runner.shell(
            "for f in cache/thumbnails/*/*.png; do vipsheader -f format $f; done | sort -u")
        #expect(kinds.output.split(separator: "\n").count == 1 && kinds.output.contains("UCHAR"), "\(kinds.output)")
    }

    @Test func `an older thumbnail that a file manager made is replaced`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.jpg")
        _ = try await runner.run("run", pipeline, "in", "-o", "thumbs")
        let names = runner.files(in: "thumbs")
        _ = try await runner.shell("rm -r thumbs/.imagemill && for f in thumbs/*/*; do echo old > $f; done")
        let result = try await runner.run("run", pipeline, "in", "-o", "thumbs")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files(in: "thumbs") == names)
        #expect(try await runner.size(of: "thumbs/" + names[0]).count == 2)
    }

    @Test func `what the layout cannot have is shown with its place`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              small: { layout: freedesktop, file: "a.png", scale: [1, 2], stages: [ { resize: { size: 9x } } ], save: { format: jpeg } }
            """, to: "p.yaml")
        let result = try await runner.run("check", "p.yaml")
        #expect(result.exit == 78)
        for words in [
            "'layout: freedesktop' names the file; remove 'file'", "has one file for each size; remove 'scale'",
            "needs 'format: png'",
            "with 'layout: freedesktop' a rendition is named normal, large, x-large, xx-large, after its folder; found 'small'",
        ] { #expect(result.errors.contains(words), "\(result.errors)") }
    }
}
