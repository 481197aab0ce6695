// Every picture becomes sRGB before the first stage, unless the pipeline keeps the source's profile.
import Pipeline
import Stages
import Vips

/// Converts a decoded picture into the colours that stages work in.
///
/// 16 bit stays 16 bit, and grey stays grey. A profile that is sRGB in all but name costs nothing.
struct ColourConversion {
    let policy: ProfilePolicy
    let profiles: ProfileBook

    func convert(_ picture: Picture) throws -> (picture: Picture, warnings: [Warning]) {
        if policy == .keep { return (picture, []) }
        let assessment = try assessment(of: picture)
        return (try convert(picture, assessment), warnings(picture, assessment))
    }

    /// The assessment of an embedded profile.
    fileprivate enum Assessment: Equatable {
        case missing, unusable
        /// Colours come out as they went in.
        case standard
        case different(isWide: Bool)
    }

    private func assessment(of picture: Picture) throws -> Assessment {
        guard let profile = picture.profile else { return .missing }
        let bands = picture.pixels.colour.bands
        if let known = profiles.assessment(of: profile, bands: bands) { return known }
        let found = try VipsLibrary.settingMessagesAside { try assess(profile, bands: bands) }
        profiles.add(found, for: profile, bands: bands)
        return found
    }

    private func convert(_ picture: Picture, _ assessment: Assessment) throws -> Picture {
        let colour: ColourModel = picture.pixels.colour == .grey ? .grey : .rgb
        let target = PixelFormat(colour, picture.pixels.depth == .eight ? .eight : .sixteen, hasAlpha: picture.hasAlpha)
        let depth = 8 * target.depth.bytes
        return switch (picture.pixels.colour, assessment) {
        // libvips brings a common press profile.
        case (.cmyk, .missing), (.cmyk, .unusable), (.cmyk, .standard):
            try picture.converted(to: target) { try $0.iccTransform(to: .srgb, input: .cmyk, depth: depth) }
        case (.cmyk, .different), (.rgb, .different), (.lab, .different):
            try picture.converted(to: target) { try $0.iccTransform(to: .srgb, depth: depth) }
        case (.grey, .different):
            try picture.converted(to: target) {
                try $0.iccTransform(to: .srgb, depth: depth).colourspace(target.interpretation)
            }
        case (.lab, _): try picture.converted(to: target, standard)
        case (.grey, _), (.rgb, _): try picture.withoutProfile()
        }
    }

    /// Lab in sRGB. The Lab of a file has the white of ICC, D50; that of sRGB is D65. By profile, libvips would make 253
    /// of white.
    private func standard(lab: Image) throws -> Image {
        let light = try lab.colourspace(.lab).lab2XYZ(white: [96.422, 100, 82.521])
        // Bradford's adaptation.
        let adapted = try light.recomb([
            [0.9555766, -0.0230393, 0.0631636], [-0.0282895, 1.0099416, 0.0210077], [0.0122982, -0.0204830, 1.3299098],
        ])
        return try adapted.copy(interpretation: .xyz).colourspace(.rgb16)
    }

    private func warnings(_ picture: Picture, _ assessment: Assessment) -> [Warning] {
        let isPress = picture.pixels.colour == .cmyk
        return switch assessment {
        case .different(isWide: true):
            [
                Warning(
                    .wideGamutClipped, "the picture's profile holds colors beyond sRGB; they are moved to the nearest")
            ]
        case .unusable: [.badProfile(isPress: isPress)]
        case .missing where isPress:
            [Warning(.noProfile, "the picture has CMYK colors and no profile; a common press profile is assumed")]
        case .missing, .standard, .different(isWide: false): []
        }
    }

    /// Sends a few colours through the profile, which tells whether it works, changes anything, or reaches beyond sRGB.
    private func assess(_ profile: [UInt8], bands: Int) throws -> Assessment {
        let levels: [UInt8] = [0, 64, 128, 192, 255]
        var colours: [[UInt8]] = [[]]
        for _ in 0..<bands { colours = colours.flatMap { colour in levels.map { colour + [$0] } } }
        let meaning: Interpretation = bands == 1 ? .bw : bands == 4 ? .cmyk : .srgb
        let sample = try Image(bytes: colours.flatMap { $0 }, width: colours.count, height: 1, bands: bands)
            .copy(interpretation: meaning).editingMetadata { $0.set("icc-profile-data", blob: profile) }
        _ = GLibLog.shared.take()
        let transformed = try? sample.iccTransform(to: .srgb).inMemory()
        // libvips takes another profile instead of a broken one, and only says so: as an error, or to GLib's log.
        let isWarned = !GLibLog.shared.take().isEmpty
        // A profile for fewer bands leaves the others as they are.
        guard VipsLibrary.takeErrors().isEmpty, let standard = transformed, standard.bands == 3 else {
            return .unusable
        }
        let result = try standard.pixels()
        let expected = bands == 1 ? colours.flatMap { [$0[0], $0[0], $0[0]] } : colours.flatMap { $0 }
        let isUnchanged = bands < 4 && zip(result, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
        if isWarned, isUnchanged || bands == 4 { return .unusable }
        if isUnchanged { return .standard }
        guard bands == 3 else { return .different(isWide: false) }
        // Colors that sRGB cannot hold do not come back.
        guard let returned = try? standard.converted(toProfile: profile, depth: 8).pixels() else {
            // A profile of a scanner knows one direction only.
            return .different(isWide: false)
        }
        return .different(isWide: zip(returned, expected).contains { abs(Int($0) - Int($1)) > 12 })
    }
}

extension Warning {
    /// - Parameter isPress: the picture is in CMYK.
    static func badProfile(isPress: Bool) -> Warning {
        let message =
            "the embedded color profile cannot be used; \(isPress ? "a press profile" : "sRGB") is assumed"
        return Warning(.badProfile, message)
    }
}

/// The profiles that a worker has met: a camera writes the same one into every picture.
final class ProfileBook {
    private var known: [Key: ColourConversion.Assessment] = [:]
    /// Profiles to remember; one takes a few kilobytes, rarely a megabyte.
    private static let capacity = 32

    private struct Key: Hashable {
        let profile: [UInt8]
        let bands: Int
    }

    fileprivate func assessment(of profile: [UInt8], bands: Int) -> ColourConversion.Assessment? {
        known[Key(profile: profile, bands: bands)]
    }

    fileprivate func add(_ assessment: ColourConversion.Assessment, for profile: [UInt8], bands: Int) {
        if known.count >= Self.capacity { known.removeAll() }
        known[Key(profile: profile, bands: bands)] = assessment
    }
}
