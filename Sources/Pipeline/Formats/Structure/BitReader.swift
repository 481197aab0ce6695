// Numbers of single bits, as the headers of codecs have them. The highest bit of a byte comes first.

struct BitReader {
    /// Headers are shorter than this.
    private static let mostBytes = 1024

    private let bytes: [UInt8]
    private var position = 0

    /// - Parameter isEscaped: the bytes 0 0 3 stand for 0 0, as in the units of HEVC.
    init(_ source: ByteSource, _ range: Range<Int>, isEscaped: Bool = false) {
        let read = source.read(range.lowerBound, min(range.count, Self.mostBytes))
        bytes = isEscaped ? Self.unescaped(read) : read
    }

    mutating func flag() throws(StructureError) -> Bool { try number(1) == 1 }

    /// An unsigned number of up to 32 bits.
    mutating func number(_ count: Int) throws(StructureError) -> Int {
        guard position + count <= 8 * bytes.count else { throw .malformed }
        var number = 0
        for _ in 0..<count {
            number = number << 1 | Int(bytes[position / 8] >> (7 - position % 8) & 1)
            position += 1
        }
        return number
    }

    mutating func skip(_ count: Int) throws(StructureError) {
        guard position + count <= 8 * bytes.count else { throw .malformed }
        position += count
    }

    /// A number after as many zeros as it has bits besides the first: Exp-Golomb.
    mutating func golomb() throws(StructureError) -> Int {
        var zeros = 0
        while try !flag() {
            zeros += 1
            guard zeros <= 32 else { throw .malformed }
        }
        return (1 << zeros) - 1 + (try number(zeros))
    }

    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if zeros >= 2 && byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}

extension ForwardReader {
    /// A number in groups of seven bits, the lowest first, as AV1 has lengths.
    mutating func leb128() throws(StructureError) -> Int {
        var number = 0
        for place in 0..<8 {
            let byte = try byte()
            number |= Int(byte & 0x7F) << (7 * place)
            if byte & 0x80 == 0 { return number }
        }
        throw .malformed
    }
}
