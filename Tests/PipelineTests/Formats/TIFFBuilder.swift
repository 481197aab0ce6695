// Builds TIFF files of one page or more: header, pixels, values, directories.

@testable import Pipeline

struct TIFFBuilder {
    var order: ByteOrder
    var isBig = false
    /// Bytes of each strip.
    var strips = [10, 7]
    var pages = 1

    /// A field: its tag, its type, and the values.
    struct Field {
        let tag: Int
        let type: Int
        let values: [Int]

        init(_ tag: Int, _ type: Int, _ values: [Int]) {
            self.tag = tag
            self.type = type
            self.values = values
        }
    }

    /// Each page: its strips, then its directory, then the values that do not fit in it.
    func file(width: Int = 300, height: Int = 200, extra: [Field] = []) -> [UInt8] {
        var bytes = header
        for page in 1...pages {
            let places = strips.indices.map { bytes.count + strips[..<$0].reduce(0, +) }
            bytes += [UInt8](repeating: 0xAB, count: strips.reduce(0, +))
            let fields = [
                Field(256, 3, [width]), Field(257, 4, [height]), Field(273, isBig ? 16 : 4, places),
                Field(279, 3, strips),
            ]
            if page == 1 {
                bytes.replaceSubrange(offsetBytes..<2 * offsetBytes, with: number(bytes.count, offsetBytes))
            }
            bytes += directory(fields + extra, at: bytes.count, isLast: page == pages)
        }
        return bytes
    }

    /// With the offset of the first directory still 0.
    var header: [UInt8] {
        let mark: [UInt8] = order == .big ? [0x4D, 0x4D] : [0x49, 0x49]
        return mark + (isBig ? number(43, 2) + number(8, 2) + number(0, 2) : number(42, 2)) + number(0, offsetBytes)
    }

    func directory(_ fields: [Field], at offset: Int, isLast: Bool) -> [UInt8] {
        let valuesOffset = offset + (isBig ? 8 : 2) + fields.count * (4 + 2 * offsetBytes) + offsetBytes
        var entries = number(fields.count, isBig ? 8 : 2)
        var elsewhere: [UInt8] = []
        for field in fields {
            var values = field.values.flatMap { number($0, [1: 1, 3: 2, 4: 4, 16: 8][field.type] ?? 1) }
            if values.count > offsetBytes {
                elsewhere += values
                values = number(valuesOffset + elsewhere.count - values.count, offsetBytes)
            }
            values += [UInt8](repeating: 0, count: offsetBytes - values.count)
            entries += number(field.tag, 2) + number(field.type, 2) + number(field.values.count, offsetBytes) + values
        }
        let next = isLast ? 0 : valuesOffset + elsewhere.count + strips.reduce(0, +)
        return entries + number(next, offsetBytes) + elsewhere
    }

    func number(_ number: Int, _ count: Int) -> [UInt8] {
        order == .big ? SmallFiles.big(number, count) : SmallFiles.little(number, count)
    }

    private var offsetBytes: Int { isBig ? 8 : 4 }
}
