// Builds IPTC-IIM blocks and the Photoshop resources around them.

@testable import Pipeline

enum IPTCBlocks {
    static func dataset(_ record: UInt8, _ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
    }

    static func dataset(_ number: UInt8, _ value: String) -> [UInt8] {
        dataset(2, number, Array(value.utf8))
    }

    /// A dataset whose length takes `lengthBytes` bytes of its own.
    static func extendedDataset(_ number: UInt8, _ value: [UInt8], lengthBytes: Int) -> [UInt8] {
        let length = (0..<lengthBytes).reversed().map {
            $0 < 8 ? UInt8(truncatingIfNeeded: value.count >> ($0 * 8)) : 0
        }
        return [0x1C, 2, number, 0x80 | UInt8(lengthBytes >> 8), UInt8(lengthBytes & 0xFF)] + length + value
    }

    static func resource(_ identifier: Int, name: String = "", _ data: [UInt8]) -> [UInt8] {
        var bytes =
            Array("8BIM".utf8) + [UInt8(identifier >> 8), UInt8(identifier & 0xFF), UInt8(name.utf8.count)]
            + Array(name.utf8)
        if name.utf8.count % 2 == 0 { bytes.append(0) }
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: data.count >> $0) } + data
        return data.count % 2 == 0 ? bytes : bytes + [0]
    }

    /// The block that a picture agency sends: the declaration of UTF-8, a city and a caption, and the three that count.
    static let agency =
        dataset(1, 90, [0x1B, 0x25, 0x47]) + dataset(2, 0, [0, 4]) + dataset(120, "A caption")
        + dataset(80, "Erika Müller")
        + dataset(80, "Ana Ruiz") + dataset(90, "Köln") + dataset(110, "Agency") + dataset(116, "© 2024 Agency")

    static let agencyRights = Rights(
        creator: ["Erika Müller", "Ana Ruiz"], copyright: "© 2024 Agency", credit: "Agency")

    /// The same as a JPEG holds it, between other resources.
    static let jpegSegment =
        Array("Photoshop 3.0\0".utf8) + resource(0x0425, [1, 2, 3]) + resource(0x03ED, name: "ab", [4])
        + resource(0x0404, agency)
        + resource(0x040B, name: "c", [5, 6])
}
