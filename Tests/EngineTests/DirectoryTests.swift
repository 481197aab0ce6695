// What an open directory says of calls that fail.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine

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

    private func failing(_ code: CInt) -> NameCalls {
        var calls = NameCalls.system
        calls.sync = { _ in
            errno = code
            return -1
        }
        return calls
    }
}
