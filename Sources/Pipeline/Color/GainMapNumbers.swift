// The numbers of a gain map, and their two forms in files.
// Adobe's Gain Map 1.0 (https://helpx.adobe.com/camera-raw/using/gain-map.html) and ISO 21496-1 annex C.

/// The numbers by which a reader makes light of a gain map. A list has one number for each band, or one for all.
struct GainMapNumbers: Hashable {
    /// The gains that the least and the largest number of the map stand for, as logarithms of base 2.
    var least, most: [Double]
    /// The exponent of the numbers between.
    var gamma: [Double]
    /// Added to the light of the picture, and to that of the brighter one.
    var baseOffset, otherOffset: [Double]
    /// How much brighter than white a screen is for which the map does nothing, and all: logarithms of base 2.
    var leastHeadroom, mostHeadroom: Double

    /// The parts of a band in the binary form, in their order.
    private static var bandParts: [WritableKeyPath<Self, [Double]>] {
        [\.least, \.most, \.gamma, \.baseOffset, \.otherOffset]
    }
    /// Their names in XMP.
    private static let properties = ["GainMapMin", "GainMapMax", "Gamma", "OffsetSDR", "OffsetHDR"]

    /// Apple's maps have no numbers of that kind: the least number is no gain.
    static let apple = Self(
        least: [0], most: [1], gamma: [1], baseOffset: [0], otherOffset: [0], leastHeadroom: 0, mostHeadroom: 1)

    private init(
        least: [Double], most: [Double], gamma: [Double], baseOffset: [Double], otherOffset: [Double],
        leastHeadroom: Double, mostHeadroom: Double
    ) {
        (self.least, self.most, self.gamma) = (least, most, gamma)
        (self.baseOffset, self.otherOffset) = (baseOffset, otherOffset)
        (self.leastHeadroom, self.mostHeadroom) = (leastHeadroom, mostHeadroom)
    }

    static func value(_ list: [Double], _ band: Int) -> Double { list[min(band, list.count - 1)] }

    /// Whether a reader can go by them.
    var isUsable: Bool {
        let stops = -64.0...64
        let offsets = baseOffset + otherOffset
        return !most.isEmpty && (least + most + [leastHeadroom, mostHeadroom]).allSatisfy(stops.contains)
            && offsets.allSatisfy { $0.magnitude <= 1 }
            && gamma.allSatisfy { $0 > 0 && $0 <= 100 }
            && (0..<3).allSatisfy { Self.value(least, $0) <= Self.value(most, $0) }
    }

    // MARK: - XMP

    /// - Returns: nil if the packet is not in Adobe's namespace, says nothing of the kind, or something else than
    ///   numbers.
    init?(packet: [UInt8]) {
        guard XMPNamespace.gainMap.isNamed(in: packet) else { return nil }
        self.init(
            least: [0], most: [], gamma: [1], baseOffset: [1.0 / 64], otherOffset: [1.0 / 64], leastHeadroom: 0,
            mostHeadroom: 0)
        for (name, part) in zip(Self.properties, Self.bandParts) {
            guard let found = Self.numbers(of: name, in: packet) else { return nil }
            if !found.isEmpty { self[keyPath: part] = found }
        }
        guard let brightest = most.max(), let from = Self.numbers(of: "HDRCapacityMin", in: packet),
            let to = Self.numbers(of: "HDRCapacityMax", in: packet)
        else { return nil }
        (leastHeadroom, mostHeadroom) = (from.first ?? 0, to.first ?? brightest)
    }

    /// Whether a packet says how strong one of Apple's maps is: how many times brighter than white.
    /// - Returns: nil if it says nothing.
    static func isAppleHeadroomUsable(packet: [UInt8]) -> Bool? {
        guard text(of: "HDRGainMapHeadroom", in: packet) != nil else { return nil }
        return numbers(of: "HDRGainMapHeadroom", in: packet)?.first.map { $0 >= 1 && $0 <= 256 } ?? false
    }

    /// The packet of one of Apple's maps with how strong it is. Readers look for that where its version is.
    static func adding(appleHeadroom headroom: Double, to packet: [UInt8]) -> [UInt8] {
        let name = Array("HDRGainMap:HDRGainMapHeadroom".utf8)
        let rounded = Array("\((headroom * 1_000_000).rounded() / 1_000_000)".utf8)
        let version = Array("HDRGainMap:HDRGainMapVersion".utf8)
        guard let found = packet.firstRange(of: version) else { return packet }
        let isAttribute = packet[found.upperBound...].first == UInt8(ascii: "=")
        // In front of it: an attribute, or an element before its "<".
        let (place, added) =
            isAttribute
            ? (found.lowerBound, name + Array("=\"".utf8) + rounded + Array("\" ".utf8))
            : (
                found.lowerBound - 1,
                Array("<".utf8) + name + Array(">".utf8) + rounded + Array("</".utf8) + name + Array(">".utf8)
            )
        return packet[..<place] + added + packet[place...]
    }

    /// Whether a packet says that the picture is the brighter one of both.
    static func isForBrightPicture(packet: [UInt8]) -> Bool {
        text(of: "BaseRenditionIsHDR", in: packet)?.lowercased().contains("true") == true
    }

    /// The text of a property: in an attribute, in an element, or in a list within one.
    private static func text(of name: String, in packet: [UInt8]) -> String? {
        guard let found = packet.firstRange(of: Array((":" + name).utf8)) else { return nil }
        let rest = packet[found.upperBound...].prefix(1000)
        if rest.first == UInt8(ascii: "=") {
            let value = rest.dropFirst(2)
            return String(decoding: value.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }, as: UTF8.self)
        }
        // Up to its own end: names of tags are passed over.
        let end = rest.firstRange(of: Array((":" + name + ">").utf8))?.lowerBound ?? rest.endIndex
        var (isTag, kept) = (true, [UInt8]())
        for byte in rest[..<end] {
            if byte == UInt8(ascii: "<") { isTag = true }
            kept.append(isTag ? UInt8(ascii: " ") : byte)
            if byte == UInt8(ascii: ">") { isTag = false }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// - Returns: none if it is not there; nil if something else than numbers is.
    private static func numbers(of name: String, in packet: [UInt8]) -> [Double]? {
        let words = (text(of: name, in: packet) ?? "").split { $0.isWhitespace || $0 == "," }
        let numbers = words.compactMap { finiteNumber(String($0)) }
        return numbers.count == words.count ? numbers : nil
    }

    /// A packet that says the same.
    var packet: [UInt8] {
        func written(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
        var (attributes, lists) = ("", "")
        for (name, part) in zip(Self.properties, Self.bandParts) {
            let numbers = (0..<3).map { written(Self.value(self[keyPath: part], $0)) }
            if numbers.allSatisfy({ $0 == numbers[0] }) {
                attributes += " hdrgm:\(name)=\"\(numbers[0])\""
            } else {
                let items = numbers.map { "<rdf:li>\($0)</rdf:li>" }
                lists += "<hdrgm:\(name)><rdf:Seq>\(items.joined())</rdf:Seq></hdrgm:\(name)>"
            }
        }
        return xmpPacket(of: [
            """
            <rdf:Description rdf:about="" xmlns:hdrgm="\(XMPNamespace.gainMap.rawValue)" hdrgm:Version="1.0" \
            hdrgm:HDRCapacityMin="\(written(leastHeadroom))" hdrgm:HDRCapacityMax="\(written(mostHeadroom))" \
            hdrgm:BaseRenditionIsHDR="False"\(attributes)>\(lists)</rdf:Description>
            """
        ])
    }

    // MARK: - The binary form

    /// The flag of the binary form for numbers that are about the picture's own primaries.
    static let usesPictureColors: UInt8 = 0x40

    /// A version of two numbers, flags, the headrooms, and for each band five fractions.
    init?(iso: [UInt8]) {
        let source = ByteSource(iso)
        // A version that readers must know at least.
        guard source.integer(at: 0, bytes: 2) == 0, let flags = source.integer(at: 4, bytes: 1) else { return nil }
        let (bands, isCommon) = (flags & 0x80 != 0 ? 3 : 1, flags & 0x08 != 0)
        var place = 5
        func integer(signed: Bool) -> Double? {
            defer { place += 4 }
            return source.integer(at: place, bytes: 4).map {
                signed ? Double(Int32(truncatingIfNeeded: $0)) : Double($0)
            }
        }
        var common: Double?
        if isCommon {
            guard let number = integer(signed: false), number > 0 else { return nil }
            common = number
        }
        func fraction(signed: Bool = false) -> Double? {
            guard let number = integer(signed: signed), let whole = common ?? integer(signed: false), whole > 0 else {
                return nil
            }
            return number / whole
        }
        guard let base = fraction(), let other = fraction() else { return nil }
        self.init(
            least: [], most: [], gamma: [], baseOffset: [], otherOffset: [], leastHeadroom: base, mostHeadroom: other)
        for _ in 0..<bands {
            for part in Self.bandParts {
                guard let number = fraction(signed: part != \.gamma) else { return nil }
                self[keyPath: part].append(number)
            }
        }
    }

    /// - Returns: nil if a number does not fit.
    var iso: [UInt8]? {
        guard leastHeadroom >= 0, mostHeadroom >= 0 else { return nil }
        let bands = [least, most, gamma, baseOffset, otherOffset].contains { $0.count > 1 } ? 3 : 1
        var bytes: [UInt8] = [0, 0, 0, 0, Self.usesPictureColors | (bands == 3 ? 0x80 : 0)]
        let numbers =
            [leastHeadroom, mostHeadroom]
            + (0..<bands).flatMap { band in Self.bandParts.map { Self.value(self[keyPath: $0], band) } }
        for number in numbers {
            guard number.magnitude < 0x7FFF_FFFF else { return nil }
            // As many decimal digits as go into it: a decimal number is kept as it is.
            var whole = 1
            while whole < 1_000_000_000, number * Double(whole) != (number * Double(whole)).rounded(),
                number.magnitude * Double(10 * whole) < 0x7FFF_FFFF
            {
                whole *= 10
            }
            let part = UInt32(bitPattern: Int32((number * Double(whole)).rounded()))
            for value in [part, UInt32(whole)] {
                bytes += (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            }
        }
        return bytes
    }
}
