/// The meaning of a pixel's numbers: its colors, how fine they are, and whether there is alpha besides.
package struct PixelFormat: Hashable, Sendable, Codable {
    package var colour: ColourModel
    package var depth: BitDepth
    /// The last band is alpha.
    package var hasAlpha: Bool

    package init(_ colour: ColourModel, _ depth: BitDepth = .eight, hasAlpha: Bool = false) {
        self.colour = colour
        self.depth = depth
        self.hasAlpha = hasAlpha
    }

    package var bands: Int { colour.bands + (hasAlpha ? 1 : 0) }

    /// Bytes of one pixel.
    package var bytes: Int { bands * depth.bytes }
}

extension PixelFormat: CustomStringConvertible {
    package var description: String {
        let bands = colour.rawValue + (hasAlpha ? " with alpha" : "")
        return depth == .eight ? bands : "\(bands), \(depth)"
    }
}

/// The meaning of a picture's bands.
package enum ColourModel: String, Sendable, Codable, Hashable, CaseIterable {
    case grey = "gray"
    case rgb, cmyk, lab

    /// Bands without alpha.
    package var bands: Int {
        switch self {
        case .grey: 1
        case .rgb, .lab: 3
        case .cmyk: 4
        }
    }
}

/// How a number of a band is stored.
package enum BitDepth: String, Sendable, Codable, Hashable, CustomStringConvertible {
    case eight, sixteen
    /// Floating point of 32 bits: Lab as some files hold it, and pictures on their way through a computation.
    case float

    package var bytes: Int {
        switch self {
        case .eight: 1
        case .sixteen: 2
        case .float: 4
        }
    }

    package var description: String {
        switch self {
        case .eight: "8 bit"
        case .sixteen: "16 bit"
        case .float: "floating point"
        }
    }
}
