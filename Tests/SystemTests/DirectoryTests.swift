// The errors that an open directory gives for calls that fail.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct DirectoryTests {
    @Test(arguments: [EROFS, EIO, ENOSPC])
    func `a folder that cannot be written to the disk is trouble, also after its file system became read-only`(
        code: CInt
    ) throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: SystemError.self) {
            try Directory(BytePath(folder.path)).sync("the folder 'out'", calls: failing(code))
        }
        #expect(error?.code == code)
        #expect(error?.description.hasPrefix("cannot write the folder 'out' to the disk: ") ?? false)
    }

    @Test func `a file system without syncs of folders has nothing to lose by it`() throws {
        let folder = try TemporaryFolder()
        try Directory(BytePath(folder.path)).sync("a folder", calls: failing(EINVAL))
    }

    @Test func `what cannot be moved or made is named with the whole path`() throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: "in/a")
        try folder.write("b", to: "out/b")
        let (from, to) = (
            try Directory(BytePath(folder.path("in"))), try Directory(BytePath(folder.path("out")))
        )
        let moved = #expect(throws: SystemError.self) { try from.move(BytePath("a"), to: to, as: BytePath("b")) }
        #expect(
            moved?.description == "cannot move '\(folder.path("in/a"))' to '\(folder.path("out/b"))': File exists")
        let made = #expect(throws: SystemError.self) { try from.making(BytePath("a")) }
        #expect(made?.description == "cannot make '\(folder.path("in/a"))': File exists")
    }

    private func failing(_ code: CInt) -> NameCalls {
        var calls = NameCalls.system
        calls.sync = { _ in
            errno = code
            return -1
        }
        return calls
    }
}
