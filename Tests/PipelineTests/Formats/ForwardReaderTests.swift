import Testing

@testable import Pipeline

struct ForwardReaderTests {
    private static let block = ForwardReader.blockSize

    @Test func `a number that lies across two blocks is read whole`() throws {
        var bytes = [UInt8](repeating: 0, count: 2 * Self.block)
        bytes.replaceSubrange(Self.block - 2..<Self.block + 2, with: [1, 2, 3, 4])
        var reader = ForwardReader(ByteSource(bytes))
        _ = try reader.byte()
        try reader.skip(Self.block - 3)
        #expect(try reader.integer(bytes: 4) == 0x0102_0304)
        #expect(reader.position == Self.block + 2)
    }

    @Test(arguments: [0, 1, block - 1, block, block + 1, 2 * block - 1])
    func `a value is found in any block`(place: Int) throws {
        var bytes = [UInt8](repeating: 0, count: 2 * Self.block)
        bytes[place] = 0xFF
        var reader = ForwardReader(ByteSource(bytes))
        try reader.skip(past: 0xFF)
        #expect(reader.position == place + 1)
        #expect(throws: StructureError.endsEarly) { try reader.skip(past: 0xFF) }
    }

    @Test func `nothing goes past the end of the range`() throws {
        var reader = ForwardReader(ByteSource([1, 2, 3, 4]), in: 1..<3)
        #expect(throws: StructureError.malformed) { try reader.skip(3) }
        #expect(throws: StructureError.malformed) { try reader.skip(past: 4) }
        #expect(reader.remaining == 0)
        #expect(throws: StructureError.malformed) { try reader.byte() }
    }

    @Test func `a range that ends with the file may go on one day`() {
        var reader = ForwardReader(ByteSource([1, 2, 3, 4]), in: 1..<4)
        #expect(throws: StructureError.endsEarly) { try reader.integer(bytes: 4) }
    }

    @Test func `a source that gives less than it said ends early`() {
        var reader = ForwardReader(ByteSource(count: 1000) { _, _ in [] })
        #expect(throws: StructureError.endsEarly) { try reader.byte() }
    }

    @Test func `a reader does not go back`() {
        var reader = ForwardReader(ByteSource([1, 2, 3, 4]))
        #expect(throws: StructureError.endsEarly) { try reader.skip(-1) }
        #expect(reader.position == 0)
    }
}
