// The blend modes that take hue, saturation and luminosity apart: "Compositing and Blending Level 1", non-separable
// blend modes.
import Pipeline
import Vips

/// Which of two colours gives what.
enum NonSeparableMode {
    case hue, saturation, color, luminosity
}

extension Image {
    /// Mixes this opaque picture with another one of its size, both in floating point.
    /// - Parameter white: the value of a band that is full.
    func mixing(_ above: Image, by mode: NonSeparableMode, white: Double) throws -> Image {
        // Grey has no hue and no saturation.
        guard bands == 3 else { return mode == .luminosity ? above : self }
        let (below, above) = (try linecache(), try above.linecache())
        let mixture =
            switch mode {
            case .hue: try above.withSaturation(below.saturation).withLuminosity(below.luminosity, white: white)
            case .saturation: try below.withSaturation(above.saturation).withLuminosity(below.luminosity, white: white)
            case .color: try above.withLuminosity(below.luminosity, white: white)
            case .luminosity: try below.withLuminosity(above.luminosity, white: white)
            }
        return try mixture.copy(interpretation: interpretation)
    }

    private var luminosity: Image {
        get throws {
            let weighted = try linear([0.3, 0.59, 0.11], [0, 0, 0])
            return try weighted.band(0).add(weighted.band(1)).add(weighted.band(2)).linecache()
        }
    }

    private var saturation: Image {
        get throws { try greatest.minus(least).linecache() }
    }

    private var least: Image {
        get throws { try band(0).lesser(band(1)).linecache().lesser(band(2)).linecache() }
    }

    private var greatest: Image {
        get throws { try band(0).greater(band(1)).linecache().greater(band(2)).linecache() }
    }

    /// The hue with another saturation; black if there is no hue.
    private func withSaturation(_ saturation: Image) throws -> Image {
        let least = try least
        // Division by zero gives zero.
        return try minus(least).multiply(saturation.divide(greatest.minus(least))).linecache()
    }

    /// The colour with another luminosity, moved towards grey if it would leave the range.
    private func withLuminosity(_ target: Image, white: Double) throws -> Image {
        let moved = try add(target.minus(luminosity)).linecache()
        let below = try moved.least.lesser(0)
        let beyond = try moved.greatest.greater(white)
        // One of the two at most is not 1.
        let fromBlack = try target.divide(target.minus(below))
        let fromWhite = try target.linear([-1], [white]).divide(beyond.minus(target))
        return try target.add(moved.minus(target).multiply(fromBlack.multiply(fromWhite)))
    }

    private func band(_ index: Int) throws -> Image { try extractBands(from: index, count: 1) }
    private func minus(_ other: Image) throws -> Image { try add(other.linear([-1], [0])) }

    // The lesser of two numbers is half of their sum less their distance.
    private func lesser(_ other: Image) throws -> Image { try add(other).minus(minus(other).abs()).linear([0.5], [0]) }
    private func greater(_ other: Image) throws -> Image { try add(other).add(minus(other).abs()).linear([0.5], [0]) }
    private func lesser(_ value: Double) throws -> Image {
        try linear([1], [value]).minus(linear([1], [-value]).abs()).linear([0.5], [0])
    }
    private func greater(_ value: Double) throws -> Image {
        try linear([1], [value]).add(linear([1], [-value]).abs()).linear([0.5], [0])
    }
}
