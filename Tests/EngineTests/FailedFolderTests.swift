// `imagemill retry`: a failed source goes back to where it came from.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct FailedFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("other", to: "in/other.jpg")
    }

    private var failed: FailedFolder { FailedFolder(folder: BytePath(folder.path("failed")), inbox: BytePath(folder.path("in"))) }

    private func fail(_ name: String, as source: String) throws {
        let path = BytePath(try folder.write(name, to: "failed/" + name))
        try FailureNote(
            source: BytePath(source), inbox: BytePath(folder.path("in")), quarantined: path, pipeline: BytePath("/p"),
            failure: Failure(.corrupt, stage: "decode", "x"), attempts: 1
        ).write(beside: path)
    }

    @Test("It stands in the inbox again, without its note, in the folder that it had")
    func back() throws {
        try fail("a/b.jpg", as: "a/b.jpg")
        #expect(try failed.sources() == [BytePath("a/b.jpg")])
        #expect(try failed.giveBack(BytePath("a/b.jpg")) == BytePath("a/b.jpg"))
        #expect(try folder.text("in/a/b.jpg") == "a/b.jpg")
        #expect(try failed.sources() == [])
        #expect(try folder.entries().filter { $0.hasPrefix("failed") } == ["failed", "failed/a"])
    }

    @Test("A second failure of one name gets its own name back")
    func renamed() throws {
        try fail("b~2.jpg", as: "b.jpg")
        #expect(try failed.giveBack(BytePath("b~2.jpg")) == BytePath("b.jpg"))
        #expect(try folder.text("in/b.jpg") == "b~2.jpg")
    }

    @Test("A file that stands in the inbox by now is not replaced")
    func taken() throws {
        try fail("other.jpg", as: "other.jpg")
        let error = #expect(throws: SystemError.self) { try failed.giveBack(BytePath("other.jpg")) }
        #expect(error?.code == EEXIST)
        #expect(error?.description == "cannot move 'other.jpg' back to '\(folder.path("in/other.jpg"))': File exists")
        #expect(try folder.text("in/other.jpg") == "other" && folder.text("failed/other.jpg") == "other.jpg")
        #expect(try folder.entries().contains("failed/other.jpg.error.json"))
    }

    @Test("Nothing goes through a link in the inbox, and an inbox that is missing is not made")
    func elsewhere() throws {
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

    @Test("Only files in the folder are moved", arguments: ["../in/other.jpg", "/etc/passwd", "missing.jpg", "link", "folder", ""])
    func refused(name: String) throws {
        try folder.write("x", to: "failed/folder/x")
        symlink("/etc/passwd", folder.path("failed/link"))
        #expect(throws: SystemError.self) { try failed.giveBack(BytePath(name)) }
        #expect(try folder.text("in/other.jpg") == "other")
        #expect(try failed.sources() == [BytePath("folder/x")])
    }
}
