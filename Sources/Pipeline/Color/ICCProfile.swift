// ICC profiles: making small ones, and reading what they say of themselves.
// ICC.1:2022 (version 4.4): https://www.color.org/specification/ICC.1-2022-05.pdf

/// A color profile, as the bytes of its file.
package struct ICCProfile: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: - Making

    /// A profile of a screen, of some 500 bytes. Numbers of PQ and HLG have no curve in it, only their code points, by
    /// which whoever knows them goes.
    /// - Parameters:
    ///   - isGray: for pictures of one band.
    ///   - peak: the most light of HDR pictures, in cd/m²; nil if it is not known.
    /// - Returns: nil if the primaries mix no colors.
    package init?(_ color: CodedColor, isGray: Bool = false, peak: Double? = nil) {
        guard let matrix = color.primaries.toProfileXYZ, let white = color.primaries.white.light,
            let adaptation = ColorMatrix.adaptation(from: white, to: Primaries.profileWhite)
        else { return nil }
        let curve = Self.curve(color.curve)
        var tags: [(FourCC, [UInt8])] = [
            ("desc", Self.text(color.name)), ("cprt", Self.text("No copyright, use freely")),
            ("wtpt", Self.xyz(Primaries.profileWhite)),
            ("chad", Self.tag("sf32") + adaptation.rows.flatMap { row in (0..<3).flatMap { Self.fixed(row[$0]) } }),
        ]
        if isGray {
            tags.append(("kTRC", curve))
        } else {
            for (index, letter) in "rgb".enumerated() {
                let column = SIMD3(matrix.rows[0][index], matrix.rows[1][index], matrix.rows[2][index])
                tags.append((FourCC(stringLiteral: "\(letter)XYZ"), Self.xyz(column)))
                tags.append((FourCC(stringLiteral: "\(letter)TRC"), curve))
            }
        }
        if let code = color.curve.code {
            let primaries = UInt8(clamping: color.primaries.code ?? 2)
            tags.append(("cicp", Self.tag("cicp") + [primaries, UInt8(code), 0, 1]))
        }
        // PQ has no numbers for more.
        if let peak { tags.append(("lumi", Self.xyz(SIMD3(0, min(peak, 10_000), 0)))) }
        bytes = Self.file(tags, space: isGray ? "GRAY" : "RGB ")
    }

    /// That of Display P3, as screens of phones and computers have it.
    package static let displayP3 = ICCProfile(.displayP3)

    private static let headerBytes = 128
    private static let creator = Array("imgm".utf8)

    /// Whether this program made it, from code points or chromaticities.
    package var isMadeHere: Bool { ByteSource(bytes).read(80, 4) == Self.creator }

    /// Equal data is there once.
    private static func file(_ tags: [(FourCC, [UInt8])], space: FourCC) -> [UInt8] {
        let start = headerBytes + 4 + 12 * tags.count
        var (table, data, places): ([UInt8], [UInt8], [[UInt8]: Int]) = (number(tags.count), [], [:])
        for (name, content) in tags {
            let place = places[content] ?? start + data.count
            if places[content] == nil {
                places[content] = place
                data += content + Array(repeating: 0, count: (4 - content.count % 4) % 4)
            }
            table += name.bytes + number(place) + number(content.count)
        }
        var header = number(start + data.count) + number(0) + [4, 0x30, 0, 0]
        header += FourCC("mntr").bytes + space.bytes + FourCC("XYZ ").bytes
        // A date, which version 4 asks for: the same in every profile, so that equal ones have equal bytes.
        header += [0x07, 0xE9, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
        header += FourCC("acsp").bytes + Array(repeating: 0, count: 28)
        header += (0..<3).flatMap { fixed(Primaries.profileWhite[$0]) }
        header += creator + Array(repeating: 0, count: headerBytes - header.count - creator.count)
        return header + table + data
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// 16 bits before the point, and 16 after it.
    private static func fixed(_ value: Double) -> [UInt8] {
        number(Int((min(max(value, -32_767), 32_767) * 65_536).rounded()))
    }

    private static func tag(_ type: FourCC) -> [UInt8] { type.bytes + [0, 0, 0, 0] }

    private static func xyz(_ color: SIMD3<Double>) -> [UInt8] { tag("XYZ ") + (0..<3).flatMap { fixed(color[$0]) } }

    private static func text(_ text: String) -> [UInt8] {
        let letters = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return tag("mluc") + number(1) + number(12) + Array("enUS".utf8) + number(letters.count) + number(28) + letters
    }

    /// A `parametricCurveType`.
    private static func curve(_ curve: TransferCurve) -> [UInt8] {
        func power(_ exponent: Double) -> [UInt8] { tag("para") + [0, 0, 0, 0] + fixed(exponent) }
        /// A straight line near black, and a power above it.
        func bent(_ exponent: Double, offset: Double, slope: Double, bend: Double) -> [UInt8] {
            let numbers = [exponent, 1 / (1 + offset), offset / (1 + offset), 1 / slope, bend]
            return tag("para") + [0, 3, 0, 0] + numbers.flatMap(fixed)
        }
        return switch curve {
        case .standard: bent(2.4, offset: 0.055, slope: 12.92, bend: 0.04045)
        case .power(let exponent): power(exponent)
        case .linear, .pq, .hlg: power(1)
        case .smpte240: bent(1 / 0.45, offset: 0.1115, slope: 4, bend: 0.0913)
        }
    }

    // MARK: - Reading

    /// Its own name; nil if it has none that can be read.
    package var name: String? {
        guard let content = content(of: "desc") else { return nil }
        let source = ByteSource(content)
        let text: String
        if content.starts(with: FourCC("mluc").bytes) {
            guard let length = source.integer(at: 20, bytes: 4), let offset = source.integer(at: 24, bytes: 4) else {
                return nil
            }
            let letters = source.read(offset, min(length, 2 * Self.longestName))
            text = String(
                decoding: stride(from: 0, to: letters.count - 1, by: 2).map {
                    UInt16(letters[$0]) << 8 | UInt16(letters[$0 + 1])
                }, as: UTF16.self)
        } else if content.starts(with: FourCC("desc").bytes) {
            text = String(decoding: content.dropFirst(12).prefix(Self.longestName).prefix { $0 != 0 }, as: UTF8.self)
        } else {
            return nil
        }
        let name = String(text.prefix(Self.longestName).filter { $0.isASCII && $0 >= " " && $0 != "\u{7F}" })
        return name.isEmpty ? nil : name
    }

    static let longestName = 80

    /// The code points of its `cicp` tag, which tell PQ and HLG.
    package var codedColor: CodedColor? {
        guard let content = content(of: "cicp"), content.count >= 12, content.starts(with: FourCC("cicp").bytes) else {
            return colorByName
        }
        return CodedColor(primaries: Int(content[8]), transfer: Int(content[9]))
    }

    /// PQ and HLG of JPEG XL, as libjxl before 0.9 has them: its profiles have names of parts instead of code points.
    private var colorByName: CodedColor? {
        let parts = (name ?? "").split(separator: "_")
        guard parts.contains("D65"), let last = parts.last, let curve = ["PeQ": TransferCurve.pq, "HLG": .hlg][last]
        else {
            return nil
        }
        let known: [Substring: Primaries] = ["202": .bt2020, "DCI": .displayP3, "SRG": .standard, "Gra": .standard]
        return parts.lazy.compactMap { known[$0] }.first.map { CodedColor($0, curve) }
    }

    /// The most light of HDR pictures in cd/m²; nil if it does not say.
    package var peak: Double? { xyz(of: "lumi").map { $0[1] } }

    /// The XYZ of red, green and blue as columns, relative to D50; nil without these tags.
    package var colorants: ColorMatrix? {
        guard let red = xyz(of: "rXYZ"), let green = xyz(of: "gXYZ"), let blue = xyz(of: "bXYZ") else { return nil }
        return ColorMatrix((0..<3).map { SIMD3(red[$0], green[$0], blue[$0]) })
    }

    /// The largest profile that a pipeline may name, in bytes: it becomes a part of each rendition.
    package static let mostBytes = 4 << 20

    /// Why colors cannot be converted to it, as a sentence; nil if they can.
    package var refusalAsTarget: String? {
        let source = ByteSource(bytes)
        guard source.read(36, 4) == FourCC("acsp").bytes else { return "expected a color profile, found none in it" }
        guard source.read(16, 4) == FourCC("RGB ").bytes else {
            return "expected a profile for RGB, found one for other colors"
        }
        let classes: [FourCC] = ["mntr", "prtr", "spac"]
        // LittleCMS reads no more than a hundred tags.
        guard classes.contains(where: { source.read(12, 4) == $0.bytes }),
            let count = source.integer(at: Self.headerBytes, bytes: 4), (1...100).contains(count)
        else { return "expected the profile of a screen, a printer or a space of color, found another kind" }
        if codedColor?.isHDR == true {
            return "expected a profile of colors up to white, found one of PQ or HLG, which are not written"
        }
        let hasCurves =
            ["rTRC", "gTRC", "bTRC"].allSatisfy { tag in
                content(of: tag, atMost: ProfileCurve.mostBytes).flatMap(ProfileCurve.init) != nil
            } && colorants?.inverse != nil
        guard hasCurves || content(of: "B2A0") != nil else {
            return
                "expected a profile that colors can be converted to, found one of a scanner or a camera, or one whose curves cannot be read"
        }
        return nil
    }

    /// Whether it agrees with code points. Colorants are compared, and PQ and HLG; other curves are not.
    package func agrees(with color: CodedColor) -> Bool {
        if color.isHDR || codedColor?.isHDR == true { return codedColor == color }
        guard let colorants, let others = color.primaries.toProfileXYZ else { return true }
        return zip(colorants.rows, others.rows).allSatisfy { row, other in
            (0..<3).allSatisfy { abs(row[$0] - other[$0]) < 0.02 }
        }
    }

    private func xyz(of tag: FourCC) -> SIMD3<Double>? {
        guard let content = content(of: tag), content.starts(with: FourCC("XYZ ").bytes) else { return nil }
        let source = ByteSource(content)
        let numbers = (0..<3).compactMap { source.fixedNumber(at: 8 + 4 * $0) }
        return numbers.count == 3 ? SIMD3(numbers[0], numbers[1], numbers[2]) : nil
    }

    /// The data of a tag, of which no more than a few are in a profile that says something.
    func content(of tag: FourCC, atMost most: Int = 4096) -> [UInt8]? {
        let source = ByteSource(bytes)
        guard let count = source.integer(at: Self.headerBytes, bytes: 4) else { return nil }
        for index in 0..<min(count, 200) {
            let entry = Self.headerBytes + 4 + 12 * index
            guard source.read(entry, 4) == tag.bytes, let offset = source.integer(at: entry + 4, bytes: 4),
                let length = source.integer(at: entry + 8, bytes: 4)
            else { continue }
            let data = source.read(offset, min(length, most))
            return data.isEmpty ? nil : data
        }
        return nil
    }
}
