// The metadata of gain maps, which travel byte by byte.

/// The segments of a gain map's JPEG that say how it is used.
package struct GainMapMetadata: Sendable {
    /// By code and name, as JPEG files have them.
    private let packet, iso: [UInt8]?
    /// The profile of the colors that the map is about, if these are not the picture's.
    private let profile: [[UInt8]]
    /// How strong one of Apple's is, if its XMP does not say so: a logarithm of base 2.
    private let appleStops: Double?

    private init(_ packet: [UInt8]?, _ iso: [UInt8]?, profile: [[UInt8]], appleStops: Double?) {
        (self.packet, self.iso, self.profile, self.appleStops) = (packet, iso, profile, appleStops)
    }

    /// - Parameters:
    ///   - packet: XMP; what is not about the map is left out.
    ///   - iso: the binary form.
    ///   - profile: the parts of an ICC profile, each with a number of its own in front.
    init(packet: [UInt8]?, iso: [UInt8]?, profile: [[UInt8]] = [], appleStops: Double? = nil) {
        let isOfOtherColors = iso.map { $0.count > 4 && $0[4] & GainMapNumbers.usesPictureColors == 0 } ?? false
        let says = packet.flatMap(GainMapNumbers.isAppleHeadroomUsable) != nil
        self.init(
            packet.flatMap(xmpOfMap), iso, profile: isOfOtherColors ? profile : [], appleStops: says ? nil : appleStops)
    }

    /// - Parameters:
    ///   - map: a JPEG of its own.
    ///   - appleStops: what the picture's maker note says.
    init(ofMap map: ByteSource, appleStops: Double?) {
        let segments = JPEGSegments(in: map)
        self.init(
            packet: segments.first(0xE1, JPEGSegmentName.xmp), iso: segments.first(0xE2, JPEGSegmentName.iso),
            profile: segments.all(0xE2, JPEGSegmentName.profile), appleStops: appleStops)
    }

    /// The XMP of one of Apple's maps that has none: it says that it is one, and no more.
    static let applePacket = xmpPacket(of: [
        """
        <rdf:Description rdf:about="" xmlns:HDRGainMap="\(XMPNamespace.appleGainMap.rawValue)" \
        HDRGainMap:HDRGainMapVersion="65536"/>
        """
    ])

    /// The content of each segment, by its code, names included.
    package var segments: [(code: UInt8, content: [UInt8])] {
        [packet.map { (0xE1, JPEGSegmentName.xmp + $0) }, iso.map { (0xE2, JPEGSegmentName.iso + $0) }]
            .compactMap(\.self) + profile.map { (0xE2, JPEGSegmentName.profile + $0) }
    }

    /// Whether its XMP is in Adobe's namespace for gain maps.
    package var hasAdobePacket: Bool { packet.map(XMPNamespace.gainMap.isNamed(in:)) ?? false }
    package var hasISO: Bool { iso != nil }

    /// With all that readers look for: both forms of the numbers, since some know only one, and the strength of one of
    /// Apple's. What the source has stays as it is, byte by byte.
    /// - Parameter power: x to the power of y.
    package func complete(power: (_ x: Double, _ y: Double) -> Double) -> Self {
        func with(_ packet: [UInt8]?, _ iso: [UInt8]?) -> Self {
            Self(packet, iso, profile: profile, appleStops: nil)
        }
        if let packet, let appleStops {
            return with(GainMapNumbers.adding(appleHeadroom: power(2, appleStops), to: packet), iso)
        }
        if iso == nil, let packet, !GainMapNumbers.isForBrightPicture(packet: packet) {
            return with(packet, GainMapNumbers(packet: packet)?.iso)
        }
        if packet == nil, let numbers, numbers.leastHeadroom < numbers.mostHeadroom {
            return with(numbers.packet, iso)
        }
        return self
    }

    /// Nil if they are missing, or cannot be.
    private var numbers: GainMapNumbers? {
        let found =
            if let iso {
                GainMapNumbers(iso: iso)
            } else if let packet, hasAdobePacket {
                GainMapNumbers(packet: packet)
            } else {
                packet == nil ? nil : GainMapNumbers.apple
            }
        return found.flatMap { $0.isUsable ? $0 : nil }
    }

    /// A map's facts with what its metadata say of its use.
    func described(_ facts: GainMapFacts) -> GainMapFacts {
        var facts = facts
        facts.appleStops = appleStops
        if facts.kind == .apple, let packet {
            switch GainMapNumbers.isAppleHeadroomUsable(packet: packet) {
            case nil: facts.flaw = appleStops == nil ? .strengthIsUnknown : nil
            case let isUsable?: facts.flaw = isUsable ? nil : .isSenseless
            }
        }
        if numbers == nil { facts.flaw = facts.flaw ?? .isSenseless }
        facts.hasNeutral = neutral(bands: 3) { part, _ in part } != nil
        return facts
    }

    /// The part of the largest number, from 0 to 1, that stands for no gain in each band: light stays as it is. Nil if
    /// no number does.
    /// - Parameter power: x to the power of y.
    package func neutral(bands: Int, power: (_ x: Double, _ y: Double) -> Double) -> [Double]? {
        guard let numbers else { return nil }
        let parts = (0..<3).compactMap { band -> Double? in
            func value(_ list: [Double]) -> Double { GainMapNumbers.value(list, band) }
            let (least, most) = (value(numbers.least), value(numbers.most))
            // A map without any gain has no other numbers either.
            if least == 0, most == 0 { return 0 }
            let part = -least / (most - least)
            guard (0...1).contains(part) else { return nil }
            return part > 0 ? power(part, value(numbers.gamma)) : 0
        }
        guard parts.count == 3 else { return nil }
        // A map in gray has one number for all.
        let isOne = parts.allSatisfy { abs($0 - parts[0]) < 1.0 / 512 }
        return bands == 3 || isOne ? Array(parts.prefix(bands)) : nil
    }
}
