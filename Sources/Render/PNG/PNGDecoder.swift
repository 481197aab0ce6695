// PNG by libdeflate, which unpacks several times as fast as zlib, for pictures that fit the memory as a whole. libpng,
// through libvips, reads the header and the metadata of all, and the pixels of what is larger, interlaced, has a
// palette, or is not as the specification says.
import CDeflate
import CPNGFilter
import Pipeline
import Vips

/// Decodes one file that is without a fault. All else is left to libpng, which says what is wrong and saves what can be
/// saved.
struct PNGDecoder {
    private let file: [UInt8]
    private let header: PNGHeader
    /// Where the packed pixels are.
    private let packed: [Range<Int>]

    /// - Returns: nil if libpng has to read it.
    init?(_ source: ByteSource) {
        guard let header = PNGHeader(source.read(0, PNGHeader.length)), header.isPlain,
            source.count <= Self.most(header.bytes)
        else { return nil }
        file = source.read(0, source.count)
        guard file.count == source.count, let packed = Self.packedPixels(in: file) else { return nil }
        (self.header, self.packed) = (header, packed)
    }

    /// Bytes of a file beyond which it is full of something else than these pixels.
    private static func most(_ bytes: Int) -> Int { bytes + bytes / 16 + 65_536 }

    /// The same picture with its pixels decoded.
    /// - Parameter opened: what libpng made of the header.
    /// - Returns: nil if libpng has to read it.
    func decoded(_ opened: Image) throws -> Image? {
        guard opened.width == header.width, opened.height == header.height, opened.bands == header.bands,
            opened.format == (header.bytesPerSample == 1 ? .uchar : .ushort), var rows = unpacked()
        else { return nil }
        return try opened.withPixels { restore(&rows, to: $0) }
    }

    /// The content of all `IDAT`, or nil if anything about the file's chunks is unusual.
    private static func packedPixels(in file: [UInt8]) -> [Range<Int>]? {
        var packed: [Range<Int>] = []
        var offset = PNGChunk.signature.count
        while true {
            guard let chunk = PNGChunk.Place(at: offset, in: file), chunk.isIntact(in: file) else { return nil }
            switch chunk.type {
            case "IDAT":
                guard packed.isEmpty || packed[packed.count - 1].upperBound == chunk.content.lowerBound - 12 else {
                    return nil
                }
                packed.append(chunk.content)
            case "IEND": return packed.isEmpty ? nil : packed
            // One color is transparent.
            case "tRNS": return nil
            case "IHDR": guard offset == PNGChunk.signature.count else { return nil }
            case "PLTE": break
            default: guard chunk.isAncillary else { return nil }
            }
            offset = chunk.content.upperBound + 4
        }
    }

    /// The packed pixels in one piece.
    private var joined: (bytes: [UInt8], range: Range<Int>) {
        guard packed.count > 1 else { return (file, packed[0]) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(packed.reduce(0) { $0 + $1.count })
        for range in packed { bytes += file[range] }
        return (bytes, 0..<bytes.count)
    }

    /// The filtered rows, each after the number of its filter.
    private func unpacked() -> [UInt8]? {
        guard let decompressor = libdeflate_alloc_decompressor() else { return nil }
        defer { libdeflate_free_decompressor(decompressor) }
        let count = header.height * (header.rowBytes + 1)
        let (input, range) = joined
        var isWhole = false
        let rows = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var (used, made) = (0, 0)
            let result = input.withUnsafeBytes {
                libdeflate_zlib_decompress_ex(
                    decompressor, $0.baseAddress! + range.lowerBound, range.count, buffer.baseAddress, count, &used,
                    &made)
            }
            isWhole = result == LIBDEFLATE_SUCCESS && used == range.count && made == count
            written = isWhole ? count : 0
        }
        return isWhole ? rows : nil
    }

    /// Undoes the filters.
    /// - Returns: false if a row has a filter that there is not.
    private func restore(_ rows: inout [UInt8], to pixels: UnsafeMutableRawBufferPointer) -> Bool {
        let instructions = cinstructions_best()
        let (bytes, step) = (header.rowBytes, CInt(header.bands * header.bytesPerSample))
        let swaps = header.bytesPerSample == 2
        let zeros = [UInt8](repeating: 0, count: bytes)
        return rows.withUnsafeMutableBufferPointer { rows in
            let first = rows.baseAddress!
            return zeros.withUnsafeBufferPointer { zeros in
                let filtered = { y in first + y * (bytes + 1) }
                let place = { y in pixels.baseAddress! + y * bytes }
                // The row above is needed as it is in the file, so that numbers of two bytes are turned around
                // afterwards.
                let out = { y in swaps ? filtered(y) + 1 : place(y).assumingMemoryBound(to: UInt8.self) }
                var y = 0
                while y < header.height {
                    let above = y == 0 ? zeros.baseAddress! : UnsafePointer(out(y - 1))
                    let filter = filtered(y)[0]
                    guard filter <= 4 else { return false }
                    if filter == Self.paeth, y + 1 < header.height, filtered(y + 1)[0] == Self.paeth {
                        cpngfilter_restore_two(
                            instructions, filtered(y) + 1, filtered(y + 1) + 1, above, bytes, step, out(y), out(y + 1))
                        y += 2
                    } else {
                        cpngfilter_restore(instructions, CInt(filter), filtered(y) + 1, above, bytes, step, out(y))
                        y += 1
                    }
                }
                if swaps {
                    for y in 0..<header.height { cpngfilter_turn_around(out(y), bytes / 2, place(y)) }
                }
                return true
            }
        }
    }

    private static let paeth: UInt8 = 4
}

/// The fields of a PNG's `IHDR` chunk.
private struct PNGHeader {
    /// Bytes that the signature and the chunk take.
    static let length = 33

    let width: Int
    let height: Int
    let bytesPerSample: Int
    let bands: Int
    let isPlain: Bool

    init?(_ file: [UInt8]) {
        guard file.count == Self.length, file.starts(with: PNGChunk.signature),
            PNGChunk.Place(at: 8, in: file)?.type == "IHDR"
        else { return nil }
        func number(_ offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        (width, height) = (number(16), number(20))
        guard (1...0xFF_FFFF).contains(width), (1...0xFF_FFFF).contains(height),
            let bands = [0: 1, 2: 3, 4: 2, 6: 4][file[25]]
        else { return nil }
        self.bands = bands
        bytesPerSample = Int(file[24]) / 8
        isPlain = (file[24] == 8 || file[24] == 16) && file[26] == 0 && file[27] == 0 && file[28] == 0
    }

    var rowBytes: Int { width * bands * bytesPerSample }
    var bytes: Int { rowBytes * height }
}
