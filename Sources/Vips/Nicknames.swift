// The words of libvips' enums that this project uses. A raw value is libvips' nickname for the value.
import CVips

/// How a band's numbers are stored.
package enum BandFormat: String, Sendable, CaseIterable {
    case uchar, ushort, float, double
    /// Found in some files, and not supported here.
    case char, short, uint, int, other

    init(_ format: VipsBandFormat) {
        switch format {
        case VIPS_FORMAT_UCHAR: self = .uchar
        case VIPS_FORMAT_USHORT: self = .ushort
        case VIPS_FORMAT_FLOAT: self = .float
        case VIPS_FORMAT_DOUBLE: self = .double
        case VIPS_FORMAT_CHAR: self = .char
        case VIPS_FORMAT_SHORT: self = .short
        case VIPS_FORMAT_UINT: self = .uint
        case VIPS_FORMAT_INT: self = .int
        default: self = .other
        }
    }
}

/// The color space or other meaning of a picture's bands.
package enum Interpretation: String, Sendable, CaseIterable {
    case bw = "b-w"
    case grey16, rgb, srgb, rgb16, scrgb, cmyk, lab, labs, labq, multiband
    /// Found in some files, and not supported here. `error` is for values without a known name.
    case histogram, xyz, cmc, lch, yxy, hsv, fourier, matrix, error

    init(_ interpretation: VipsInterpretation) {
        let nickname = vips_enum_nick(vips_interpretation_get_type(), CInt(interpretation.rawValue))
        self = nickname.flatMap { Interpretation(rawValue: String(cString: $0)) } ?? .error
    }
}

/// An axis to mirror or to join along.
package enum Direction: String, Sendable, CaseIterable {
    case horizontal, vertical
}

/// A turn clockwise, in degrees.
package enum Angle: String, Sendable, CaseIterable {
    case d0, d90, d180, d270
}

/// The kind of detail that `smartcrop` keeps.
package enum Interesting: String, Sendable, CaseIterable {
    case attention, entropy
}

/// How `composite2` mixes two pictures.
package enum CompositeMode: String, Sendable, CaseIterable {
    case clear, source, over, `in`, out, dest, xor, add
    case destOver = "dest-over"
    case destIn = "dest-in"
    case destOut = "dest-out"
    case multiply, screen, overlay, darken, lighten, difference, exclusion
    case hardLight = "hard-light"
    case softLight = "soft-light"
}

/// A profile that libvips brings along.
package enum BuiltInProfile: String, Sendable, CaseIterable {
    case srgb, p3, cmyk
}
