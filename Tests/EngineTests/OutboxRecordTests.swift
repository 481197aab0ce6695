// The record of an output folder: names, and owners that are relative paths.
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct OutboxRecordTests {
    private let folder: TemporaryFolder
    private let location: OutboxLocation
    private let outbox: BytePath

    init() throws {
        folder = try TemporaryFolder()
        outbox = BytePath(folder.path("out"))
        location = OutboxLocation(outbox)
    }

    private func paths(_ names: String...) -> [BytePath] { names.map { BytePath($0) } }

    private func claim(
        _ record: OutboxRecord, _ names: [BytePath], _ source: String, seen: [BytePath: BytePath] = [:]
    ) throws -> Bool {
        try record.claim(names, for: BytePath(source), in: outbox, seen: seen)
    }

    // MARK: - Names

    @Test func `names belong to the source that claimed them first, all or none, and can be released`() throws {
        let record = try OutboxRecord(location)
        #expect(try claim(record, paths("a.webp", "a@2x.webp"), "../in/a.jpg"))
        #expect(try claim(record, paths("a.webp"), "../in/a.jpg"))
        #expect(try !claim(record, paths("b.webp", "a.webp"), "../in/b.jpg"))
        #expect(
            try record.owners(of: paths("a.webp", "b.webp"), in: outbox).mapValues(\.source) == [
                BytePath("a.webp"): BytePath("../in/a.jpg")
            ])
        #expect(try Set(record.names(of: BytePath("../in/a.jpg"), in: outbox)) == Set(paths("a.webp", "a@2x.webp")))
        try record.release(paths("a.webp"), of: BytePath("../in/b.jpg"), in: outbox)
        #expect(try !claim(record, paths("b.webp", "a.webp"), "../in/b.jpg"), "it was not theirs")
        try record.release(paths("a.webp"), of: BytePath("../in/a.jpg"), in: outbox)
        #expect(try claim(record, paths("b.webp", "a.webp"), "../in/b.jpg"))
    }

    @Test func `a name is taken from an owner only if it is still the one that was seen`() throws {
        let record = try OutboxRecord(location)
        let name = BytePath("a.webp")
        #expect(try claim(record, [name], "../in/a.jpg"))
        #expect(try !claim(record, [name], "../in/c.jpg", seen: [name: BytePath("../in/b.jpg")]))
        #expect(try claim(record, [name], "../in/c.jpg", seen: [name: BytePath("../in/a.jpg")]))
        #expect(try record.owners(of: [name], in: outbox)[name]?.source == BytePath("../in/c.jpg"))
        #expect(record.takeDisplaced() == [BytePath("../in/a.jpg")])
        #expect(record.takeDisplaced().isEmpty)
    }

    @Test func `the contents of names are recorded for their owner alone; those of an older record are not known`()
        throws
    {
        let name = BytePath("a.webp")
        func contents(_ record: OutboxRecord) throws -> [String]?? {
            try record.owners(of: [name], in: outbox)[name].map(\.contents)
        }
        let record = try OutboxRecord(location)
        #expect(try claim(record, [name], "../in/a.jpg") && contents(record) == [])
        for source in ["../in/a.jpg", "../in/b.jpg"] {
            try record.record(
                [OwnedName(outbox: outbox, name: name, source: BytePath(source), contents: [source, "old"])],
                areNoted: false)
        }
        #expect(try contents(record) == ["../in/a.jpg", "old"])
        #expect(try record.ownedNames(after: nil, limit: 9).map(\.contents) == [["../in/a.jpg", "old"]])
        try record.database.write { try $0.execute(sql: "UPDATE names SET contents = NULL") }
        #expect(try contents(record) == .some(nil))
    }

    @Test func `contents that files note themselves are known at once, and written with the next change or at the end`()
        throws
    {
        let names = paths("a.webp", "b.webp")
        let source = BytePath("../in/a.jpg")
        func written() throws -> [[String]?] {
            let other = try OutboxRecord.connect(location, isReadOnly: true)
            return try other.read {
                try String?.fetchAll($0, sql: "SELECT contents FROM names ORDER BY name").map { text in
                    text.map { $0.split(separator: " ").map(String.init) }
                }
            }
        }
        let record = try OutboxRecord(location)
        #expect(try claim(record, [names[0]], "../in/a.jpg"))
        try record.record(
            [OwnedName(outbox: outbox, name: names[0], source: source, contents: ["one"])], areNoted: true)
        #expect(try record.owners(of: names, in: outbox)[names[0]]?.contents == ["one"])
        #expect(try written() == [[]])
        #expect(try claim(record, [names[1]], "../in/a.jpg"))
        #expect(try written() == [["one"], []])
        try record.record(
            [OwnedName(outbox: outbox, name: names[1], source: source, contents: ["two"])], areNoted: true)
        record.close()
        #expect(try written() == [["one"], ["two"]])
    }

    @Test func `owned names come in pages, each name once, bytes that are no text included`() throws {
        let record = try OutboxRecord(location)
        let names = [BytePath([0xFF, 0x00, 0x61]), BytePath([0x61, 0xFE])] + (0..<7).map { BytePath("a\($0).webp") }
        #expect(try claim(record, names, "../in/a.jpg"))
        var found: [BytePath] = []
        var place: OwnedName?
        while case let page = try record.ownedNames(after: place, limit: 4), !page.isEmpty {
            found += page.map(\.name)
            place = page.last
        }
        #expect(found.count == names.count && Set(found) == Set(names))
        #expect(place?.source == BytePath("../in/a.jpg") && place?.outbox == outbox)
    }

    @Test func `names are known after the record was closed, and one file of it is left`() throws {
        let record = try OutboxRecord(location)
        #expect(try claim(record, paths("a.webp"), "../in/a.jpg"))
        record.close()
        #expect(try folder.entries() == ["out", "out/.imagemill", "out/.imagemill/names.sqlite"])
        #expect(try !claim(try OutboxRecord(location), paths("a.webp"), "../in/b.jpg"))
    }

    @Test func `a dry run knows the record and leaves it as it is`() throws {
        let none = try OutboxRecord(location, isDryRun: true)
        #expect(try claim(none, paths("a.webp"), "../in/a.jpg"))
        #expect(try folder.entries().isEmpty)
        let record = try OutboxRecord(location)
        #expect(try claim(record, paths("a.webp"), "../in/a.jpg"))
        record.close()
        let dry = try OutboxRecord(location, isDryRun: true)
        #expect(try !claim(dry, paths("a.webp"), "../in/b.jpg"))
        #expect(try claim(dry, paths("b.webp"), "../in/b.jpg"))
        #expect(try claim(try OutboxRecord(location), paths("b.webp"), "../in/c.jpg"))
    }

    // MARK: - Identities

    @Test
    func `a source is identified by its path from the output folder, also if that does not exist yet or is a link`()
        throws
    {
        let real = try #require(FileSystem.absolute(BytePath(folder.path)))
        let source = real.appending(BytePath("in/a.jpg"))
        #expect(location.identity(of: source) == BytePath("../in/a.jpg"))
        #expect(
            OutboxLocation(BytePath(folder.path("new/er/out//"))).identity(of: source) == BytePath("../../../in/a.jpg"))
        try FileManager.default.createDirectory(atPath: folder.path("deep/real"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "deep/real")
        #expect(OutboxLocation(BytePath(folder.path("link"))).identity(of: source) == BytePath("../../in/a.jpg"))
    }

    @Test func `a source is gone if nothing is at its place; a link that leads nowhere is something`() throws {
        try folder.write("x", to: "in/a.jpg")
        try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder.path("in/b.jpg"), withDestinationPath: "nowhere")
        #expect(!location.isGone(BytePath("../in/a.jpg")))
        #expect(!location.isGone(BytePath("../in/b.jpg")))
        #expect(location.isGone(BytePath("../in/c.jpg")))
        #expect(location.isGone(BytePath("../pics/a.jpg")))
    }

    @Test func `a record that is no database, or of a newer version, is an error that names it`() throws {
        try folder.write(String(repeating: "no database ", count: 100), to: "out/.imagemill/names.sqlite")
        let damaged = #expect(throws: StoreError.self) { try OutboxRecord(location) }
        #expect(damaged?.kind == .damaged)
        #expect(damaged?.description.contains("open the record of names in '\(folder.path("out/.imagemill"))'") == true)
        try FileManager.default.removeItem(atPath: folder.path("out/.imagemill/names.sqlite"))
        let record = try OutboxRecord(location)
        try record.database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('from the future')") }
        record.close()
        #expect(#expect(throws: StoreError.self) { try OutboxRecord(location) }?.kind == .otherLayout)
    }

    // MARK: - Results

    private func finished(_ name: String) throws -> FinishedSource {
        let path = try #require(FileSystem.absolute(BytePath(folder.path))).appending(BytePath(name))
        let source = SourceFile(location: .path(path), identity: path, relative: path.lastComponent)
        let report = SourceReport(status: .done, pipeline: "p", source: path.lastComponent)
        return FinishedSource(source: source, report: report, fingerprint: Fingerprint([]))
    }

    @Test
    func `after a source folder was renamed, results of sources that are gone and lost their names are dropped`() throws
    {
        let record = try OutboxRecord(location)
        let setup = RunSetup(pipeline: "p", assets: [:], engine: "e", options: [:])
        let results = ResultRecord(record, setup)
        for name in ["photos/a.jpg", "photos/b.jpg", "photos/c.jpg"] {
            #expect(try claim(record, [BytePath(name).lastComponent], "../" + name))
            results.add(try finished(name), document: "{}")
        }
        results.finish()
        // b is still there, c has lost nothing.
        try folder.write("x", to: "photos/b.jpg")
        for name in ["a.jpg", "b.jpg"] {
            #expect(
                try claim(record, paths(name), "../pics/" + name, seen: [BytePath(name): BytePath("../photos/" + name)])
            )
        }
        results.add(try finished("pics/a.jpg"), document: "{}")
        results.finish()
        let sources = try record.database.read {
            try Data.fetchAll($0, sql: "SELECT source FROM results ORDER BY source")
        }
        #expect(
            sources.map { String(decoding: $0, as: UTF8.self) } == [
                "../photos/b.jpg", "../photos/c.jpg", "../pics/a.jpg",
            ])
    }
}
