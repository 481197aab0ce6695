// The meaning of a picture's numbers by code points, as HEIC, AVIF and PNG state it.
// ITU-T H.273: https://www.itu.int/rec/T-REC-H.273

/// The colors that three numbers stand for: where pure red, green and blue are, and how light grows with the numbers.
package struct CodedColor: Hashable, Sendable, Codable {
    package var primaries: Primaries
    package var curve: TransferCurve

    package init(_ primaries: Primaries, _ curve: TransferCurve) {
        (self.primaries, self.curve) = (primaries, curve)
    }

    /// - Parameters:
    ///   - code: the code point of the primaries.
    ///   - transfer: the code point of the curve.
    /// - Returns: nil if both are unspecified, reserved, or not used for pictures. If one of them is, it is what most
    ///   pictures with the other one have.
    package init?(primaries code: Int, transfer: Int) {
        let (primaries, curve) = (Primaries(code: code), TransferCurve(code: transfer))
        if primaries == nil, curve == nil { return nil }
        let isBright = curve == .pq || curve == .hlg
        self.init(primaries ?? (isBright ? .bt2020 : .standard), curve ?? .standard)
    }

    package static let standard = CodedColor(.standard, .standard)
    package static let adobeRGB = CodedColor(.adobeRGB, .power(563.0 / 256))
    package static let displayP3 = CodedColor(.displayP3, .standard)

    /// Whether it is sRGB, or close enough to be taken for it.
    package var isStandard: Bool { primaries.isNear(.standard) && curve == .standard }

    /// Whether it is PQ or HLG, which are tone-mapped.
    package var isHDR: Bool { curve == .pq || curve == .hlg }

    /// In words: `Display P3`, `BT.2020 PQ`, `sRGB primaries, gamma 1.8`.
    package var name: String {
        switch (primaries.name, curve) {
        case (Primaries.standard.name, .standard): "sRGB"
        case (let name, .standard): name ?? "primaries of its own"
        case (let name, .pq): "\(name ?? "primaries of its own") PQ"
        case (let name, .hlg): "\(name ?? "primaries of its own") HLG"
        case (let name, let curve):
            "\(name.map { $0 == Primaries.standard.name ? "sRGB primaries" : $0 } ?? "primaries of its own"), \(curve.words)"
        }
    }
}

/// A color by its hue and saturation: the coordinates x and y of CIE 1931.
package struct Chromaticity: Hashable, Sendable, Codable {
    package var x, y: Double

    package init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }

    fileprivate func isNear(_ other: Chromaticity) -> Bool {
        // Writers round to four digits, and some to three.
        let tolerance = 0.002
        return abs(x - other.x) <= tolerance && abs(y - other.y) <= tolerance
    }
}

/// The three colors that others are mixed of, and white.
package struct Primaries: Hashable, Sendable, Codable {
    package var red, green, blue, white: Chromaticity

    package init(_ red: Chromaticity, _ green: Chromaticity, _ blue: Chromaticity, white: Chromaticity) {
        (self.red, self.green, self.blue, self.white) = (red, green, blue, white)
    }

    private init(
        _ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double), white: Chromaticity = .d65
    ) {
        self.init(
            Chromaticity(red.0, red.1), Chromaticity(green.0, green.1), Chromaticity(blue.0, blue.1), white: white)
    }

    /// Those of sRGB, which are those of BT.709.
    package static let standard = Primaries((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
    package static let adobeRGB = Primaries((0.64, 0.33), (0.21, 0.71), (0.15, 0.06))
    package static let displayP3 = Primaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
    package static let bt2020 = Primaries((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))

    /// By the code points of H.273.
    private static let coded: [(code: Int, name: String, primaries: Primaries)] = [
        (1, "sRGB", .standard),
        (4, "BT.470 M", Primaries((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), white: .c)),
        (5, "BT.601 625", Primaries((0.64, 0.33), (0.29, 0.60), (0.15, 0.06))),
        (6, "BT.601 525", Primaries((0.630, 0.340), (0.310, 0.595), (0.155, 0.070))),
        (7, "BT.601 525", Primaries((0.630, 0.340), (0.310, 0.595), (0.155, 0.070))),
        (8, "film", Primaries((0.681, 0.319), (0.243, 0.692), (0.145, 0.049), white: .c)),
        (9, "BT.2020", .bt2020),
        (10, "XYZ", Primaries((1, 0), (0, 1), (0, 0), white: Chromaticity(1.0 / 3, 1.0 / 3))),
        (11, "DCI P3", Primaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), white: Chromaticity(0.314, 0.351))),
        (12, "Display P3", .displayP3),
        (22, "EBU 3213", Primaries((0.630, 0.340), (0.295, 0.605), (0.155, 0.077))),
    ]

    init?(code: Int) {
        guard let found = Self.coded.first(where: { $0.code == code }) else { return nil }
        self = found.primaries
    }

    /// The code point of H.273; nil if there is none for them.
    package var code: Int? { known?.code }
    package var name: String? { known?.name }

    private var known: (code: Int, name: String, primaries: Primaries)? {
        Self.coded.first { isNear($0.primaries) }
    }

    /// Whether the coordinates are in the range of real colors.
    var areLights: Bool {
        [red, green, blue, white].allSatisfy { (0...1).contains($0.x) && (0...1).contains($0.y) } && white.y > 0.01
    }

    package func isNear(_ other: Primaries) -> Bool {
        red.isNear(other.red) && green.isNear(other.green) && blue.isNear(other.blue) && white.isNear(other.white)
    }
}

extension Chromaticity {
    /// Daylight, by which most screens show white.
    package static let d65 = Chromaticity(0.3127, 0.3290)
    fileprivate static let c = Chromaticity(0.310, 0.316)
}

/// How light grows with the number for it.
package enum TransferCurve: Hashable, Sendable, Codable {
    /// That of sRGB. Pictures in the curves of BT.601, BT.709 and BT.2020 are shown by it too: cameras write these codes
    /// into pictures that were made to be seen on screens.
    case standard
    case power(Double)
    case linear
    /// SMPTE 240M.
    case smpte240
    /// SMPTE ST 2084: light of up to 10,000 cd/m².
    case pq
    /// BT.2100's hybrid log-gamma.
    case hlg

    init?(code: Int) {
        switch code {
        case 1, 6, 13, 14, 15: self = .standard
        case 4: self = .power(2.2)
        case 5: self = .power(2.8)
        case 7: self = .smpte240
        case 8: self = .linear
        case 16: self = .pq
        case 18: self = .hlg
        default: return nil
        }
    }

    /// The code point that profiles have in their `cicp` tag.
    var code: Int? {
        switch self {
        case .pq: 16
        case .hlg: 18
        case .standard, .power, .linear, .smpte240: nil
        }
    }

    fileprivate var words: String {
        switch self {
        case .standard: "the curve of sRGB"
        case .power(let exponent): "gamma \((exponent * 100).rounded() / 100)"
        case .linear: "linear light"
        case .smpte240: "SMPTE 240M"
        case .pq: "PQ"
        case .hlg: "HLG"
        }
    }
}
