// Raw files as cameras write them: a DNG whose sensor has the primaries of sRGB, with or without a finished picture.
import Glibc

package struct CameraDNG {
    package var width: Int
    package var height: Int
    /// EXIF's number: of both pictures.
    package var orientation = 1
    /// A JPEG beside the sensor's data, and its size.
    package var preview: (file: [UInt8], width: Int, height: Int)?
    /// EXIF's number for the colors of finished pictures; nil if it says nothing.
    package var colorSpace: Int?
    /// The sensor's filters: red, green, green, blue.
    private static let pattern: [UInt8] = [0, 1, 1, 2]

    package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    /// The file.
    /// - Parameter color: of a place on the sensor, in sRGB.
    package func file(_ color: (_ x: Int, _ y: Int) -> [UInt8]) -> [UInt8] {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let value = Double(color(x, y)[Int(Self.pattern[y % 2 * 2 + x % 2])]) / 255
                let light = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
                pixels += Self.little(Int((light * 65_535 * 0.9).rounded()), 2)
            }
        }
        return file(pixels)
    }

    private func file(_ pixels: [UInt8]) -> [UInt8] {
        // XYZ to the primaries of sRGB, in thousandths.
        let matrix = [3240, -1537, -498, -969, 1876, 42, 56, -204, 1057].flatMap { [$0, 1000] }
        var common: [Field] = [
            Field(271, text: "Imagemill"), Field(272, text: "Test"), Field(274, 3, [orientation]),
            Field(306, text: "2024:05:06 07:08:09"), Field(50_706, 1, [1, 4, 0, 0]), Field(50_708, text: "Test camera"),
            Field(50_721, 10, matrix), Field(50_728, 5, [1, 1, 1, 1, 1, 1]), Field(50_778, 3, [21]),
        ]
        if colorSpace != nil { common.append(Field(34_665, 4, [0])) }
        var sensor =
            Self.page(width, height, bits: [16], compression: 1, kind: 32_803, bytes: pixels.count) + [
                Field(254, 4, [0]), Field(33_421, 3, [2, 2]), Field(33_422, 1, Self.pattern.map(Int.init)),
                Field(50_714, 4, [0]), Field(50_717, 4, [65_535]),
            ]
        let exif = colorSpace.map { Self.directory([Field(40_961, 3, [$0])], at: 0) } ?? []
        guard let preview else {
            sensor += common
            let end = 8 + Self.directory(sensor, at: 8).count
            Self.set(273, end + exif.count, in: &sensor)
            Self.set(34_665, end, in: &sensor)
            return Self.header + Self.directory(sensor, at: 8) + exif + pixels
        }
        var main =
            common
            + Self.page(
                preview.width, preview.height, bits: [8, 8, 8], compression: 7, kind: 6, bytes: preview.file.count)
            + [Field(254, 4, [1]), Field(330, 4, [0])]
        let below = 8 + Self.directory(main, at: 8).count
        let end = below + Self.directory(sensor, at: below).count
        let file = preview.file + (preview.file.count % 2 == 0 ? [] : [0])
        Self.set(330, below, in: &main)
        Self.set(34_665, end, in: &main)
        Self.set(273, end + exif.count, in: &main)
        Self.set(273, end + exif.count + file.count, in: &sensor)
        return Self.header + Self.directory(main, at: 8) + Self.directory(sensor, at: below) + exif + file + pixels
    }

    private static let header = Array("II".utf8) + little(42, 2) + little(8, 4)

    private static func page(
        _ width: Int, _ height: Int, bits: [Int], compression: Int, kind: Int, bytes: Int
    ) -> [Field] {
        [
            Field(256, 4, [width]), Field(257, 4, [height]), Field(258, 3, bits), Field(259, 3, [compression]),
            Field(262, 3, [kind]), Field(273, 4, [0]), Field(277, 3, [bits.count]), Field(278, 4, [height]),
            Field(279, 4, [bytes]),
        ]
    }

    private struct Field {
        let tag: Int
        let type: Int
        let count: Int
        var bytes: [UInt8]

        /// - Parameter values: of fractions the numerator and the denominator.
        init(_ tag: Int, _ type: Int, _ values: [Int]) {
            let size = [1: 1, 3: 2, 4: 4, 5: 4, 10: 4][type] ?? 1
            (self.tag, self.type, count) = (tag, type, type == 5 || type == 10 ? values.count / 2 : values.count)
            bytes = values.flatMap { CameraDNG.little($0, size) }
        }

        init(_ tag: Int, text: String) {
            (self.tag, type, bytes) = (tag, 2, Array(text.utf8) + [0])
            count = bytes.count
        }
    }

    private static func set(_ tag: Int, _ value: Int, in fields: inout [Field]) {
        for index in fields.indices where fields[index].tag == tag { fields[index].bytes = little(value, 4) }
    }

    private static func directory(_ fields: [Field], at start: Int) -> [UInt8] {
        let fields = fields.sorted { $0.tag < $1.tag }
        var (entries, values) = (little(fields.count, 2), [UInt8]())
        let end = start + 2 + 12 * fields.count + 4
        for field in fields {
            entries += little(field.tag, 2) + little(field.type, 2) + little(field.count, 4)
            if field.bytes.count <= 4 {
                entries += field.bytes + [UInt8](repeating: 0, count: 4 - field.bytes.count)
            } else {
                entries += little(end + values.count, 4)
                values += field.bytes + (field.bytes.count % 2 == 0 ? [] : [0])
            }
        }
        return entries + little(0, 4) + values
    }

    private static func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
