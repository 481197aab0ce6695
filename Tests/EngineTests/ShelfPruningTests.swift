// What is removed from `done/` and `failed/`: what is too old, then the oldest; never less than a whole set, and never
// a note before its source.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine

@Suite struct ShelfPruningTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Files get their times of change one after the other.
    private func make(_ names: String...) throws {
        for name in names {
            try folder.write(String(repeating: "x", count: 100), to: "shelf/" + name)
            usleep(20_000)
        }
    }

    private func prune(
        age: String? = nil, size: String? = nil, sets: Bool = false, seconds later: Int = 0
    ) throws -> Int {
        let retention = Retention(age: age.flatMap { Duration(written: $0) }, size: size.flatMap { ByteCount($0) })
        let pruning = ShelfPruning(folder: BytePath(folder.path("shelf")), retention: retention, takesSets: sets)
        return try pruning.run(now: (wallClock() + later * 1000) * 1_000_000)
    }

    private var left: [String] {
        (FileManager.default.enumerator(atPath: folder.path("shelf"))?.compactMap { $0 as? String } ?? []).sorted()
    }

    @Test func `what has been there for longer is removed, with its note; a file's own time does not matter`() throws {
        try make("deep/a.jpg", "deep/a.jpg.error.json", "b.jpg")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: folder.path("shelf/b.jpg"))
        #expect(try prune(age: "1h") == 0 && left.count == 4)
        #expect(try prune(age: "1h", seconds: 3500) == 0)
        #expect(try prune(age: "1h", seconds: 3700) == 2 && left == ["deep"])
    }

    @Test func `of too much the oldest go first, until the rest is small enough`() throws {
        try make("1.jpg", "2.jpg", "3.jpg", "4.jpg")
        #expect(try prune(size: "1K") == 0)
        #expect(try prune(size: "250") == 2 && left == ["3.jpg", "4.jpg"])
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
        #expect(try prune(age: "0s", seconds: 10) == 1)
        #expect(left == ["link"] && FileManager.default.fileExists(atPath: folder.path("elsewhere/mine.jpg")))
    }
}
