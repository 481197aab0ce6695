import Testing

@testable import Pipeline

@Suite struct EXIFSizeTests {
    /// A block whose first directory has only the offset of the second, which has two fields of one value each.
    /// - Parameter type: 3 for SHORT, 4 for LONG.
    private func block(width: Int, height: Int, type: Int, isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        func field(_ tag: Int, _ type: Int, _ value: Int) -> [UInt8] {
            let count = type == 3 ? 2 : 4
            return number(tag, 2) + number(type, 2) + number(1, 4) + number(value, count)
                + [UInt8](repeating: 0, count: 4 - count)
        }
        let start = 8 + 2 + 12 + 4
        return Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(1, 2)
            + field(34_665, 4, start) + number(0, 4)
            + number(2, 2) + field(40_962, type, width) + field(40_963, type, height) + number(0, 4)
    }

    @Test(arguments: [3, 4], [true, false])
    func `the size is replaced, and nothing else`(type: Int, isLittle: Bool) {
        var exif = block(width: 1, height: 1, type: type, isLittle: isLittle)
        PixelSize(4_000, 300).write(toEXIF: &exif)
        #expect(exif == block(width: 4_000, height: 300, type: type, isLittle: isLittle))
    }

    @Test
    func `a damaged block, and one without a size, stay as they are`() {
        let whole = block(width: 1, height: 1, type: 4, isLittle: true)
        for length in 0..<whole.count {
            let damaged = Array(whole.prefix(length))
            var exif = damaged
            PixelSize(4_000, 300).write(toEXIF: &exif)
            #expect(exif == damaged)
        }
        let other = block(width: 1, height: 1, type: 2, isLittle: true)
        var exif = other
        PixelSize(4_000, 300).write(toEXIF: &exif)
        #expect(exif == other)
    }
}
