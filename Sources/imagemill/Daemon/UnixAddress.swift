// Addresses of Unix sockets, by path or in the kernel's abstract space.
import Engine
import Glibc
import Pipeline
import System

/// Where a Unix socket is.
struct UnixAddress: Equatable, Sendable {
    /// As the system takes it: a path, or a NUL and a name.
    private let bytes: [UInt8]
    /// Room in the system's structure, one byte kept for a final NUL.
    private static let longest = 107

    /// - Parameter text: an absolute path, or `@` and a name, as in `$NOTIFY_SOCKET`.
    /// - Returns: nil for anything else, and for what is too long.
    init?(variable text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count > 1, bytes.count <= Self.longest, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): self.bytes = bytes
        case UInt8(ascii: "@"): self.bytes = [0] + bytes.dropFirst()
        default: return nil
        }
    }

    /// A socket in an open folder. Paths of sockets are short, those of folders are not; the descriptor's always fits.
    init(in folder: OpenFile, name: String) {
        bytes = Array("/proc/self/fd/\(folder.descriptor)/\(name)".utf8)
    }

    /// Runs a call that takes an address.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The length tells where an abstract name ends; a path ends with a NUL besides.
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let length = socklen_t(offset + bytes.count + (bytes[0] == 0 ? 0 : 1))
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// Makes a socket that is closed in programs that are started.
func unixSocket(_ type: __socket_type, nonblocking: Bool) throws(SystemError) -> OpenFile {
    let flags = CInt(SOCK_CLOEXEC.rawValue) | (nonblocking ? CInt(SOCK_NONBLOCK.rawValue) : 0)
    let descriptor = socket(AF_UNIX, CInt(type.rawValue) | flags, 0)
    guard descriptor >= 0 else { throw SystemError("make a socket") }
    return OpenFile(owning: descriptor)
}
