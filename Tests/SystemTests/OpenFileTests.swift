import Glibc
import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct OpenFileTests {
    @Test
    func `a file that is opened again has a position of its own, which workers that read one asset at a time need`()
        throws
    {
        let folder = try TemporaryFolder()
        let file = try OpenFile.reading(BytePath(folder.write("0123456789", to: "a")))
        let again = try file.reopened()
        var byte: UInt8 = 0
        #expect(lseek(file.descriptor, 7, SEEK_SET) == 7)
        #expect(read(again.descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "0"))
        #expect(read(file.descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "7"))
    }

    @Test func `a read that fails is not the end of the file`() throws {
        let folder = try TemporaryFolder()
        let file = try OpenFile.unreadable(Array("0123".utf8), in: folder)
        let error = #expect(throws: SystemError.self) { try file.bytes(at: 0, count: 4) }
        #expect(error?.description == "cannot read the file: Bad file descriptor")
        #expect(throws: SystemError.self) { try Digest.of(file) }
        #expect(throws: SystemError.self) { try file.structure { headerSize(of: .png, in: $0) == nil } }
    }
}
