// The metadata of gain maps, which travel byte by byte; only the number that changes nothing is worked out from them.
// Adobe's Gain Map 1.0 (https://helpx.adobe.com/camera-raw/using/gain-map.html) and ISO 21496-1 annex C.

/// The segments of a gain map's JPEG that say how it is used.
package struct GainMapMetadata: Hashable, Sendable {
    /// The content of each segment, by its code, names included.
    package let segments: [(code: UInt8, content: [UInt8])]
    /// By code and name, as JPEG files have them.
    private let packet, iso: [UInt8]?

    package static func == (left: Self, right: Self) -> Bool {
        left.packet == right.packet && left.iso == right.iso
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(packet) }

    /// - Parameter map: a JPEG of its own.
    package init(ofMap map: ByteSource) {
        var found: [(code: UInt8, content: [UInt8])] = []
        var (packet, iso): ([UInt8]?, [UInt8]?)
        for segment in (try? JPEGMarkers.applicationSegments(in: map)) ?? [] {
            let content = map.read(segment.content.lowerBound, segment.content.count)
            if segment.code == 0xE1, content.starts(with: JPEGSegmentName.xmp) {
                packet = packet ?? Array(content.dropFirst(JPEGSegmentName.xmp.count))
            } else if segment.code == 0xE2, content.starts(with: JPEGSegmentName.iso) {
                iso = iso ?? Array(content.dropFirst(JPEGSegmentName.iso.count))
            } else {
                continue
            }
            found.append((segment.code, content))
        }
        (segments, self.packet, self.iso) = (found, packet, iso)
    }

    /// Whether its XMP is Adobe's.
    package var hasAdobePacket: Bool {
        packet?.firstRange(of: Array(XMPNamespace.gainMap.rawValue.utf8)) != nil
    }
    package var hasISO: Bool { iso != nil }

    /// The least and the most gain, as logarithms of base 2, and the exponent of the numbers between; each for all
    /// bands or one.
    private var gains: (least: [Double], most: [Double], gamma: [Double]) {
        if let iso, let gains = Self.gains(iso: iso) { return gains }
        guard let packet else { return ([0], [1], [1]) }
        func numbers(_ name: String, _ usual: Double) -> [Double] {
            let found = Self.numbers(of: name, in: packet)
            return found.isEmpty ? [usual] : found
        }
        return (numbers("GainMapMin", 0), numbers("GainMapMax", 1), numbers("Gamma", 1))
    }

    /// The part of the largest number, from 0 to 1, that stands for no gain in each band: light stays as it is.
    /// - Parameter power: x to the power of y.
    package func neutral(bands: Int, power: (_ x: Double, _ y: Double) -> Double) -> [Double] {
        let (least, most, gamma) = gains
        return (0..<bands).map { band in
            func value(_ list: [Double]) -> Double { list[min(band, list.count - 1)] }
            let range = value(most) - value(least)
            guard range > 0 else { return 0 }
            let part = min(max(-value(least) / range, 0), 1)
            return part > 0 && value(gamma) > 0 ? power(part, value(gamma)) : part
        }
    }

    // MARK: - Reading

    /// The numbers of a property: in an attribute, in an element, or in a list within one.
    private static func numbers(of name: String, in packet: [UInt8]) -> [Double] {
        guard let found = packet.firstRange(of: Array((":" + name).utf8)) else { return [] }
        let rest = packet[found.upperBound...].prefix(1000)
        let text: ArraySlice<UInt8>
        if rest.first == UInt8(ascii: "=") {
            let value = rest.dropFirst(2)
            text = value.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        } else {
            // Up to its own end: names of tags are passed over.
            let end = rest.firstRange(of: Array((":" + name + ">").utf8))?.lowerBound ?? rest.endIndex
            var (isTag, kept) = (true, [UInt8]())
            for byte in rest[..<end] {
                if byte == UInt8(ascii: "<") { isTag = true }
                kept.append(isTag ? UInt8(ascii: " ") : byte)
                if byte == UInt8(ascii: ">") { isTag = false }
            }
            text = kept[...]
        }
        return text.split { " \t\r\n,".utf8.contains($0) }.compactMap {
            finiteNumber(String(decoding: $0, as: UTF8.self))
        }
    }

    /// The binary form: a version of two numbers, flags, the headrooms, and for each band five fractions.
    private static func gains(iso: [UInt8]) -> (least: [Double], most: [Double], gamma: [Double])? {
        let source = ByteSource(iso)
        guard let flags = source.integer(at: 4, bytes: 1) else { return nil }
        let (bands, isCommon) = (flags & 0x80 != 0 ? 3 : 1, flags & 0x08 != 0)
        var place = 5
        func signed(_ offset: Int) -> Double? {
            source.integer(at: offset, bytes: 4).map { Double(Int32(truncatingIfNeeded: $0)) }
        }
        var common = 1.0
        if isCommon {
            guard let number = signed(place), number > 0 else { return nil }
            common = number
            place += 4
        }
        let bytes = isCommon ? 4 : 8
        func fraction(_ index: Int) -> Double? {
            guard let number = signed(place + bytes * index) else { return nil }
            if isCommon { return number / common }
            guard let whole = signed(place + bytes * index + 4), whole > 0 else { return nil }
            return number / whole
        }
        var gains: (least: [Double], most: [Double], gamma: [Double]) = ([], [], [])
        for band in 0..<bands {
            let first = 2 + 5 * band
            guard let least = fraction(first), let most = fraction(first + 1), let gamma = fraction(first + 2) else {
                return nil
            }
            gains.least.append(least)
            gains.most.append(most)
            gains.gamma.append(gamma)
        }
        return gains
    }
}
