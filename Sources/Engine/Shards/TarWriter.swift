// Writes a tar: POSIX ustar, with pax headers for what does not fit into it.
import Glibc
import Pipeline
import System

/// Appends files to a tar that is being written. Not for two threads at once.
struct TarWriter {
    private let tar: OpenFile
    private let path: BytePath
    private static let block = 512

    /// - Parameters:
    ///   - tar: an empty file.
    ///   - path: for messages.
    init(_ tar: OpenFile, path: BytePath) {
        self.tar = tar
        self.path = path
    }

    /// Appends a file. Its time is 1970, so that the same files make the same bytes.
    func add(_ name: BytePath, _ content: OpenFile) throws(SystemError) {
        let count = try content.status().bytes
        // Eleven octal digits hold 8 GiB.
        if name.bytes.count > 100 || count >= 1 << 33 {
            var records = Self.record("path", name.bytes)
            if count >= 1 << 33 { records += Self.record("size", Array(String(count).utf8)) }
            try append(Self.header(BytePath("PaxHeaders/file"), records.count, type: "x") + Self.padded(records))
        }
        try append(Self.header(name, count, type: "0"))
        var written = 0
        try content.readThrough { block throws(SystemError) in
            try append(block)
            written += block.count
        }
        guard written == count else { throw SystemError("read '\(name.printable)' again", code: EIO) }
        try append([UInt8](repeating: 0, count: -count & (Self.block - 1)))
    }

    /// Ends the tar.
    func finish() throws(SystemError) { try append([UInt8](repeating: 0, count: 2 * Self.block)) }

    private func append(_ bytes: [UInt8]) throws(SystemError) { try tar.append(bytes, for: path) }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: -bytes.count & (block - 1))
    }

    /// `30 path=…` and a new line; the number counts itself.
    private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(key)=".utf8) + value + [UInt8(ascii: "\n")]
        var count = rest.count + 1
        while String(count).utf8.count + rest.count != count { count += 1 }
        return Array(String(count).utf8) + rest
    }

    private static func header(_ name: BytePath, _ count: Int, type: Unicode.Scalar) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ bytes: some Collection<UInt8>, at place: Int) {
            header.replaceSubrange(place..<place + bytes.count, with: bytes)
        }
        func octal(_ number: Int, digits: Int) -> [UInt8] {
            let text = String(number, radix: 8)
            return Array((String(repeating: "0", count: max(0, digits - text.count)) + text).utf8.suffix(digits)) + [0]
        }
        put(name.bytes.prefix(100), at: 0)
        put(octal(0o644, digits: 7), at: 100)
        put(octal(0, digits: 7), at: 108)
        put(octal(0, digits: 7), at: 116)
        put(octal(count < 1 << 33 ? count : 0, digits: 11), at: 124)
        put(octal(0, digits: 11), at: 136)
        put(Array("        ".utf8), at: 148)
        header[156] = UInt8(ascii: type)
        put(Array("ustar\u{0}00".utf8), at: 257)
        let sum = header.reduce(0) { $0 + Int($1) }
        put(octal(sum, digits: 6) + [UInt8(ascii: " ")], at: 148)
        return header
    }
}
