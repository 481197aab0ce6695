// Every picture comes into the colors of the pipeline before the first stage, unless it keeps the source's profile.
import Pipeline
import Stages
import Vips

/// Converts a decoded picture into the colours that stages work in.
///
/// 16 bit stays 16 bit, and grey stays grey, which is that of sRGB. A profile that is the target in all but name costs
/// nothing.
struct ColourConversion {
    /// The source's own profile stays.
    var keepsProfile = false
    /// The profile of the colours that stages work in; nil for sRGB.
    var target: ICCProfile?
    /// How HDR pictures become others.
    var toneMap = ToneMapSettings.placeholder
    let profiles: ProfileBook

    func convert(_ picture: Picture) throws -> (picture: Picture, warnings: [Warning]) {
        let profile = picture.profile.map(ICCProfile.init)
        if let mapping = profile.flatMap({ ToneMapping($0, toneMap) }),
            [.grey, .rgb].contains(picture.pixels.colour)
        {
            return (try toneMapped(picture, mapping), [])
        }
        let isAssessed = !keepsProfile || picture.profile != nil
        let assessment = isAssessed ? try assessment(of: picture) : .standard
        if keepsProfile {
            // One that is good for nothing is not handed on.
            return assessment == .unusable
                ? (try picture.withoutProfile(), warnings(picture, assessment)) : (picture, [])
        }
        return (try convert(picture, assessment), warnings(picture, assessment))
    }

    /// A picture of PQ or HLG as other screens show it, or, if its profile stays, in its own primaries.
    private func toneMapped(_ picture: Picture, _ mapping: ToneMapping) throws -> Picture {
        let isGrey = picture.pixels.colour == .grey
        let own = ICCProfile(CodedColor(mapping.primaries, .standard), isGray: isGrey)
        let target = keepsProfile ? own : isGrey ? nil : self.target
        if let mapped = try exactly(picture, to: target) { return mapped }
        // To a profile with tables, by way of its own primaries.
        guard let own, let mapped = try exactly(picture, to: own) else { throw MismatchedPlan(stage: "decode") }
        return try convert(mapped, .different(isWide: false))
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
        if let known = profiles.assessment(of: profile, bands: bands, target) { return known }
        let found = try VipsLibrary.settingMessagesAside { try assess(profile, bands: bands) }
        profiles.add(found, for: profile, bands: bands, target)
        return found
    }

    private func convert(_ picture: Picture, _ assessment: Assessment) throws -> Picture {
        let colour: ColourModel = picture.pixels.colour == .grey ? .grey : .rgb
        let target = colour == .grey ? nil : target
        if assessment == .standard, picture.pixels.colour != .lab, picture.pixels.colour != .cmyk {
            return try target.map { try picture.withProfile($0.bytes) } ?? picture.withoutProfile()
        }
        let isUsed = if case .different = assessment { true } else { false }
        let source = isUsed ? picture : try picture.withoutProfile()
        if isUsed || target != nil, !isDoneWell(source), let exact = try exactly(source, to: target) { return exact }
        let format = PixelFormat(colour, picture.pixels.depth == .eight ? .eight : .sixteen, hasAlpha: picture.hasAlpha)
        guard let target else { return try standard(picture, format, assessment) }
        let depth = 8 * format.depth.bytes
        let converted =
            switch (picture.pixels.colour, isUsed) {
            case (.cmyk, false):
                try picture.converted(to: format) {
                    try $0.iccTransform(toProfile: target.bytes, input: .cmyk, depth: depth)
                }
            case (.lab, _):
                try picture.converted(to: format) {
                    try $0.colourspace(.lab).iccExport(toProfile: target.bytes, depth: depth)
                }
            case (_, false):
                try source.converted(to: format) { try $0.converted(toProfile: target.bytes, depth: depth) }
            case (_, true):
                try picture.converted(to: format) { try $0.iccTransform(toProfile: target.bytes, depth: depth) }
            }
        return try converted.withProfile(target.bytes)
    }

    /// LittleCMS converts RGB of 8 bits to sRGB well, and as ever.
    private func isDoneWell(_ picture: Picture) -> Bool {
        target == nil && picture.pixels.colour == .rgb && picture.pixels.depth == .eight
            && picture.profile.map { ICCProfile($0).isMadeHere } != true
    }

    /// The picture in other colors by curves and a matrix; nil if one of the profiles has more than that.
    /// - Parameter target: nil for sRGB and its grey.
    private func exactly(_ picture: Picture, to target: ICCProfile?) throws -> Picture? {
        guard [.grey, .rgb].contains(picture.pixels.colour),
            let loop = profiles.loop(
                from: picture.profile.map(ICCProfile.init), to: target, isGrey: picture.pixels.colour == .grey,
                depth: picture.pixels.depth, toneMap)
        else { return nil }
        let converted = try loop.applied(to: picture)
        return try target.map { try converted.withProfile($0.bytes) } ?? converted.withoutProfile()
    }

    /// The picture in sRGB or its grey.
    private func standard(_ picture: Picture, _ format: PixelFormat, _ assessment: Assessment) throws -> Picture {
        let depth = 8 * format.depth.bytes
        return switch (picture.pixels.colour, assessment) {
        // libvips brings a common press profile.
        case (.cmyk, .missing), (.cmyk, .unusable), (.cmyk, .standard):
            try picture.converted(to: format) { try $0.iccTransform(to: .srgb, input: .cmyk, depth: depth) }
        case (.cmyk, .different), (.rgb, .different):
            try picture.converted(to: format) { try $0.iccTransform(to: .srgb, depth: depth) }
        case (.grey, .different):
            try picture.converted(to: format) {
                try $0.iccTransform(to: .srgb, depth: depth).colourspace(format.interpretation)
            }
        case (.lab, _): try picture.converted(to: format, standard)
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
                    .wideGamutClipped,
                    "the picture's profile holds colors beyond \(targetName); they are moved to the nearest")
            ]
        case .unusable: [.badProfile(isPress: isPress)]
        case .missing where isPress:
            [Warning(.noProfile, "the picture has CMYK colors and no profile; a common press profile is assumed")]
        case .missing, .standard, .different(isWide: false): []
        }
    }

    private var targetName: String { target.map { $0.name ?? "the pipeline's profile" } ?? CodedColor.standard.name }

    /// Sends a few colours through the profile, which tells whether it works, changes anything, or reaches beyond the
    /// target.
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
        // One color for all is what zeros make of them.
        if bands < 4, result.allSatisfy({ $0 == result[0] }) { return .unusable }
        let isUnchanged = bands < 4 && zip(result, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
        if isWarned, isUnchanged || bands == 4 { return .unusable }
        if profile == target?.bytes { return .standard }
        // The gray of all targets is that of sRGB.
        if let target, bands == 3 { return try assess(sample, to: target) }
        if isUnchanged { return .standard }
        guard bands == 3 else { return .different(isWide: false) }
        // Colors that the target cannot hold do not come back.
        guard let returned = try? standard.converted(toProfile: profile, depth: 8).pixels() else {
            // A profile of a scanner knows one direction only.
            return .different(isWide: false)
        }
        return .different(isWide: zip(returned, expected).contains { abs(Int($0) - Int($1)) > 12 })
    }
}

extension ColourConversion {
    /// The same for a target that is not sRGB.
    /// - Parameter sample: colours with the profile.
    private func assess(_ sample: Image, to target: ICCProfile) throws -> Assessment {
        let picture = try Picture(decoded: sample)
        guard let profile = picture.profile,
            let there = try exactly(picture, to: target), let back = try exactly(there, to: ICCProfile(profile))
        else { return .different(isWide: false) }
        let (own, converted, returned) = (try sample.pixels(), try there.image.pixels(), try back.image.pixels())
        func differ(_ colours: [UInt8], by most: Int) -> Bool {
            zip(colours, own).contains { abs(Int($0) - Int($1)) > most }
        }
        return differ(converted, by: 1) ? .different(isWide: differ(returned, by: 12)) : .standard
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
    /// nil for profiles that have more than curves and a matrix.
    private var loops: [LoopKey: ColorLoop?] = [:]
    /// Profiles to remember; one takes a few kilobytes, rarely a megabyte.
    private static let capacity = 32
    /// Loops to remember. One for 16 bits takes most of a megabyte.
    private static let mostLoops = 4

    private struct Key: Hashable {
        let profile: [UInt8]
        let bands: Int
        let target: ICCProfile?
    }

    private struct LoopKey: Hashable {
        let source, target: ICCProfile?
        let isGrey: Bool
        let depth: BitDepth
        let toneMap: ToneMapSettings
    }

    /// - Parameters:
    ///   - source: nil for sRGB.
    ///   - target: the same.
    fileprivate func loop(
        from source: ICCProfile?, to target: ICCProfile?, isGrey: Bool, depth: BitDepth, _ toneMap: ToneMapSettings
    ) -> ColorLoop? {
        let key = LoopKey(source: source, target: target, isGrey: isGrey, depth: depth, toneMap: toneMap)
        if let known = loops[key] { return known }
        if loops.count >= Self.mostLoops { loops.removeAll() }
        let loop = ColorSpaceLight(source, isGrey: isGrey, toneMap).flatMap { from in
            ColorSpaceLight(target, isGrey: isGrey).flatMap { ColorLoop(from: from, to: $0, depth: depth) }
        }
        loops[key] = .some(loop)
        return loop
    }

    fileprivate func assessment(
        of profile: [UInt8], bands: Int, _ target: ICCProfile?
    ) -> ColourConversion.Assessment? {
        known[Key(profile: profile, bands: bands, target: target)]
    }

    fileprivate func add(
        _ assessment: ColourConversion.Assessment, for profile: [UInt8], bands: Int, _ target: ICCProfile?
    ) {
        if known.count >= Self.capacity { known.removeAll() }
        known[Key(profile: profile, bands: bands, target: target)] = assessment
    }
}
