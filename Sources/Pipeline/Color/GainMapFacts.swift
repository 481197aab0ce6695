// Gain maps: a second, small picture in a file that says by how much light goes beyond white where.
// Adobe's Gain Map 1.0, Android's Ultra HDR 1.0, ISO 21496-1, and Apple's auxiliary pictures.

/// The gain map in a source.
package struct GainMapFacts: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, Codable {
        /// Android's, with Adobe's XMP. It may say the same by ISO 21496-1.
        case ultraHDR = "Ultra HDR"
        case iso = "ISO 21496-1"
        case apple = "Apple HDR"
    }

    /// Why it cannot be used.
    package enum Flaw: String, Hashable, Sendable, Codable {
        case isAbsent, strengthIsUnknown, isSenseless

        /// As a sentence without its full stop.
        var words: String {
            switch self {
            case .isAbsent: "the gain map that the file speaks of is not in it"
            case .strengthIsUnknown: "neither the gain map nor the picture's maker note says how strong it is"
            case .isSenseless: "the gain map does not say how it is to be used"
            }
        }
    }

    package var kind: Kind
    /// Pixels as they are decoded; nil if they are not known.
    package var size: PixelSize?
    /// The place of the map's own file in the source; for a HEIF, the whole source.
    package var offset = 0
    package var bytes = 0
    /// How strong one of Apple's is, if the picture's maker note says that and not its own metadata: a logarithm of
    /// base 2.
    package var appleStops: Double?
    /// Nil if it can be used.
    package var flaw: Flaw?
    /// Whether some number leaves light as it is, which is needed beside the picture and under what is drawn.
    package var hasNeutral = true

    /// The longest side of a map that is read, and its most bytes. Cameras write maps of a quarter of the picture's sides;
    /// some programs, as large ones as the picture.
    static let (longestSide, mostBytes) = (16_384, 64 << 20)

    /// Whether it is within the limits for maps.
    package var isReadable: Bool {
        guard let size else { return false }
        return (1...Self.longestSide).contains(size.width) && (1...Self.longestSide).contains(size.height)
            && size.area <= 50_000_000 && (1...Self.mostBytes).contains(bytes)
    }

    /// Whether a worker may say this: a picture may have taken it over.
    var isPlausible: Bool {
        offset >= 0 && bytes >= 0
            && size.map { (0...65_535).contains($0.width) && (0...65_535).contains($0.height) } ?? true
    }

    /// In words: `Ultra HDR, a gain map of 1020×768`.
    package var words: String { kind.rawValue + (size.map { ", a gain map of \($0)" } ?? ", a gain map") }
}

/// A gain map as a file that a decoder reads.
package struct GainMapFile: Sendable {
    package let bytes: [UInt8]
    package let format: SourceFormat
    package let metadata: GainMapMetadata
}

/// The effect of a stage on the gain map of its picture.
package enum GainMapEffect: Sendable {
    /// The map goes where the pixels go, as the footprint says; nothing else changes.
    case follows
    /// The same, but something is drawn over the picture, under which the map is made neutral.
    case draws
    /// Colors change, or the pixels are scattered, so that the map no longer fits.
    case spoils
}
