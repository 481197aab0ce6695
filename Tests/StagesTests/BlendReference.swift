// The expected results of blending, worked out for each pixel in floating point, with no part of libvips.
import Pipeline
import TestSupport
import Vips

/// Compositing as the W3C writes it (compositing and blending level 1), and as cairo does for what the W3C does not
/// have.
struct BlendReference {
    let mode: String
    /// Multiplies the alpha of what is drawn.
    var alpha = 1.0

    /// One pixel as colours and alpha from 0 to 1, not premultiplied.
    private struct Paint {
        var colour: [Double]
        var alpha: Double
    }

    /// A picture with another one drawn onto it, as grey or RGB with or without alpha.
    func drawing(_ drawn: PixelGrid, x left: Int, y top: Int, onto base: PixelGrid, bands: Int) -> PixelGrid {
        let hasAlpha = bands % 2 == 0
        var values: [Int] = []
        for y in 0..<base.height {
            for x in 0..<base.width {
                let isInside = (0..<drawn.width).contains(x - left) && (0..<drawn.height).contains(y - top)
                var source = isInside ? paint(drawn, x - left, y - top) : Paint(colour: [0, 0, 0], alpha: 0)
                source.alpha *= alpha
                let result = blended(source, over: paint(base, x, y))
                let colours = hasAlpha ? bands - 1 : bands
                values += result.colour.prefix(colours).map { Int(($0 * Double(base.maximum)).rounded()) }
                if hasAlpha { values.append(Int((result.alpha * Double(base.maximum)).rounded())) }
            }
        }
        return PixelGrid(width: base.width, height: base.height, bands: bands, maximum: base.maximum, values: values)
    }

    private func paint(_ grid: PixelGrid, _ x: Int, _ y: Int) -> Paint {
        let values = grid[x, y].map { Double($0) / Double(grid.maximum) }
        let hasAlpha = grid.bands % 2 == 0
        let colours = hasAlpha ? Array(values.dropLast()) : values
        return Paint(
            colour: colours.count == 1 ? [colours[0], colours[0], colours[0]] : colours,
            alpha: hasAlpha ? values[grid.bands - 1] : 1)
    }

    private func blended(_ source: Paint, over backdrop: Paint) -> Paint {
        let (sa, ba) = (source.alpha, backdrop.alpha)
        let porterDuff: [String: (Double, Double)] = [
            "clear": (0, 0), "source": (1, 0), "over": (1, 1 - sa), "in": (ba, 0), "out": (1 - ba, 0),
            "atop": (ba, 1 - sa), "dest": (0, 1),
            "dest-over": (1 - ba, 1), "dest-in": (0, sa), "dest-out": (0, 1 - sa), "dest-atop": (1 - ba, sa),
            "xor": (1 - ba, 1 - sa),
            "add": (1, 1), "saturate": (sa == 0 ? 0 : min(1, (1 - ba) / sa), 1),
        ]
        let (fa, fb) = porterDuff[mode] ?? (1, 1 - sa)
        let alpha = min(1, sa * fa + ba * fb)
        let whole = mixWhole(source.colour, backdrop.colour)
        let colour = source.colour.indices.map { index in
            let (s, b) = (source.colour[index], backdrop.colour[index])
            let mixed = porterDuff[mode] == nil ? (1 - ba) * s + ba * (whole?[index] ?? mix(s, b)) : s
            return alpha == 0 ? 0 : min(1, max(0, (sa * fa * mixed + ba * fb * b) / alpha))
        }
        return Paint(colour: colour, alpha: alpha)
    }

    /// The mixing of two opaque colours.
    private func mix(_ s: Double, _ b: Double) -> Double {
        switch mode {
        case "multiply": s * b
        case "screen": s + b - s * b
        case "overlay": b <= 0.5 ? 2 * s * b : 1 - 2 * (1 - s) * (1 - b)
        case "hard-light": s <= 0.5 ? 2 * s * b : 1 - 2 * (1 - s) * (1 - b)
        case "soft-light": s <= 0.5 ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (softened(b) - b)
        case "color-dodge": b == 0 ? 0 : s == 1 ? 1 : min(1, b / (1 - s))
        case "color-burn": b == 1 ? 1 : s == 0 ? 0 : 1 - min(1, (1 - b) / s)
        case "darken": min(s, b)
        case "lighten": max(s, b)
        case "difference": abs(s - b)
        case "exclusion": s + b - 2 * s * b
        default: .nan
        }
    }

    /// The mixing of two opaque colours by a mode that does not mix each number alone; nil for other modes.
    private func mixWhole(_ source: [Double], _ backdrop: [Double]) -> [Double]? {
        func saturation(_ colour: [Double]) -> Double { colour.max()! - colour.min()! }
        func luminosity(_ colour: [Double]) -> Double { 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] }
        // The three numbers are sorted, as the W3C writes it.
        func setSaturation(_ colour: [Double], _ saturation: Double) -> [Double] {
            var result = [0.0, 0, 0]
            let order = [0, 1, 2].sorted { colour[$0] < colour[$1] }
            let (low, mid, high) = (colour[order[0]], colour[order[1]], colour[order[2]])
            guard high > low else { return result }
            result[order[1]] = (mid - low) * saturation / (high - low)
            result[order[2]] = saturation
            return result
        }
        func setLuminosity(_ colour: [Double], _ target: Double) -> [Double] {
            let distance = target - luminosity(colour)
            var moved = colour.map { $0 + distance }
            let (l, n, x) = (luminosity(moved), moved.min()!, moved.max()!)
            if n < 0 { moved = moved.map { l + ($0 - l) * l / (l - n) } }
            if x > 1 { moved = moved.map { l + ($0 - l) * (1 - l) / (x - l) } }
            return moved
        }
        return switch mode {
        case "hue": setLuminosity(setSaturation(source, saturation(backdrop)), luminosity(backdrop))
        case "saturation": setLuminosity(setSaturation(backdrop, saturation(source)), luminosity(backdrop))
        case "color": setLuminosity(source, luminosity(backdrop))
        case "luminosity": setLuminosity(backdrop, luminosity(source))
        default: nil
        }
    }

    private func softened(_ b: Double) -> Double { b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot() }
}

extension BlendReference {
    /// How far a result may be from the reference: 1 of 255, 2 of 65535.
    static func tolerance(_ kind: PictureKind) -> Double { kind.isDeep ? 2.01 : 1.01 }

    /// The largest difference, in the pictures' own numbers. A colour counts as much as it can be seen.
    static func difference(_ result: PixelGrid, _ expected: PixelGrid) -> Double {
        guard result.sides == expected.sides, result.bands == expected.bands, result.maximum == expected.maximum else {
            return .infinity
        }
        let hasAlpha = result.bands % 2 == 0
        var worst = 0.0
        for pixel in 0..<result.width * result.height {
            let start = pixel * result.bands
            let alpha = hasAlpha ? expected.values[start + result.bands - 1] : expected.maximum
            for band in 0..<result.bands {
                let error = Double(abs(result.values[start + band] - expected.values[start + band]))
                let isColour = !hasAlpha || band < result.bands - 1
                worst = max(worst, isColour ? error * Double(alpha) / Double(expected.maximum) : error)
            }
        }
        return worst
    }

    /// Something to draw: many colours, black and white among them, and every sort of alpha.
    static func badge(_ width: Int, _ height: Int, _ kind: PictureKind = PictureKind(hasAlpha: true)) throws -> Image {
        let factor = kind.isDeep ? 257 : 1
        return try TestPicture.make(width: width, height: height, kind: kind) { x, y in
            let extreme = (x + y) % 5 == 0 ? 0 : (x + y) % 7 == 0 ? 255 : nil
            let colour =
                kind.isGrey
                ? [(x * 40 + y * 9) % 256] : [(x * 40) % 256, (y * 50) % 256, (255 - (x * 20 + y * 7) % 256)]
            let alpha = kind.hasAlpha ? [[0, 1, 64, 127, 200, 254, 255][(x + 2 * y) % 7]] : []
            return (colour.map { extreme ?? $0 } + alpha).map { $0 * factor }
        }
    }
}
