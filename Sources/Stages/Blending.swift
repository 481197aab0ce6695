// How two pictures mix: the Porter-Duff operators and the blend modes of the W3C's "Compositing and Blending Level 1".
import Pipeline
import Vips

extension BlendMode {
    /// The mode can leave pixels transparent where the picture below was opaque.
    var canClear: Bool {
        switch self {
        case .clear, .source, .in, .out, .destIn, .destOut, .destAtop, .xor: true
        case .over, .atop, .dest, .destOver, .add, .saturate, .multiply, .screen, .overlay, .darken, .lighten, .colourDodge, .colourBurn, .hardLight,
            .softLight, .difference, .exclusion:
            false
        }
    }
}

extension Image {
    /// Draws another picture, which has alpha, onto this one, in this one's kind of numbers.
    func drawing(_ drawn: Image, at place: PixelOffset, by mode: BlendMode, keepsAlpha: Bool) throws -> Image {
        if mode.canClear { return try overlaid(with: drawn, at: place, by: mode, keepsAlpha: keepsAlpha) }
        // Beside what is drawn nothing changes, so only what is below it is computed.
        guard let part = PixelBox(place, PixelSize(drawn.width, drawn.height)).intersection(with: PixelSize(width, height)) else { return self }
        let below = try extractArea(left: part.offset.x, top: part.offset.y, width: part.size.width, height: part.size.height)
        let inside = PixelOffset(place.x - part.offset.x, place.y - part.offset.y)
        let mixed = try below.overlaid(with: drawn, at: inside, by: mode, keepsAlpha: keepsAlpha)
        return try insert(mixed, x: part.offset.x, y: part.offset.y)
    }

    private func overlaid(with drawn: Image, at place: PixelOffset, by mode: BlendMode, keepsAlpha: Bool) throws -> Image {
        let composed = try blended(with: drawn.matching(self), by: mode, at: place)
        let kept = keepsAlpha ? composed : try composed.droppingAlpha()
        return try kept.rint().cast(format).copy(interpretation: interpretation)
    }

    /// The picture with the same kind of numbers as another one, so that both can be mixed. It has alpha.
    private func matching(_ other: Image) throws -> Image {
        if let profile = other.keptProfile { return try converted(toProfile: profile, depth: other.format == .ushort ? 16 : 8) }
        let coloured = isGrey && !other.isGrey ? try colourspace(format == .ushort ? "rgb16" : "srgb") : self
        guard other.format == .ushort, coloured.format != .ushort else { return coloured }
        // libvips' own way from 8 to 16 bits makes 511 of 1, and 65280 of an alpha of 255, which is not opaque any more.
        return try coloured.linear([257], [0]).cast(.ushort).copy(interpretation: other.interpretation)
    }

    /// Blends a picture with alpha onto this one, in floating point and not rounded yet.
    ///
    /// libvips mixes colours that are multiplied with their alpha already, which is right for opaque pictures only. So the modes that
    /// mix do it on opaque ones, and their result is composited: the W3C's formula in two steps.
    func blended(with overlay: Image, by mode: BlendMode, at place: PixelOffset) throws -> Image {
        let base = try cast(.float)
        let drawn = try overlay.cast(.float)
        let compose = { (below: Image, above: Image, mode: BlendMode, place: PixelOffset) throws -> Image in
            try below.composite2(above, mode: mode.rawValue, x: place.x, y: place.y)
        }
        switch mode {
        case .clear, .source, .over, .in, .out, .dest, .destOver, .destIn, .destOut, .xor, .add, .saturate:
            return try compose(base, drawn, mode, place)
        case .atop:
            return try compose(base.droppingAlpha(), drawn, .over, place).droppingAlpha().takingAlpha(of: base)
        case .destAtop:
            let covered = try drawn.overlapping(base, at: place)
            return try compose(covered.droppingAlpha(), base, .over, PixelOffset(0, 0)).droppingAlpha().takingAlpha(of: covered)
        case .multiply, .screen, .overlay, .darken, .lighten, .colourDodge, .colourBurn, .hardLight, .softLight, .difference, .exclusion:
            var mixed = try compose(base.droppingAlpha(), drawn.droppingAlpha(), mode, place).droppingAlpha()
            let covered = try drawn.overlapping(base, at: place)
            if base.hasAlpha { mixed = try compose(covered.droppingAlpha(), mixed.takingAlpha(of: base), .over, PixelOffset(0, 0)).droppingAlpha() }
            return try compose(base, mixed.takingAlpha(of: covered), .over, PixelOffset(0, 0))
        }
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
