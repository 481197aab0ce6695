// An address that the daemon listens on.
import Engine
import Glibc
import Pipeline
import System

/// A listening socket, and who may ask what over it.
struct HTTPListener: Sendable {
    let socket: OpenFile
    let access: HTTPAccess
    /// Clients at a time. Those of one address take no places from those of another. If all are taken, who has not sent
    /// a whole request has to leave.
    let places: Int
    /// The socket's name in the file system, if it has one.
    var path: BytePath?

    /// A Unix socket, for the owner and the group.
    /// - Parameters:
    ///   - path: an earlier daemon's socket there is replaced. Only call it with the lock on the state folder.
    ///   - places: clients at a time.
    ///   - token: what requests have to bring along.
    static func unix(_ path: BytePath, places: Int = 16, token: String? = nil) throws(SystemError) -> HTTPListener {
        try FileSystem.makeDirectories(path.directory)
        let folder = try OpenFile.reading(path.directory)
        if let found = try FileSystem.status(path, followLinks: false) {
            guard found.kind == .other else {
                throw SystemError("listen on '\(path.printable)': a file or a folder has that name", code: EEXIST)
            }
            let other = try unixSocket(SOCK_STREAM, nonblocking: true)
            let address = UnixAddress(in: folder, name: path.lastComponent.text)
            if address.withPointer({ connect(other.descriptor, $0, $1) }) == 0 {
                throw SystemError(
                    "listen on '\(path.printable)'", code: EADDRINUSE,
                    because: "another process listens there; stop it first")
            }
            guard withPath(path, { unlink($0) }) == 0 || errno == ENOENT else {
                throw SystemError.withoutRight(
                    "replace the socket '\(path.printable)' of an earlier daemon", in: path.directory, code: errno)
            }
        }
        let socket = try unixSocket(SOCK_STREAM, nonblocking: true)
        // Before it has a name, so that nobody else can connect in between; the umask may still take bits away, which
        // the second one gives back.
        fchmod(socket.descriptor, 0o660)
        let isBound =
            UnixAddress(in: folder, name: path.lastComponent.text).withPointer { bind(socket.descriptor, $0, $1) } == 0
        guard isBound, withPath(path, { chmod($0, 0o660) }) == 0, listen(socket.descriptor, SOMAXCONN) == 0 else {
            throw SystemError.withoutRight("listen on '\(path.printable)'", in: path.directory, code: errno)
        }
        return HTTPListener(
            socket: socket, access: HTTPAccess(isUnixSocket: true, token: token), places: places, path: path)
    }

    /// For browsers and programs that watch. Descriptors are for pictures first.
    static var webPlaces: Int { max(4, min(48, Machine.descriptorLimit / 16)) }

    /// An address of IPv4 or IPv6.
    /// - Parameter token: what requests have to bring along; nil for the loopback address only.
    static func tcp(host: String, port: Int, token: String?) throws(SystemError) -> HTTPListener {
        let what = "listen on '\(host.contains(":") ? "[\(host)]" : host):\(port)'"
        guard let address = InternetAddress(host: host, port: port) else { throw SystemError(what, code: EINVAL) }
        let descriptor = Glibc.socket(
            address.family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(what) }
        let socket = OpenFile(owning: descriptor)
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, SOMAXCONN) == 0 else {
            throw SystemError(what)
        }
        return HTTPListener(socket: socket, access: HTTPAccess(token: token), places: webPlaces)
    }

    /// The port that it listens on, for tests that let the system choose one.
    var port: Int {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.descriptor, $0, &length) }
        }
        // The port is at the same place in both families.
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}

/// A numeric address with a port.
private struct InternetAddress {
    private var four = sockaddr_in()
    private var six = sockaddr_in6()
    let family: CInt

    init?(host: String, port: Int) {
        guard let port = UInt16(exactly: port) else { return nil }
        if inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &four.sin_addr) == 1 {
            (family, four.sin_family, four.sin_port) = (AF_INET, sa_family_t(AF_INET), port.bigEndian)
        } else if inet_pton(AF_INET6, host, &six.sin6_addr) == 1 {
            (family, six.sin6_family, six.sin6_port) = (AF_INET6, sa_family_t(AF_INET6), port.bigEndian)
        } else {
            return nil
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        family == AF_INET ? Self.rebound(four, body) : Self.rebound(six, body)
    }

    private static func rebound<Address, Result>(
        _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
        }
    }
}
