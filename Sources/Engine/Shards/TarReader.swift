// Reads where the files in a tar are: POSIX ustar, with the long names and large sizes of pax and of GNU.
import Pipeline
import System

/// A file in a tar.
struct TarMember: Equatable {
    /// As the tar has it.
    let path: BytePath
    /// Where its bytes begin.
    let offset: Int
    let bytes: Int
}

/// The damage to a tar.
struct DamagedTar: Error, CustomStringConvertible {
    let description: String
}

/// Goes through a tar from member to member without reading their contents. Its memory does not grow with the tar.
struct TarReader {
    private let tar: OpenFile
    private let size: Int
    private var position = 0

    private static let block = 512
    /// Long names are at most some thousand bytes; what says that it is longer is no tar.
    private static let mostExtraBytes = 1 << 20

    init(_ tar: OpenFile) throws(SystemError) {
        self.tar = tar
        size = try tar.status().bytes
    }

    /// The next regular file; nil after the last one. Links, folders, devices and files with holes are left out.
    /// - Throws: `DamagedTar`; `SystemError` if it cannot be read.
    mutating func next() throws -> TarMember? {
        var extra = Extra()
        while let header = try header() {
            let end = position + Self.block
            let bytes = extra.bytes ?? header.bytes
            guard bytes >= 0, bytes <= size - end else {
                throw DamagedTar(description: "it ends in the middle of '\((extra.path ?? header.path).printable)'")
            }
            let padded = bytes + (-bytes & (Self.block - 1))
            position = min(size, end + padded)
            switch header.type {
            case "x": try extra.read(pax: contents(at: end, count: bytes))
            case "L": extra.path = BytePath(try contents(at: end, count: bytes).prefix { $0 != 0 }.map(\.self))
            case "K", "g": break
            case "0", "\0", "7":
                if !extra.isSparse { return TarMember(path: extra.path ?? header.path, offset: end, bytes: bytes) }
                extra = Extra()
            default: extra = Extra()
            }
        }
        return nil
    }

    /// The header at the present place; nil for the block of zeros at the end.
    private func header() throws -> TarHeader? {
        let block = try tar.bytes(at: position, count: Self.block)
        guard block.count == Self.block else {
            throw DamagedTar(description: "it ends without the mark of a tar's end")
        }
        if block.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = TarHeader(block) else {
            throw DamagedTar(description: "there is no header of a file at byte \(position)")
        }
        return header
    }

    private func contents(at offset: Int, count: Int) throws -> [UInt8] {
        let bytes = count <= Self.mostExtraBytes ? try tar.bytes(at: offset, count: count) : []
        guard bytes.count == count else {
            throw DamagedTar(description: "the header at byte \(offset - Self.block) has no end")
        }
        return bytes
    }
}

/// The facts about a file from an extra header before the file's own.
private struct Extra {
    var path: BytePath?
    var bytes: Int?
    var isSparse = false

    /// Records such as `30 path=…` and a new line; the number counts the whole record.
    mutating func read(pax bytes: [UInt8]) {
        var rest = bytes[...]
        while let space = rest.firstIndex(of: UInt8(ascii: " ")),
            let length = Int(String(decoding: rest[..<space], as: UTF8.self)),
            length > space - rest.startIndex + 1, length <= rest.count
        {
            let record = rest[(space + 1)..<(rest.startIndex + length - 1)]
            rest = rest.dropFirst(length)
            guard let equals = record.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = record[(equals + 1)...]
            switch String(decoding: record[..<equals], as: UTF8.self) {
            case "path": path = BytePath(Array(value))
            case "size": self.bytes = Int(String(decoding: value, as: UTF8.self)) ?? -1
            case let key where key.hasPrefix("GNU.sparse"): isSparse = true
            default: break
            }
        }
    }
}

/// A block of 512 bytes that begins a member.
private struct TarHeader {
    let path: BytePath
    let bytes: Int
    let type: Unicode.Scalar

    /// Nil if its sum is wrong.
    init?(_ block: [UInt8]) {
        let sum = block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
        guard Self.number(block[148..<156]) == sum, let bytes = Self.number(block[124..<136]) else { return nil }
        self.bytes = bytes
        type = Unicode.Scalar(block[156])
        let name = Array(block[..<100].prefix { $0 != 0 })
        // GNU's own kind has times in this place.
        let prefix = block[257..<263].elementsEqual("ustar\0".utf8) ? Array(block[345..<500].prefix { $0 != 0 }) : []
        path = BytePath(prefix.isEmpty ? name : prefix + [UInt8(ascii: "/")] + name)
    }

    /// Octal digits, or for large numbers the bytes themselves with the highest bit set.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        if let first = field.first, first & 0x80 != 0 {
            return field.dropFirst().reduce(Optional(Int(first & 0x7F))) { sum, byte in
                sum.flatMap { $0 < 1 << 54 ? $0 << 8 | Int(byte) : nil }
            }
        }
        let digits = field.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
        return digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
