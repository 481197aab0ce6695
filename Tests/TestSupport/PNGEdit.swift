// PNGs with chunks that no library here writes.

package enum PNGEdit {
    /// The file with chunks put in after its header.
    package static func adding(_ chunks: [(type: String, data: [UInt8])], to file: [UInt8]) -> [UInt8] {
        let headerEnd = 33
        return file.prefix(headerEnd) + chunks.flatMap { chunk($0.type, $0.data) } + file.dropFirst(headerEnd)
    }

    /// Without the chunks of a type.
    package static func removing(_ type: String, from file: [UInt8]) -> [UInt8] {
        var (rest, result) = (file.dropFirst(8), Array(file.prefix(8)))
        while rest.count >= 12 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) } + 12
            if String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self) != type { result += rest.prefix(length) }
            rest = rest.dropFirst(length)
        }
        return result
    }

    package static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return number(data.count) + body + number(Int(checksum(body)))
    }

    package static func number(_ value: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = ~UInt32(0)
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
