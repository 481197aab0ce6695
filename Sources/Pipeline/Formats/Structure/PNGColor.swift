// The chunks of a PNG that tell its colors: https://www.w3.org/TR/png-3/#11addnlcolinfo

/// The colors of a PNG, chunk by chunk.
struct PNGColor {
    private var coded: CodedColor?
    private var hasProfile = false
    private var isStandard = false
    private var gamma: Double?
    private var primaries: Primaries?
    /// The most light in the picture, and on the screen that it was made on.
    private var (brightest, screen): (Double?, Double?)

    /// How many bytes each chunk has.
    private static let lengths: [FourCC: Int] = ["cICP": 4, "gAMA": 4, "cHRM": 32, "cLLI": 8, "mDCV": 24]

    /// - Parameter reader: at the data of the chunk; it may stop anywhere in it.
    mutating func read(
        _ type: FourCC, _ length: Int, from reader: inout ForwardReader
    ) throws(StructureError) {
        if let expected = Self.lengths[type], length != expected { return }
        switch type {
        case "cICP":
            let (primaries, transfer) = (Int(try reader.byte()), Int(try reader.byte()))
            // Numbers of RGB, from 0 to the largest: others are not used in pictures, and are not read.
            let (matrix, isFullRange) = (try reader.byte(), try reader.byte())
            if matrix == 0, isFullRange == 1 { coded = CodedColor(primaries: primaries, transfer: transfer) }
        case "sRGB": isStandard = true
        case "iCCP": hasProfile = true
        case "gAMA": gamma = try reader.fraction(of: 100_000)
        case "cHRM":
            let white = try reader.chromaticity()
            primaries = Primaries(
                try reader.chromaticity(), try reader.chromaticity(), try reader.chromaticity(), white: white)
        case "cLLI": brightest = try reader.fraction(of: 10_000)
        case "mDCV":
            try reader.skip(16)
            screen = try reader.fraction(of: 10_000)
        default: break
        }
    }

    /// Nil for sRGB without a word, and for what comes so near to it that this is what is meant.
    var stated: StatedColor? {
        let standard = StatedColor(.standard, by: .standard)
        if let coded {
            var color = StatedColor(coded, by: .cicp, peak: [brightest, screen].compactMap(\.self).first { $0 > 0 })
            // Chunks for older readers come only near it.
            if isStandard, !coded.isStandard { color.overruled = standard.words }
            return color
        }
        guard let color = approximate, !hasProfile else { return nil }
        guard isStandard else { return color }
        var named = standard
        named.overruled = color.words
        return named
    }

    /// The colors by a curve of one number.
    private var approximate: StatedColor? {
        guard let gamma, gamma > 0 else { return nil }
        let exponent = 1 / gamma
        // Within a twentieth of 2.2, as libpng has it, sRGB is meant.
        let isOfScreens = abs(exponent / 2.2 - 1) < 0.05 && primaries?.isNear(.standard) ?? true
        let curve: TransferCurve = isOfScreens ? .standard : exponent == 1 ? .linear : .power(exponent)
        let color = CodedColor(primaries ?? .standard, curve)
        // A curve that no screen has, and colors that cannot be, are mistakes of a writer.
        guard (0.2...20).contains(exponent), color.primaries.areLights, color.primaries.toProfileXYZ != nil,
            !color.isStandard
        else { return nil }
        return StatedColor(color, by: .gamma)
    }
}

extension ForwardReader {
    fileprivate mutating func fraction(of whole: Double) throws(StructureError) -> Double {
        Double(try integer(bytes: 4)) / whole
    }

    fileprivate mutating func chromaticity() throws(StructureError) -> Chromaticity {
        let x = try fraction(of: 100_000)
        return Chromaticity(x, try fraction(of: 100_000))
    }
}
