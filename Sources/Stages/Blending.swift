// How two pictures mix: the Porter-Duff operators and the blend modes of the W3C's "Compositing and Blending Level 1".
import Pipeline
import Vips

extension BlendMode {
    /// The mode can leave pixels transparent where the picture below was opaque.
    var canClear: Bool {
        switch self {
        case .clear, .source, .in, .out, .destIn, .destOut, .destAtop, .xor: true
        case .over, .atop, .dest, .destOver, .add, .saturate, .multiply, .screen, .overlay, .darken, .lighten,
            .colorDodge, .colorBurn, .hardLight,
            .softLight, .difference, .exclusion, .hue, .saturation, .color, .luminosity:
            false
        }
    }
}

/// How a mode is made of libvips' operations.
private enum Recipe {
    /// libvips' own mode, which is right if no two colours are mixed.
    case composite(CompositeMode)
    /// libvips' own mode on opaque pictures, whose result is composited: the W3C's formula in two steps. libvips mixes
    /// colours that are multiplied with their alpha already, which is right for opaque pictures only.
    case mix(CompositeMode)
    case saturate, atop, destAtop
    case dodge(isBurning: Bool)
    case nonSeparable(NonSeparableMode)
}

extension BlendMode {
    fileprivate var recipe: Recipe {
        switch self {
        case .clear: .composite(.clear)
        case .source: .composite(.source)
        case .over: .composite(.over)
        case .in: .composite(.in)
        case .out: .composite(.out)
        case .dest: .composite(.dest)
        case .destOver: .composite(.destOver)
        case .destIn: .composite(.destIn)
        case .destOut: .composite(.destOut)
        case .xor: .composite(.xor)
        case .add: .composite(.add)
        case .saturate: .saturate
        case .atop: .atop
        case .destAtop: .destAtop
        case .multiply: .mix(.multiply)
        case .screen: .mix(.screen)
        case .overlay: .mix(.overlay)
        case .darken: .mix(.darken)
        case .lighten: .mix(.lighten)
        case .hardLight: .mix(.hardLight)
        case .softLight: .mix(.softLight)
        case .difference: .mix(.difference)
        case .exclusion: .mix(.exclusion)
        case .colorDodge: .dodge(isBurning: false)
        case .colorBurn: .dodge(isBurning: true)
        case .hue: .nonSeparable(.hue)
        case .saturation: .nonSeparable(.saturation)
        case .color: .nonSeparable(.color)
        case .luminosity: .nonSeparable(.luminosity)
        }
    }
}

extension Picture {
    /// Draws another picture, which has alpha, onto this one, in this one's format.
    /// - Parameter alpha: multiplies the alpha of what is drawn.
    func drawing(
        _ drawn: Picture, alpha: Double, at place: PixelOffset, by mode: BlendMode, keepsAlpha: Bool
    ) throws -> Picture {
        if mode.canClear { return try overlaid(with: drawn, alpha: alpha, at: place, by: mode, keepsAlpha: keepsAlpha) }
        // Beside what is drawn nothing changes, so only what is below it is computed.
        guard let part = PixelBox(place, drawn.size).intersection(with: size) else { return self }
        let inside = PixelOffset(place.x - part.offset.x, place.y - part.offset.y)
        let mixed = try cropped(to: part).overlaid(
            with: drawn, alpha: alpha, at: inside, by: mode, keepsAlpha: keepsAlpha)
        return try inserting(mixed, at: part.offset)
    }

    private func overlaid(
        with drawn: Picture, alpha: Double, at place: PixelOffset, by mode: BlendMode, keepsAlpha: Bool
    ) throws -> Picture {
        let matched = try drawn.matching(self).image.cast(.float)
        // Not rounded: on a picture of 16 bits a step of 8 would show.
        let faded =
            alpha == 1
            ? matched
            : try matched.linear(
                Array(repeating: 1, count: matched.bands - 1) + [alpha], Array(repeating: 0, count: matched.bands))
        let composed = try image.cast(.float).blended(with: faded, by: mode, at: place)
        return try storing(keepsAlpha ? composed : composed.droppingAlpha(), hasAlpha: keepsAlpha)
    }

    /// The picture, which has alpha, in the format of another one, so that both can be mixed.
    private func matching(_ other: Picture) throws -> Picture {
        if let profile = other.profile {
            let format = PixelFormat(other.pixels.colour, other.pixels.depth, hasAlpha: true)
            let colours = try droppingAlpha().image.converted(
                toProfile: profile, depth: format.depth == .eight ? 8 : 16)
            // The fractions are kept until both are mixed.
            let covered = try alpha?.linear([other.white / white], [0])
            let whole = try covered.map { try colours.bandjoin($0) } ?? colours.bandjoin(constants: [other.white])
            return Picture(try whole.copy(interpretation: format.interpretation), format, profile: profile)
        }
        let coloured = try promoted(to: other.pixels.colour)
        switch (coloured.pixels.depth, other.pixels.depth) {
        case (.eight, .sixteen): return try coloured.inSixteenBits()
        case (.sixteen, .eight):
            // The fractions are kept until both are mixed.
            let fine = PixelFormat(coloured.pixels.colour, .float, hasAlpha: true)
            return Picture(
                try coloured.image.linear([1 / 257.0], [0]).copy(interpretation: other.pixels.interpretation), fine,
                profile: nil)
        default: return coloured
        }
    }
}

extension Image {
    /// Blends a picture with alpha onto this one, both in floating point; the result is not rounded yet.
    fileprivate func blended(with drawn: Image, by mode: BlendMode, at place: PixelOffset) throws -> Image {
        switch mode.recipe {
        case .composite(let mode): return try composited(with: drawn, by: mode, at: place)
        case .mix(let mode):
            let mixed = try droppingAlpha().composited(with: drawn.droppingAlpha(), by: mode, at: place).droppingAlpha()
            return try self.mixed(to: mixed, under: drawn.overlapping(self, at: place))
        case .saturate:
            guard hasAlpha else { return self }
            return try composited(with: drawn.overlapping(self, at: place).fillingUp(self), by: .add)
        case .atop:
            return try droppingAlpha().composited(with: drawn, by: .over, at: place).droppingAlpha().takingAlpha(
                of: self)
        case .destAtop:
            let covered = try drawn.overlapping(self, at: place)
            return try covered.droppingAlpha().composited(with: self, by: .over).droppingAlpha().takingAlpha(
                of: covered)
        case .dodge(let isBurning):
            let covered = try drawn.overlapping(self, at: place)
            return try mixed(to: droppingAlpha().dodging(covered.droppingAlpha(), isBurning: isBurning), under: covered)
        case .nonSeparable(let mode):
            let covered = try drawn.overlapping(self, at: place)
            return try mixed(
                to: droppingAlpha().mixing(covered.droppingAlpha(), by: mode, white: fullValue), under: covered)
        }
    }

    private func composited(
        with above: Image, by mode: CompositeMode, at place: PixelOffset = PixelOffset(0, 0)
    ) throws -> Image {
        try composite2(above, mode: mode, x: place.x, y: place.y)
    }

    /// Composites the opaque mixture of this picture and what is drawn.
    private func mixed(to mixture: Image, under drawn: Image) throws -> Image {
        var shown = mixture
        if hasAlpha {
            shown = try drawn.droppingAlpha().composited(with: mixture.takingAlpha(of: self), by: .over).droppingAlpha()
        }
        return try composited(with: shown.takingAlpha(of: drawn), by: .over)
    }

    /// Lightens each colour by one of an opaque picture of the same size: below ÷ (1 − above). Burning is the same on
    /// inverted colours.
    ///
    /// libvips makes white of black below white and black of white below black, where the W3C leaves what is below, and
    /// it divides by a difference of fractions that is too coarse for 16 bits.
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

    /// The value of white and of opaque in floating point, by what the numbers mean.
    private var fullValue: Double { [.rgb16, .grey16].contains(interpretation) ? 65_535 : 255 }

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
        return try embed(
            x: place.x, y: place.y, width: canvas.width, height: canvas.height,
            background: Array(repeating: 0, count: bands))
    }

    /// The picture, which has no alpha, with that of another one.
    private func takingAlpha(of other: Image) throws -> Image {
        guard other.hasAlpha else { return self }
        return try bandjoin(other.extractBands(from: other.bands - 1, count: 1)).copy(interpretation: interpretation)
    }
}
