// Light instead of sRGB's numbers, and how light a color is.
import Glibc
import Pipeline
import Vips

/// The curve and the luminance of sRGB.
enum Light {
    /// How much red, green and blue count for the light of a color. IEC 61966-2-1 (sRGB), after ITU-R BT.709.
    static let luminance = [0.2126, 0.7152, 0.0722]

    /// The light of an sRGB value, both 0…1. IEC 61966-2-1.
    static func decoded(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// The sRGB value of light, both 0…1.
    static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}

extension Image {
    /// Light in floating point, 0…1, each number replaced by the result of some work.
    func mappingLight(_ work: (Double) -> Double, _ format: BandFormat) throws -> Image {
        // Sixteen bits of light are finer than eight bits of sRGB, also near black.
        let finest = 65_535.0
        let table = (0...Int(finest)).map { work(Double($0) / finest) }
        return try linear([finest], [0]).rint().cast(.ushort).maplut(table, format)
    }

    /// The gray that has the light of each color of sRGB, as whole numbers of the same range.
    /// - Parameter white: the number of a band that is full.
    func luminance(white: Double) throws -> Image {
        let light = try maplut((0...Int(white)).map { Light.decoded(Double($0) / white) }, .float)
        return try light.recomb([Light.luminance]).mappingLight({ (Light.encoded($0) * white).rounded() }, format)
    }
}

extension Picture {
    /// The lightness alone, as sRGB's gray; itself if it is gray.
    func withoutColors() throws -> Picture {
        guard !isGrey else { return self }
        let gray = PixelFormat(.grey, pixels.depth, hasAlpha: hasAlpha)
        return try converted(to: gray) { colours in
            let standard =
                if profile != nil {
                    try colours.iccTransform(to: .srgb, depth: 8 * pixels.depth.bytes)
                } else if pixels.colour == .rgb {
                    colours
                } else {
                    try colours.colourspace(PixelFormat(.rgb, pixels.depth).interpretation)
                }
            return try standard.luminance(white: white)
        }
    }
}
