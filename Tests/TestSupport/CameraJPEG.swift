// JPEGs as cameras write them: with a smaller picture of the same inside, or behind.

package enum CameraJPEG {
    /// A JPEG that lists a second one behind it, as a preview for screens.
    /// - Parameter kind: what the list calls it; a large thumbnail is a preview.
    package static func file(_ picture: [UInt8], preview: [UInt8], kind: Int = 0x01_0002) -> [UInt8] {
        UltraHDR.file(picture, map: preview, packet: nil, kind: kind)
    }

    /// A JPEG with EXIF that has an orientation and a small picture.
    /// - Parameter thumbnailOrientation: of the small picture alone; nil if nothing is said.
    package static func file(
        _ picture: [UInt8], thumbnail: [UInt8], orientation: Int = 1, thumbnailOrientation: Int? = nil
    ) -> [UInt8] {
        var tiff = Array("II".utf8) + little(42, 2) + little(8, 4)
        tiff += little(1, 2) + field(0x112, type: 3, orientation) + little(26, 4)
        let own = thumbnailOrientation.map { field(0x112, type: 3, $0) } ?? []
        tiff += little(own.isEmpty ? 2 : 3, 2) + own
        tiff += field(0x201, type: 4, 56 + own.count) + field(0x202, type: 4, thumbnail.count) + little(0, 4)
        return withSegment(0xE1, Array("Exif\0\0".utf8) + tiff + thumbnail, picture)
    }

    /// A JPEG with one more segment at its beginning.
    package static func withSegment(_ code: UInt8, _ content: [UInt8], _ picture: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        precondition(length < 65_536)
        return [0xFF, 0xD8, 0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)] + content + picture.dropFirst(2)
    }

    /// A JPEG without its segments of applications, EXIF among them.
    package static func bare(_ picture: [UInt8]) -> [UInt8] {
        var (place, kept) = (2, Array(picture[..<2]))
        while picture[place + 1] != 0xDA {
            let end = place + 2 + (Int(picture[place + 2]) << 8 | Int(picture[place + 3]))
            if !(0xE0...0xEF).contains(picture[place + 1]) { kept += picture[place..<end] }
            place = end
        }
        return kept + picture[place...]
    }

    private static func field(_ tag: Int, type: Int, _ value: Int) -> [UInt8] {
        little(tag, 2) + little(type, 2) + little(1, 4) + little(value, 4)
    }

    private static func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
