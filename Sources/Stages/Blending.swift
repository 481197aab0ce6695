// How two pictures mix: the Porter-Duff operators and the blend modes of the W3C's "Compositing and Blending Level 1".
import Pipeline
import Vips

extension BlendMode {
    /// The mode can leave pixels transparent where the picture below was opaque.
    var canClear: Bool {
        switch self {
        case .clear, .source, .in, .out, .destIn, .destOut, .destAtop, .xor: true
        case .over, .atop, .dest, .destOver, .add, .saturate, .multiply, .screen, .overlay, .darken, .lighten, .colorDodge, .colorBurn, .hardLight,
            .softLight, .difference, .exclusion, .hue, .saturation, .color, .luminosity:
            false
        }
    }
}

extension Image {
    /// Draws another picture, which has alpha, onto this one, in this one's kind of numbers.
    /// - Parameter alpha: multiplies the alpha of what is drawn.
    func drawing(_ drawn: Image, alpha: Double, at place: PixelOffset, by mode: BlendMode, keepsAlpha: Bool) throws -> Image {
        if mode.canClear { return try overlaid(with: drawn, alpha: alpha, at: place, by: mode, keepsAlpha: keepsAlpha) }
        // Beside what is drawn nothing changes, so only what is below it is computed.
        guard let part = PixelBox(place, PixelSize(drawn.width, drawn.height)).intersection(with: PixelSize(width, height)) else { return self }
        let below = try extractArea(left: part.offset.x, top: part.offset.y, width: part.size.width, height: part.size.height)
        let inside = PixelOffset(place.x - part.offset.x, place.y - part.offset.y)
        let mixed = try below.overlaid(with: drawn, alpha: alpha, at: inside, by: mode, keepsAlpha: keepsAlpha)
        return try insert(mixed, x: part.offset.x, y: part.offset.y)
    }

    private func overlaid(with drawn: Image, alpha: Double, at place: PixelOffset, by mode: BlendMode, keepsAlpha: Bool) throws -> Image {
        let matched = try drawn.matching(self).cast(.float)
        // Not rounded: on a picture of 16 bits a step of 8 would show.
        let faded =
            alpha == 1
            ? matched : try matched.linear(Array(repeating: 1, count: matched.bands - 1) + [alpha], Array(repeating: 0, count: matched.bands))
        let composed = try cast(.float).blended(with: faded, by: mode, at: place)
        let kept = keepsAlpha ? composed : try composed.droppingAlpha()
        return try kept.rint().cast(format).copy(interpretation: interpretation)
    }

    /// The picture with the same kind of numbers as another one, so that both can be mixed. It has alpha.
    private func matching(_ other: Image) throws -> Image {
        if let profile = other.keptProfile { return try converted(toProfile: profile, depth: other.format == .ushort ? 16 : 8) }
        let coloured = isGrey && !other.isGrey ? try colourspace(format == .ushort ? "rgb16" : "srgb") : self
        if other.format != .ushort && coloured.format == .ushort {
            // The fractions are kept until both are mixed.
            return try coloured.linear([1 / 257.0], [0]).copy(interpretation: other.interpretation)
        }
        guard other.format == .ushort, coloured.format != .ushort else { return coloured }
        // libvips' own way from 8 to 16 bits makes 511 of 1, and 65280 of an alpha of 255, which is not opaque any more.
        return try coloured.linear([257], [0]).cast(.ushort).copy(interpretation: other.interpretation)
    }

    /// Blends a picture with alpha onto this one, both in floating point; the result is not rounded yet.
    ///
    /// libvips mixes colours that are multiplied with their alpha already, which is right for opaque pictures only. So the modes that
    /// mix do it on opaque ones, and their result is composited: the W3C's formula in two steps.
    private func blended(with drawn: Image, by mode: BlendMode, at place: PixelOffset) throws -> Image {
        let base = self
        let compose = { (below: Image, above: Image, mode: BlendMode, place: PixelOffset) throws -> Image in
            try below.composite2(above, mode: mode.rawValue, x: place.x, y: place.y)
        }
        switch mode {
        case .clear, .source, .over, .in, .out, .dest, .destOver, .destIn, .destOut, .xor, .add:
            return try compose(base, drawn, mode, place)
        case .saturate:
            guard base.hasAlpha else { return base }
            return try compose(base, drawn.overlapping(base, at: place).fillingUp(base), .add, PixelOffset(0, 0))
        case .atop:
            return try compose(base.droppingAlpha(), drawn, .over, place).droppingAlpha().takingAlpha(of: base)
        case .destAtop:
            let covered = try drawn.overlapping(base, at: place)
            return try compose(covered.droppingAlpha(), base, .over, PixelOffset(0, 0)).droppingAlpha().takingAlpha(of: covered)
        case .multiply, .screen, .overlay, .darken, .lighten, .hardLight, .softLight, .difference, .exclusion:
            let mixed = try compose(base.droppingAlpha(), drawn.droppingAlpha(), mode, place).droppingAlpha()
            return try base.mixed(to: mixed, under: drawn.overlapping(base, at: place))
        case .hue: return try mixed(with: drawn, at: place, by: .hue)
        case .saturation: return try mixed(with: drawn, at: place, by: .saturation)
        case .color: return try mixed(with: drawn, at: place, by: .color)
        case .luminosity: return try mixed(with: drawn, at: place, by: .luminosity)
        case .colorDodge, .colorBurn:
            let covered = try drawn.overlapping(base, at: place)
            let mixed = try base.droppingAlpha().dodging(covered.droppingAlpha(), isBurning: mode == .colorBurn)
            return try base.mixed(to: mixed, under: covered)
        }
    }

    private func mixed(with drawn: Image, at place: PixelOffset, by mode: NonSeparableMode) throws -> Image {
        let covered = try drawn.overlapping(self, at: place)
        return try mixed(to: droppingAlpha().mixing(covered.droppingAlpha(), by: mode, white: fullValue), under: covered)
    }

    /// Composites the opaque mixture of this picture and what is drawn.
    private func mixed(to mixture: Image, under drawn: Image) throws -> Image {
        var shown = mixture
        if hasAlpha { shown = try drawn.droppingAlpha().composite2(mixture.takingAlpha(of: self), mode: "over", x: 0, y: 0).droppingAlpha() }
        return try composite2(shown.takingAlpha(of: drawn), mode: "over", x: 0, y: 0)
    }

    /// Lightens each colour by one of an opaque picture of the same size: below ÷ (1 − above). Burning is the same on inverted colours.
    ///
    /// libvips makes white of black below white and black of white below black, where the W3C leaves what is below, and it divides by a
    /// difference of fractions that is too coarse for 16 bits.
    private func dodging(_ above: Image, isBurning: Bool) throws -> Image {
        let white = fullValue
        let below = isBurning ? try linear([-1], [white]) : self
        let room = isBurning ? above : try above.linear([-1], [white])
        // Whatever is divided by nearly nothing is white, but for black.
        let divisor = try room.add(room.more(than: 0).linear([-0.001 / 255], [0.001]))
        // Casting cuts off what is more than white.
        let share = try below.divide(divisor).linear([65_535], [0]).rint().cast(.ushort)
        let mixture = try isBurning ? share.linear([-white / 65_535], [white]) : share.linear([white / 65_535], [0])
        return try mixture.copy(interpretation: interpretation)
    }

    /// What is white and opaque in floating point, by what the numbers mean.
    private var fullValue: Double { ["rgb16", "grey16"].contains(interpretation) ? 65_535 : 255 }

    /// The picture with no more alpha than another one of its size has left to be opaque.
    private func fillingUp(_ below: Image) throws -> Image {
        let alpha = try extractBands(from: bands - 1, count: 1)
        let left = try below.extractBands(from: below.bands - 1, count: 1).linear([-1], [fullValue])
        // The lesser of two numbers is half of their sum less their distance.
        let distance = try alpha.add(left.linear([-1], [0])).abs()
        let lesser = try alpha.add(left).add(distance.linear([-1], [0])).linear([0.5], [0])
        return try droppingAlpha().bandjoin(lesser).copy(interpretation: interpretation)
    }

    /// The picture on a transparent canvas as large as another one.
    private func overlapping(_ other: Image, at place: PixelOffset) throws -> Image {
        let canvas = PixelSize(other.width, other.height)
        // libvips does not embed what lies wholly outside.
        guard place.x < canvas.width, place.y < canvas.height, place.x + width > 0, place.y + height > 0 else {
            return try linear([0], [0]).embed(x: 0, y: 0, width: canvas.width, height: canvas.height, background: [0])
        }
        return try embedded(at: place, in: canvas, background: Array(repeating: 0, count: bands))
    }

    /// The picture, which has no alpha, with that of another one.
    private func takingAlpha(of other: Image) throws -> Image {
        guard other.hasAlpha else { return self }
        return try bandjoin(other.extractBands(from: other.bands - 1, count: 1)).copy(interpretation: interpretation)
    }
}
