// Several pictures in one JPEG file: the Multi-Picture Format, CIPA DC-007. The others follow the first one.

/// The words that segments of a JPEG begin with, and a zero.
enum JPEGSegmentName {
    static let multiPicture = Array("MPF".utf8) + [0]
    static let xmp = Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
    static let iso = Array("urn:iso:std:iso:ts:21496:-1".utf8) + [0]
}

enum JPEGPictures {
    private static let (numberOfPictures, entries) = (0xB001, 0xB002)
    private static let entryBytes = 16
    /// Cameras write two or three.
    private static let mostPictures = 16

    /// The first of the other pictures that is a gain map.
    static func gainMap(in source: ByteSource) throws(StructureError) -> GainMapFacts? {
        for place in try places(in: source) {
            guard let facts = gainMap(at: place, in: source) else { continue }
            return facts
        }
        return nil
    }

    /// Where the other pictures are.
    private static func places(in source: ByteSource) throws(StructureError) -> [Range<Int>] {
        let name = JPEGSegmentName.multiPicture
        let segment = try JPEGMarkers.applicationSegments(in: source).first {
            $0.code == 0xE2 && source.read($0.content.lowerBound, name.count) == name
        }
        guard let start = segment.map({ $0.content.lowerBound + name.count }) else { return [] }
        let order: ByteOrder = source.read(start, 2) == Array("II".utf8) ? .little : .big
        func number(_ offset: Int, _ bytes: Int) -> Int? { source.integer(at: start + offset, bytes: bytes, order) }
        guard let directory = number(4, 4), directory < 65_536, let fields = number(directory, 2) else { return [] }
        for index in 0..<min(fields, 32) {
            let field = directory + 2 + 12 * index
            guard number(field, 2) == entries, let bytes = number(field + 4, 4), let place = number(field + 8, 4),
                place < 65_536
            else { continue }
            // The first one is the picture itself. The offsets of the others are from here.
            return (1..<max(1, min(bytes / entryBytes, mostPictures))).compactMap { entry in
                guard let size = number(place + entryBytes * entry + 4, 4),
                    let offset = number(place + entryBytes * entry + 8, 4), offset > 0, size > 0,
                    start + offset + size <= source.count
                else { return nil }
                return start + offset..<start + offset + size
            }
        }
        return []
    }

    private static func gainMap(at place: Range<Int>, in source: ByteSource) -> GainMapFacts? {
        let own = source.part(place)
        guard let segments = try? JPEGMarkers.applicationSegments(in: own),
            let (width, height) = try? JPEGMarkers.size(in: own)
        else { return nil }
        func contents(_ code: UInt8, _ name: [UInt8]) -> [[UInt8]] {
            segments.filter { $0.code == code && own.read($0.content.lowerBound, name.count) == name }
                .map { own.read($0.content.lowerBound, $0.content.count) }
        }
        func says(_ namespace: XMPNamespace) -> Bool {
            contents(0xE1, JPEGSegmentName.xmp).contains { $0.firstRange(of: Array(namespace.rawValue.utf8)) != nil }
        }
        let kind: GainMapFacts.Kind
        if says(.gainMap) {
            kind = .ultraHDR
        } else if !contents(0xE2, JPEGSegmentName.iso).isEmpty {
            kind = .iso
        } else if says(.appleGainMap) {
            kind = .apple
        } else {
            return nil
        }
        var facts = GainMapFacts(
            kind: kind, size: PixelSize(width, height), offset: place.lowerBound, bytes: place.count)
        facts.needsMakerNote =
            kind == .apple
            && !contents(0xE1, JPEGSegmentName.xmp).contains { $0.firstRange(of: Array("Headroom".utf8)) != nil }
        return facts
    }
}

extension ByteSource {
    /// Bytes of it as a source of their own.
    package func part(_ range: Range<Int>) -> ByteSource {
        let end = min(range.upperBound, count)
        return ByteSource(count: max(0, end - range.lowerBound)) { offset, count in
            guard offset >= 0, offset < end - range.lowerBound else { return [] }
            return read(range.lowerBound + offset, min(count, end - range.lowerBound - offset))
        }
    }
}
