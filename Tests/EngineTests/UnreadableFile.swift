// A file whose disk gives an error for every read.
import Glibc
import TestSupport

@testable import Engine

extension OpenFile {
    /// A file with these bytes that is open for writing only.
    static func unreadable(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> OpenFile {
        OpenFile(owning: open(try folder.write(bytes, to: "unreadable"), O_WRONLY))
    }
}
