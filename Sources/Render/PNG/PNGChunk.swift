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
        return Self.bigEndian(
            Int(content.withUnsafeBytes { $0.isEmpty ? sum : libdeflate_crc32(sum, $0.baseAddress, $0.count) }))
    }

    /// In four bytes; of larger numbers the low ones.
    static func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// The chunks of a file that libpng has written.
    static func all(in file: [UInt8]) -> [PNGChunk] {
        var chunks: [PNGChunk] = []
        var offset = signature.count
        while let place = Place(at: offset, in: file) {
            chunks.append(PNGChunk(place.type, Array(file[place.content])))
            offset = place.content.upperBound + 4
        }
        return chunks
    }
}

extension PNGChunk {
    /// Where a chunk is in a file.
    struct Place {
        /// Four letters.
        let type: String
        let content: Range<Int>

        /// - Returns: nil if the file ends before the chunk does.
        init?(at offset: Int, in file: [UInt8]) {
            guard offset >= 0, file.count - offset >= 12 else { return nil }
            let count = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard count <= file.count - offset - 12 else { return nil }
            type = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            content = offset + 8..<offset + 8 + count
        }

        /// Readers that do not know it may pass over it.
        var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }

        /// Whether the checksum is right.
        func isIntact(in file: [UInt8]) -> Bool {
            let sum = file.withUnsafeBytes {
                libdeflate_crc32(0, $0.baseAddress! + content.lowerBound - 4, content.count + 4)
            }
            return file[content.upperBound..<content.upperBound + 4].reduce(0) { $0 << 8 | UInt32($1) } == sum
        }
    }
}
