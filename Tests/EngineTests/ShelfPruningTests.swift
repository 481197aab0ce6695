// The removal of entries from `done/` and `failed/`: those that are too old, then the oldest; never less than a whole
// set, and never a note before its source.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct ShelfPruningTests {
    private let folder: TemporaryFolder
    private let fake = FakeClocks()

    init() throws { folder = try TemporaryFolder() }

    /// Files get their times of change one after the other.
    private func make(_ names: String...) throws {
        for name in names {
            try folder.write(String(repeating: "x", count: 100), to: "shelf/" + name)
            usleep(20_000)
        }
    }

    /// Each look is by a program that was started anew.
    private func pruning(age: String? = nil, size: String? = nil, sets: Bool = false) throws -> ShelfPruning {
        let retention = Retention(age: age.flatMap { Duration(written: $0) }, size: size.flatMap { ByteCount($0) })
        let store = try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in .run }, clocks: fake.clocks)
        return ShelfPruning(
            folder: BytePath(folder.path("shelf")), retention: retention, takesSets: sets,
            record: store.shelf("done", of: "in"))
    }

    private func prune(
        age: String? = nil, size: String? = nil, sets: Bool = false, after time: Duration = .zero
    ) throws -> Int {
        fake.pass(time)
        let outcome = try pruning(age: age, size: size, sets: sets).run()
        #expect(outcome.trouble == nil)
        return outcome.removed
    }

    private var left: [String] {
        (FileManager.default.enumerator(atPath: folder.path("shelf"))?.compactMap { $0 as? String } ?? []).sorted()
    }

    @Test func `what has been there for longer is removed, with its note; a file's own time does not matter`() throws {
        try make("deep/a.jpg", "deep/a.jpg.error.json", "b.jpg")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: folder.path("shelf/b.jpg"))
        #expect(try prune(age: "1h") == 0 && left.count == 4)
        #expect(try prune(age: "1h", after: .seconds(3500)) == 0)
        #expect(try prune(age: "1h", after: .seconds(200)) == 2 && left == ["deep"])
    }

    @Test func `of too much the oldest go first, until the rest is small enough`() throws {
        try make("1.jpg", "2.jpg", "3.jpg", "4.jpg")
        #expect(try prune(size: "1K") == 0)
        #expect(try prune(size: "250") == 2 && left == ["3.jpg", "4.jpg"])
    }

    @Test func `a raw file goes with its JPEG, counts with it, and goes alone if it has failed for itself`() throws {
        try make("1.CR3", "1.JPG", "2.JPG", "2.nef", "3.dng", "4.jpg", "4.raf", "4.raf.error.json", "5.jpg")
        #expect(try prune(size: "1K") == 0)
        #expect(try prune(size: "600") == 1)
        #expect(left == ["2.JPG", "2.nef", "3.dng", "4.jpg", "4.raf", "4.raf.error.json", "5.jpg"])
        #expect(try prune(size: "250") == 3 && left == ["4.raf", "4.raf.error.json", "5.jpg"])
    }

    @Test func `a set goes as a whole, and by the time at which it came`() throws {
        try make("a/1.jpg", "a/sub/2.jpg", "a.error.json", "group/b/1.jpg", "group/b/2.jpg")
        #expect(try prune(size: "250", sets: true) == 1)
        #expect(left == ["group", "group/b", "group/b/1.jpg", "group/b/2.jpg"])
    }

    @Test func `links are neither followed nor counted`() throws {
        try make("a.jpg")
        try folder.write("mine", to: "elsewhere/mine.jpg")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("shelf/link"), withDestinationPath: folder.path("elsewhere"))
        #expect(try prune(age: "0s") == 0)
        #expect(try prune(age: "0s", after: .seconds(10)) == 1)
        #expect(left == ["link"] && FileManager.default.fileExists(atPath: folder.path("elsewhere/mine.jpg")))
    }

    @Test(arguments: LedgerClockTests.jumps)
    func `a time of day that is set removes nothing early, and keeps nothing for longer`(jump: Duration) throws {
        try make("a.jpg")
        #expect(try prune(age: "1h") == 0)
        fake.setWall(by: jump)
        #expect(try prune(age: "1h", after: .seconds(1)) == 0)
        try make("b.jpg")
        #expect(try prune(age: "1h", after: .seconds(1)) == 0)
        fake.setWall(by: .zero - jump)
        #expect(try prune(age: "1h", after: .seconds(1)) == 0 && left == ["a.jpg", "b.jpg"])
        for _ in 0..<12 { _ = try prune(age: "1h", after: .seconds(300)) }
        #expect(left == [])
    }

    @Test func `if the ledger is lost, the age of everything begins anew, and the order stays`() throws {
        try make("1.jpg", "2.jpg")
        #expect(try prune(age: "1h") == 0)
        fake.pass(.seconds(3000))
        try FileManager.default.removeItem(atPath: folder.path("state"))
        #expect(try prune(age: "1h", after: .seconds(3000)) == 0)
        #expect(try prune(age: "1h", size: "150", after: .seconds(10)) == 1 && left == ["2.jpg"])
        #expect(try prune(age: "1h", after: .seconds(3600)) == 1)
    }

    @Test func `another one that comes under the same name has an age of its own`() throws {
        try make("a.jpg", "b.jpg")
        #expect(try prune(age: "1h") == 0)
        fake.pass(.seconds(3000))
        try FileManager.default.removeItem(atPath: folder.path("shelf/a.jpg"))
        try make("a.jpg")
        #expect(try prune(age: "1h") == 0)
        #expect(try prune(age: "1h", after: .seconds(1000)) == 1 && left == ["a.jpg"])
        #expect(try prune(age: "1h", after: .seconds(3000)) == 1)
    }

    @Test func `what somebody has taken away does not count`() throws {
        try make("1.jpg", "2.jpg", "3.jpg")
        #expect(try prune(size: "300") == 0)
        try FileManager.default.removeItem(atPath: folder.path("shelf/2.jpg"))
        try make("4.jpg")
        #expect(try prune(size: "300") == 0)
        #expect(try prune(size: "200") == 1 && left == ["3.jpg", "4.jpg"])
    }

    @Test(arguments: [true, false])
    func `an inbox that takes sets from now on, or no longer, removes no part early`(begins: Bool) throws {
        try make("a/1.jpg", "a/2.jpg")
        #expect(try prune(age: "1h", sets: !begins) == 0)
        fake.pass(.seconds(3000))
        #expect(try prune(age: "1h", sets: begins) == 0)
        #expect(try prune(age: "1h", sets: begins, after: .seconds(1000)) == 0)
        #expect(try prune(age: "1h", sets: begins, after: .seconds(3000)) == (begins ? 1 : 2))
    }

    @Test func `more than is looked at together is no trouble`() throws {
        for index in 0..<1100 { try folder.write("x", to: "shelf/\(index % 7)/\(index).jpg") }
        #expect(try prune(size: "100") == 1000)
        #expect(try prune(age: "1h", after: .seconds(4000)) == 100)
    }

    @Test(arguments: [("1h", nil), (nil, "250")] as [(String?, String?)])
    func `what cannot be looked into or removed stays, and keeps nothing else`(age: String?, size: String?) async throws
    {
        try make("1.jpg", "locked/2.jpg", "mine/3.jpg", "mine/set/4.jpg", "5.jpg", "6.jpg", "7.jpg")
        #expect(try prune(age: "1h") == 0)
        fake.pass(.seconds(4000))
        try make("8.jpg", "9.jpg")
        #expect(chmod(folder.path("shelf"), 0o777) == 0)
        #expect(chmod(folder.path("shelf/locked"), 0) == 0)
        for name in ["mine", "mine/set"] { #expect(chmod(folder.path("shelf/" + name), 0o555) == 0) }
        defer { for name in ["locked", "mine", "mine/set"] { chmod(folder.path("shelf/" + name), 0o755) } }
        let pruning = try pruning(age: age, size: size)
        let outcome = try await Stranger.tries { try pruning.run() }
        #expect(outcome.removed == 4 && outcome.trouble?.description.contains("'locked") == true, "\(outcome)")
        #expect(chmod(folder.path("shelf/locked"), 0o555) == 0)
        #expect(
            left == [
                "8.jpg", "9.jpg", "locked", "locked/2.jpg", "mine", "mine/3.jpg", "mine/set", "mine/set/4.jpg",
            ])
        let again = try await Stranger.tries { try pruning.run() }
        #expect(again.removed == 0 && again.trouble?.description == "cannot remove 'locked/2.jpg': Permission denied")
    }
}
