import Glibc
package import Pipeline
import Vips

/// Corrects exposure, brightness, contrast, gamma and saturation.
package struct Adjust: Stage {
    package static let name = "adjust"
    package static let summary =
        "Corrects exposure, gamma, brightness, contrast and saturation, in this order; transparency stays."
    package static let example = """
        - adjust: { exposure: 0.5, contrast: 1.1, saturation: 0.9 }
        """

    let exposure: Double
    let gamma: Double
    let brightness: Double
    let contrast: Double
    let saturation: Double

    package init(_ p: inout Parameters) {
        exposure = p.optional(
            "exposure", 0.0, in: -10...10, "In stops: 1 doubles the light, -1 halves it. Worked out in linear light.")
        gamma = p.optional("gamma", 1.0, in: 0.1...10, "Above 1 the middle becomes lighter, below darker.")
        brightness = p.optional("brightness", 1.0, in: 0...10, "A factor of the color values; 1 changes nothing.")
        contrast = p.optional(
            "contrast", 1.0, in: 0...10, "A factor of the distance from middle gray; 1 changes nothing.")
        saturation = p.optional(
            "saturation", 1.0, in: 0...10, "0 is gray, 1 changes nothing. Worked out in linear light.")
        if !["exposure", "gamma", "brightness", "contrast", "saturation"].contains(where: p.has) {
            p.problem("stage 'adjust' needs 'exposure', 'gamma', 'brightness', 'contrast' or 'saturation'")
        }
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        package let changesNothing: Bool
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        guard [.grey, .rgb].contains(input.colour) else {
            throw PlanFailure(
                .unsupportedColour, stage: Self.name,
                "'adjust' works on RGB and gray, not in \(input.colour.rawValue) colors; remove 'profile: keep'")
        }
        let isToned = exposure != 0 || gamma != 1 || brightness != 1 || contrast != 1
        return Plan(output: input, changesNothing: !isToned && (saturation == 1 || input.colour == .grey))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard !plan.changesNothing else { return picture }
        return try picture.onColours { try adjusted($0.droppingAlpha()) }
    }

    private func adjusted(_ picture: Picture) throws -> Image {
        let top = Int(picture.white)
        let tones = (0...top).map { tone(Double($0) / Double(top)) }
        let format = picture.image.format
        let adjusted: Image
        if saturation == 1 || picture.isGrey {
            adjusted = try picture.image.maplut(tones.map { ($0 * Double(top)).rounded() }, format)
        } else {
            let rows = (0..<3).map { band in
                (0..<3).map { Self.luminance[$0] * (1 - saturation) + ($0 == band ? saturation : 0) }
            }
            let light = try picture.image.maplut(tones.map(Self.light), .float).recomb(rows)
            // Sixteen bits of light are finer than eight bits of sRGB, also near black.
            let finest = 65_535.0
            let encoded = (0...Int(finest)).map { (Self.encoded(Double($0) / finest) * Double(top)).rounded() }
            adjusted = try light.linear([finest], [0]).rint().cast(.ushort).maplut(encoded, format)
        }
        return try adjusted.copy(interpretation: picture.pixels.interpretation)
    }

    /// A corrected color value, both 0…1.
    private func tone(_ value: Double) -> Double {
        let exposed = exposure == 0 ? value : Self.encoded(min(1, Self.light(value) * exp2(exposure)))
        let bright = pow(exposed, 1 / gamma) * brightness
        return min(max((bright - 0.5) * contrast + 0.5, 0), 1)
    }

    /// How much red, green and blue count for the light of a color. IEC 61966-2-1 (sRGB), after ITU-R BT.709.
    private static let luminance = [0.2126, 0.7152, 0.0722]

    /// The light of an sRGB value, both 0…1. IEC 61966-2-1.
    private static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
