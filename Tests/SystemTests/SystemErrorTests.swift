// The system's errors: which of them are anybody's mistake.
import Glibc
import Testing

@testable import Pipeline
@testable import System

@Suite struct SystemErrorTests {
    @Test func `a full disk or a disk's error may pass; a file that is missing or may not be read does not`() {
        #expect(
            [ENOSPC, EDQUOT, EIO, EMFILE, ENOMEM, EINTR, ESTALE].allSatisfy { SystemError("read", code: $0).mayPass })
        #expect(
            ![ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, EROFS].contains { SystemError("read", code: $0).mayPass })
    }

    @Test
    func `a folder of ours that is read-only or not mounted is trouble with the machine; a file there is a mistake`() {
        let codes = [EROFS, EACCES, EPERM, ENOENT, ENOTCONN, EMFILE, ENFILE, ENOSPC, EIO, ESTALE]
        #expect(codes.allSatisfy { SystemError("write", code: $0).isEnvironmental })
        #expect(
            ![ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL].contains { SystemError("write", code: $0).isEnvironmental })
    }

    @Test func `a source that could not be copied for want of room is not to blame`() {
        #expect(
            [ENOSPC, EDQUOT].allSatisfy { SystemError("copy the source", code: $0).asSourceFailure.code == .diskFull })
        #expect(SystemError("read", code: EIO).asSourceFailure.code == .ioError)
    }
}
