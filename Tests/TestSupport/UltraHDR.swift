// JPEGs with gain maps, as phones write them: put together by hand, and taken apart again.
import Foundation

package enum UltraHDR {
    /// A JPEG with a map behind it.
    /// - Parameters:
    ///   - picture: a JPEG without XMP.
    ///   - map: another one.
    ///   - packet: the map's XMP; `nil` for none.
    ///   - iso: what the map says by ISO 21496-1.
    ///   - kind: what the list of pictures calls it; 0 is undefined.
    package static func file(
        _ picture: [UInt8], map: [UInt8], packet: String?, iso: [UInt8]? = nil, kind: Int = 0
    ) -> [UInt8] {
        var second: [UInt8] = [0xFF, 0xD8]
        if let packet { second += segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8)) }
        if let iso { second += segment(0xE2, Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + iso) }
        second += map.dropFirst(2)
        let directory = 4 + 4 + 8 + 2 + 36 + 4 + 32
        let size = picture.count + directory
        var entry = Array("MPF\0II".utf8) + little(42, 2) + little(8, 4) + little(3, 2)
        entry += little(0xB000, 2) + little(7, 2) + little(4, 4) + Array("0100".utf8)
        entry += little(0xB001, 2) + little(4, 2) + little(1, 4) + little(2, 4)
        entry += little(0xB002, 2) + little(7, 2) + little(32, 4) + little(50, 4) + little(0, 4)
        entry += little(0x30000, 4) + little(size, 4) + little(0, 8)
        // Offsets count from the order of bytes, which is ten bytes behind the file's beginning here.
        entry += little(kind, 4) + little(second.count, 4) + little(size - 10, 4) + little(0, 4)
        return [0xFF, 0xD8] + segment(0xE2, entry) + picture.dropFirst(2) + second
    }

    /// Adobe's XMP of a map, as Android writes it.
    package static func packet(least: String = "0", most: String = "2", gamma: String = "1") -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" \
        hdrgm:GainMapMin="\(least)" hdrgm:GainMapMax="\(most)" hdrgm:Gamma="\(gamma)" hdrgm:HDRCapacityMin="0" \
        hdrgm:HDRCapacityMax="\(most)" hdrgm:OffsetHDR="0" hdrgm:OffsetSDR="0"/></rdf:RDF></x:xmpmeta>
        """
    }

    private static func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, code, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    private static func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The second picture of a file, by its directory of pictures; nil if there is none.
    package static func map(of file: [UInt8]) -> [UInt8]? {
        guard let name = file.firstRange(of: Array("MPF\0".utf8)) else { return nil }
        let start = name.upperBound
        let isLittle = file[start] == UInt8(ascii: "I")
        func number(_ place: Int, _ count: Int) -> Int {
            let bytes = file[start + place..<start + place + count]
            return (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
        }
        let directory = number(4, 4)
        for field in 0..<number(directory, 2) where number(directory + 2 + 12 * field, 2) == 0xB002 {
            let second = number(directory + 2 + 12 * field + 8, 4) + 16
            let (size, offset) = (number(second + 4, 4), number(second + 8, 4))
            // Nothing is behind the map.
            guard start + offset + size == file.count else { return nil }
            return Array(file[(start + offset)...])
        }
        return nil
    }
}
