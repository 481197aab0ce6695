// HDR pictures as screens without HDR show them.
// PQ and HLG: ITU-R BT.2100-2; the curve: ITU-R BT.2390-10 §5.4; the white of paper in HDR: ITU-R BT.2408-7.
import Glibc
package import Pipeline

/// Compresses light beyond the white of paper into what is below it.
///
/// The largest of a pixel's three lights is compressed, and the others by as much, so that no color changes its hue. Up
/// to a knee, which is lower the more light there is, nothing changes.
package struct ToneMapping: Hashable {
    /// Light that a screen of HLG shows at most, and the most that is expected in PQ if the file does not say, in cd/m².
    private static let usualPeak = 1000.0
    /// The most that PQ has numbers for.
    private static let mostLight = 10_000.0

    package let primaries: Primaries
    private let curve: TransferCurve
    /// The most light in the picture, and the light that becomes white, in cd/m².
    private let (peak, white): (Double, Double)

    /// - Parameter profile: with the code points of PQ or HLG; nil comes of another one.
    package init?(_ profile: ICCProfile, _ settings: ToneMapSettings) {
        guard let color = profile.codedColor, color.isHDR else { return nil }
        (primaries, curve, white) = (color.primaries, color.curve, settings.white)
        let said = settings.peak ?? (color.curve == .pq ? profile.peak : nil)
        peak = min(max(said ?? Self.usualPeak, white), Self.mostLight)
    }

    /// The most light, where white is 1.
    var most: Double { peak / white }

    /// Light by a number from 0 to 1, where white is 1. That of HLG depends on brightness besides.
    func light(number: Double) -> Double {
        (curve == .pq ? Self.light(pq: number) : Self.scene(hlg: number) * Self.usualPeak) / white
    }

    /// The share of each light in the brightness of the scene, which is 1 if each is the most of HLG's screen. The light on
    /// that screen grows with its fifth root. Nil for PQ.
    var brightness: SIMD3<Double>? {
        curve == .hlg ? primaries.toXYZ.map { $0.rows[1] * (white / Self.usualPeak) } : nil
    }

    /// BT.2390's curve: straight up to a knee, then a Hermite spline up to white. Of light and result, white is 1.
    func compressed(_ light: Double) -> Double {
        let top = Self.pq(light: peak)
        let (number, most) = (Self.pq(light: light * white) / top, Self.pq(light: white) / top)
        let knee = 1.5 * most - 0.5
        guard number > knee, peak > white else { return light }
        let t = (number - knee) / (1 - knee)
        let (square, cube) = (t * t, t * t * t)
        let spline =
            (2 * cube - 3 * square + 1) * knee + (cube - 2 * square + t) * (1 - knee) + (3 * square - 2 * cube) * most
        return Self.light(pq: spline * top) / white
    }

    /// Light in cd/m² by the number of PQ for it, 0…1.
    private static func light(pq number: Double) -> Double {
        let power = pow(max(number, 0), 1 / 78.84375)
        return mostLight * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    /// The number of PQ, 0…1, by light in cd/m².
    private static func pq(light: Double) -> Double {
        let power = pow(max(light, 0) / mostLight, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// The light of a scene, 0…1, by the number of HLG for it.
    private static func scene(hlg number: Double) -> Double {
        number <= 0.5 ? number * number / 3 : (exp((number - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }
}

/// Tone mapping made ready for many pixels.
struct ToneMappingTables: Sendable {
    private let brightness: SIMD3<Float>?
    /// By how much light is multiplied, from none to the most, in equal steps.
    private let gains: [Float]
    private let most: Float

    init(_ mapping: ToneMapping) {
        let steps = 4096
        brightness = mapping.brightness.map { SIMD3<Float>($0) }
        most = Float(mapping.most)
        gains = (0...steps).map { step in
            let light = mapping.most * Double(step) / Double(steps)
            return light == 0 ? 1 : Float(mapping.compressed(light) / light)
        }
    }

    /// A color's light after the mapping: no more than white.
    func mapped(_ light: SIMD3<Float>) -> SIMD3<Float> {
        var color = light
        if let brightness {
            color *= powf(max((color * brightness).sum(), 0), 0.2)
        }
        let strongest = color.max()
        // More light than the picture is expected to have is as much as white, in its own hue.
        return color * (strongest > most ? 1 / strongest : between(gains, strongest / most * Float(gains.count - 1)))
    }
}
