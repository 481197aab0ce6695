// The calls to the system that change names in folders. A network file system can lose the answer to each of them.
import CLinux
import Glibc

/// The calls that `Directory` changes names with. Tests pass others, which fail, or do their work and then lose the
/// answer.
package struct NameCalls: Sendable {
    package typealias Move =
        @Sendable (_ from: CInt, _ name: UnsafePointer<CChar>, _ to: CInt, _ newName: UnsafePointer<CChar>) -> CInt

    var renameNoReplace: Move = { clinux_rename_no_replace($0, $1, $2, $3) }
    var exchange: Move = { clinux_exchange($0, $1, $2, $3) }
    package var rename: Move = { renameat($0, $1, $2, $3) }
    package var link: Move = { linkat($0, $1, $2, $3, 0) }
    package var unlink: @Sendable (_ folder: CInt, _ name: UnsafePointer<CChar>) -> CInt = { unlinkat($0, $1, 0) }
    package var sync: @Sendable (_ folder: CInt) -> CInt = { fsync($0) }

    package static let system = NameCalls()
}
