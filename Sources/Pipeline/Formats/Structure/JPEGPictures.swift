// Several pictures in one JPEG file: the Multi-Picture Format, CIPA DC-007. The others follow the first one.

/// The words that segments of a JPEG begin with, and a zero.
enum JPEGSegmentName {
    static let exif = Array("Exif".utf8) + [0, 0]
    static let multiPicture = Array("MPF".utf8) + [0]
    static let xmp = Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
    static let iso = Array("urn:iso:std:iso:ts:21496:-1".utf8) + [0]
    static let profile = Array("ICC_PROFILE".utf8) + [0]
}

/// The application's segments of a JPEG, found by their names.
struct JPEGSegments {
    private let source: ByteSource
    private let all: [(code: UInt8, content: Range<Int>)]

    /// - Parameter source: one that is no JPEG has none.
    init(in source: ByteSource) {
        self.source = source
        all = (try? JPEGMarkers.applicationSegments(in: source)) ?? []
    }

    /// The contents behind the name.
    func all(_ code: UInt8, _ name: [UInt8]) -> [[UInt8]] {
        places(code, name).map { source.read($0.lowerBound, $0.count) }
    }

    func first(_ code: UInt8, _ name: [UInt8]) -> [UInt8]? {
        places(code, name).first.map { source.read($0.lowerBound, $0.count) }
    }

    /// Where the contents are.
    func places(_ code: UInt8, _ name: [UInt8]) -> [Range<Int>] {
        all.filter { $0.code == code && source.read($0.content.lowerBound, name.count) == name }
            .map { $0.content.dropFirst(name.count) }
    }

    /// The color profile; empty if there is none, and nil if it is larger than any in use.
    var profileBytes: [UInt8]? {
        let places = places(0xE2, JPEGSegmentName.profile)
        guard places.reduce(0, { $0 + $1.count }) <= 4 << 20 else { return nil }
        return places.flatMap { source.read($0.lowerBound, $0.count) }
    }

    /// Whether it says by itself that it is a gain map, or that one is in its file.
    var gainMap: GainMapFacts.Kind? {
        func names(_ namespace: XMPNamespace) -> Bool {
            all(0xE1, JPEGSegmentName.xmp).contains { namespace.isNamed(in: $0) }
        }
        if names(.gainMap) { return .ultraHDR }
        if !places(0xE2, JPEGSegmentName.iso).isEmpty { return .iso }
        return names(.appleGainMap) ? .apple : nil
    }
}

enum JPEGPictures {
    private static let (numberOfPictures, entries) = (0xB001, 0xB002)
    private static let entryBytes = 16
    /// Cameras write two or three.
    private static let mostPictures = 16

    /// The first of the other pictures that is a gain map. One that the file speaks of, and that is nowhere, has no
    /// bytes.
    static func gainMap(in source: ByteSource) throws(StructureError) -> GainMapFacts? {
        let own = JPEGSegments(in: source)
        let listed = places(in: source, own)
        func map(in places: [Range<Int>]) -> GainMapFacts? {
            places.lazy.compactMap { gainMap(at: $0, in: source, own) }.first
        }
        if let found = map(in: listed.compactMap(\.self)) { return found }
        // Programs that know nothing of the list change the file before it.
        let isStale = listed.contains { $0.map { source.read($0.lowerBound, 2) != [0xFF, 0xD8] } ?? true }
        guard own.gainMap != nil || isStale else { return nil }
        if let found = map(in: following(in: source)) { return found }
        return own.gainMap.map { GainMapFacts(kind: $0, flaw: .isAbsent) }
    }

    /// The large thumbnails that the file lists, and the small one in its EXIF. Other kinds of pictures in the list are
    /// other views, depths or mattes.
    static func previews(in source: ByteSource) throws(StructureError) -> [EmbeddedPreview] {
        let own = JPEGSegments(in: source)
        let exif = own.places(0xE1, JPEGSegmentName.exif).first.flatMap { EXIFDirectories(in: source, $0) }
        let orientation = exif?.orientation ?? 1
        let components = try JPEGMarkers.frame(in: source).components
        let profile = own.profileBytes
        var places = listed(in: source, own, kinds: largeThumbnails).compactMap(\.self)
        if (exif?.thumbnailOrientation ?? orientation) == orientation { places += [exif?.thumbnail].compactMap(\.self) }
        return places.compactMap { place in
            guard place.upperBound <= source.count, place.count <= EmbeddedPreview.mostBytes else { return nil }
            let preview = source.part(place)
            let segments = JPEGSegments(in: preview)
            guard let (width, height) = try? JPEGMarkers.size(in: preview),
                let frame = try? JPEGMarkers.frame(in: preview), frame.isBaseline, frame.components == components,
                segments.gainMap == nil, let profile, segments.profileBytes == profile
            else { return nil }
            let stated = segments.places(0xE1, JPEGSegmentName.exif).first.flatMap { EXIFDirectories(in: preview, $0) }
            guard (stated?.orientation ?? orientation) == orientation else { return nil }
            return EmbeddedPreview(
                size: PixelSize(width, height), place: .bytes(from: place.lowerBound, count: place.count))
        }
    }

    /// For screens of 640×480, and of 1920×1080.
    private static let largeThumbnails = [0x01_0001, 0x01_0002]

    /// Finds out whether the file ends before a picture that it lists.
    /// - Throws: `endsEarly` if that has begun; `malformed` if there is nothing of it.
    static func checkEnds(in source: ByteSource) throws(StructureError) {
        let missing = listed(in: source, JPEGSegments(in: source)).compactMap(\.self).filter {
            $0.upperBound > source.count
        }
        guard !missing.isEmpty else { return }
        throw missing.contains { source.read($0.lowerBound, 2) == [0xFF, 0xD8] } ? .endsEarly : .malformed
    }

    /// Where the other pictures are, by the file's own list; nil for one that cannot be there.
    private static func places(in source: ByteSource, _ segments: JPEGSegments) -> [Range<Int>?] {
        listed(in: source, segments).map { $0.flatMap { $0.upperBound <= source.count ? $0 : nil } }
    }

    /// The places of the other pictures as the file's own list has them; nil for one without a place.
    /// - Parameter kinds: those of these kinds alone; nil for all.
    private static func listed(
        in source: ByteSource, _ segments: JPEGSegments, kinds: [Int]? = nil
    ) -> [Range<Int>?] {
        guard let start = segments.places(0xE2, JPEGSegmentName.multiPicture).first?.lowerBound else { return [] }
        let order: ByteOrder = source.read(start, 2) == Array("II".utf8) ? .little : .big
        func number(_ offset: Int, _ bytes: Int) -> Int? { source.integer(at: start + offset, bytes: bytes, order) }
        guard let directory = number(4, 4), directory < 65_536, let fields = number(directory, 2) else { return [] }
        for index in 0..<min(fields, 32) {
            let field = directory + 2 + 12 * index
            guard number(field, 2) == entries, let bytes = number(field + 4, 4), let place = number(field + 8, 4),
                place < 65_536
            else { continue }
            // The first one is the picture itself. The offsets of the others are from here.
            return (1..<max(1, min(bytes / entryBytes, mostPictures))).map { entry in
                guard let attribute = number(place + entryBytes * entry, 4),
                    kinds?.contains(attribute & 0xFF_FFFF) ?? true,
                    let size = number(place + entryBytes * entry + 4, 4),
                    let offset = number(place + entryBytes * entry + 8, 4), offset > 0, size > 0
                else { return nil }
                return start + offset..<start + offset + size
            }
        }
        return []
    }

    /// The pictures one behind the other, each to the end of the file.
    private static func following(in source: ByteSource) -> [Range<Int>] {
        var places: [Range<Int>] = []
        var end = try? JPEGMarkers.end(of: source)
        while places.count < mostPictures, let start = end, source.read(start, 2) == [0xFF, 0xD8] {
            places.append(start..<source.count)
            end = (try? JPEGMarkers.end(of: source.part(start..<source.count))).map { start + $0 }
        }
        return places
    }

    /// - Parameter own: the segments of the picture itself.
    private static func gainMap(
        at place: Range<Int>, in source: ByteSource, _ own: JPEGSegments
    ) -> GainMapFacts? {
        let map = source.part(place)
        let segments = JPEGSegments(in: map)
        guard let kind = segments.gainMap, let (width, height) = try? JPEGMarkers.size(in: map) else { return nil }
        let size = width > 0 && height > 0 ? PixelSize(width, height) : nil
        let facts = GainMapFacts(kind: kind, size: size, offset: place.lowerBound, bytes: place.count)
        let note = kind == .apple ? own.first(0xE1, JPEGSegmentName.exif).flatMap(AppleMakerNote.stops) : nil
        return GainMapMetadata(ofMap: map, appleStops: note).described(facts)
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
