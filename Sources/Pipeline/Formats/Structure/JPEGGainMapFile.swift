// A JPEG with its gain map behind it, as readers of HDR expect it: the Multi-Picture Format says where the map is, and
// XMP and ISO 21496-1, as far as the source has them, that it is one.
// https://developer.android.com/media/platform/hdr-image-format

package enum JPEGGainMapFile {
    /// - Parameters:
    ///   - picture: a JPEG.
    ///   - map: another one, with its metadata.
    /// - Returns: nil if the picture's segments cannot be read, or its XMP becomes too long for one.
    package static func joined(_ picture: [UInt8], _ map: [UInt8], _ metadata: GainMapMetadata) -> [UInt8]? {
        guard let segments = try? JPEGMarkers.applicationSegments(in: ByteSource(picture)) else { return nil }
        let markerBytes = 4
        let end = segments.last?.content.upperBound ?? 2
        var head: [[UInt8]] = []
        var packet: [UInt8]?
        for part in segments {
            let content = Array(picture[part.content])
            if part.code == 0xE1, content.starts(with: JPEGSegmentName.xmp), packet == nil {
                packet = Array(content.dropFirst(JPEGSegmentName.xmp.count))
            } else {
                head.append(Array(picture[part.content.lowerBound - markerBytes..<part.content.upperBound]))
            }
        }
        // Something that is no segment of an application is between them.
        guard
            head.reduce(packet.map { $0.count + JPEGSegmentName.xmp.count + markerBytes } ?? 0, { $0 + $1.count })
                == end - 2
        else { return nil }
        if metadata.hasAdobePacket {
            guard
                let directory = packet.map({ adding(description(mapBytes: map.count), to: $0) })
                    ?? xmpPacket(of: [description(mapBytes: map.count)])
            else { return nil }
            packet = directory
        }
        if let packet {
            guard let segment = segment(0xE1, JPEGSegmentName.xmp + packet) else { return nil }
            // Behind JFIF and EXIF, which come first.
            let place = head.firstIndex {
                $0[1] != 0xE0 && !($0[1] == 0xE1 && $0.dropFirst(4).starts(with: "Exif".utf8))
            }
            head.insert(segment, at: place ?? head.count)
        }
        if metadata.hasISO, let version = segment(0xE2, JPEGSegmentName.iso + [0, 0, 0, 0]) { head.append(version) }
        let before = 2 + head.reduce(0) { $0 + $1.count }
        let directory = multiPicture(before: before, rest: picture.count - end, map: map.count)
        return [0xFF, 0xD8] + head.flatMap { $0 } + directory + picture[end...] + map
    }

    /// A JPEG with segments after its beginning.
    package static func adding(_ metadata: GainMapMetadata, to map: [UInt8]) -> [UInt8]? {
        let segments = metadata.segments.compactMap { segment($0.code, $0.content) }
        guard segments.count == metadata.segments.count, map.starts(with: [0xFF, 0xD8]) else { return nil }
        return [0xFF, 0xD8] + segments.flatMap { $0 } + map.dropFirst(2)
    }

    private static func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8]? {
        let length = content.count + 2
        return length <= 0xFFFF ? [0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)] + content : nil
    }

    /// The segment that says where both pictures are.
    /// - Parameters:
    ///   - before: bytes of the file before it.
    ///   - rest: those of the first picture after it.
    private static func multiPicture(before: Int, rest: Int, map: Int) -> [UInt8] {
        func number(_ value: Int, _ bytes: Int = 4) -> [UInt8] {
            (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let (fields, entries) = (3, 2)
        let table = 8 + 2 + 12 * fields + 4
        let bytes = 2 + 2 + JPEGSegmentName.multiPicture.count + table + 16 * entries
        let picture = before + bytes + rest
        let start = before + 4 + JPEGSegmentName.multiPicture.count
        var content = Array("MM".utf8) + number(42, 2) + number(8) + number(fields, 2)
        content += number(0xB000, 2) + number(7, 2) + number(4) + Array("0100".utf8)
        content += number(0xB001, 2) + number(4, 2) + number(1) + number(entries)
        content += number(0xB002, 2) + number(7, 2) + number(16 * entries) + number(table)
        content += number(0)
        // The first is the one that is shown.
        content += number(0x030000) + number(picture) + number(0) + number(0)
        content += number(0) + number(map) + number(picture - start) + number(0)
        return segment(0xE2, JPEGSegmentName.multiPicture + content) ?? []
    }

    // MARK: - XMP

    private static func description(mapBytes: Int) -> String {
        """
        <rdf:Description rdf:about="" xmlns:hdrgm="\(XMPNamespace.gainMap.rawValue)" \
        xmlns:Container="\(XMPNamespace.container.rawValue)" xmlns:Item="\(XMPNamespace.containerItem.rawValue)" \
        hdrgm:Version="1.0"><Container:Directory><rdf:Seq>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" \
        Item:Length="\(mapBytes)"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>
        """
    }

    /// - Returns: nil if the packet has no end where it should.
    private static func adding(_ description: String, to packet: [UInt8]) -> [UInt8]? {
        guard let end = packet.lastRange(of: Array("</rdf:RDF>".utf8))?.lowerBound else { return nil }
        return packet[..<end] + Array(description.utf8) + packet[end...]
    }
}

extension Array<UInt8> {
    fileprivate func lastRange(of part: [UInt8]) -> Range<Int>? {
        guard count >= part.count else { return nil }
        for start in stride(from: count - part.count, through: 0, by: -1) where self[start] == part[0] {
            if self[start..<start + part.count].elementsEqual(part) { return start..<start + part.count }
        }
        return nil
    }
}
