// Light by numbers and numbers by light, for spaces of color that three curves and three colors describe.
import Glibc
package import Pipeline

/// The meaning of the numbers of a picture as light, and how light becomes numbers.
package struct ColorSpaceLight {
    let curves: [ProfileCurve]
    /// Makes light of this space light in XYZ, under the white of profiles; nil for gray.
    let toXYZ: ColorMatrix?
    /// How light beyond white is compressed; nil if there is none.
    let toneMapping: ToneMapping?

    /// - Parameters:
    ///   - profile: nil for sRGB.
    ///   - isGrey: for pictures of one band.
    ///   - settings: of tone mapping.
    /// - Returns: nil if the profile has more than curves and a matrix, or is for other bands.
    package init?(_ profile: ICCProfile?, isGrey: Bool, _ settings: ToneMapSettings = .placeholder) {
        guard let profile = profile ?? ICCProfile(.standard, isGray: isGrey) else { return nil }
        toneMapping = ToneMapping(profile, settings)
        if let toneMapping {
            // Its code points say all, whatever tables there are for programs that do not know them.
            curves = Array(repeating: .formula(kind: 0, [1]), count: isGrey ? 1 : 3)
            toXYZ = isGrey ? nil : toneMapping.primaries.toProfileXYZ
        } else {
            guard let curves = profile.curves, (curves.count == 1) == isGrey else { return nil }
            self.curves = curves
            toXYZ = isGrey ? nil : profile.colorants
        }
        if !isGrey && toXYZ == nil { return nil }
    }

    /// The numbers, from 0 to 1, of a color of sRGB in this space; nil for gray.
    func numbers(ofStandard levels: [Double]) -> [Double]? {
        guard let standard = ColorSpaceLight(nil, isGrey: false), let from = standard.toXYZ, let back = toXYZ?.inverse
        else { return nil }
        let light = zip(standard.curves, levels).map { $0.light(number: $1) }
        let own = back * (from * SIMD3(light[0], light[1], light[2]))
        return zip(curves, 0..<3).map { $0.number(light: min(max(own[$1], 0), 1)) }
    }

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

    /// The number, from 0 to 1, that stands for light.
    func number(light: Double) -> Double {
        switch self {
        case .table(let entries):
            // The first entry that is as light, and how far behind the one before it the light is.
            let wanted = light * 65_535
            let index = entries.partitionPoint { Double($0) >= wanted }
            guard index > 0 else { return 0 }
            guard index < entries.count else { return 1 }
            let (low, high) = (Double(entries[index - 1]), Double(entries[index]))
            return (Double(index - 1) + (wanted - low) / (high - low)) / Double(entries.count - 1)
        case .formula(let kind, let p):
            func curved(_ light: Double) -> Double {
                let root = pow(max(light, 0), 1 / p[0])
                return kind == 0 ? root : (root - p[2]) / p[1]
            }
            let number: Double
            switch kind {
            case 0, 1: number = curved(light)
            case 2: number = curved(light - p[3])
            case 3: number = light < p[3] * p[4] && p[3] > 0 ? light / p[3] : curved(light)
            default: number = light < p[3] * p[4] + p[6] && p[3] > 0 ? (light - p[6]) / p[3] : curved(light - p[5])
            }
            return number.isFinite ? min(max(number, 0), 1) : 0
        }
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

extension Array {
    /// The place of the first element for which a condition holds that holds for all after it.
    fileprivate func partitionPoint(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
