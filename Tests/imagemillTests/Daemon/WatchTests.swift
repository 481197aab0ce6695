// `imagemill watch`, from the drop to the report.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct WatchTests {
    @Test
    func `what is moved or copied in comes out with its report, in the same sub-folders, and the original is in done/`()
        async throws
    {
        let drop = try WatchedFolder()
        try await drop.drop("early.png")
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.drop("deep/er/b.jpg")
        try drop.runner.folder.write(try await SamplePicture.gif.bytes, to: "in/copied.gif")
        for name in ["early.png", "a.jpg", "deep/er/b.jpg", "copied.gif"] {
            try await drop.until("out/\(name).json", "state/done/in/\(name)")
        }
        #expect(try await drop.stop(watch).exit == 0)
        let renditions = ["a.webp", "copied.webp", "deep/er/b.webp", "early.webp"]
        #expect(drop.files("out").filter { !$0.hasSuffix(".json") } == renditions)
        for name in renditions { #expect(try await drop.runner.size(of: "out/" + name) == [32, 24]) }
        #expect(drop.files("in").isEmpty && drop.files("state/work").isEmpty && drop.files("state/failed").isEmpty)
        let report = try JSONDecoder().decode(
            BatchDocument.Entry.self, from: Data(drop.runner.bytes("out/deep/er/b.jpg.json")))
        #expect(
            report.status == "done" && report.source.path == "deep/er/b.jpg"
                && report.renditions.map(\.path) == ["deep/er/b.webp"])
        let journal = String(decoding: try drop.runner.bytes("state/journal.jsonl"), as: UTF8.self).split(
            separator: "\n")
        #expect(journal.count == 4)
        let names = ["out/a.jpg.json", "out/early.png.json"]
        let valid = try await drop.runner.validate("report", names)
        #expect(valid.exit == 0, "\(valid.output)\(valid.errors)")
    }

    @Test func `names of all kinds come out; links, pipes and leftovers are left alone`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        let odd = [
            "with space.jpg", "-rf.jpg", "[x].jpg", "a:b.jpg", "new\nline.jpg", "tab\t.jpg", "😀.jpg",
            String(repeating: "n", count: 251) + ".jpg",
        ]
        for name in odd { try await drop.drop(name) }
        _ = try await drop.runner.shell(
            "cp in/-rf.jpg x 2>/dev/null; mkfifo in/pipe.jpg; ln -s /etc/passwd in/link.jpg; mkdir in/folder.jpg")
        try await drop.drop("half.jpg.part")
        let bytes = try await SamplePicture.jpeg.bytes
        try drop.runner.folder.write(bytes, to: "raw")
        _ = try await drop.runner.shell("mv raw \"in/$(printf 'bad\\377').jpg\"")
        try await drop.until("all are done: \(drop.files("state"))") {
            try await drop.inbox()["done"] as? Int == odd.count + 1
        }
        try await drop.until("the pipe and the link are mentioned") {
            watch.errorsSoFar.contains("left alone 'pipe.jpg'") && watch.errorsSoFar.contains("left alone 'link.jpg'")
        }
        let result = try await drop.stop(watch)
        #expect(result.errors.components(separatedBy: "left alone 'link.jpg'").count == 2)
        #expect(
            drop.runner.exists("in/pipe.jpg") && drop.runner.exists("in/folder.jpg")
                && drop.runner.exists("in/half.jpg.part"))
        #expect(
            (try? FileManager.default.destinationOfSymbolicLink(atPath: drop.runner.folder.path("in/link.jpg")))
                == "/etc/passwd")
        #expect(drop.files("state/failed").isEmpty && drop.files("state/work").isEmpty)
    }

    @Test
    func `the same name again is another job: its rendition is replaced, and every original is kept`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        for count in 1...8 {
            try drop.drop(
                "a.png",
                try await SamplePicture.png.encode(TestPicture.solid([UInt8(count * 20), 0, 0], width: 40, height: 30)))
            try await drop.until("\(count) are done") { try await drop.inbox()["done"] as? Int == count }
        }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == ["a.png.json", "a.webp"] && drop.files("state/done").count == 8)
    }

    @Test
    func `what a camera leaves beside its pictures stays in the inbox, is counted and listed, and fails nobody`()
        async throws
    {
        let drop = try WatchedFolder(inbox: "incomplete-after: 300ms")
        let watch = try await drop.start()
        try drop.drop("IMG_1.xmp", Array("<x:xmpmeta/>".utf8))
        try drop.drop("list.txt", Array("IMG_1".utf8))
        try drop.drop("logo.svg", Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8))
        try drop.drop("broken.jpg", Array("no picture".utf8))
        try await drop.drop("IMG_1.jpg")
        try await drop.until("out/IMG_1.jpg.json", "state/failed/in/broken.jpg.error.json")
        try await drop.until("three are passed over") { try await drop.inbox()["passed-over"] as? Int == 3 }
        let inbox = try await drop.inbox()
        #expect(inbox["failed"] as? Int == 1 && inbox["blocked"] as? Int == 0 && inbox["ready"] as? Int == 0)
        let files = try #require(inbox["passed-over-files"] as? [[String: Any]])
        let messages = Dictionary(
            files.map { (($0["path"] as? [String: Any])?["path"] as? String ?? "", $0["message"] as? String ?? "") }
        ) { first, _ in first }
        #expect(
            messages == [
                "IMG_1.xmp": "it is no picture, by its name and its content",
                "list.txt": "it is no picture, by its name and its content",
                "logo.svg": "it is SVG, which is read if the inbox has 'allow: [svg]'",
            ])
        let status = try await drop.runner.run("status", "mill.yaml")
        #expect(status.exit == 0 && status.output.hasPrefix("1 failed\n"), "\(status.output)")
        #expect(status.output.contains("\nleft alone:\n") && status.output.contains("  in/list.txt: it is no picture"))
        #expect(status.output.contains("  what to do: Remove the file, or leave such names out"))
        // The configuration changes so that one of them is a source.
        try drop.runner.folder.write(
            "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms, allow: [svg] }\n",
            to: "mill.yaml")
        #expect(try await drop.runner.run("reload", "mill.yaml").exit == 0)
        try await drop.until("two are left") { try await drop.inbox()["passed-over"] as? Int == 2 }
        let result = try await drop.stop(watch)
        #expect(drop.files("in").filter { $0 != "logo.svg" } == ["IMG_1.xmp", "list.txt"])
        #expect(!drop.files("state/failed").contains { $0.hasSuffix(".txt") || $0.hasSuffix(".xmp") })
        #expect(result.errors.contains("left alone 'IMG_1.xmp': it is no picture"), "\(result.errors)")
    }

    @Test
    func `what cannot be rendered is in failed/ with the reason, and the command in its note shows it again`()
        async throws
    {
        let drop = try WatchedFolder(inbox: "incomplete-after: 300ms, zero-byte-after: 300ms")
        let watch = try await drop.start()
        try drop.drop("text.jpg", Array("no picture".utf8))
        try drop.drop("sub/cut.jpg", Array(try await SamplePicture.jpeg.bytes.prefix(500)))
        try drop.drop("empty.png", [])
        try await drop.drop("good.jpg")
        for name in ["text.jpg", "sub/cut.jpg", "empty.png"] {
            try await drop.until("state/failed/in/\(name)", "state/failed/in/\(name).error.json")
        }
        try await drop.until("out/good.jpg.json")
        var codes: [String: String] = [:]
        for name in ["text.jpg", "sub/cut.jpg", "empty.png"] {
            let data = Data(try drop.runner.bytes("state/failed/in/\(name).error.json"))
            let note = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            codes[name] = note["code"] as? String
            let code = try #require(codes[name].flatMap(FailureCode.init))
            #expect(note["remedy"] as? String == code.remedy(in: .millFile))
            let replay = try #require(note["replay"] as? String)
            let again = try await drop.runner.shell(
                replay.replacingOccurrences(of: "imagemill ", with: "\"$IMAGEMILL\" "))
            #expect(again.exit == 2 && again.errors.contains(codes[name] ?? "?"), "\(again.errors)")
        }
        #expect(codes == ["text.jpg": "not-an-image", "sub/cut.jpg": "truncated", "empty.png": "empty"])
        let failures = try await drop.status()["recent-failures"] as? [[String: Any]]
        #expect(failures?.count == 3)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == ["good.jpg.json", "good.webp"])
    }

    @Test
    func `originals are kept or deleted as asked; a kept one is not done again, until it or the pipeline changes`()
        async throws
    {
        let keeping = try WatchedFolder(inbox: "originals: keep")
        var watch = try await keeping.start()
        try await keeping.drop("a.jpg")
        try keeping.drop("bad.jpg", Array("no".utf8))
        try await keeping.until("out/a.jpg.json", "state/failed/in/bad.jpg.error.json")
        try await keeping.until("both are over") { try await keeping.inbox()["in-progress"] as? Int == 0 }
        #expect(
            keeping.files("in") == ["a.jpg", "bad.jpg"] && keeping.files("state/work").isEmpty
                && keeping.files("state/done").isEmpty)
        try await keeping.stop(watch)
        let first = try keeping.runner.bytes("out/a.jpg.json")
        watch = try await keeping.start()
        try await keeping.drop("b.jpg")
        try await keeping.until("out/b.jpg.json")
        #expect(try keeping.runner.bytes("out/a.jpg.json") == first)
        try keeping.runner.pipeline(size: "16x16")
        #expect(try await keeping.runner.run("reload", "--state", "state").exit == 0)
        try await keeping.until("both are made again") {
            let sizes = try? await [keeping.runner.size(of: "out/a.webp"), keeping.runner.size(of: "out/b.webp")]
            return sizes == [[16, 12], [16, 12]]
        }
        try await keeping.stop(watch)

        let deleting = try WatchedFolder(inbox: "originals: delete")
        watch = try await deleting.start()
        try await deleting.drop("a.jpg")
        try await deleting.until("it is over") { try await deleting.inbox()["done"] as? Int == 1 }
        try await deleting.stop(watch)
        #expect(
            deleting.files("in").isEmpty && deleting.files("state/done").isEmpty && deleting.files("state/work").isEmpty
        )
        #expect(deleting.files("out") == ["a.jpg.json", "a.webp"])
    }

    @Test
    func `a folder is one set, taken when its .done mark comes or it has been quiet; loose files are left alone`()
        async throws
    {
        let drop = try WatchedFolder(inbox: "set-quiet: 400ms")
        try drop.runner.folder.write(
            "source: set\nrenditions: { sheet: { stages: [ { contact-sheet: { columns: 2 } } ], save: { format: png } } }\n",
            to: "p.yaml")
        let watch = try await drop.start()
        try await drop.drop("loose.jpg")
        for name in ["one/2.jpg", "one/10.jpg", "one/1.png", "one/.done"] { try await drop.drop(name) }
        for name in ["two/a.jpg", "two/b.jpg"] { try await drop.drop(name) }
        try await drop.until("out/one.json", "out/two.json")
        try await drop.until("both are over") { try await drop.inbox()["done"] as? Int == 2 }
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(drop.runner.bytes("out/one.json"))) as? [String: Any])
        let members = (report["source"] as? [String: Any])?["members"] as? [[String: Any]]
        #expect(members?.compactMap { $0["path"] as? String } == ["one/1.png", "one/2.jpg", "one/10.jpg"])
        #expect(
            drop.files("in") == ["loose.jpg"]
                && watch.errorsSoFar.contains("left alone 'loose.jpg': the pipeline takes sets"))
        #expect(drop.files("state/done").contains("in/two/a.jpg"))
        try drop.drop("bad/1.jpg", Array("no".utf8))
        try await drop.until("state/failed/in/bad/1.jpg", "state/failed/in/bad.error.json")
        #expect(try await drop.runner.run("retry", "--state", "state", "bad").exit == 0)
        try await drop.until("it fails again") { try await drop.inbox()["failed"] as? Int == 2 }
        try await drop.stop(watch)
    }

    @Test func `a second one with the same state folder ends with 75, and says who is there`() async throws {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        let other = try await drop.runner.run("watch", "mill.yaml")
        #expect(other.exit == 75 && other.errors.contains("another imagemill watch (process "), "\(other.errors)")
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test(arguments: [
        ("path: in, outbox: in/out, pipeline: p.yaml", "is inside of the inbox"),
        ("path: in, outbox: out, pipeline: gone.yaml", "the pipeline 'gone.yaml' cannot be used"),
        (
            "path: in, outbox: out, pipeline: p.yaml, name: a }\n  - { path: in/sub, outbox: out2, pipeline: p.yaml, name: b",
            "is inside of '"
        ),
        ("path: ., outbox: /tmp/elsewhere, pipeline: p.yaml", "the state folder"),
        ("path: in, outbox: out, pipeline: broken.yaml", "the asset 'broken.png'"),
    ])
    func `what cannot work is refused at the start with 78 and a sentence`(inboxes: String, sentence: String)
        async throws
    {
        let drop = try WatchedFolder(mill: "state: state\ninboxes:\n  - { \(inboxes) }\n")
        try drop.runner.folder.write(
            "renditions: { a: { stages: [ { overlay: { image: broken.png } } ], save: { format: png } } }\n",
            to: "broken.yaml")
        try drop.runner.folder.write(Array(try await SamplePicture.png.bytes.prefix(60)), to: "broken.png")
        let result = try await drop.runner.run("watch", "mill.yaml")
        #expect(result.exit == 78 && result.errors.contains(sentence), "\(result.exit) \(result.errors)")
    }
}
