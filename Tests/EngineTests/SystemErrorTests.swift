// The system's errors: which of them are anybody's mistake.
import Glibc
import Testing

@testable import Engine

@Suite struct SystemErrorTests {
    @Test("A full disk or a disk's error may pass; a file that is not there or may not be read does not, since somebody has to see to it")
    func mayPass() {
        #expect([ENOSPC, EDQUOT, EIO, EMFILE, ENOMEM, EINTR, ESTALE].allSatisfy { SystemError("read", code: $0).mayPass })
        #expect(![ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, EROFS].contains { SystemError("read", code: $0).mayPass })
    }
}
