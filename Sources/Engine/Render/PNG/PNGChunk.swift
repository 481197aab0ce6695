// The parts of a PNG file, chapter 5 of its specification: length, type, content and checksum.
import CDeflate

struct PNGChunk {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Four letters.
    let type: String
    let content: [UInt8]

    init(_ type: String, _ content: [UInt8]) { (self.type, self.content) = (type, content) }

    var bytes: [UInt8] { head + content + tail }

    /// The length and the type, which precede the content.
    var head: [UInt8] { Self.bigEndian(content.count) + type.utf8 }

    /// The checksum of type and content, which follows the content.
    var tail: [UInt8] {
        let sum = libdeflate_crc32(0, Array(type.utf8), type.utf8.count)
        return Self.bigEndian(Int(content.withUnsafeBytes { $0.isEmpty ? sum : libdeflate_crc32(sum, $0.baseAddress, $0.count) }))
    }

    /// In four bytes; of larger numbers the low ones.
    static func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// The chunks of a file that libpng has written.
    static func all(in file: [UInt8]) -> [PNGChunk] {
        var chunks: [PNGChunk] = []
        var rest = file.dropFirst(signature.count)
        while rest.count >= 12 {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard count <= rest.count - 12 else { break }
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            chunks.append(PNGChunk(type, Array(rest.dropFirst(8).prefix(count))))
            rest = rest.dropFirst(count + 12)
        }
        return chunks
    }
}
