// The statements of a file about its colors, besides a profile.

/// The colors that a file says its numbers are in, in a few numbers.
package struct StatedColor: Hashable, Sendable, Codable {
    /// The part of the file that says so.
    package enum Origin: String, Sendable, Codable {
        /// A box of HEIC and AVIF.
        case nclx
        /// The codec's own header, where no box says it.
        case header = "AV1 header"
        /// A chunk of a PNG.
        case cicp = "cICP"
        /// Two chunks of a PNG, of which `cHRM` may be missing.
        case gamma = "gAMA"
        /// A chunk of a PNG that says just that.
        case standard = "sRGB chunk"
    }

    package var color: CodedColor
    package var origin: Origin
    /// The most light in an HDR picture, in cd/m²; nil if the file does not say.
    package var peak: Double?
    /// Another statement of the file, besides a profile, that says something else: `Display P3 by gAMA`.
    package var overruled: String?

    package init(_ color: CodedColor, by origin: Origin, peak: Double? = nil) {
        (self.color, self.origin, self.peak) = (color, origin, peak)
    }

    /// In words: `Display P3 by nclx`.
    package var words: String { "\(color.name) by \(origin.rawValue)" }

    /// Whether it counts more than a profile in the same file, by the specification of the format.
    package var overrulesProfile: Bool { origin == .cicp }

    /// Whether a profile in the same file is expected to say the same: chunks of older readers only come near it.
    package var isExact: Bool { origin != .gamma }
}

/// The colors of a source, as they are used.
package struct ColorFacts: Hashable, Sendable, Codable {
    /// By its own name: `Display P3`.
    package var name: String
    /// The part of the file that says so: `ICC profile`, `nclx`, `cICP`, `gAMA`.
    package var origin: String
    /// Light beyond the white of paper.
    package var isHDR = false
    /// Another part of the file that says something else, with that, as `sRGB by nclx`.
    package var overruled: String?

    private static let profileOrigin = "ICC profile"

    /// Whether it is sRGB for certain: what a profile says is known when it is used.
    var isStandard: Bool { origin != Self.profileOrigin && name == CodedColor.standard.name }

    /// - Parameters:
    ///   - profile: in the file.
    ///   - stated: nil if nothing else is said.
    /// - Returns: nil if the file says nothing, so that its colors are taken for sRGB.
    package init?(_ profile: ICCProfile?, _ stated: StatedColor?) {
        guard profile != nil || stated != nil else { return nil }
        let other = stated?.words
        if let profile, stated?.overrulesProfile != true {
            name = profile.codedColor?.name ?? profile.name ?? "a profile without a name"
            origin = Self.profileOrigin
            isHDR = profile.codedColor?.isHDR == true
            if let stated, stated.isExact, !profile.agrees(with: stated.color) { overruled = other }
        } else if let stated {
            (name, origin, isHDR) = (stated.color.name, stated.origin.rawValue, stated.color.isHDR)
            overruled = stated.overruled
            if let profile, !profile.agrees(with: stated.color) {
                overruled = "\(profile.name ?? "another profile") by its \(Self.profileOrigin)"
            }
        } else {
            return nil
        }
    }

    /// In words: `Display P3 by nclx`.
    package var words: String { "\(name) by \(origin)" }

    var warnings: [Warning] {
        let conflict = overruled.map {
            Warning(.colorConflict, "the file describes its colors twice: \(words) is used, and not \($0)")
        }
        let mapped = isHDR ? Warning(.hdrToneMapped, "the picture is HDR, \(words); it is tone-mapped to SDR") : nil
        return [conflict, mapped].compactMap(\.self)
    }

    /// Whether a worker may say this: a picture may have taken it over.
    var isPlausible: Bool {
        [name, origin, overruled ?? ""].allSatisfy { text in
            text.utf8.count <= 2 * ICCProfile.longestName && text.unicodeScalars.allSatisfy { $0 >= " " && $0.isASCII }
        }
    }
}
