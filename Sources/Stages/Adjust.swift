import Glibc
package import Pipeline
import Vips

/// Corrects levels, temperature, exposure, gamma, brightness, contrast and saturation.
package struct Adjust: Stage {
    package static let name = "adjust"
    package static let summary =
        "Corrects levels, temperature, exposure, gamma, brightness, contrast and saturation, in this order; transparency stays."
    package static let example = """
        - adjust: { exposure: 0.5, contrast: 1.1, saturation: 0.9 }
        """

    package enum Automatic: String, ParameterWord { case levels }

    let automatic: Automatic?
    let levels: Levels
    let temperature: Double
    let exposure: Double
    let gamma: Double
    let brightness: Double
    let contrast: Double
    let saturation: Double

    package init(_ p: inout Parameters) {
        automatic = p.optional(
            "auto",
            "levels: the darkest thousandth of the color values becomes black and the lightest white, alike for red, green and blue."
        )
        levels = p.optional("levels", .all, "The color values that become black and white, from 0 to 255 at any depth.")
        temperature = p.optional(
            "temperature", Temperature.usual, in: 2000...25_000,
            "The temperature of the light that the picture was taken in, in kelvin: less makes it bluer, more yellower, and 6500 changes nothing. Worked out in linear light; gray pictures stay as they are."
        )
        exposure = p.optional(
            "exposure", 0.0, in: -10...10, "In stops: 1 doubles the light, -1 halves it. Worked out in linear light.")
        gamma = p.optional("gamma", 1.0, in: 0.1...10, "Above 1 the middle becomes lighter, below darker.")
        brightness = p.optional("brightness", 1.0, in: 0...10, "A factor of the color values; 1 changes nothing.")
        contrast = p.optional(
            "contrast", 1.0, in: 0...10, "A factor of the distance from middle gray; 1 changes nothing.")
        saturation = p.optional(
            "saturation", 1.0, in: 0...10,
            "0 is gray, as `grayscale` has it; 1 changes nothing. Worked out in linear light.")
        let keys = ["auto", "levels", "temperature", "exposure", "gamma", "brightness", "contrast", "saturation"]
        let list = keys.dropLast().map { "'\($0)'" }.joined(separator: ", ")
        p.problem(withoutAnyOf: keys, "stage 'adjust' needs \(list) or 'saturation'")
        if automatic != nil && p.has("levels") {
            p.problem(at: "auto", "'auto: levels' and 'levels' exclude each other; write one of them")
        }
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let levels: Levels
        package let changesNothing: Bool
        package var note: String {
            func tenth(_ value: Double) -> String { writtenNumber((value * 10).rounded() / 10) }
            return levels == .all ? "" : "levels from \(tenth(levels.black)) to \(tenth(levels.white))"
        }
        package var sizeDependence: SizeDependence { .anySize }
    }

    package var needsMeasurement: Bool { automatic != nil }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        try input.require([.grey, .rgb], "'adjust' works on RGB and gray", for: Self.name)
        var levels = levels
        if automatic != nil, case .levels(let black, let white)? = context.measurement, black < white {
            levels = Levels(black: black * 255, white: white * 255)
        }
        let isToned = levels != .all || exposure != 0 || gamma != 1 || brightness != 1 || contrast != 1
        let isColored = input.colour == .rgb && (saturation != 1 || temperature != Temperature.usual)
        // Levels that are not known yet may change something.
        let isUnknown = automatic != nil && context.measurement == nil
        return Plan(output: input, levels: levels, changesNothing: !isToned && !isColored && !isUnknown)
    }

    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        let white = Int(frames.pictures[0].white)
        var counts = [Int](repeating: 0, count: white + 1)
        for picture in frames.pictures {
            for (value, count) in try picture.valueCounts().enumerated() { counts[value] += count }
        }
        let cut = counts.reduce(0, +) / 1000
        /// The first value with more than a thousandth of all up to it.
        func end(_ values: some Sequence<Int>) -> Int? {
            var sum = 0
            return values.first { value in
                sum += counts[value]
                return sum > cut
            }
        }
        guard let black = end(0...white), let light = end((0...white).reversed()) else {
            return .levels(black: 0, white: 1)
        }
        return .levels(black: Double(black) / Double(white), white: Double(light) / Double(white))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard !plan.changesNothing else { return picture }
        return try picture.onColours { try adjusted($0.droppingAlpha(), levels: plan.levels) }
    }

    private func adjusted(_ picture: Picture, levels: Levels) throws -> Image {
        let (image, format, top) = (picture.image, picture.image.format, Int(picture.white))
        let numbers = (0...top).map { levels.stretched(Double($0) / Double(top)) }
        let savesColor = saturation == 1 || picture.isGrey
        // As light if more is to be done with it, else as the numbers of the result.
        func end(_ value: Double) -> Double { savesColor ? (value * Double(top)).rounded() : Light.decoded(value) }
        let endFormat = savesColor ? format : .float
        let toned: Image
        if temperature == Temperature.usual || picture.isGrey {
            toned = try image.maplut(numbers.map { end(tone(exposed($0))) }, endFormat)
        } else {
            let balance = Temperature.balance(from: temperature).map { row in row.map { $0 * exp2(exposure) } }
            toned = try image.maplut(numbers.map(Light.decoded), .float).recomb(balance)
                .mappingLight({ end(tone(Light.encoded($0))) }, endFormat)
        }
        guard !savesColor else { return try toned.copy(interpretation: picture.pixels.interpretation) }
        let rows = (0..<3).map { band in
            (0..<3).map { Light.luminance[$0] * (1 - saturation) + ($0 == band ? saturation : 0) }
        }
        return try toned.recomb(rows).mappingLight({ (Light.encoded($0) * Double(top)).rounded() }, format)
            .copy(interpretation: picture.pixels.interpretation)
    }

    private func exposed(_ value: Double) -> Double {
        exposure == 0 ? value : Light.encoded(min(1, Light.decoded(value) * exp2(exposure)))
    }

    /// A color value with gamma, brightness and contrast, both 0…1.
    private func tone(_ value: Double) -> Double {
        let bright = pow(value, 1 / gamma) * brightness
        return min(max((bright - 0.5) * contrast + 0.5, 0), 1)
    }
}

/// `{ black: 10, white: 240 }`.
struct Levels: ParameterMapping, Hashable {
    /// 0…255.
    let black, white: Double

    init(black: Double, white: Double) { (self.black, self.white) = (black, white) }

    /// Those that change nothing.
    static let all = Levels(black: 0, white: 255)

    init(_ p: inout Parameters) {
        black = p.optional("black", 0.0, in: 0...255, "What becomes black, and all below it.")
        white = p.optional("white", 255.0, in: 0...255, "What becomes white, and all above it.")
        if black >= white { p.problem(at: "black", "'black' has to be less than 'white'") }
    }

    /// A color value between the two, both 0…1.
    func stretched(_ value: Double) -> Double {
        self == .all ? value : min(max((value * 255 - black) / (white - black), 0), 1)
    }

    static var expectation: String { "levels such as { black: 10, white: 240 }" }
    static var owner: String { "'levels'" }
    static var placeholder: Levels { .all }
    var written: String { "{ black: \(writtenNumber(black)), white: \(writtenNumber(white)) }" }
}

/// The color of light by its temperature.
private enum Temperature {
    /// Kelvin; about that of sRGB's white.
    static let usual = 6500.0

    /// The matrix that makes light of a temperature look like that of 6500 K, for light in sRGB's primaries. By Bradford's
    /// adaptation, which the ICC uses.
    static func balance(from kelvin: Double) -> [[Double]] {
        let (from, to) = (product(bradford, white(kelvin)), product(bradford, white(usual)))
        let scaled = (0..<3).map { row in bradford[row].map { $0 * to[row] / from[row] } }
        return product(fromXYZ, product(fromBradford, product(scaled, toXYZ)))
    }

    /// XYZ of a black body, with a Y of 1, by the approximation of Kim and others (US patent 7024034).
    private static func white(_ kelvin: Double) -> [Double] {
        let t = 1000 / kelvin
        let x =
            kelvin <= 4000
            ? ((-0.2661239 * t - 0.2343589) * t + 0.8776956) * t + 0.179910
            : ((-3.0258469 * t + 2.1070379) * t + 0.2226347) * t + 0.240390
        let y: Double
        if kelvin <= 2222 {
            y = ((-1.1063814 * x - 1.34811020) * x + 2.18555832) * x - 0.20219683
        } else if kelvin <= 4000 {
            y = ((-0.9549476 * x - 1.37418593) * x + 2.09137015) * x - 0.16748867
        } else {
            y = ((3.0817580 * x - 5.87338670) * x + 3.75112997) * x - 0.37001483
        }
        return [x / y, 1, (1 - x - y) / y]
    }

    /// IEC 61966-2-1.
    private static let toXYZ = [
        [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041],
    ]
    private static let fromXYZ = [
        [3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560], [0.0556434, -0.2040259, 1.0572252],
    ]
    private static let bradford = [
        [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
    ]
    private static let fromBradford = [
        [0.9869929, -0.1470543, 0.1599627], [0.4323053, 0.5183603, 0.0492912], [-0.0085287, 0.0400428, 0.9684867],
    ]

    private static func product(_ matrix: [[Double]], _ vector: [Double]) -> [Double] {
        matrix.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    private static func product(_ left: [[Double]], _ right: [[Double]]) -> [[Double]] {
        left.map { row in
            right[0].indices.map { column in row.indices.reduce(0) { $0 + row[$1] * right[$1][column] } }
        }
    }
}

extension Picture {
    /// How many color values of all pixels that are seen there are of each number.
    fileprivate func valueCounts() throws -> [Int] {
        let colors = try droppingAlpha().image
        var counts = [Int](repeating: 0, count: Int(white) + 1)
        var seen = colors
        if let alpha = try alpha {
            // Hidden ones are counted as black, and then no more.
            let isSeen = try alpha.more(than: 0)
            let black = try Image.black(width: width, height: height, bands: colors.bands).cast(colors.format)
            seen = try colors.choosing(where: isSeen, else: black)
            counts[0] -= colors.bands * (try isSeen.histogram()[0][0])
        }
        for band in try seen.histogram() {
            for (value, count) in band.enumerated() { counts[value] += count }
        }
        return counts
    }
}
