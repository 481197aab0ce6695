// All walks through files go through here: forward only, in blocks, so that their time is linear in the file's size.

/// Why a walk through a file's structure cannot go on.
package enum StructureError: Error {
    /// The bytes end too early, or there is a hole of zeros that a writer has yet to fill.
    case endsEarly
    /// It is not as the format has it, or has it in a way that is not known here. More bytes would not mend that.
    case malformed
}

/// Reads a range of a source from front to back. No byte is read twice, and skipped blocks are not read.
struct ForwardReader {
    static let blockSize = 65_536

    /// The offset of the next byte in the source.
    private(set) var position: Int
    private let source: ByteSource
    private let end: Int
    private var block: [UInt8] = []
    private var blockStart: Int

    init(_ source: ByteSource) {
        self.init(source, in: 0..<source.count)
    }

    /// The range may reach past the end of the source.
    init(_ source: ByteSource, in range: Range<Int>) {
        self.source = source
        position = range.lowerBound
        blockStart = range.lowerBound
        end = range.upperBound
    }

    /// Bytes to the end of the range.
    var remaining: Int { end - position }

    mutating func byte() throws(StructureError) -> UInt8 {
        if position - blockStart >= block.count { try nextBlock() }
        defer { position += 1 }
        return block[position - blockStart]
    }

    /// An unsigned number of up to eight bytes; one too large for an `Int` becomes the largest.
    mutating func integer(bytes count: Int, _ order: ByteOrder = .big) throws(StructureError) -> Int {
        var number: UInt64 = 0
        for place in 0..<count {
            let byte = UInt64(try byte())
            number = order == .big ? number << 8 | byte : number | byte << (8 * place)
        }
        return Int(clamping: number)
    }

    mutating func skip(_ count: Int) throws(StructureError) {
        guard (0...max(0, remaining)).contains(count) else { throw endError }
        position += count
    }

    /// Goes to the byte after the next one of this value.
    mutating func skip(past value: UInt8) throws(StructureError) {
        while true {
            if position - blockStart >= block.count { try nextBlock() }
            if let found = block[(position - blockStart)...].firstIndex(of: value) {
                position = blockStart + found + 1
                return
            }
            position = blockStart + block.count
        }
    }

    /// Takes these bytes, or finds that it is another format.
    mutating func expect(_ mark: [UInt8]) throws(StructureError) {
        for expected in mark where try byte() != expected { throw .malformed }
    }

    private mutating func nextBlock() throws(StructureError) {
        guard remaining > 0 else { throw endError }
        blockStart = position
        block = source.read(position, min(remaining, Self.blockSize))
        if block.isEmpty { throw .endsEarly }
    }

    /// A part that runs over the whole that it is in is wrong, unless the whole is all that there is so far.
    private var endError: StructureError { end < source.count ? .malformed : .endsEarly }
}
