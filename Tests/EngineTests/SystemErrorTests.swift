// The system's errors: which of them are anybody's mistake.
import Glibc
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct SystemErrorTests {
    @Test(
        "A full disk or a disk's error may pass; a file that is not there or may not be read does not, since somebody has to see to it"
    )
    func mayPass() {
        #expect(
            [ENOSPC, EDQUOT, EIO, EMFILE, ENOMEM, EINTR, ESTALE].allSatisfy { SystemError("read", code: $0).mayPass })
        #expect(
            ![ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, EROFS].contains { SystemError("read", code: $0).mayPass })
    }

    @Test(
        "B17: a folder of ours that is read-only, not mounted or not permitted is trouble with the machine; a file in its place is a mistake"
    )
    func environmental() {
        let codes = [EROFS, EACCES, EPERM, ENOENT, ENOTCONN, EMFILE, ENFILE, ENOSPC, EIO, ESTALE]
        #expect(codes.allSatisfy { SystemError("write", code: $0).isEnvironmental })
        #expect(
            ![ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL].contains { SystemError("write", code: $0).isEnvironmental })
    }

    @Test("A source that could not be copied for want of room is not to blame")
    func noRoomForCopies() {
        #expect(
            [ENOSPC, EDQUOT].allSatisfy { SystemError("copy the source", code: $0).asSourceFailure.code == .diskFull })
        #expect(SystemError("read", code: EIO).asSourceFailure.code == .ioError)
    }
}
