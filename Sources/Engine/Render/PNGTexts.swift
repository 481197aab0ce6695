// Texts in a PNG as `tEXt`, the chunk that file managers read thumbnails' marks from; libvips writes `zTXt`, which GIO ignores.
import Glibc
import Pipeline

enum PNGTexts {
    /// The signature and IHDR, which is the first chunk of every PNG: 8 bytes, and 13 in a chunk.
    private static let headerBytes = 8 + 12 + 13

    /// Puts texts into a PNG, behind its header.
    /// - Parameter texts: ASCII, with keys of at most 79 bytes.
    static func add(_ texts: [(key: String, text: String)], to file: OpenFile) throws(SystemError) {
        let bytes = file.bytes(at: headerBytes, count: try file.status().bytes - headerBytes)
        let chunks = texts.flatMap { chunk("tEXt", Array($0.key.utf8) + [0] + Array($0.text.utf8)) }
        guard lseek(file.descriptor, off_t(headerBytes), SEEK_SET) >= 0 else { throw SystemError("write a thumbnail") }
        try file.append(chunks + bytes, for: BytePath("thumbnail"))
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        return bigEndian(UInt32(content.count)) + body + bigEndian(checksum(body))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// CRC-32 as in annex D of the PNG specification.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xEDB8_8320 }
        }
        return ~sum
    }
}
