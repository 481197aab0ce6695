import Testing

@testable import Pipeline

struct ByteSourceTests {
    private let source = ByteSource([0x01, 0x02, 0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])

    @Test(arguments: [
        (0, 2, [1, 2]), (2, 1, [3]), (9, 5, [0xFF, 0xFF]), (11, 1, []), (99, 1, []), (-1, 1, [1]), (0, -1, []),
    ])
    func `a read past the end gives fewer bytes`(offset: Int, count: Int, bytes: [UInt8]) {
        #expect(source.read(offset, count) == bytes)
    }

    @Test(
        arguments: [
            (0, 2, ByteOrder.big, 0x0102), (0, 2, .little, 0x0201), (0, 3, .big, 0x010203), (2, 1, .little, 3),
            (0, 0, .big, 0),
            (11, 0, .big, 0), (3, 8, .big, Int.max), (3, 7, .little, 0xFF_FFFF_FFFF_FFFF),
            (4, 8, .big, nil), (11, 1, .big, nil), (-1, 1, .big, nil), (Int.max, 8, .big, nil), (0, 9, .big, nil),
            (0, -1, .big, nil),
        ] as [(Int, Int, ByteOrder, Int?)])
    func `numbers are read in both orders, and not past the end`(
        offset: Int, count: Int, order: ByteOrder, number: Int?
    ) {
        #expect(source.integer(at: offset, bytes: count, order) == number)
    }

    @Test func `a count below zero is none`() {
        #expect(ByteSource(count: -5) { _, _ in [] }.count == 0)
    }
}
