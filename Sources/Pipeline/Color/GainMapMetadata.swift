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

    /// - Parameters:
    ///   - packet: XMP.
    ///   - iso: the binary form.
    init(packet: [UInt8]?, iso: [UInt8]?) {
        (self.packet, self.iso) = (packet, iso)
        segments =
            [packet.map { (0xE1, JPEGSegmentName.xmp + $0) }, iso.map { (0xE2, JPEGSegmentName.iso + $0) }]
            .compactMap(\.self)
    }

    /// - Parameter map: a JPEG of its own.
    init(ofMap map: ByteSource) {
        let contents = ((try? JPEGMarkers.applicationSegments(in: map)) ?? []).map { segment in
            (code: segment.code, bytes: map.read(segment.content.lowerBound, segment.content.count))
        }
        func first(_ code: UInt8, _ name: [UInt8]) -> [UInt8]? {
            contents.first { $0.code == code && $0.bytes.starts(with: name) }.map {
                Array($0.bytes.dropFirst(name.count))
            }
        }
        self.init(packet: first(0xE1, JPEGSegmentName.xmp).flatMap(xmpOfMap), iso: first(0xE2, JPEGSegmentName.iso))
    }

    /// Whether its XMP is in Adobe's namespace for gain maps.
    package var hasAdobePacket: Bool {
        packet?.firstRange(of: Array(XMPNamespace.gainMap.rawValue.utf8)) != nil
    }
    package var hasISO: Bool { iso != nil }

    /// The least and the most gain, as logarithms of base 2, and the exponent of the numbers between; each for all
    /// bands or one. Nil if they are missing, or cannot be.
    private var gains: Gains? {
        let found: Gains?
        if let iso {
            found = Self.gains(iso: iso)
        } else if let packet, hasAdobePacket {
            func numbers(_ name: String, _ usual: [Double]) -> [Double] {
                let found = Self.numbers(of: name, in: packet)
                return found.isEmpty ? usual : found
            }
            found = (numbers("GainMapMin", [0]), numbers("GainMapMax", []), numbers("Gamma", [1]))
        } else {
            // Apple's maps have no numbers of that kind: none is no gain.
            found = packet == nil ? nil : ([0], [1], [1])
        }
        return found.flatMap { gains in
            let stops = -64.0...64
            let isUsable =
                !gains.most.isEmpty && (gains.least + gains.most).allSatisfy(stops.contains)
                && gains.gamma.allSatisfy { $0 > 0 && $0 <= 100 }
                && (0..<3).allSatisfy { Self.value(gains.least, $0) <= Self.value(gains.most, $0) }
            return isUsable ? gains : nil
        }
    }

    private typealias Gains = (least: [Double], most: [Double], gamma: [Double])

    private static func value(_ list: [Double], _ band: Int) -> Double { list[min(band, list.count - 1)] }

    /// Whether the numbers that a reader needs are there and valid.
    package var isUsable: Bool { gains != nil }

    /// The part of the largest number, from 0 to 1, that stands for no gain in each band: light stays as it is. Nil if
    /// no number does.
    /// - Parameter power: x to the power of y.
    package func neutral(bands: Int, power: (_ x: Double, _ y: Double) -> Double) -> [Double]? {
        guard let gains else { return nil }
        let parts = (0..<bands).compactMap { band -> Double? in
            let (least, most) = (Self.value(gains.least, band), Self.value(gains.most, band))
            // A map without any gain has no other numbers either.
            if least == 0, most == 0 { return 0 }
            let part = -least / (most - least)
            guard (0...1).contains(part) else { return nil }
            return part > 0 ? power(part, Self.value(gains.gamma, band)) : 0
        }
        return parts.count == bands ? parts : nil
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
    private static func gains(iso: [UInt8]) -> Gains? {
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
        var gains: Gains = ([], [], [])
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
