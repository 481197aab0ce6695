// Paths from a list: one a line, or each ended by a NUL. Read as a stream.
import Glibc
package import Pipeline
package import System

/// Reads paths from a file or a pipe, one by one. Not for two threads at once.
package final class PathLines {
    private let file: OpenFile
    private let separator: UInt8
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// The number of the last path that was read, from 1.
    package private(set) var number = 0

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - endWithNUL: otherwise they end with a line.
    package init(_ path: BytePath, endWithNUL: Bool) throws(SystemError) {
        file = path == BytePath("-") ? OpenFile(owning: dup(0)) : try OpenFile.reading(path)
        separator = endWithNUL ? 0 : UInt8(ascii: "\n")
    }

    /// The next path that is not empty; nil at the end.
    package func next() throws(SystemError) -> BytePath? {
        while true {
            if let end = buffer[position...].firstIndex(of: separator) {
                let path = trimmed(buffer[position..<end])
                position = end + 1
                number += 1
                if !path.isEmpty { return BytePath(path) }
            } else if isAtEnd {
                guard position < buffer.count else { return nil }
                defer { position = buffer.count }
                number += 1
                let path = trimmed(buffer[position...])
                if path.isEmpty { continue }
                return BytePath(path)
            } else {
                try fill()
            }
        }
    }

    /// Lines from Windows end with a carriage return, which is no part of the path.
    private func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let isLine = separator == UInt8(ascii: "\n") && bytes.last == UInt8(ascii: "\r")
        return Array(isLine ? bytes.dropLast() : bytes)
    }

    private func fill() throws(SystemError) {
        buffer.removeFirst(position)
        position = 0
        let size = 65_536
        var block = [UInt8](repeating: 0, count: size)
        while true {
            let got = read(file.descriptor, &block, size)
            if got < 0 && errno == EINTR { continue }
            if got < 0 && errno == EAGAIN {
                var waiting = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
                continue
            }
            guard got >= 0 else { throw SystemError("read the list of sources") }
            guard separator == 0 || !block[..<got].contains(0) else {
                throw SystemError(
                    "read the list of sources", code: EINVAL, because: "it has NULs between the paths; add --from0")
            }
            isAtEnd = got == 0
            buffer += block[..<got]
            return
        }
    }
}
