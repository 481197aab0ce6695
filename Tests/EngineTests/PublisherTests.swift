// All of a source or none, the report last, and nobody else's file is ever replaced.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct PublisherTests {
    private let folder: TemporaryFolder
    private let outbox: Outbox

    init() throws {
        folder = try TemporaryFolder()
        outbox = Outbox(path: BytePath(folder.path("out")), of: .run, writer: "me")
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
            outputs: outputs, names: names, owner: BytePath(owner), replaceable: try found(owned),
            overwrites: overwrites, report: report)
    }

    /// The files under these names, as they are now.
    private func found(_ names: [String]) throws -> [BytePath: FoundFile] {
        try names.reduce(into: [:]) { $0[BytePath($1)] = try outbox.status(BytePath($1)).map { FoundFile($0) } }
    }

    private func publish(_ durability: Durability, _ publications: Publication...) -> [PublishOutcome] {
        Publisher(outbox: outbox, names: MemoryJobStore(), durability: durability).publish(publications)
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
                == Fingerprint(names.map { Fingerprint.File(name: $0, try #require(try outbox.status($0)).stamp) }))
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
        // A folder of somebody else cannot be replaced, whatever the policy.
        try folder.write("mine", to: "out/z.webp/file")
        let failing = try source(
            "a.jpg", ["a.webp", "new.webp", "z.webp"], owned: ["a.webp", "reports/a.json"], overwrites: true,
            report: "reports/a.json")
        let outcomes = publish(durability, try source("0.jpg", ["0.webp"]), failing, try source("1.jpg", ["1.webp"]))
        guard case .published = outcomes[0], case .failed(let error) = outcomes[1], case .published = outcomes[2] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(
            error.description == "cannot put 'z.webp' in place: there is a folder of that name"
                && error.asOutputFailure.code == .outputNotWritable)
        var left = try files()
        // Staged files belong to the caller, who may publish them under another name.
        left = left.filter { !$0.key.hasPrefix(".imagemill-") || !$0.key.hasSuffix(".part") }
        #expect(
            left == [
                "0.webp": "new", "1.webp": "new", "a.webp": "old", "reports/a.json": "report of old",
                "z.webp/file": "mine",
            ])
        #expect(try FileSystem.status(BytePath(folder.path("out/a.webp")))?.identity == before?.identity)
    }

    @Test(arguments: [Durability.none, .synced])
    func `an old report whose name somebody else has taken meanwhile is removed by a rollback`(
        durability: Durability
    ) throws {
        _ = publish(durability, try source("a.jpg", ["a.webp"], text: "old", report: "reports/a.json"))
        try folder.write("mine", to: "out/z.webp/file")
        let failing = try source(
            "a.jpg", ["a.webp", "z.webp"], owned: ["a.webp", "reports/a.json"], overwrites: true,
            report: "reports/a.json")
        // The name is free between the withdrawal and the rollback.
        let outcomes = publish(durability, try source("0.jpg", ["reports/a.json"]), failing)
        guard case .published = outcomes[0], case .failed = outcomes[1] else {
            Issue.record("\(outcomes)")
            return
        }
        let left = try files().filter { !$0.key.hasSuffix(".part") }
        #expect(left == ["a.webp": "old", "reports/a.json": "new", "z.webp/file": "mine"])
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

    @Test(arguments: [Durability.none, .synced])
    func `a file that came under a name since it was looked at is not replaced, nor is a report`(durability: Durability)
        throws
    {
        for changed in ["a.webp", "a.json"] {
            _ = publish(durability, try source("a.jpg", ["a.webp"], text: "old", overwrites: true, report: "a.json"))
            let publication = try source("a.jpg", ["a.webp"], owned: ["a.webp", "a.json"], report: "a.json")
            try folder.write("somebody's", to: "out/" + changed)
            guard case .nameOccupied(let name) = publish(durability, publication)[0] else {
                Issue.record("it was published")
                return
            }
            #expect(name.text == changed)
            var left = try files().filter { !$0.key.hasPrefix(".") }
            #expect(left.removeValue(forKey: changed) == "somebody's")
            #expect(left.values.allSatisfy { $0.hasSuffix("old") } && left.count == 1, "\(left)")
        }
    }

    @Test func `before the first rename the record has what is about to be there, and what is`() throws {
        let record = MemoryJobStore()
        let names = [BytePath("a.webp"), BytePath("a.json")]
        _ = record.claim(names, for: BytePath("a.jpg"), in: BytePath("key"), seen: [:])
        let publisher = Publisher(outbox: outbox, names: record, key: BytePath("key"), durability: .none)
        func contents() -> [[String]?] { names.map { record.owners(of: [$0], in: BytePath("key"))[$0]?.contents } }
        func content(_ name: BytePath) throws -> String {
            try Digest.short(of: OpenFile.reading(BytePath(folder.path("out/" + name.text))))
        }
        _ = publisher.publish([try source("a.jpg", ["a.webp"], text: "old", report: "a.json")])
        let old = try names.map(content)
        #expect(contents() == old.map { [$0] })
        // A folder of somebody else cannot be replaced, so that nothing is published.
        try folder.write("mine", to: "out/z.webp/file")
        var next = try source("a.jpg", ["a.webp", "z.webp"], overwrites: true, report: "a.json")
        for name in names {
            let found = try #require(
                try outbox.found(name, recorded: record.owners(of: [name], in: BytePath("key"))[name]))
            #expect(found.owner == .source(BytePath("a.jpg")))
            next = next.replacing(name, found.file)
        }
        guard case .failed = publisher.publish([next])[0] else {
            Issue.record("it was published")
            return
        }
        #expect(contents().map { $0?.count } == [2, 2] && contents().map { $0?.last } == old)
    }

    @Test func `what cannot be recorded is not published`() throws {
        let publisher = Publisher(outbox: outbox, names: FullStore(), durability: .none)
        let outcomes = publisher.publish([try source("a.jpg", ["a.webp"], report: "a.json")])
        guard case .unrecorded(let error) = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(error.kind == .full)
        #expect(try files().filter { !$0.key.hasPrefix(".") } == [:])
    }

    @Test func `renditions and the report say whose they are, and never by an absolute path`() throws {
        let canBeNoted = try OpenFile.reading(BytePath(try folder.write("", to: "x"))).setAttribute(
            "user.imagemill.test", to: [1])
        for (source, owner) in [("../in/a.jpg", FileOwner.source(BytePath("../in/a.jpg"))), ("/in/a.jpg", .foreign)] {
            _ = publish(.none, try self.source(source, ["a.webp"], overwrites: true, report: "a.json"))
            for name in ["a.webp", "a.json"] {
                let found = try #require(try outbox.found(BytePath(name), recorded: nil))
                #expect(found.owner == (canBeNoted ? owner : .foreign))
                let other = Outbox(path: outbox.path, of: .run, writer: "other")
                let seen = try #require(try other.found(BytePath(name), recorded: nil))
                #expect(seen.owner == (canBeNoted && owner != .foreign ? .otherWriter : .foreign))
            }
        }
    }
}

extension Publication {
    fileprivate func replacing(_ name: BytePath, _ file: FoundFile) -> Publication {
        Publication(
            outputs: outputs, names: names, owner: owner, replaceable: replaceable.merging([name: file]) { $1 },
            overwrites: overwrites, report: report)
    }
}

/// A record on a disk that is full.
private struct FullStore: NameStore {
    func names(of source: BytePath, in outbox: BytePath) -> [BytePath] { [] }
    func owners(of names: [BytePath], in outbox: BytePath) -> [BytePath: OwnedName] { [:] }
    func claim(_ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath]) -> Bool {
        true
    }
    func record(_ names: [OwnedName], areNoted: Bool) throws(StoreError) { throw StoreError(.full, "the disk is full") }
    func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) {}
    func ownedNames(after place: OwnedName?, limit: Int) -> [OwnedName] { [] }
}
