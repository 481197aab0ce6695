// A file whose disk gives an error for every read.
import Glibc
package import System

extension OpenFile {
    /// A file with these bytes that is open for writing only.
    package static func unreadable(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> OpenFile {
        OpenFile(owning: open(try folder.write(bytes, to: "unreadable"), O_WRONLY))
    }
}
