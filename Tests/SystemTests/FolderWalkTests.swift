// Walks below a folder: what is visited, what trouble costs, how deep they go.
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct FolderWalkTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func root() throws -> Directory { try Directory(BytePath(folder.path)) }

    @Test func `everything below is visited once, folders before what is in them, as deep as it goes`() throws {
        let deep = Array(repeating: "d", count: 90).joined(separator: "/")
        for name in ["a.png", "x/b.png", "x/y/c.png", "z/d.png", deep + "/e.png"] { try folder.write("12", to: name) }
        var seen: [String] = []
        let isWhole = try root().walk(0) { entry in
            #expect(entry.context == entry.depth && entry.path.components.count == entry.depth + 1)
            let above = entry.path.directory.text
            #expect(above.isEmpty || seen.contains(above))
            seen.append(entry.path.text)
            return .into(entry.depth + 1)
        }
        #expect(isWhole && Set(seen).count == seen.count && seen.count == 5 + 3 + 90)
        #expect(try root().bytesBelow() == 10)
    }

    @Test func `a walk ends when a visit says so, and passes over what is not entered`() throws {
        for name in ["x/1", "x/2", "y/3"] { try folder.write("", to: name) }
        var seen = 0
        #expect(
            try !root().walk(()) { _ in
                seen += 1; return .end
            } && seen == 1)
        seen = 0
        #expect(
            try root().walk(()) { _ in
                seen += 1; return .past
            } && seen == 2)
    }

    @Test func `trouble with one entry costs no other, and ends the walk if nobody takes it`() throws {
        for name in ["a", "b/1", "c/2", "d"] { try folder.write("", to: name) }
        var (seen, troubled): ([String], [String]) = ([], [])
        func visit(_ entry: FolderEntry<Void>) throws(SystemError) -> WalkStep<Void> {
            if ["a", "b"].contains(entry.name.text) { throw SystemError("look", code: EIO) }
            seen.append(entry.path.text)
            return .into(())
        }
        try root().walk((), trouble: { path, _ in troubled.append(path.text) }, visit)
        #expect(seen.sorted() == ["c", "c/2", "d"] && troubled.sorted() == ["a", "b"])
        #expect(throws: SystemError.self) { try root().walk((), visit) }
    }
}
