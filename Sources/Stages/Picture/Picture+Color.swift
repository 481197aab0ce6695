// Colours in a picture's own numbers.
import Pipeline
package import Vips

/// A colour was to be drawn on a picture that cannot hold it: a mistake in this program, since plans promote pictures
/// first.
struct ImpossibleColor: Error {
    let color: Color
    let pixels: PixelFormat
}

extension Picture {
    /// A colour in the picture's own numbers, one for each band except alpha.
    func components(of color: Color) throws -> [Double] {
        if let profile {
            let bytes = [color.red, color.green, color.blue].map { UInt8(clamping: $0) }
            let pixel = try Image(bytes: bytes, width: 1, height: 1, bands: 3).copy(interpretation: .srgb)
            let converted = try pixel.converted(toProfile: profile, depth: pixels.depth == .eight ? 8 : 16).getpoint(
                x: 0, y: 0)
            return Array(converted.prefix(pixels.colour.bands))
        }
        let parts = [color.red, color.green, color.blue].map { Double($0) * (white / 255) }
        switch pixels.colour {
        case .rgb: return parts
        case .grey where color.isGrey: return [parts[0]]
        case .grey, .cmyk, .lab: throw ImpossibleColor(color: color, pixels: pixels)
        }
    }

    /// The same, with alpha if the picture has one.
    func componentsWithAlpha(of color: Color) throws -> [Double] {
        try components(of: color) + (hasAlpha ? [color.alpha * white] : [])
    }

    /// A picture of one colour in this one's format.
    func filled(with color: Color, size: PixelSize, hasAlpha: Bool) throws -> Picture {
        let components = try components(of: color) + (hasAlpha ? [color.alpha * white] : [])
        let pixel = try Image.black(width: 1, height: 1, bands: components.count)
        let painted = try storing(
            pixel.linear(Array(repeating: 0, count: components.count), components), hasAlpha: hasAlpha)
        return try painted.onCanvas(size, background: components.map { $0.rounded() })
    }

    /// Every pixel in one colour; alpha stays.
    func painted(in color: Color) throws -> Picture {
        let components = try components(of: color)
        let factors = components.map { _ in 0.0 } + (hasAlpha ? [1] : [])
        return try storing(image.linear(factors, components + (hasAlpha ? [0] : [])))
    }
}

extension Color {
    /// Stands for colours that are not known, but are no greys.
    static let anyColour = Color(red: 255, green: 0, blue: 0)
}

extension Image {
    /// An sRGB picture in the colours of a profile. Alpha goes along.
    package func converted(toProfile profile: [UInt8], depth: Int) throws -> Image {
        let lab = try colourspace(format == .ushort ? .rgb16 : .srgb).iccImport(from: .srgb).editingMetadata {
            $0.set("icc-profile-data", blob: profile)
        }
        return try lab.iccExport(depth: depth)
    }
}
