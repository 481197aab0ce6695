// Whose file is at a name in the outbox: other drop folders', other programs', and the drop folder's own, whatever has
// become of the ledger and of the files' attributes.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct OutboxOwnerTests {
    /// A picture that differs from those of other numbers.
    private func picture(_ number: Int) async throws -> [UInt8] {
        try await SamplePicture.png.encode(TestPicture.solid([UInt8(number), 0, 0], width: 40, height: 30))
    }

    /// Drops a picture, and waits until so many are done.
    private func make(_ name: String, _ number: Int, in drop: WatchedFolder, done: Int) async throws {
        try drop.drop(name, try await picture(number))
        try await drop.until("\(done) are done") { try await drop.inbox()["done"] as? Int == done }
    }

    /// Takes away what files say of themselves, as a file system without attributes does, or a copy.
    private func removeAttributes(_ drop: WatchedFolder) async throws {
        let script = """
            import os
            for folder, _, names in os.walk('out'):
                for path in [os.path.join(folder, name) for name in names]:
                    for attribute in os.listxattr(path): os.removexattr(path, attribute)
            """
        try drop.runner.folder.write(script, to: "remove.py")
        let result = try await drop.runner.shell("python3 remove.py")
        try #require(result.exit == 0, "\(result.errors)")
    }

    private func remove(_ names: String..., in drop: WatchedFolder) {
        for name in names { try? FileManager.default.removeItem(atPath: drop.runner.folder.path(name)) }
    }

    // MARK: - Other drop folders

    @Test func `two drop folders with inboxes of one name share an outbox: every source gets its renditions`()
        async throws
    {
        let mill =
            "state: state\nworkers: 1\ninboxes:\n  - { path: drop, outbox: ../out, pipeline: ../p.yaml, settle: 200ms }\n"
        let drop = try WatchedFolder(mill: mill)
        try drop.makeFolder("out")
        for owner in ["anna", "ben"] {
            try drop.makeFolder(owner + "/drop")
            try drop.runner.folder.write(mill, to: owner + "/mill.yaml")
        }
        let anna = try drop.runner.start("watch", "anna/mill.yaml")
        let ben = try drop.runner.start("watch", "ben/mill.yaml")
        for number in 1...4 {
            for (order, owner) in ["anna", "ben"].enumerated() {
                try drop.drop("\(number).png", try await picture(number + order * 100), into: owner + "/drop")
                try await drop.until(owner + "/state/done/drop/\(number).png")
            }
        }
        #expect(try await drop.stop(anna).exit == 0)
        let end = try await drop.stop(ben)
        #expect(end.exit == 0 && end.errors.contains("done: 1 rendition; warnings: name-versioned"), "\(end)")
        let expected = (1...4).flatMap { ["\($0)-2.webp", "\($0).png-2.json", "\($0).png.json", "\($0).webp"] }
        #expect(drop.files("out") == expected.sorted())
        let journal = String(decoding: try drop.runner.bytes("ben/state/journal.jsonl"), as: UTF8.self)
        #expect(
            journal.contains(
                "'1.webp' is a file of another drop folder, or of imagemill run; this source is '1-2.webp'"),
            "\(journal)")
    }

    // MARK: - Other programs

    @Test
    func `a file that somebody saves under a name while the source is rendered by a killed program is not replaced`()
        async throws
    {
        let drop = try WatchedFolder()
        try drop.drop("a.png", try await picture(1))
        _ = try await drop.runner.shell("IMAGEMILL_FAULT=after-target-write:1:kill \"$IMAGEMILL\" watch mill.yaml")
        try drop.runner.folder.write("mine", to: "out/a.webp")
        let watch = try await drop.start()
        try await drop.until("state/done/in/a.png")
        #expect(try await drop.stop(watch).exit == 0)
        #expect(try drop.runner.bytes("out/a.webp") == Array("mine".utf8))
        #expect(drop.files("out") == ["a-2.webp", "a.png-2.json", "a.webp"])
    }

    /// `rm` and a new file, a rename over the rendition, and a program that writes into it, which leaves its attributes.
    @Test(arguments: [
        "rm out/a.webp; printf mine > out/a.webp", "printf mine > x; mv x out/a.webp", "printf mine > out/a.webp",
    ])
    func `what somebody saves over a rendition is theirs: the next picture of the name gets another one`(save: String)
        async throws
    {
        let drop = try WatchedFolder()
        let watch = try await drop.start()
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.runner.shell(save).exit == 0)
        try await make("a.png", 2, in: drop, done: 2)
        try await make("a.png", 3, in: drop, done: 3)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(try drop.runner.bytes("out/a.webp") == Array("mine".utf8))
        #expect(drop.files("out") == ["a-2.webp", "a.png-2.json", "a.png.json", "a.webp"])
    }

    @Test func `a file that is saved over a rendition while the next one is made is not replaced either`() async throws
    {
        let drop = try WatchedFolder()
        var watch = try await drop.start()
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        watch = try await drop.start(variables: ["IMAGEMILL_FAULT=after-target-write:1:sleep:4000"])
        try drop.drop("a.png", try await picture(2))
        try await drop.until("it is under way") { try await drop.inbox()["in-progress"] as? Int == 1 }
        try await drop.until("its names are chosen") { drop.files("state/work").contains { $0.hasSuffix("source") } }
        try await Task.sleep(for: .seconds(1))
        #expect(try await drop.runner.shell("printf mine > x; mv x out/a.webp").exit == 0)
        try await drop.until("it is done") { try await drop.inbox()["done"] as? Int == 2 }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(try drop.runner.bytes("out/a.webp") == Array("mine".utf8))
        #expect(drop.files("out").contains("a-2.webp"))
    }

    // MARK: - Its own files

    @Test(arguments: [["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"], ["identity"], []])
    func `without the ledger, its identity, or the files' attributes, the names are the same`(lost: [String])
        async throws
    {
        let drop = try WatchedFolder()
        var watch = try await drop.start()
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        for name in lost { remove("state/" + name, in: drop) }
        if lost.isEmpty { try await removeAttributes(drop) }
        let before = try drop.runner.bytes("out/a.webp")
        watch = try await drop.start()
        try await make("a.png", 200, in: drop, done: lost.count == 3 ? 1 : 2)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == ["a.png.json", "a.webp"])
        #expect(try drop.runner.bytes("out/a.webp") != before)
    }

    @Test func `an older ledger that is put back, an inbox and a state folder that are moved: the names are the same`()
        async throws
    {
        let drop = try WatchedFolder()
        var watch = try await drop.start()
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(try await drop.runner.shell("mkdir old && cp state/ledger.sqlite* old").exit == 0)
        watch = try await drop.start()
        for number in 2...3 { try await make("a.png", number, in: drop, done: number) }
        try await make("b.png", 4, in: drop, done: 4)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(
            try await drop.runner.shell("rm state/ledger.sqlite*; mv old/* state; mv state elsewhere; mv in moved").exit
                == 0)
        try drop.runner.folder.write(
            "state: elsewhere\ninboxes:\n  - { name: in, path: moved, outbox: out, pipeline: p.yaml, settle: 200ms }\n",
            to: "mill.yaml")
        watch = try await drop.start()
        for (number, name) in [(5, "a.png"), (6, "b.png")] {
            try drop.drop(name, try await picture(number), into: "moved")
        }
        try await drop.until("both are done") { drop.files("elsewhere/done").count == 6 }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == ["a.png.json", "a.webp", "b.png.json", "b.webp"])
    }

    @Test func `an inbox that gets another name in the mill file keeps its names`() async throws {
        func mill(_ name: String) -> String {
            "state: state\ninboxes:\n  - { name: \(name), path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        }
        let drop = try WatchedFolder(mill: mill("one"))
        var watch = try await drop.start()
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        try drop.runner.folder.write(mill("two"), to: "mill.yaml")
        watch = try await drop.start()
        try await make("a.png", 2, in: drop, done: 2)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == ["a.png.json", "a.webp"])
    }

    /// The record must know both files at any moment, the old one and the new one.
    @Test(arguments: [
        "names-record", "target-sync", "report-write", "contents-record", "last-rename", "report-rename",
        "outcome-record",
    ])
    func `on a file system without attributes a killed program's files are known again`(point: String) async throws {
        let drop = try WatchedFolder()
        let source = "\(Checkout.path)/Tests/Fixtures/no-attributes.c"
        let built = try await drop.runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -o no.so '\(source)'")
        try #require(built.exit == 0, "\(built.errors)")
        let preload = "LD_PRELOAD=\(drop.runner.folder.path("no.so"))"
        let watch = try await drop.start(variables: [preload])
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        let listed = try await drop.runner.shell("python3 -c \"import os; print(os.listxattr('out/a.webp'))\"")
        #expect(listed.output == "[]\n", "\(listed)")
        for number in 2...3 {
            try drop.drop("a.png", try await picture(number))
            _ = try await drop.runner.shell(
                "\(preload) IMAGEMILL_FAULT=after-\(point):1:kill \"$IMAGEMILL\" watch mill.yaml")
            let watch = try await drop.start(variables: [preload])
            try await drop.until("it is done") { try await drop.inbox()["done"] as? Int == number }
            #expect(try await drop.stop(watch).exit == 0)
        }
        #expect(drop.files("out") == ["a.png.json", "a.webp"])
    }

    @Test func `with neither the ledger nor attributes nothing is replaced`() async throws {
        let drop = try WatchedFolder()
        var watch = try await drop.start()
        try await make("a.png", 1, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        let before = try drop.runner.bytes("out/a.webp")
        try await removeAttributes(drop)
        remove("state/ledger.sqlite", in: drop)
        watch = try await drop.start()
        try await make("a.png", 200, in: drop, done: 1)
        #expect(try await drop.stop(watch).exit == 0)
        #expect(drop.files("out") == ["a-2.webp", "a.png-2.json", "a.png.json", "a.webp"])
        #expect(try drop.runner.bytes("out/a.webp") == before)
    }
}
