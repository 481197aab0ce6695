// All of a source or none, the report last, and nobody else's file is ever replaced.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct PublisherTests {
    private let folder: TemporaryFolder
    private let outbox: Outbox

    init() throws {
        folder = try TemporaryFolder()
        outbox = Outbox(path: BytePath(folder.path("out")), of: .run)
        _ = try outbox.folder(BytePath([]))
    }

    /// A source whose files each say `text`.
    private func source(
        _ owner: String, _ names: [String], text: String = "new", owned: [String] = [], overwrites: Bool = false,
        report: String? = nil,
        whenReported: @escaping () -> Void = {}
    ) throws -> Publication {
        let names = names.map { RenditionName(path: BytePath($0)) }
        let outputs = try outbox.stage(names) { DurableFile.newToken }
        for output in outputs { try output.file.append(Array(text.utf8), for: output.destination) }
        let report = report.map { path in
            PublishedReport(path: BytePath(path)) { milliseconds in
                whenReported()
                return milliseconds >= 0 ? Array("report of \(text)".utf8) : []
            }
        }
        return Publication(
            outputs: outputs, names: names, owner: BytePath(owner), owned: Set(owned.map { BytePath($0) }),
            overwrites: overwrites, report: report)
    }

    private func publish(_ durability: Durability, _ publications: Publication...) -> [PublishOutcome] {
        Publisher(outbox: outbox, durability: durability).publish(publications)
    }

    /// Every file of the outbox with its text.
    private func files() throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try folder.entries() where name.hasPrefix("out/") {
            if let text = try? folder.text(name) { files[String(name.dropFirst(4))] = text }
        }
        return files
    }

    @Test(arguments: [Durability.none, .synced])
    func `a group is published, each source with its report; the files are described as they are`(
        durability: Durability
    ) throws {
        let outcomes = publish(
            durability, try source("a.jpg", ["a.webp", "x/a@2x.webp"], report: "reports/a.jpg.json"),
            try source("b.jpg", ["b.webp"]))
        #expect(
            try files() == [
                "a.webp": "new", "x/a@2x.webp": "new", "b.webp": "new", "reports/a.jpg.json": "report of new",
            ])
        guard case .published(_, let fingerprint) = outcomes[0], case .published = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        let names = [BytePath("a.webp"), BytePath("x/a@2x.webp")]
        #expect(
            try fingerprint
                == Fingerprint(names.map { Fingerprint.File(name: $0, try #require(try outbox.status($0))) }))
    }

    @Test(arguments: [Durability.none, .synced])
    func `own files are replaced, and nothing of the old ones is left`(durability: Durability) throws {
        _ = publish(durability, try source("a.jpg", ["a.webp", "b.webp"], text: "old", report: "a.json"))
        let outcomes = publish(
            durability,
            try source("a.jpg", ["a.webp", "b.webp"], owned: ["a.webp", "b.webp", "a.json"], report: "a.json"))
        guard case .published = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(try files() == ["a.webp": "new", "b.webp": "new", "a.json": "report of new"])
    }

    @Test(arguments: [Durability.none, .synced])
    func `if the second rename fails, the old files and report are as before, and the other sources are published`(
        durability: Durability
    ) throws {
        _ = publish(durability, try source("a.jpg", ["a.webp"], text: "old", report: "reports/a.json"))
        let before = try FileSystem.status(BytePath(folder.path("out/a.webp")))
        // A folder cannot be replaced, whoever it belongs to.
        try folder.write("mine", to: "out/z.webp/file")
        let owned = ["a.webp", "z.webp", "reports/a.json"]
        let failing = try source("a.jpg", ["a.webp", "new.webp", "z.webp"], owned: owned, report: "reports/a.json")
        let outcomes = publish(durability, try source("0.jpg", ["0.webp"]), failing, try source("1.jpg", ["1.webp"]))
        guard case .published = outcomes[0], case .failed(let error) = outcomes[1], case .published = outcomes[2] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(
            error.description == "cannot put 'z.webp' in place: Is a directory"
                && error.asOutputFailure.code == .outputNotWritable)
        var left = try files()
        // What is staged belongs to the caller, who may publish it under another name.
        left = left.filter { !$0.key.hasPrefix(".imagemill-") || !$0.key.hasSuffix(".part") }
        #expect(
            left == [
                "0.webp": "new", "1.webp": "new", "a.webp": "old", "reports/a.json": "report of old",
                "z.webp/file": "mine",
            ])
        #expect(try FileSystem.status(BytePath(folder.path("out/a.webp")))?.identity == before?.identity)
    }

    @Test(arguments: [Durability.none, .synced])
    func `a name taken in between is reported, its file is untouched, and the outputs get other names`(
        durability: Durability
    ) throws {
        var source = try source("a.jpg", ["a.webp", "a@2x.webp"], report: "a.json")
        try folder.write("designer's", to: "out/a@2x.webp")
        guard case .nameOccupied(let name) = publish(durability, source)[0] else {
            Issue.record("it was published")
            return
        }
        #expect(name == BytePath("a@2x.webp"))
        #expect(try files().filter { !$0.key.hasPrefix(".") } == ["a@2x.webp": "designer's"])
        source.names = ["a-2.webp", "a-2@2x.webp"].map { RenditionName(path: BytePath($0)) }
        try outbox.redirect(source.outputs, to: source.names)
        let outcomes = publish(durability, source)
        guard case .published = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(
            try files() == [
                "a@2x.webp": "designer's", "a-2.webp": "new", "a-2@2x.webp": "new", "a.json": "report of new",
            ])
    }

    @Test(arguments: [Durability.none, .synced])
    func `somebody else's file at the report's name is no old report`(durability: Durability) throws {
        try folder.write("mine", to: "out/a.json")
        guard case .nameOccupied(let name) = publish(durability, try source("a.jpg", ["a.webp"], report: "a.json"))[0]
        else {
            Issue.record("it was published")
            return
        }
        #expect(name == BytePath("a.json"))
        #expect(try files() == ["a.json": "mine"])
    }

    @Test(arguments: [Durability.none, .synced])
    func `a report that cannot be written takes its renditions back`(durability: Durability) throws {
        _ = publish(durability, try source("a.jpg", ["a.webp"], text: "old", report: "a.json"))
        let inTheWay = folder.path("out/a.json")
        let source = try source("a.jpg", ["a.webp", "b.webp"], owned: ["a.webp"], report: "b.json") {
            try? FileManager.default.createDirectory(
                atPath: inTheWay.replacingOccurrences(of: "a.json", with: "b.json"), withIntermediateDirectories: false)
        }
        guard case .nameOccupied = publish(durability, source)[0] else {
            Issue.record("it was published")
            return
        }
        #expect(try files().filter { !$0.key.hasPrefix(".") } == ["a.webp": "old", "a.json": "report of old"])
    }

    @Test
    func `'overwrite' replaces any file, but a source that has lost a name in the same group takes nothing back`()
        throws
    {
        try folder.write("mine", to: "out/a.webp")
        try folder.write("", to: "out/z.json/file")
        let loser = try source("a.jpg", ["a.webp"], text: "loser", overwrites: true)
        let winner = try source("b.jpg", ["a.webp"], text: "winner", overwrites: true)
        _ = publish(.synced, loser, winner)
        #expect(try files()["a.webp"] == "winner")
    }

    @Test(arguments: [Durability.none, .synced])
    func `the old report is withdrawn before the first rename, and the new one comes last`(durability: Durability)
        throws
    {
        _ = publish(durability, try source("a.jpg", ["a.webp", "b.webp"], text: "old", report: "reports/a.json"))
        let source = try source(
            "a.jpg", ["a.webp", "b.webp", "c.webp"], owned: ["a.webp", "b.webp", "reports/a.json"],
            report: "reports/a.json")
        let watch = inotify_init1(Int32(O_NONBLOCK))
        defer { close(watch) }
        let mask = UInt32(IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE)
        for name in ["out", "out/reports"] { #expect(inotify_add_watch(watch, folder.path(name), mask) > 0) }
        _ = publish(durability, source)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(watch, &buffer, buffer.count)
        let events = buffer.withUnsafeBytes {
            InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: $0.prefix(max(count, 0))))
        }
        let told = events.filter { !$0.name.starts(with: [UInt8(ascii: ".")]) && !$0.has(Int(IN_DELETE)) }
            .map { ($0.has(Int(IN_MOVED_FROM)) ? "-" : "+") + String(decoding: $0.name, as: UTF8.self) }
        #expect(told == ["-a.json", "+a.webp", "+b.webp", "+c.webp", "+a.json"])
    }

    @Test
    func `below the outbox a link to a file is replaced, not written through; a link to a folder fails its source`()
        throws
    {
        try folder.write("secret", to: "elsewhere/target")
        for (link, target) in [
            ("out/a.webp", "elsewhere/target"), ("out/a.json", "elsewhere/target"), ("out/reports", "elsewhere"),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(link), withDestinationPath: folder.path(target))
        }
        let outcomes = publish(
            .synced, try source("a.jpg", ["a.webp"], owned: ["a.webp", "a.json"], report: "a.json"),
            try source("b.jpg", ["b.webp"], report: "reports/b.json"))
        guard case .published = outcomes[0], case .failed(let error) = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(error.description.hasPrefix("cannot write into '\(folder.path("out/reports"))': it is a link"))
        #expect(try folder.text("elsewhere/target") == "secret")
        #expect(try folder.entries().filter { $0.hasPrefix("elsewhere") } == ["elsewhere", "elsewhere/target"])
        #expect(try FileSystem.status(BytePath(folder.path("out/a.webp")), followLinks: false)?.kind == .regular)
        #expect(try FileSystem.status(BytePath(folder.path("out/b.webp"))) == nil)
    }

    @Test func `renditions and the report say who they were made of`() throws {
        _ = publish(.none, try source("../in/a.jpg", ["a.webp"], report: "a.json"))
        let canBeNoted = try OpenFile.reading(BytePath(folder.path("out/a.webp"))).setAttribute(
            "user.imagemill.test", to: [1])
        for name in ["a.webp", "a.json"] {
            #expect(outbox.writer(of: BytePath(name)) == (canBeNoted ? BytePath("../in/a.jpg") : nil))
        }
    }
}
