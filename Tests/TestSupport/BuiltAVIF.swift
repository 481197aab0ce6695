// AVIFs with a gain map or a thumbnail, put together of two AVIFs by hand.

package enum BuiltAVIF {
    /// The way in which the second picture is said to be a map.
    package enum Kind: Sendable, CaseIterable {
        /// An item that is made of both, with ISO 21496-1.
        case iso
        /// An auxiliary picture, with Apple's XMP.
        case apple
    }

    /// - Parameters:
    ///   - picture: an AVIF of one picture.
    ///   - map: another one.
    ///   - words: the map's metadata.
    package static func file(_ picture: [UInt8], map: [UInt8], _ kind: Kind, words: [UInt8]) -> [UInt8] {
        let parts = [picture, map].map(part)
        var types: [[UInt8]] = [entry(1, "av01"), entry(3, "av01", isHidden: true)]
        var references: [[UInt8]] = []
        switch kind {
        case .iso:
            types.append(entry(2, "tmap"))
            references = [box("dimg", big(2, 2) + big(2, 2) + big(1, 2) + big(3, 2))]
        case .apple:
            types.append(entry(2, "mime", more: Array("application/rdf+xml\0".utf8)))
            references = [
                box("auxl", big(3, 2) + big(1, 2) + big(1, 2)), box("cdsc", big(2, 2) + big(1, 2) + big(3, 2)),
            ]
        }
        let auxiliary = full("auxC", Array("urn:com:apple:photo:2020:aux:hdrgainmap\0".utf8))
        let properties = parts.flatMap { [$0.size, $0.codec] } + (kind == .apple ? [auxiliary] : [])
        let ofMap: [UInt8] = kind == .apple ? [3, 0x84, 5] : [3, 0x84]
        let associations = full(
            "ipma", big(2, 4) + big(1, 2) + [2, 1, 0x82] + big(3, 2) + [UInt8(ofMap.count)] + ofMap)
        return file(
            types, references, properties, associations, [(1, parts[0].data), (2, words), (3, parts[1].data)])
    }

    /// - Parameters:
    ///   - picture: an AVIF of one picture.
    ///   - thumbnail: another one.
    ///   - profile: the color profile of both; empty for none.
    package static func file(_ picture: [UInt8], thumbnail: [UInt8], profile: [UInt8]) -> [UInt8] {
        let parts = [picture, thumbnail].map(part)
        let color = profile.isEmpty ? [] : [box("colr", Array("prof".utf8) + profile)]
        let shared: [UInt8] = profile.isEmpty ? [] : [5]
        let count = UInt8(2 + shared.count)
        let associations = full(
            "ipma", big(2, 4) + big(1, 2) + [count, 1, 0x82] + shared + big(2, 2) + [count, 3, 0x84] + shared)
        return file(
            [entry(1, "av01"), entry(2, "av01", isHidden: true)], [box("thmb", big(2, 2) + big(1, 2) + big(1, 2))],
            parts.flatMap { [$0.size, $0.codec] } + color, associations, [(1, parts[0].data), (2, parts[1].data)])
    }

    private static func file(
        _ types: [[UInt8]], _ references: [[UInt8]], _ properties: [[UInt8]], _ associations: [UInt8],
        _ data: [(id: Int, bytes: [UInt8])]
    ) -> [UInt8] {
        let start = box("ftyp", Array("avif\0\0\0\0avifmif1".utf8))
        func meta(_ first: Int) -> [UInt8] {
            var place = first
            var locations = [UInt8](arrayLiteral: 0x44, 0) + big(data.count, 2)
            for item in data {
                locations += big(item.id, 2) + big(0, 2) + big(1, 2) + big(place, 4) + big(item.bytes.count, 4)
                place += item.bytes.count
            }
            return full(
                "meta",
                full("hdlr", big(0, 4) + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
                    + full("pitm", big(1, 2))
                    + full("iloc", locations) + full("iinf", big(types.count, 2) + types.flatMap { $0 })
                    + full("iref", references.flatMap { $0 })
                    + box("iprp", box("ipco", properties.flatMap { $0 }) + associations))
        }
        let head = start.count + meta(0).count + 8
        return start + meta(head) + box("mdat", data.flatMap(\.bytes))
    }

    private static func part(_ file: [UInt8]) -> (size: [UInt8], codec: [UInt8], data: [UInt8]) {
        func whole(_ type: String) -> [UInt8] {
            guard let found = file.firstRange(of: Array(type.utf8)) else { return [] }
            let start = found.lowerBound - 4
            let size = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            return Array(file[start..<start + size])
        }
        return (whole("ispe"), whole("av1C"), Array(whole("mdat").dropFirst(8)))
    }

    private static func entry(_ id: Int, _ type: String, isHidden: Bool = false, more: [UInt8] = []) -> [UInt8] {
        box("infe", [2, 0, 0, isHidden ? 1 : 0] + big(id, 2) + big(0, 2) + Array(type.utf8) + [0] + more)
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(8 + content.count, 4) + Array(type.utf8) + content
    }

    private static func full(_ type: String, _ content: [UInt8]) -> [UInt8] { box(type, [0, 0, 0, 0] + content) }

    private static func big(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
