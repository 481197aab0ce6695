// An open descriptor that closes itself, and what the engine asks of one.
import CLinux
import Glibc
package import Pipeline

/// An open descriptor; closed when the last owner lets go.
package final class OpenFile: Sendable {
    package let descriptor: CInt

    package init(owning descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Opens for reading. Never waits: a pipe without a writer would hang the caller.
    package static func reading(_ path: BytePath) throws(SystemError) -> OpenFile {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let descriptor = withPath(path) { clinux_openat(AT_FDCWD, $0, flags, 0) }
        guard descriptor >= 0 else { throw SystemError("open '\(path.printable)'") }
        return OpenFile(owning: descriptor)
    }

    /// The same file with a position of its own. A descriptor that is passed on shares the position with all who have
    /// it.
    package func reopened() throws(SystemError) -> OpenFile {
        try Self.reading(BytePath("/proc/self/fd/\(descriptor)"))
    }

    /// A file in memory with these bytes.
    package static func inMemory(_ name: String, _ bytes: [UInt8]) throws(SystemError) -> OpenFile {
        let descriptor = clinux_memory_file(name)
        guard descriptor >= 0 else { throw SystemError("make a file in memory") }
        let file = OpenFile(owning: descriptor)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, bytes.count - written, off_t(written))
            }
            guard count > 0 else { throw SystemError("write a file in memory") }
            written += count
        }
        return file
    }

    /// The two ends of a connection.
    package static func socketPair() throws(SystemError) -> (OpenFile, OpenFile) {
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError("make a pair of sockets")
        }
        return (OpenFile(owning: ends[0]), OpenFile(owning: ends[1]))
    }

    /// Accepts a connection at a listening socket. Never waits.
    /// - Returns: its descriptor, which no other program inherits; -1, with the reason in `errno`, if there is none.
    package func acceptConnection() -> CInt { clinux_accept(descriptor) }

    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard clinux_status(descriptor, &status) == 0 else { throw SystemError("examine an open file") }
        return FileStatus(status)
    }

    /// Begins to write the content to the disk, and does not wait for it. A hint: a file system may do nothing.
    package func beginSync() { clinux_begin_sync(descriptor) }

    /// Has the content written to the disk.
    /// - Parameter title: the file's, for a message.
    package func sync(_ title: String) throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw SystemError("write \(title) to the disk") }
    }

    /// Up to `count` bytes at an offset; fewer only at the end of the file.
    package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        var trouble: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            while used < count {
                let got = pread(descriptor, buffer.baseAddress! + used, count - used, off_t(offset + used))
                if got < 0 && errno == EINTR { continue }
                if got < 0 { trouble = SystemError("read the file") }
                if got <= 0 { return }
                used += got
            }
        }
        if let trouble { throw trouble }
        return bytes
    }

    /// Reads the whole file, block by block.
    package func readThrough(_ use: ([UInt8]) throws(SystemError) -> Void = { _ in }) throws(SystemError) {
        let size = try status().bytes
        var offset = 0
        // To make room for a large block takes longer than to read a small file.
        while offset < size, case let block = try bytes(at: offset, count: min(size - offset, 1 << 20)), !block.isEmpty
        {
            try use(block)
            offset += block.count
        }
    }

    /// The findings of code that knows no files in the structure of this one. That code takes a read that fails for the
    /// end of the file, so what it found does not count then.
    /// - Parameter beginning: its first bytes, if they were read already.
    /// - Throws: the first read that failed.
    package func structure<Found>(
        beginning: FileBeginning? = nil, _ find: (ByteSource) -> Found
    ) throws(SystemError) -> Found {
        let trouble = Monitor<SystemError?>(nil)
        let size = if let beginning { beginning.fileBytes } else { try status().bytes }
        let source = ByteSource(count: size) { [self] offset, count in
            let count = min(count, size - offset)
            if let known = beginning?.bytes(at: offset, count: count) { return known }
            do throws(SystemError) {
                return try bytes(at: offset, count: count)
            } catch {
                trouble.note { $0 = $0 ?? error }
                return []
            }
        }
        let found = find(source)
        if let trouble = trouble.note({ $0 }) { throw trouble }
        return found
    }

    /// The whole of a small file.
    /// - Parameter limit: bytes beyond which the file is refused.
    package static func contents(_ path: BytePath, limit: Int) throws(SystemError) -> [UInt8] {
        let file = try reading(path)
        let status = try file.status()
        guard status.kind != .directory else {
            throw SystemError("read '\(path.printable)'", code: EISDIR, because: "it is a folder; name a file in it")
        }
        // A pipe has no size, so it is read to the limit.
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = read(file.descriptor, &chunk, chunk.count)
            if got < 0 && errno == EINTR { continue }
            if got < 0 && errno == EAGAIN {
                // A pipe whose writer has nothing to say yet.
                var waiting = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
                continue
            }
            guard got >= 0 else { throw SystemError("read '\(path.printable)'") }
            if got == 0 { return bytes }
            bytes += chunk[..<got]
            guard bytes.count <= limit else {
                throw SystemError("read '\(path.printable)': it is larger than \(limit) bytes", code: EFBIG)
            }
        }
    }
}

/// The first bytes of a file, so that several looks at its structure read them once.
package struct FileBeginning: Sendable {
    /// As many as a block of a walk through a structure has.
    private static let most = 65_536

    /// The size of the whole file.
    let fileBytes: Int
    private let bytes: [UInt8]

    package init(of file: OpenFile) throws(SystemError) {
        fileBytes = try file.status().bytes
        bytes = try file.bytes(at: 0, count: min(fileBytes, Self.most))
    }

    fileprivate func bytes(at offset: Int, count: Int) -> [UInt8]? {
        offset >= 0 && count >= 0 && offset + count <= bytes.count ? Array(bytes[offset..<offset + count]) : nil
    }
}

/// Runs a call that takes a path as the system wants it: bytes and a NUL.
package func withPath<Result>(_ path: BytePath, _ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
    let bytes = path.bytes.isEmpty ? [UInt8(ascii: ".")] : path.bytes
    return try (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { try body($0.baseAddress!) }
}
