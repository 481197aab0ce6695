// A substitute for systemd's and journald's sockets: takes datagrams and gives them as bytes.
import Glibc

@testable import imagemill

/// A datagram socket under a path or, with `@`, in the abstract space.
final class DatagramListener {
    private let descriptor: CInt

    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        let address = try Required.value(UnixAddress(variable: name))
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else { throw Required.Missing() }
    }

    deinit { close(descriptor) }

    /// The next datagram; nil if none comes in some seconds.
    func next(withinSeconds seconds: Int = 10) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, CInt(seconds * 1000)) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let got = recv(descriptor, &bytes, bytes.count, 0)
        return got < 0 ? nil : Array(bytes[..<got])
    }

    func nextText() -> String? { next().map { String(decoding: $0, as: UTF8.self) } }
}

enum Required {
    struct Missing: Error {}

    static func value<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Missing() }
        return value
    }
}
