// The blend modes that take hue, saturation and luminosity apart: "Compositing and Blending Level 1", non-separable
// blend modes.
import Pipeline
import Vips

/// The components that the colour above gives; the colour below gives the others. `color` is hue and saturation.
enum NonSeparableMode {
    case hue, saturation, color, luminosity
}

extension BlendMode {
    /// Two pictures are mixed pixel by pixel in memory: made of libvips' operations, whose inputs are computed anew for
    /// each use, the formula would take seconds and hundreds of megabytes.
    var mixesInMemory: Bool { [.hue, .saturation, .color, .luminosity].contains(self) }

    /// The pictures that are in memory for that: what is below, what is above, and the mixture.
    func mixed(over size: PixelSize, frames: Int) -> [PictureInfo] {
        mixesInMemory ? Array(repeating: PictureInfo(size: size, frames: frames, depth: .float), count: 3) : []
    }
}

extension Image {
    /// Mixes this opaque picture with another one of its size, both in floating point. The result is in memory.
    /// - Parameter white: the value of a band that is full.
    func mixing(_ above: Image, by mode: NonSeparableMode, white: Double) throws -> Image {
        // Grey has no hue and no saturation.
        guard bands == 3 else { return mode == .luminosity ? above : self }
        let (below, above) = (try inMemory(), try above.inMemory())
        let mixture = try below.withPixels { below in
            try above.withPixels { above in
                try self.withPixels { result in
                    mix(
                        below.bindMemory(to: Float.self), above.bindMemory(to: Float.self), by: mode,
                        white: Float(white), into: result.bindMemory(to: Float.self))
                    return true
                }
            }
        }
        return try mixture?.copy(interpretation: interpretation) ?? self
    }
}

/// Mixes pixels of three floats.
private func mix(
    _ below: UnsafeBufferPointer<Float>, _ above: UnsafeBufferPointer<Float>, by mode: NonSeparableMode, white: Float,
    into result: UnsafeMutableBufferPointer<Float>
) {
    for start in stride(from: 0, to: result.count, by: 3) {
        let low = SIMD3(below[start], below[start + 1], below[start + 2])
        let high = SIMD3(above[start], above[start + 1], above[start + 2])
        let mixed =
            switch mode {
            case .hue: high.withSaturation(low.saturation).withLuminosity(low.luminosity, white: white)
            case .saturation: low.withSaturation(high.saturation).withLuminosity(low.luminosity, white: white)
            case .color: high.withLuminosity(low.luminosity, white: white)
            case .luminosity: low.withLuminosity(high.luminosity, white: white)
            }
        (result[start], result[start + 1], result[start + 2]) = (mixed.x, mixed.y, mixed.z)
    }
}

/// A colour.
extension SIMD3<Float> {
    fileprivate var luminosity: Float { 0.3 * x + 0.59 * y + 0.11 * z }
    fileprivate var saturation: Float { max() - min() }

    /// The hue with another saturation; black if there is no hue.
    fileprivate func withSaturation(_ wanted: Float) -> Self {
        saturation > 0 ? (self - min()) * (wanted / saturation) : .zero
    }

    /// The colour with another luminosity, moved towards grey if it would leave the range.
    fileprivate func withLuminosity(_ wanted: Float, white: Float) -> Self {
        let moved = self + (wanted - luminosity)
        let (least, greatest) = (moved.min(), moved.max())
        if least < 0 { return wanted + (moved - wanted) * (wanted / (wanted - least)) }
        if greatest > white { return wanted + (moved - wanted) * ((white - wanted) / (greatest - wanted)) }
        return moved
    }
}
