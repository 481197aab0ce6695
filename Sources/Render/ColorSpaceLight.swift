// Light by numbers and numbers by light, for spaces of color that three curves and three colors describe.
import Glibc
import Pipeline

/// The meaning of the numbers of a picture as light, and how light becomes numbers.
struct ColorSpaceLight {
    let curves: [ProfileCurve]
    /// Makes light of this space light in XYZ, under the white of profiles; nil for gray.
    let toXYZ: ColorMatrix?
    /// How light beyond white is compressed; nil if there is none.
    let toneMapping: ToneMapping?

    /// - Parameter profile: nil for sRGB.
    /// - Returns: nil if the profile is none of these.
    init?(_ profile: ICCProfile?) {
        guard let profile = profile ?? ICCProfile(.standard) else { return nil }
        toneMapping = ToneMapping(profile)
        guard let curves = profile.curves else { return nil }
        self.curves = curves
        toXYZ = curves.count == 1 ? nil : profile.colorants
    }

    /// The gray of sRGB.
    static let standardGray = ICCProfile(.standard, isGray: true).flatMap { ColorSpaceLight($0) }

    /// Light by each number that a pixel can have, in the units of `ColorLoop`.
    func light(of curve: ProfileCurve, numbers: Int) -> [Float] {
        (0..<numbers).map { number in
            let part = Double(number) / Double(numbers - 1)
            return Float(toneMapping?.light(number: part) ?? curve.light(number: part))
        }
    }
}

extension ProfileCurve {
    /// Light from 0 to 1.
    func light(number: Double) -> Double {
        switch self {
        case .table(let entries):
            let place = number * Double(entries.count - 1)
            let index = min(Int(place), entries.count - 2)
            let (low, high) = (Double(entries[index]), Double(entries[index + 1]))
            return (low + (high - low) * (place - Double(index))) / 65_535
        case .formula(let kind, let p):
            let light: Double
            switch kind {
            case 0: light = pow(number, p[0])
            case 1, 2: light = (number >= -p[2] / p[1] ? pow(p[1] * number + p[2], p[0]) : 0) + (kind == 2 ? p[3] : 0)
            case 3: light = number >= p[4] ? pow(p[1] * number + p[2], p[0]) : p[3] * number
            default: light = number >= p[4] ? pow(p[1] * number + p[2], p[0]) + p[5] : p[3] * number + p[6]
            }
            return light.isFinite ? min(max(light, 0), 1) : 0
        }
    }

    /// The number, from 0 to 1, that stands for light: by halving, since curves rise.
    private func number(light: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<24 {
            let middle = (low + high) / 2
            if self.light(number: middle) < light { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// Numbers by the square root of light, in equal steps from 0 to 1: that is nearly straight for all curves that are
    /// used.
    func numbers(steps: Int) -> [Float] {
        (0...steps).map { step in
            let root = Double(step) / Double(steps)
            return Float(number(light: root * root))
        }
    }
}
