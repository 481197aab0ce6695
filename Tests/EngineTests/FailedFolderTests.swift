// `imagemill retry`: a failed source goes back to where it came from.
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct FailedFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("other", to: "in/other.jpg")
    }

    private var failed: FailedFolder {
        FailedFolder(folder: BytePath(folder.path("failed")), inbox: BytePath(folder.path("in")))
    }

    private func fail(_ name: String, as source: String) throws {
        let path = BytePath(try folder.write(name, to: "failed/" + name))
        try FailureNote(
            source: BytePath(source), job: "7", inbox: BytePath(folder.path("in")), quarantined: path,
            pipeline: BytePath("/p"),
            failure: Failure(.corrupt, stage: "decode", "x"), attempts: 1
        ).write(beside: path.lastComponent, in: Directory(path.directory))
    }

    @Test func `it is in the inbox again, without its note, in the folder that it had`() throws {
        try fail("a/b.jpg", as: "a/b.jpg")
        #expect(try failed.contents().sources == [BytePath("a/b.jpg")])
        #expect(try failed.giveBack(BytePath("a/b.jpg")) == BytePath("a/b.jpg"))
        #expect(try folder.text("in/a/b.jpg") == "a/b.jpg")
        #expect(try failed.contents().sources == [])
        #expect(try folder.entries().filter { $0.hasPrefix("failed") } == ["failed", "failed/a"])
    }

    @Test
    func `a note whose source was moved away by hand is no source; a source that is called like a note is one`() throws
    {
        try fail("a/b.jpg", as: "a/b.jpg")
        try fail("c.error.json", as: "c.error.json")
        FileSystem.remove(BytePath(folder.path("failed/a/b.jpg")))
        #expect(try failed.contents().sources == [BytePath("c.error.json")])
    }

    @Test func `a note that a killed retry has left is removed; notes of sources and other files stay`() throws {
        try fail("a/b.jpg", as: "a/b.jpg")
        try fail("stays.jpg", as: "stays.jpg")
        try fail("c.error.json", as: "c.error.json")
        try folder.write("{}", to: "failed/mine.error.json")
        FileSystem.remove(BytePath(folder.path("failed/a/b.jpg")))
        #expect(try failed.removeOrphanedNotes() == [])
        #expect(
            try folder.entries().filter { $0.hasPrefix("failed/") } == [
                "failed/a", "failed/c.error.json", "failed/c.error.json.error.json", "failed/mine.error.json",
                "failed/stays.jpg", "failed/stays.jpg.error.json",
            ])
    }

    @Test func `a folder that cannot be looked into hides nothing else, and is named`() async throws {
        for name in ["a.jpg", "z/b.jpg"] { try fail(name, as: name) }
        try fail("gone.jpg", as: "gone.jpg")
        FileSystem.remove(BytePath(folder.path("failed/gone.jpg")))
        // A set of somebody else's, whose note was deleted.
        try folder.write("", to: "failed/locked/c.jpg")
        #expect(chmod(folder.path("failed"), 0o777) == 0 && chmod(folder.path("failed/locked"), 0) == 0)
        defer { chmod(folder.path("failed/locked"), 0o755) }
        let failed = failed
        let trouble = "cannot look into '\(folder.path("failed/locked"))': Permission denied"
        let contents = try await Stranger.tries { try failed.contents() }
        #expect(contents.sources == [BytePath("a.jpg"), BytePath("z/b.jpg")])
        #expect(contents.troubles.map(\.description) == [trouble])
        let troubles = try await Stranger.tries { try failed.removeOrphanedNotes() }
        #expect(troubles.map(\.description) == [trouble])
        #expect(try !folder.entries().contains("failed/gone.jpg.error.json"))
        #expect(try folder.entries().contains("failed/a.jpg.error.json"))
    }

    @Test func `a second failure of one name gets its own name back`() throws {
        try fail("b~2.jpg", as: "b.jpg")
        #expect(try failed.giveBack(BytePath("b~2.jpg")) == BytePath("b.jpg"))
        #expect(try folder.text("in/b.jpg") == "b~2.jpg")
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `a source from a mount below the inbox goes back there, and replaces nothing`() async throws {
        let place = folder.path("in/sub")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try #require(try await CommandRunner().shell("mount -t tmpfs tmpfs '\(place)'").exit == 0)
        defer { umount2(place, CInt(MNT_DETACH)) }
        try fail("sub/b.jpg", as: "sub/b.jpg")
        let modified = try FileSystem.status(BytePath(folder.path("failed/sub/b.jpg")))?.modified
        #expect(try failed.giveBack(BytePath("sub/b.jpg")) == BytePath("sub/b.jpg"))
        #expect(try folder.text("in/sub/b.jpg") == "sub/b.jpg")
        #expect(try FileSystem.status(BytePath(place + "/b.jpg"))?.modified == modified)
        #expect(try failed.contents().sources == [])

        try fail("sub/b.jpg", as: "sub/b.jpg")
        let error = #expect(throws: SystemError.self) { try failed.giveBack(BytePath("sub/b.jpg")) }
        #expect(error?.code == EEXIST && error?.description.contains("rename one of the two") == true)
        #expect(try failed.contents().sources == [BytePath("sub/b.jpg")])
        #expect(try folder.entries().filter { $0.hasPrefix("in/sub/") } == ["in/sub/b.jpg"])
    }

    @Test func `a file that is in the inbox by now is not replaced`() throws {
        try fail("other.jpg", as: "other.jpg")
        let error = #expect(throws: SystemError.self) { try failed.giveBack(BytePath("other.jpg")) }
        #expect(error?.code == EEXIST)
        #expect(
            error?.description
                == "cannot move 'other.jpg' back to '\(folder.path("in/other.jpg"))': another file has that name by now; rename one of the two"
        )
        #expect(try folder.text("in/other.jpg") == "other" && folder.text("failed/other.jpg") == "other.jpg")
        #expect(try folder.entries().contains("failed/other.jpg.error.json"))
    }

    @Test func `nothing goes through a link in the inbox, and an inbox that is missing is not made`() throws {
        try folder.write("x", to: "elsewhere/x")
        #expect(symlink(folder.path("elsewhere"), folder.path("in/sub")) == 0)
        try fail("sub/b.jpg", as: "sub/b.jpg")
        #expect(throws: SystemError.self) { try failed.giveBack(BytePath("sub/b.jpg")) }
        #expect(try !folder.entries().contains("elsewhere/b.jpg") && folder.text("failed/sub/b.jpg") == "sub/b.jpg")

        try fail("c.jpg", as: "c.jpg")
        let missing = FailedFolder(folder: BytePath(folder.path("failed")), inbox: BytePath(folder.path("mount/in")))
        #expect(throws: SystemError.self) { try missing.giveBack(BytePath("c.jpg")) }
        #expect(try !folder.entries().contains("mount") && folder.text("failed/c.jpg") == "c.jpg")
    }

    @Test(arguments: ["../in/other.jpg", "/etc/passwd", "missing.jpg", "link", "folder", ""])
    func `only files in the folder are moved`(name: String) throws {
        try folder.write("x", to: "failed/folder/x")
        symlink("/etc/passwd", folder.path("failed/link"))
        #expect(throws: SystemError.self) { try failed.giveBack(BytePath(name)) }
        #expect(try folder.text("in/other.jpg") == "other")
        #expect(try failed.contents().sources == [BytePath("folder/x")])
    }

    /// The facts that are known of an original in the inbox.
    private func kept(_ name: String, code: FailureCode? = .corrupt) throws -> [BytePath: KeptOriginal] {
        let status = try #require(try FileSystem.status(BytePath(folder.path("in/\(name)"))))
        return [BytePath(name): KeptOriginal(observed: status.version, recipe: "r", code: code)]
    }

    @Test
    func `the copy of an original that is still in the inbox is removed with its note, and the original is done again`()
        throws
    {
        try fail("other.jpg", as: "other.jpg")
        let (copy, original) = (folder.path("failed/other.jpg"), try kept("other.jpg"))
        try folder.write("other", to: "failed/other.jpg")
        var forgotten: [BytePath] = []
        // Another file has the name by now.
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, copy, times, 0) == 0)
        #expect(throws: SystemError.self) {
            try failed.giveBack(BytePath("other.jpg"), kept: original) { forgotten.append($0) }
        }
        #expect(forgotten == [])
        #expect(utimensat(AT_FDCWD, folder.path("in/other.jpg"), times, 0) == 0)
        // It failed when the inbox did not keep originals, or the ledger was lost.
        try folder.write("OTHER", to: "failed/other.jpg")
        #expect(utimensat(AT_FDCWD, copy, times, 0) == 0)
        #expect(throws: SystemError.self) {
            try failed.giveBack(BytePath("other.jpg"), kept: [:]) { forgotten.append($0) }
        }
        #expect(
            try failed.giveBack(BytePath("other.jpg"), kept: original) { forgotten.append($0) } == BytePath("other.jpg")
        )
        #expect(forgotten == [BytePath("other.jpg")])
        #expect(try folder.entries() == ["failed", "in", "in/other.jpg"])
    }

    @Test func `a copy whose bytes the inbox has is removed also if the ledger was lost`() throws {
        try fail("other.jpg", as: "other.jpg")
        try folder.write("other", to: "failed/other.jpg")
        try fail("set", as: "set")
        FileSystem.remove(BytePath(folder.path("failed/set")))
        for name in ["failed/set/a/1.png", "in/set/a/1.png"] { try folder.write("1", to: name) }
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        for name in ["failed/other.jpg", "in/other.jpg", "failed/set/a/1.png", "in/set/a/1.png"] {
            #expect(utimensat(AT_FDCWD, folder.path(name), times, 0) == 0)
        }
        #expect(try failed.giveBack(BytePath("other.jpg")) == BytePath("other.jpg"))
        #expect(try failed.giveBack(BytePath("set")) == BytePath("set"))
        #expect(
            try folder.entries() == ["failed", "in", "in/other.jpg", "in/set", "in/set/a", "in/set/a/1.png"])
    }

    @Test func `if the original cannot be forgotten, its copy stays`() throws {
        try fail("trip", as: "trip")
        #expect(unlink(folder.path("failed/trip")) == 0)
        try folder.write("1", to: "failed/trip/1.png")
        try folder.write("1", to: "in/trip/1.png")
        // As a copy, which has the time of its original.
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        for path in ["failed/trip/1.png", "in/trip/1.png"] {
            #expect(utimensat(AT_FDCWD, folder.path(path), times, 0) == 0)
        }
        #expect(throws: SystemError.self) {
            try failed.giveBack(BytePath("trip"), kept: kept("trip")) { _ in throw SystemError("write", code: ENOSPC) }
        }
        #expect(try failed.contents().sources == [BytePath("trip")])
        #expect(try failed.giveBack(BytePath("trip"), kept: kept("trip")) == BytePath("trip"))
        #expect(try folder.entries() == ["failed", "in", "in/other.jpg", "in/trip", "in/trip/1.png"])
    }

    @Test func `the first sources by their paths are described, and all are counted`() throws {
        for number in (10..<40).shuffled() { try fail("\(number % 3)/\(number).jpg", as: "\(number).jpg") }
        try folder.write("", to: "failed/9.jpg")
        let sources = try failed.contents().sources
        for most in [0, 1, 7, 31, 100] {
            let found = try failed.first(most)
            #expect(found.count == 31 && found.entries.map(\.path) == Array(sources.prefix(most)))
            #expect(found.entries.allSatisfy { $0.bytes == ($0.path.text == "9.jpg" ? 0 : 8) })
            #expect(found.entries.allSatisfy { ($0.note == nil) == ($0.path.text == "9.jpg") })
        }
    }

    @Test func `however many sources have failed, little of them is in memory`() throws {
        let file = try folder.write("x", to: "file")
        try folder.write("x", to: "failed/0.jpg")
        for number in 1..<40_000 {
            try #require(link(file, folder.path("failed/\(number).jpg\(number % 2 == 0 ? "" : ".error.json")")) == 0)
            if number % 4000 == 0 { try folder.write("x", to: "file-\(number)") }
        }
        let before = try peak(resetting: true)
        #expect(try failed.first(100).count == 20_000)
        #expect(try failed.removeOrphanedNotes() == [])
        let growth = try peak(resetting: false) - before
        #expect(growth < 6_000, "\(growth) KiB")
    }

    /// The most memory since the last reset, in KiB.
    private func peak(resetting: Bool) throws -> Int {
        if resetting { try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }

    @Test func `a source is found by its path from the folder, and by an absolute one`() throws {
        try fail("a/b.jpg", as: "a/b.jpg")
        for name in ["a/b.jpg", folder.path("failed/a/b.jpg")] {
            #expect(failed.path(of: BytePath(name)) == BytePath("a/b.jpg"))
        }
        for name in ["b.jpg", "../in/other.jpg", folder.path("in/other.jpg"), ""] {
            #expect(failed.path(of: BytePath(name)) == nil)
        }
    }
}
